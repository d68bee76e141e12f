"""The subscriptions of clients, and when they were in force, by the routers' records.

Law: a subscription is in force at its router from the record that adds it to the one that removes it, or to the last
record of that life: later it is unknown. Filters are distinguished by their text; within one analysis each has a
number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tamis.analysis.questions.health import RecordedLife
from tamis.analysis.questions.programs import with_program

FILTERS: Final = pa.schema([("filter", pa.int32()), ("form", pa.string())])
_ONE: Final = ("router", "epoch", "connection", "subscription")
_SAID: Final = ("router", "epoch", "connection", "client", "group")


def forms(subscription: pa.Table, durable: pa.Table) -> list[str]:
    """Return each filter of any client or durable subscription, once; its position in the list is its number."""
    asked = (pc.unique(pc.list_flatten(_with_programs(rows))).to_pylist() for rows in (subscription, durable))
    return sorted({form for texts in asked for form in texts if form is not None})


def _with_programs(rows: pa.Table) -> pa.ChunkedArray:
    """Return the filters of subscriptions, with their residual programs."""
    filters, residual = rows.column("filters"), rows.column("residual")
    if residual.null_count == len(residual):
        return filters
    pairs = zip(filters.to_pylist(), residual.to_pylist(), strict=True)
    lists = [None if forms is None else [with_program(form, each) for form in forms] for forms, each in pairs]
    return pa.chunked_array([pa.array(lists, filters.type)])


def numbered(texts: Sequence[str]) -> pa.Table:
    return pa.table([pa.array(range(len(texts)), pa.int32()), pa.array(texts, pa.string())], schema=FILTERS)


def in_force(subscription: pa.Table, lives: Sequence[RecordedLife], texts: Sequence[str]) -> pa.Table:
    """Return a row for each filter of each subscription: router, epoch, connection, client, group, own, since_us and
    until_us by the router's clock, filter. `group` is null for a subscription without a group, and in records of
    routers that did not record groups."""
    rows = subscription.sort_by([(name, "ascending") for name in (*_ONE, "n")]).combine_chunks()
    ends = {(life.router, life.epoch): life.last_us for life in lives}
    places = zip(rows.column("router").to_pylist(), rows.column("epoch").to_pylist(), strict=True)
    last = pa.array([ends.get(place) for place in places], pa.int64())
    following = pa.array(np.roll(rows.column("t_us").to_numpy(), -1), pa.int64(), mask=~_is_followed(rows))
    rows = rows.append_column("last_us", last).append_column("until_us", pc.coalesce(following, last))
    rows = rows.filter(pc.and_(pc.equal(rows.column("what"), "added"), pc.is_valid(rows.column("last_us"))))
    filters = _with_programs(rows).combine_chunks()
    number = pc.index_in(pc.list_flatten(filters), pa.array(texts, pa.string()))
    each = rows.drop_columns(["filters"]).take(pc.list_parent_indices(filters))
    columns = [*(each.column(name) for name in _SAID), pc.fill_null(each.column("own"), True)]
    columns += [each.column("t_us"), each.column("until_us"), number]
    found = pa.table(columns, names=[*_SAID, "own", "since_us", "until_us", "filter"])
    return found.filter(pc.is_valid(found.column("filter")))


def _is_followed(rows: pa.Table) -> NDArray[np.bool_]:
    """Return of each row whether the next one is of the same subscription."""
    if not rows.num_rows:
        return np.zeros(0, np.bool_)
    found = np.ones(rows.num_rows - 1, np.bool_)
    for name in _ONE:
        codes = rows.column(name).combine_chunks().dictionary_encode().indices
        codes = pc.fill_null(codes, -1).to_numpy(zero_copy_only=False)
        found &= codes[1:] == codes[:-1]
    return np.append(found, np.False_)
