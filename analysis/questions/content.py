"""Published contents and subscriptions: attributes, values, and how many of the messages the filters select.

Law: figures are about the published messages that were recorded and the filters that were in force when these entered;
shares are of those. pe, pp and sigma are those of paper 003, the density that of paper 001.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.questions.clocks import RouterClock
from tamis.analysis.records.parts import ordered, table_of

TOP = 20
CELLS: Final = pa.schema(
    [
        *(("origin", pa.string()), ("number", pa.int64()), ("name", pa.string())),
        *(("type", pa.string()), ("value", pa.string())),
    ]
)
FILTER: Final = pa.schema(
    [
        *(("filter", pa.int32()), ("form", pa.string()), ("subscriptions", pa.int64()), ("matches", pa.int64())),
        ("selectivity", pa.float64()),
    ]
)
HITS: Final = pa.schema([("filter", pa.int32()), ("matches", pa.int64())])
CONSTRAINT: Final = pa.schema([("name", pa.string()), ("operator", pa.string()), ("filters", pa.int64())])
COUNTS: Final = pa.schema([(name, pa.int64()) for name in ("all", "published", "matching", "notified", "looked")])
DENSITIES: Final = pa.schema(
    [
        *((name, pa.int64()) for name in ("published", "matching", "notified", "looked")),
        *((name, pa.float64()) for name in ("pe", "pp", "sigma", "density")),
    ]
)


def cells(_: object, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a row for each attribute of each message that can be read; equal numbers have equal values."""
    readable = batch.filter(batch.column("filters").is_valid())
    messages = zip(*(readable.column(name).to_pylist() for name in ("origin", "number", "attributes")), strict=True)
    rows = [
        (origin, number, name, _type(value), _text(value))
        for origin, number, text in messages
        for name, value in json.loads(text).items()
    ]
    columns = zip(*rows, strict=True) if rows else [()] * len(CELLS)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, CELLS, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=CELLS)


def attributes(found: DataFrame) -> DataFrame:
    """Return a row for each attribute: in how many messages it is, its types, how many distinct values it has, and its
    range."""
    number = F.when(F.col("type") == "number", F.col("value").try_cast("double"))
    return found.groupBy("name").agg(
        F.count("*").alias("messages"),
        F.sort_array(F.collect_set("type")).alias("types"),
        F.approx_count_distinct("value", 0.02).alias("distinct"),
        F.min(number).alias("least"),
        F.percentile_approx(number, 0.5).alias("median"),
        F.max(number).alias("most"),
    )


def shared(found: pa.Table, published: int) -> pa.Table:
    """Return the rows of `attributes` with the share of the `published` messages."""
    share = pc.divide(pc.cast(found.column("messages"), pa.float64()), float(published))
    return ordered(found.append_column("share", share), "-messages", "name")


def values(found: DataFrame) -> DataFrame:
    """Return the most frequent values of each attribute."""
    each = found.groupBy("name", "type", "value").agg(F.count("*").alias("messages"))
    rank = F.row_number().over(Window.partitionBy("name").orderBy(F.desc("messages"), "value"))
    return each.withColumn("rank", rank).where(F.col("rank") <= TOP)


