"""The due and the actual deliveries: every missing, double and stray delivery.

Law: a delivery *must* exist if the filter was in force at a router in reach, well before the message entered and well
after it (`settle_us` and the errors of both clocks), nothing changed at about that time on the route there (`ways.py`;
or anywhere, `unrest.py`), and the logs of both ends are complete at about that time. It *may* exist if any of this does
not hold: then no fault is found, but the delivery is counted with the reason. At the router where the message entered
neither the network nor another clock matters. A counted drop is not a missing delivery: it is listed as a drop.
Messages of worker groups are judged by the group (`shares.py`). A message is judged where its records are gathered.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from tamis.analysis.questions.demand import PLACE, Demand, Places, expanded, keys_of
from tamis.analysis.questions.matches import ID, Flags, Ints, distinct
from tamis.analysis.questions.shares import Shares, shared
from tamis.analysis.questions.standing import LOCAL_US, LOG, MUST, OTHERWISE, OUTSIDE, REASONS, Pairs, RecordedNetwork
from tamis.analysis.questions.unrest import UnrestSpan
from tamis.analysis.questions.verdict_counts import FAULTS, VERDICTS
from tamis.analysis.questions.ways import Unsteady
from tamis.analysis.records.by_message import CHAPTER
from tamis.analysis.records.rows import Grouping, RecordRows
from tamis.analysis.spark import parts

PAIRS_MAX: Final = 1_000_000
"""Pairs of a message and a subscription that are judged at a time: a hundred MB. A message with more is judged
alone."""
DELIVERED, MISSING, DUPLICATE, STRAY, DROPPED, UNDECIDED = range(6)
_NONE: Final = OUTSIDE + 1
"""The standing of a connection that received a message which it had not asked for."""
_WORDS: Final = [REASONS.get(standing) for standing in range(OUTSIDE)] + [OTHERWISE]
_OTHERWISE: Final = OUTSIDE
_SURE: Final = MUST
"""The reason of a verdict that needs none."""
VERDICT: Final = pa.schema(
    [
        *(("origin", pa.string()), ("number", pa.int64()), ("router", pa.string()), ("epoch", pa.int64())),
        *(("connection", pa.int64()), ("client", pa.string()), ("group", pa.string()), ("times", pa.int64())),
        *(("verdict", pa.string()), ("is_due", pa.bool_()), ("reason", pa.string()), ("message", pa.int64())),
    ]
)
BY: Final = ("verdict", "reason", "router", "client", "group")
_FAULT: Final = (
    *(("verdict", pa.string()), ("origin", pa.string()), ("number", pa.int64()), ("at_us", pa.int64())),
    *(("source", pa.string()), ("router", pa.string()), ("epoch", pa.int64()), ("connection", pa.int64())),
    *(("client", pa.string()), ("group", pa.string()), ("times", pa.int64()), ("attributes", pa.string())),
    ("seen_at", pa.list_(pa.string())),
)
FAULT: Final = pa.schema(list(_FAULT))
JUDGED: Final = pa.schema(
    [*_FAULT, *(("reason", pa.string()), ("deliveries", pa.int64()), ("due", pa.int64()), (CHAPTER, pa.int64()))]
)
"""Wrong deliveries, a row for each, and counts of all deliveries, which have no message."""
NAMED: Final = pa.schema([field for field in JUDGED if field.name != CHAPTER])
_COUNTED: Final = ("verdict", "reason", *PLACE, "group", CHAPTER)
COUNTS: Final = pa.schema(
    [("verdict", pa.string()), ("reason", pa.string()), ("deliveries", pa.int64()), ("due", pa.int64())]
)
CLIENTS: Final = pa.schema(
    [
        *((name, pa.string()) for name in ("router", "client", "group")),
        *((verdict, pa.int64()) for verdict in VERDICTS),
    ]
)
CROSSED: Final = pa.schema(
    [
        *((CHAPTER, pa.int64()), ("router", pa.string()), ("from_neighbour", pa.string())),
        *((name, pa.int64()) for name in ("frames", "in_vain", "bytes_in_vain")),
    ]
)
IN_VAIN: Final = Grouping(CROSSED.names[:3], CROSSED.names[3:])
UNDECIDABLE: Final = pa.schema(
    [
        *(("from_us", pa.int64()), ("to_us", pa.int64()), ("whats", pa.list_(pa.string()))),
        *(("ways", pa.int64()), ("of", pa.int64())),
    ]
)


# ---- one batch of messages ----


@dataclass(frozen=True)
class Terms:
    """What is known when messages are judged."""

    network: RecordedNetwork
    demand: Demand


def judged(terms: Terms, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the wrong deliveries and the counts of all deliveries of a batch of messages, without what may change
    though the verdicts stay: names of clients, and times on one clock. `named` adds these."""
    found = verdicts(terms, batch)
    wrong = found.filter(pc.is_in(found.column("verdict"), pa.array(FAULTS)))
    of = batch.take(wrong.column("message").combine_chunks())
    offset_us = _offsets_us(terms.network.routers, terms.network.offsets_us, of.column("source"))
    shown = {name: of.column(name) for name in ("source", "attributes", "seen_at", CHAPTER)}
    shown |= {"at_us": pc.subtract(of.column("at_us"), offset_us), "client": pa.nulls(len(wrong), pa.string())}
    columns = {name: shown[name] if name in shown else wrong.column(name) for name in FAULT.names}
    listed = pa.table(columns | {CHAPTER: shown[CHAPTER]})
    each = found.append_column("due", pc.cast(found.column("is_due"), pa.int64()))
    each = each.append_column(CHAPTER, batch.column(CHAPTER).take(found.column("message").combine_chunks()))
    counted = each.group_by(list(_COUNTED), use_threads=False).aggregate([("verdict", "count"), ("due", "sum")])
    counted = counted.rename_columns({"verdict_count": "deliveries", "due_sum": "due"})
    both = pa.concat_tables([_padded(listed), _padded(counted)]).combine_chunks()
    return both.to_batches()[0] if both.num_rows else pa.RecordBatch.from_pylist([], JUDGED)


