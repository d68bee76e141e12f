"""Each message with all its records: where it entered, which filters it satisfies, and which connections received it.

Law: the records of a message are gathered once. A message is published once, with any number of attempts: where and
when it first entered. `meaning.py` decides which filters it satisfies; filters are sent to the messages. A message
whose entry is not recorded has no source.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tamis.analysis.questions import attributes
from tamis.analysis.questions.clocks import RouterClock
from tamis.analysis.questions.meaning import MessageBatch, ParsedFilters, match_lists
from tamis.analysis.records.by_message import CHAPTER

ID: Final = ("origin", "number")
TAKEN: Final = pa.struct(
    [
        *(("router", pa.string()), ("epoch", pa.int64()), ("connection", pa.int64())),
        *(("times", pa.int64()), ("got_us", pa.int64())),
    ]
)
"""How often and when first a message was queued for a connection."""
VISIT: Final = pa.struct(
    [
        *(("router", pa.string()), ("epoch", pa.int64()), ("t_us", pa.int64()), ("from_connection", pa.int64())),
        *(("attributes", pa.string()), ("bytes", pa.int64()), ("to_connections", pa.list_(pa.int64()))),
        *(("is_refused", pa.bool_()), ("has_dropped", pa.bool_())),
    ]
)
VISITS: Final = pa.schema(
    [("origin", pa.string()), ("number", pa.int64()), (CHAPTER, pa.int64()), ("visits", pa.list_(VISIT))]
)
MESSAGES: Final = pa.schema(
    [
        *(("origin", pa.string()), ("number", pa.int64()), ("at_us", pa.int64()), ("error_us", pa.int64())),
        *(("attributes", pa.string()), ("bytes", pa.int64()), ("source", pa.string()), ("source_epoch", pa.int64())),
        *(("publisher", pa.int64()), ("filters", pa.list_(pa.int32())), ("taken", pa.list_(TAKEN))),
        *(("seen_at", pa.list_(pa.string())), ("is_dropped", pa.bool_()), ("tries", pa.int64())),
        (CHAPTER, pa.int64()),
    ]
)
"""`seen_at`: the routers that accepted it; `tries`: the number of lives of routers in which its publisher tried it."""
PUBLISHED: Final = MESSAGES.names[:10]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class MatchContext:
    """What the batches of messages have to know."""

    routers: Sequence[str]
    """In order."""
    offsets_us: Ints
    errors_us: pa.Array
    filters: ParsedFilters

    @classmethod
    def of(cls, clocks: Mapping[str, RouterClock], forms: Sequence[str]) -> MatchContext:
        routers = sorted(clocks)
        offsets_us = np.array([clocks[router].offset_us for router in routers], np.int64)
        errors_us = pa.array([clocks[router].error_us for router in routers], pa.int64())
        return cls(routers, offsets_us, errors_us, ParsedFilters.of(forms))


def gathered(known: MatchContext, records: pa.RecordBatch) -> pa.RecordBatch:
    """Return the messages of records, with the columns of MESSAGES. All records of a message are in one batch."""
    return with_filters(known, visits(records))


def visits(records: pa.RecordBatch) -> pa.RecordBatch:
    """Return a row for each message with its records, which are all in one batch."""
    origin = records.column("origin").dictionary_encode("encode").indices.to_numpy()
    number, is_known = records.column("number"), records.column("number").is_valid()
    keys = (pc.fill_null(number, 0).to_numpy(), is_known.to_numpy(zero_copy_only=False), origin)
    order = np.lexsort(keys)
    starts = group_starts(*(key[order] for key in keys))
    each = records.take(pa.array(order))
    visit = pa.StructArray.from_arrays([each.column(field.name) for field in VISIT], fields=list(VISIT))
    lists = pa.ListArray.from_arrays(pa.array(np.append(starts, len(order)), pa.int32()), visit)
    firsts = pa.array(starts)
    return pa.RecordBatch.from_arrays(
        [*(each.column(name).take(firsts) for name in (*ID, CHAPTER)), lists], schema=VISITS
    )


def with_filters(known: MatchContext, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return messages with the columns of MESSAGES; `filters` is null if their attributes cannot be read."""
    count, records = batch.num_rows, batch.column("visits")
    of, each = pc.list_parent_indices(records).to_numpy(), records.flatten()
    router = pc.index_in(each.field("router"), pa.array(known.routers, pa.string())).to_numpy()
    epoch, t_us = (each.field(name).to_numpy() for name in ("epoch", "t_us"))
    was_taken = ~each.field("is_refused").to_numpy(zero_copy_only=False)
    has_content = each.field("attributes").is_valid().to_numpy(zero_copy_only=False)
    entered = np.flatnonzero(has_content & was_taken)
    at_us = t_us + known.offsets_us[router]
    connection = pc.fill_null(each.field("from_connection"), -1).to_numpy()
    keys = (connection, epoch, router, at_us, of)
    entered = entered[np.lexsort([key[entered] for key in keys])]
    of_entry, firsts = np.unique(of[entered], return_index=True)
    place = np.zeros(count, np.int64)
    place[of_entry] = entered[firsts]
    is_known = np.zeros(count, np.bool_)
    is_known[of_entry] = True
    first = pa.array(place, mask=~is_known)
    said = {name: each.field(name).take(first) for name in ("attributes", "bytes", "router", "epoch")}
    order = entered[np.lexsort([epoch[entered], router[entered], of[entered]])]
    entries = of[order][group_starts(of[order], router[order], epoch[order])]
    drops = of[pc.fill_null(each.field("has_dropped"), False).to_numpy(zero_copy_only=False)]
    columns = [
        *(batch.column(name) for name in ID),
        pa.array(at_us).take(first),
        known.errors_us.take(pa.array(router[place], mask=~is_known)),
        *(said[name] for name in ("attributes", "bytes", "router", "epoch")),
        each.field("from_connection").take(first),
        matching(known.filters, said["attributes"]),
        _taken(each, of, was_taken, count),
        _seen(known, of[was_taken], router[was_taken], count),
        pa.array(np.bincount(drops, minlength=count) > 0),
        pa.array(np.bincount(entries, minlength=count)),
        batch.column(CHAPTER),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=MESSAGES)


