"""Published contents and subscriptions: attributes, values, and how many of the messages the filters select.

Law: figures are about the published messages that were recorded and the filters that were in force when these entered;
shares are of those. pe, pp and sigma are those of paper 003, the density that of paper 001.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.questions.attributes import columns as by_column
from tamis.analysis.questions.clocks import RouterClock
from tamis.analysis.questions.matches import matching
from tamis.analysis.questions.meaning import ParsedFilters
from tamis.analysis.records.by_message import CHAPTER, one_batch
from tamis.analysis.spark.parts import ordered, table_of

TOP = 20
CELLS: Final = pa.schema(
    [
        *(("name", pa.string()), ("type", pa.string()), ("value", pa.string()), ("messages", pa.int64())),
        (CHAPTER, pa.int64()),
    ]
)
TEXTS: Final = pa.schema([("attributes", pa.string()), ("messages", pa.int64()), (CHAPTER, pa.int64())])
FILTER: Final = pa.schema(
    [
        *(("filter", pa.int32()), ("form", pa.string()), ("subscriptions", pa.int64()), ("matches", pa.int64())),
        ("selectivity", pa.float64()),
    ]
)
HITS: Final = pa.schema([("filter", pa.int32()), ("matches", pa.int64()), (CHAPTER, pa.int64())])
CONSTRAINT: Final = pa.schema([("name", pa.string()), ("operator", pa.string()), ("filters", pa.int64())])
COUNTED: Final = ("all", "published", "matching", "notified", "looked")
COUNTS: Final = pa.schema([(name, pa.int64()) for name in (*COUNTED, CHAPTER)])
DENSITIES: Final = pa.schema(
    [
        *((name, pa.int64()) for name in ("published", "matching", "notified", "looked")),
        *((name, pa.float64()) for name in ("pe", "pp", "sigma", "density")),
    ]
)


def cells(_: object, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return how many messages of a batch that can be read have each value of each attribute; equal numbers are equal
    values."""
    readable = batch.filter(batch.column("filters").is_valid())
    chapters, texts_ = readable.column(CHAPTER), readable.column("attributes")
    columns = by_column(texts_)
    if columns is not None:
        found = [_cells(name, values, chapters) for name, values in columns.items()]
        return one_batch(pa.concat_tables([CELLS.empty_table(), *found]))
    counts = Counter(
        (name, _type(value), _text(value), chapter)
        for chapter, text in zip(chapters.to_pylist(), texts_.to_pylist(), strict=True)
        for name, value in json.loads(text).items()
    )
    return one_batch(table_of(((*cell, count, chapter) for (*cell, chapter), count in counts.items()), CELLS))


def _cells(name: str, values: pa.Array, chapters: pa.Array) -> pa.Table:
    """Return how many messages have each value of an attribute."""
    each = values.dictionary_encode()
    distinct = each.dictionary.to_pylist()
    counted = pa.table([each.indices, chapters], names=["value", CHAPTER]).filter(each.indices.is_valid())
    found = counted.group_by(["value", CHAPTER], use_threads=False).aggregate([([], "count_all")])
    of = found.column("value").combine_chunks()
    columns = {
        "name": pa.array([name] * len(of), pa.string()),
        "type": pa.array([_type(value) for value in distinct], pa.string()).take(of),
        "value": pa.array([_text(value) for value in distinct], pa.string()).take(of),
        "messages": found.column("count_all"),
        CHAPTER: found.column(CHAPTER),
    }
    return pa.table(columns, schema=CELLS)


def attributes(found: DataFrame) -> DataFrame:
    """Return a row for each attribute: in how many messages it is, its types, how many distinct values it has, and its
    range."""
    each = _each(found).withColumn("number", F.when(F.col("type") == "number", F.col("value").try_cast("double")))
    alike = Window.partitionBy("name", F.col("number").isNotNull())
    so_far, every = (F.sum("messages").over(over) for over in (alike.orderBy("number"), alike))
    return (
        each.withColumn("upper", F.when(so_far * 2 >= every, F.col("number")))
        .groupBy("name")
        .agg(
            F.sum("messages").alias("messages"),
            F.sort_array(F.collect_set("type")).alias("types"),
            F.approx_count_distinct("value", 0.02).alias("distinct"),
            F.min("number").alias("least"),
            F.min("upper").alias("median"),
            F.max("number").alias("most"),
        )
    )


def shared(found: pa.Table, published: int) -> pa.Table:
    """Return the rows of `attributes` with the share of the `published` messages."""
    share = pc.divide(pc.cast(found.column("messages"), pa.float64()), float(published))
    return ordered(found.append_column("share", share), "-messages", "name")