def _offsets_us(routers: Sequence[str], offsets_us: Ints, router: pa.Array) -> pa.Array:
    """Return the offset of the clock of each router; 0 for none."""
    return pc.fill_null(pa.array(offsets_us).take(pc.index_in(router, pa.array(routers, pa.string()))), 0)


@dataclass(frozen=True)
class ClientNames:
    """The clients of connections, and the clocks of routers."""

    places: Places
    clients: pa.Array
    routers: Sequence[str]
    offsets_us: Ints

    @classmethod
    def of(cls, terms: Terms) -> ClientNames:
        demand, network = terms.demand, terms.network
        return cls(demand.places, demand.clients, network.routers, network.offsets_us)


def named(known: ClientNames, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows of `judged` with the names of clients, and times on one clock."""
    router = pc.index_in(batch.column("router"), pa.array(known.routers, pa.string()))
    each = (router, batch.column("epoch"), batch.column("connection"))
    place = known.places.numbers(keys_of(*(pc.fill_null(column, -1).to_numpy() for column in each)))
    at_us = pc.add(batch.column("at_us"), _offsets_us(known.routers, known.offsets_us, batch.column("source")))
    found = {"client": known.clients.take(pa.array(place, mask=place < 0)), "at_us": at_us}
    columns = [found[name] if name in found else batch.column(name) for name in NAMED.names]
    return pa.RecordBatch.from_arrays(columns, schema=NAMED)


def _padded(rows: pa.Table) -> pa.Table:
    """Return `rows` with the columns of JUDGED."""
    columns = [
        rows.column(field.name) if field.name in rows.column_names else pa.nulls(rows.num_rows, field.type)
        for field in JUDGED
    ]
    return pa.Table.from_arrays(columns, schema=JUDGED)


def verdicts(terms: Terms, batch: pa.RecordBatch) -> pa.Table:
    """Return a row for each message and connection that it concerns; if a worker group as a whole received nothing, or
    two copies, a row with `group` and no connection. `message` is the place in the batch."""
    parts_of = [_judged(terms, batch.slice(first, count), first) for first, count in _portions(terms.demand, batch)]
    return pa.concat_tables([VERDICT.empty_table(), *parts_of])


def _portions(demand: Demand, batch: pa.RecordBatch) -> Iterator[tuple[int, int]]:
    """Yield the begin and length of portions of the batch that make PAIRS_MAX pairs."""
    filters, taken = batch.column("filters"), batch.column("taken")
    of = pc.list_parent_indices(filters).to_numpy()
    load = np.bincount(of, demand.load(filters.flatten().to_numpy()), batch.num_rows)
    sizes = (pc.fill_null(pc.list_value_length(lists), 0).to_numpy() for lists in (filters, taken))
    load += np.multiply(*sizes)
    portion = np.cumsum(load) // PAIRS_MAX
    starts = np.flatnonzero(np.diff(portion, prepend=-1))
    yield from zip(starts.tolist(), np.diff(starts, append=batch.num_rows).tolist(), strict=True)


@dataclass(frozen=True)
class _Messages:
    """The columns of a batch. Unknown routers and lives are as in RecordedNetwork; an unknown publisher is -1."""

    at_us: Ints
    error_us: Ints
    source: Ints
    life: Ints
    publisher: Ints
    is_known: Flags
    is_dropped: Flags
    tries: Ints
    of_filter: Ints
    """The message of each filter that one satisfies."""
    filter: Ints

    @classmethod
    def of(cls, batch: pa.RecordBatch, network: RecordedNetwork) -> _Messages:
        filters, source = batch.column("filters"), batch.column("source")
        routers = pa.array(network.routers, pa.string())
        return cls(
            pc.fill_null(batch.column("at_us"), 0).to_numpy(),
            pc.fill_null(batch.column("error_us"), network.settle_us).to_numpy(),
            pc.fill_null(pc.index_in(source, routers), 0).to_numpy(),
            network.lives_of(source, batch.column("source_epoch")),
            pc.fill_null(batch.column("publisher"), -1).to_numpy(),
            filters.is_valid().to_numpy(zero_copy_only=False),
            *(batch.column("is_dropped").to_numpy(zero_copy_only=False), batch.column("tries").to_numpy()),
            *(pc.list_parent_indices(filters).to_numpy(), filters.flatten().to_numpy().astype(np.int64)),
        )


@dataclass(frozen=True)
class _Got:
    """The observed deliveries: a row for each message and connection, with whether a subscription of that connection
    matched it at that time."""

    message: Ints
    place: Ints
    times: Ints
    got_us: Ints
    is_allowed: Flags

    @classmethod
    def of(
        cls, batch: pa.RecordBatch, network: RecordedNetwork, demand: Demand, messages: _Messages
    ) -> tuple[_Got, pa.Array]:
        """Return them, and the keys of their places from the last one of `demand` on."""
        taken = batch.column("taken")
        message, rows = pc.list_parent_indices(taken).to_numpy(), taken.flatten()
        router = pc.index_in(rows.field("router"), pa.array(network.routers, pa.string())).to_numpy()
        epoch, connection, times, got_us = (
            rows.field(name).to_numpy() for name in ("epoch", "connection", "times", "got_us")
        )
        keys = keys_of(router, epoch, connection)
        place = demand.places.numbers(keys)
        strange = np.flatnonzero(place < 0)
        unknown = keys.take(pa.array(strange)).dictionary_encode()
        place[strange] = len(demand.places.keys) + unknown.indices.to_numpy()
        starts = np.searchsorted(messages.of_filter, np.arange(batch.num_rows + 1))
        got, row = expanded(starts[message], starts[message + 1])
        pair, subscription = demand.at_place(place[got], messages.filter[row])
        at_us = got_us[got[pair]]
        fits = (at_us >= demand.since_us[subscription] - LOCAL_US) & (at_us <= demand.until_us[subscription] + LOCAL_US)
        is_allowed = np.zeros(len(message), np.bool_)
        is_allowed[got[pair[fits]]] = True
        return cls(message, place, times, got_us, is_allowed), unknown.dictionary


@dataclass(frozen=True)
class _Expected:
    """The pairs of a message and a subscription that it satisfied at about that time."""

    message: Ints
    place: Ints
    group: Ints
    standing: Ints

    @classmethod
    def of(cls, network: RecordedNetwork, demand: Demand, messages: _Messages) -> _Expected:
        of = messages.of_filter
        error_us = messages.error_us[of] + np.max(network.errors_us, initial=0)
        pair, row = demand.pairs(messages.filter, messages.at_us[of], error_us)
        message = of[pair]
        is_publisher = (messages.life[message] == demand.life[row]) & (
            messages.publisher[message] == demand.connection[row]
        )
        asked = demand.is_own[row] | ~is_publisher
        message, row = message[asked], row[asked]
        each = Pairs(
            *(messages.at_us[message], messages.source[message], messages.life[message]),
            *(demand.router[row], demand.life[row]),
            *(demand.since_us[row], demand.since_at_us[row], demand.until_at_us[row]),
        )
        standing = each.standing(network)
        held = standing != OUTSIDE
        message, row = message[held], row[held]
        return cls(message, demand.place[row], demand.group[row], standing[held])


def _judged(terms: Terms, batch: pa.RecordBatch, first: int) -> pa.Table:
    network, demand = terms.network, terms.demand
    messages = _Messages.of(batch, network)
    got, strange = _Got.of(batch, network, demand, messages)
    expected = _Expected.of(network, demand, messages)
    count = len(demand.places.keys) + len(strange)
    code = distinct(np.concatenate([each.message * count + each.place for each in (expected, got)]))
    message, place = code // max(count, 1), code % max(count, 1)
    of_got = np.searchsorted(code, got.message * count + got.place)
    of_expected = np.searchsorted(code, expected.message * count + expected.place)
    times, got_us = np.zeros(len(code), np.int64), np.zeros(len(code), np.int64)
    is_allowed = np.zeros(len(code), np.bool_)
    times[of_got], got_us[of_got], is_allowed[of_got] = got.times, got.got_us, got.is_allowed
    alone = expected.group < 0
    standing = np.full(len(code), _NONE)
    np.minimum.at(standing, of_expected[alone], expected.standing[alone])
    has_it = times > 0
    of_place = _routers(network, demand, strange)
    is_dark = ~messages.is_known[message] | _is_behind_a_hole(network, of_place, place, got_us)
    is_stray = has_it & ~is_allowed
    is_due = standing == MUST
    verdict = np.select(
        [is_stray & is_dark, is_stray, times > 1, has_it, is_due & messages.is_dropped[message], is_due],
        [UNDECIDED, STRAY, DUPLICATE, DELIVERED, DROPPED, MISSING],
        UNDECIDED,
    )
    reason = np.where(is_stray & is_dark, LOG, np.where(has_it, _SURE, standing))
    is_one = has_it | (standing < _NONE)
    in_group = ~alone
    shares = shared(
        *(expected.message[in_group], expected.group[in_group], of_expected[in_group], expected.standing[in_group]),
        *(has_it, standing < _NONE),
    )
    sure = (shares.standing == MUST) & (shares.taker >= 0)
    is_due[shares.taker[sure]] = True
    one = [column[is_one] for column in (message, place, verdict, reason, is_due, times)]
    named = _named(batch, demand, of_place, first, *one, np.full(len(one[0]), -1))
    return pa.concat_tables([named, _of_groups(batch, demand, of_place, first, messages, shares)])


@dataclass(frozen=True)
class _PlaceNames:
    """By number of a place: its router, life and connection, and the client if it has subscribed."""

    router: Ints
    epoch: Ints
    connection: Ints
    routers: Sequence[str]


def _routers(network: RecordedNetwork, demand: Demand, strange: pa.Array) -> _PlaceNames:
    keys = pa.concat_arrays([demand.places.keys, strange])
    packed = np.frombuffer(keys.buffers()[1] or b"", np.int64).reshape(-1, 3)
    each = packed[keys.offset : keys.offset + len(keys)]
    return _PlaceNames(each[:, 0], each[:, 1], each[:, 2], network.routers)


def _is_behind_a_hole(network: RecordedNetwork, names: _PlaceNames, place: Ints, at_us: Ints) -> Flags:
    """Return whether events of that life are missing before `at_us`, by the clock of the router."""
    found = np.zeros(len(place), np.bool_)
    for life, (from_us, _) in network.dark_events.items():
        router, epoch = network.lives[life][:2]
        here = (names.router[place] == network.routers.index(router)) & (names.epoch[place] == epoch)
        found |= here & (from_us[0] < at_us)
    return found


def _of_groups(
    batch: pa.RecordBatch, demand: Demand, names: _PlaceNames, first: int, messages: _Messages, shares: Shares
) -> pa.Table:
    """Return a row for each group without a share, or with two; a single share is judged as that member's."""
    is_twice = (shares.took > 1) & (messages.tries[shares.message] <= 1)
    is_due = shares.standing == MUST
    verdict = np.select(
        [is_twice, shares.otherwise, is_due & messages.is_dropped[shares.message], is_due],
        [DUPLICATE, UNDECIDED, DROPPED, MISSING],
        UNDECIDED,
    )
    reason = np.where(shares.otherwise, _OTHERWISE, shares.standing)
    listed = is_twice | (shares.taker < 0)
    times = np.where(is_twice, shares.took, 0)
    none = np.full(len(listed), -1)
    columns = (shares.message, none, verdict, reason, is_due & ~is_twice, times, shares.group)
    return _named(batch, demand, names, first, *(column[listed] for column in columns))


def _named(
    batch: pa.RecordBatch,
    demand: Demand,
    names: _PlaceNames,
    first: int,
    *columns: Any,  # noqa: ANN401 - arrays of numbers and flags
) -> pa.Table:
    """Return verdicts with names in place of numbers; -1 is no place and no group."""
    message, place, verdict, reason, is_due, times, group = columns
    there = pa.array(place, mask=place < 0)
    known = pa.array(place, mask=(place < 0) | (place >= len(demand.clients)))
    of = pa.array(message)
    at = pa.array(names.router, pa.int64()).take(there)
    rows = {
        **{name: batch.column(name).take(of) for name in ("origin", "number")},
        "router": pa.array(names.routers, pa.string()).take(at),
        "epoch": pa.array(names.epoch, pa.int64()).take(there),
        "connection": pa.array(names.connection, pa.int64()).take(there),
        "client": demand.clients.take(known),
        "group": demand.groups.take(pa.array(group, pa.int64(), mask=group < 0)),
        "times": pa.array(times, pa.int64(), mask=times == 0),
        "verdict": pa.array(VERDICTS).take(pa.array(verdict)),
        "is_due": pa.array(is_due),
        "reason": pa.array(_WORDS, pa.string()).take(pa.array(reason, pa.int64())),
        "message": pa.array(message + first),
    }
    return pa.table(rows, schema=VERDICT)


# ---- tables ----


def counts(totals: pa.Table) -> pa.Table:
    """Return the number of each verdict; `due` counts the deliveries that certainly had to exist."""
    found = totals.group_by(["verdict", "reason"], use_threads=False)
    sums = found.aggregate([("deliveries", "sum"), ("due", "sum")]).rename_columns(COUNTS.names)
    return parts.ordered(sums.cast(COUNTS), "verdict", "reason")


def by_client(totals: pa.Table) -> pa.Table:
    """Return a row for each router and client with the counts of its verdicts; a client is unknown if it never
    subscribed. If no member of a worker group received a message, or two did, the group has a row."""
    found: dict[tuple[str, str, str], dict[str, int]] = defaultdict(lambda: dict.fromkeys(VERDICTS, 0))
    for row in totals.to_pylist():
        found[row["router"], row["client"], row["group"]][row["verdict"]] += row["deliveries"]
    rows = ((*place, *by_verdict.values()) for place, by_verdict in found.items())
    return parts.ordered(parts.table_of(rows, CLIENTS), "router", "client", "group")


def faults(found: RecordRows, totals: pa.Table) -> pa.Table | DataFrame:
    """Return each wrong delivery, with the message and the routers that had it."""
    if not set(totals.column("verdict").to_pylist()) & set(FAULTS):
        return FAULT.empty_table()
    return found.present("origin").select(FAULT.names).ordered("at_us", *ID, *PLACE)


def undecidable(restless: Sequence[UnrestSpan], unsteady: Unsteady) -> pa.Table:
    """Return when the network was changing and why, and how many `ways` between two routers (`of` all) were unsteady.
    If no ways are known, every one counts as unsteady."""
    from_us, to_us = (np.array([getattr(span, name) for span in restless]) for name in ("from_us", "to_us"))
    ways = np.zeros(len(restless), np.int64)
    for spans in unsteady.values():
        begins, ends = (np.array([getattr(span, name) for span in spans]) for name in ("from_us", "to_us"))
        ways += np.searchsorted(begins, to_us, "right") > np.searchsorted(ends, from_us, "left")
    rows = ((*span, int(count) or None, len(unsteady)) for span, count in zip(restless, ways, strict=True))
    return parts.table_of(rows, UNDECIDABLE)


def in_vain(_: object, records: pa.RecordBatch) -> pa.RecordBatch:
    """Return, by chapter, the frames over a link to a router that neither delivered nor forwarded them."""
    is_crossing = pc.and_(pc.greater(records.column("hop"), 0), pc.invert(records.column("is_refused")))
    crossed = records.filter(pc.fill_null(is_crossing, fill_value=False))
    is_unmatched = pc.equal(pc.fill_null(crossed.column("matched"), 0), 0)
    is_vain = pc.and_(is_unmatched, pc.invert(crossed.column("is_sent_on")))
    columns = {
        **{name: crossed.column(name) for name in (CHAPTER, "router", "from_neighbour")},
        "frames": pa.array(np.ones(crossed.num_rows, np.int64)),
        "in_vain": is_vain.cast(pa.int64()),
        "bytes_in_vain": pc.if_else(is_vain, crossed.column("bytes"), 0),
    }
    return IN_VAIN.of_batch(pa.RecordBatch.from_arrays(list(columns.values()), schema=CROSSED))