def _taken(each: pa.StructArray, of: Ints, was_taken: Flags, count: int) -> pa.Array:
    """Return, for each message, the connections that it was queued for."""
    queued = each.field("to_connections").filter(pa.array(was_taken))
    visit = np.flatnonzero(was_taken)[pc.list_parent_indices(queued).to_numpy()]
    connection = queued.flatten().to_numpy()
    router = each.field("router").dictionary_encode()
    codes, epoch, t_us = router.indices.to_numpy(), each.field("epoch").to_numpy(), each.field("t_us").to_numpy()
    place = numbered(epoch, codes, of)
    order = np.lexsort([t_us[visit], connection, place[visit]])
    visit, connection = visit[order], connection[order]
    starts = group_starts(place[visit], connection)
    first = visit[starts]
    times = np.diff(np.append(starts, len(visit)))
    columns = [pa.array(codes[first]), epoch[first], connection[starts], times, t_us[first]]
    columns[0] = router.dictionary.take(columns[0])
    values = pa.StructArray.from_arrays(list(map(pa.array, columns)), fields=list(TAKEN))
    return _lists_of(of[first], values, count)


def _seen(known: MatchContext, of: Ints, router: Ints, count: int) -> pa.Array:
    each = distinct(of * len(known.routers) + router)
    names = pa.array(known.routers, pa.string()).take(pa.array(each % max(len(known.routers), 1)))
    return _lists_of(each // max(len(known.routers), 1), names, count)


def _lists_of(of: Ints, values: pa.Array, count: int) -> pa.ListArray:
    """Return a list for each of `count` messages; `of` has the message of each value, in order."""
    offsets = np.searchsorted(of, np.arange(count + 1))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)


def numbered(*keys: NDArray[Any]) -> Ints:
    """Return the number of each group of equal keys, in the order of the last key, then of the one before."""
    order = np.lexsort(keys)
    starts = group_starts(*(key[order] for key in keys))
    found = np.zeros(len(order), np.int64)
    found[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    return found


def distinct(numbers: Ints) -> Ints:
    """Return each number once, in order: `np.unique` takes several times as long."""
    found = np.sort(numbers)
    return found[group_starts(found)]


def group_starts(*keys: NDArray[Any]) -> Ints:
    """Return the places at which a group of equal keys begins; `keys` are in order."""
    if not len(keys[0]):
        return np.zeros(0, np.int64)
    differs = np.ones(len(keys[0]), np.bool_)
    differs[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return np.flatnonzero(differs)


def matching(filters: ParsedFilters, texts: pa.Array) -> pa.Array:
    """Return the lists of filters for `texts`; equal texts are matched once."""
    each = texts.dictionary_encode()
    columns = attributes.columns(each.dictionary)
    if columns is None:
        parsed = [_parsed(text) for text in each.dictionary.to_pylist()]
        batch, read = MessageBatch.of([form or {} for form in parsed]), [form is not None for form in parsed]
    else:
        batch, read = MessageBatch.of_columns(len(each.dictionary), columns), [True] * len(each.dictionary)
    numbers, starts = match_lists(filters, batch)
    lists = pa.ListArray.from_arrays(pa.array(starts, pa.int32()), pa.array(numbers, pa.int32()))
    return lists.filter(pa.array(read, pa.bool_())).take(_places(np.array(read, np.bool_), each.indices))


def _places(read: Flags, of: pa.Array) -> pa.Array:
    """Return the place among those that were read of each of some texts; null for others, and for null."""
    places = pa.array(np.cumsum(read) - 1, mask=~read)
    return places.take(of)


def _parsed(text: str) -> dict[str, object] | None:
    try:
        form = json.loads(text)
    except ValueError:
        return None
    return form if isinstance(form, dict) else None