def hits(_: object, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return how many messages satisfy each filter."""
    counted = pc.value_counts(batch.column("filters").flatten())
    return pa.RecordBatch.from_arrays(counted.flatten(), schema=HITS)


def filters(matches: pa.Table, forms: Sequence[str], in_force: pa.Table, readable: int) -> pa.Table:
    """Return a row for each filter: how many subscriptions have it, and how many of all `readable` messages satisfy
    it."""
    satisfied = dict(zip(*(matches.column(name).to_pylist() for name in HITS.names), strict=True))
    asked = Counter(in_force.column("filter").to_pylist())
    rows = (
        (number, form, asked[number], satisfied.get(number, 0), _share(satisfied.get(number, 0), readable))
        for number, form in enumerate(forms)
    )
    return ordered(table_of(rows, FILTER), "-matches", "filter")


def constraints(forms: Sequence[str]) -> pa.Table:
    """Return rows (attribute, operator, filters): how many filters have the pair."""
    found = Counter(
        (name, f"not {rest[1]}" if rest[0] == "not" else rest[0]) for form in forms for name, *rest in json.loads(form)
    )
    rows = ((*pair, count) for pair, count in found.items())
    return ordered(table_of(rows, CONSTRAINT), "-filters", "name", "operator")


def on_one_clock(in_force: pa.Table, clocks: Mapping[str, RouterClock]) -> pa.Table:
    """Return (filter, since_us, until_us) of subscriptions, on one clock."""
    routers = sorted(clocks)
    offsets_us = pa.array([clocks[router].offset_us for router in routers], pa.int64())
    of = pc.index_in(in_force.column("router"), pa.array(routers, pa.string()))
    offset_us = offsets_us.take(of.combine_chunks())
    times = [pc.add(in_force.column(name), offset_us) for name in ("since_us", "until_us")]
    return pa.table([in_force.column("filter"), *times], names=["filter", "since_us", "until_us"])


def counted(held: HeldFilters, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return one row of counts of a batch of published messages: `all`, and the counts of `densities`."""
    readable = batch.filter(batch.column("filters").is_valid())
    counts = held.counts(readable.column("at_us").to_numpy(), readable.column("filters"))
    return pa.RecordBatch.from_arrays([pa.array([count]) for count in (batch.num_rows, *counts)], schema=COUNTS)


def densities(counts: pa.Table) -> pa.Table:
    """Return one row: published, matching (messages that satisfy any subscription), notified (subscriptions satisfied,
    summed over messages), looked (subscriptions in force, summed), and pe = matching / published, pp = notified /
    published, sigma = pp / pe, density = notified / looked."""
    published, matching, notified, looked = (sum(counts.column(name).to_pylist()) for name in COUNTS.names[1:])
    shares = (_share(matching, published), _share(notified, published), _share(notified, matching))
    return table_of([(published, matching, notified, looked, *shares, _share(notified, looked))], DENSITIES)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


_Times = tuple[NDArray[np.int64], NDArray[np.int64]]


class HeldFilters:
    """The sorted times at which subscriptions began and ended, on one clock: of each filter, and of all."""

    def __init__(self, every: _Times, by_filter: dict[int, _Times]) -> None:
        self._every, self._by_filter = every, by_filter

    @classmethod
    def of(cls, spans: pa.Table) -> HeldFilters:
        filters, since, until = (spans.column(name).to_numpy() for name in ("filter", "since_us", "until_us"))
        by_filter = {each: (np.sort(since[mine]), np.sort(until[mine])) for each, mine in _places(filters)}
        return cls((np.sort(since), np.sort(until)), by_filter)

    def counts(self, at_us: NDArray[np.int64], lists: pa.ListArray) -> tuple[int, int, int, int]:
        """Return the counts of `densities` for messages at `at_us` and the filters that each satisfies."""
        filters, messages = lists.flatten().to_numpy(), lists.value_parent_indices().to_numpy()
        notified = np.zeros(len(at_us), np.int64)
        for each, places in _places(filters):
            if each in self._by_filter:
                mine = messages[places]
                notified[mine] += _in_force(self._by_filter[each], at_us[mine])
        looked = _in_force(self._every, at_us).sum()
        return len(at_us), int((notified > 0).sum()), int(notified.sum()), int(looked)


def _places(keys: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield each key with the places at which it stands."""
    order = np.argsort(keys, kind="stable")
    found, starts = np.unique(keys[order], return_index=True)
    yield from zip(map(int, found), np.split(order, starts[1:]), strict=False)


def _in_force(times: _Times, at_us: NDArray[np.int64]) -> NDArray[np.int64]:
    since, until = times
    return np.searchsorted(since, at_us, "right") - np.searchsorted(until, at_us, "left")


def _type(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "string" if isinstance(value, str) else "number"


def _text(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value)