def _each(found: DataFrame) -> DataFrame:
    return found.groupBy("name", "type", "value").agg(F.sum("messages").alias("messages"))


def values(found: DataFrame) -> DataFrame:
    """Return the most frequent values of each attribute."""
    each = _each(found)
    rank = F.row_number().over(Window.partitionBy("name").orderBy(F.desc("messages"), "value"))
    return each.withColumn("rank", rank).where(F.col("rank") <= TOP)


def hits(_: object, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return how many messages satisfy each filter."""
    lists = batch.column("filters")
    of = pc.list_parent_indices(lists)
    return _hits(lists.flatten(), pa.array(np.ones(len(of), np.int64)), batch.column(CHAPTER).take(of))


def texts(_: object, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return how many messages have equal attributes."""
    found = pa.table(batch).group_by(["attributes", CHAPTER], use_threads=False).aggregate([([], "count_all")])
    found = found.rename_columns(["attributes", CHAPTER, "messages"]).select(TEXTS.names).cast(TEXTS)
    return one_batch(found)


def text_hits(filters: ParsedFilters, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return how many messages satisfy each filter, of rows of TEXTS without a chapter."""
    lists = matching(filters, batch.column("attributes"))
    of = pc.list_parent_indices(lists)
    return _hits(lists.flatten(), batch.column("messages").take(of), pa.nulls(len(of), pa.int64()))


def _hits(filters: pa.Array, messages: pa.Array, chapters: pa.Array) -> pa.RecordBatch:
    each = pa.table([filters, messages, chapters], schema=HITS).group_by(["filter", CHAPTER], use_threads=False)
    found = each.aggregate([("matches", "sum")]).rename_columns(["filter", CHAPTER, "matches"])
    return one_batch(found.select(HITS.names).cast(HITS))


def by_form(hits: pa.Table, forms: Sequence[str]) -> pa.Table:
    """Return `hits` by chapter and form; each chapter has a row for each of the forms."""
    of = pa.array(forms, pa.string())
    found = [hits.select(["matches", CHAPTER]).append_column("form", of.take(hits.column("filter")))]
    for chapter in hits.column(CHAPTER).unique():
        rows = {"matches": np.zeros(len(of), np.int64), CHAPTER: pa.array([chapter.as_py()] * len(of), pa.int64())}
        found.append(pa.table(rows | {"form": of}))
    return pa.concat_tables(found, promote_options="default")  # a sum of Spark's is never null, and says so


def hits_of(tables: Sequence[pa.Table], forms: Collection[str]) -> pa.Table:
    """Return the rows of `tables` by form, of some forms."""
    every = pa.concat_tables([rows.select(["form", "matches"]) for rows in tables])
    return every.filter(pc.is_in(every.column("form"), pa.array(forms, pa.string())))


def new_forms(before: Sequence[pa.Table], forms: Sequence[str]) -> list[str]:
    """Return the forms with which not all messages that were counted before were matched."""
    known = [{*rows.column("form").to_pylist()} for rows in before]
    common = set.intersection(*known) if known else {*forms}
    return [form for form in forms if form not in common]


def filters(matches: pa.Table, forms: Sequence[str], in_force: pa.Table, readable: int) -> pa.Table:
    """Return a row for each filter: how many subscriptions have it, and how many of all `readable` messages satisfy
    it. `matches`: how many satisfy each form."""
    satisfied = Counter[str]()
    for row in matches.to_pylist():
        satisfied[row["form"]] += row["matches"]
    asked = Counter(in_force.column("filter").to_pylist())
    rows = (
        (number, form, asked[number], satisfied[form], _share(satisfied[form], readable))
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
    """Return a row of counts for each chapter of a batch of published messages: `all`, and the counts of
    `densities`."""
    rows = []
    for chapter in batch.column(CHAPTER).unique().to_pylist():
        number = pa.scalar(chapter, pa.int64())
        is_mine = batch.column(CHAPTER).is_null() if chapter is None else pc.equal(batch.column(CHAPTER), number)
        mine = batch.filter(is_mine)
        readable = mine.filter(mine.column("filters").is_valid())
        counts = held.counts(readable.column("at_us").to_numpy(), readable.column("filters"))
        rows.append((mine.num_rows, *counts, chapter))
    return one_batch(table_of(rows, COUNTS))


def densities(counts: pa.Table) -> pa.Table:
    """Return one row: published, matching (messages that satisfy any subscription), notified (subscriptions satisfied,
    summed over messages), looked (subscriptions in force, summed), and pe = matching / published, pp = notified /
    published, sigma = pp / pe, density = notified / looked."""
    published, matching, notified, looked = (sum(counts.column(name).to_pylist()) for name in COUNTED[1:])
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
