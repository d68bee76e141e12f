"""Published contents and subscriptions: attributes, values, and how many of the messages the filters select.

Law: figures are about the published messages that were recorded and the filters that were in force when these entered;
shares are of those. pe, pp and sigma are those of paper 003, the density that of paper 001.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.records.parts import sent

TOP = 20
_CELLS = "origin string, number long, name string, type string, value string"


def cells(published: DataFrame) -> DataFrame:
    """Return a row for each attribute of each message; equal numbers have equal values."""

    def each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [
                (*row[:2], name, _type(value), _text(value))
                for row in zip(
                    *(batch.column(name).to_pylist() for name in ("origin", "number", "attributes")), strict=True
                )
                for name, value in json.loads(row[2]).items()
            ]
            yield pa.RecordBatch.from_arrays(
                [
                    pa.array(column, kind)
                    for column, kind in zip(zip(*rows, strict=True) if rows else [[]] * 5, _ARROW, strict=True)
                ],
                names=["origin", "number", "name", "type", "value"],
            )

    readable = published.where(F.col("filters").isNotNull())
    return readable.select("origin", "number", "attributes").mapInArrow(each, _CELLS)


_ARROW = (pa.string(), pa.int64(), pa.string(), pa.string(), pa.string())


def attributes(found: DataFrame, published: DataFrame) -> DataFrame:
    """Return a row for each attribute: in how many messages it is, its types, how many distinct values it has, its
    range."""
    total = published.agg(F.count("*").alias("total"))
    number = F.when(F.col("type") == "number", F.col("value").try_cast("double"))
    return (
        found.groupBy("name")
        .agg(
            F.count("*").alias("messages"),
            F.sort_array(F.collect_set("type")).alias("types"),
            F.approx_count_distinct("value", 0.02).alias("distinct"),
            F.min(number).alias("least"),
            F.percentile_approx(number, 0.5).alias("median"),
            F.max(number).alias("most"),
        )
        .crossJoin(F.broadcast(total))
        .withColumn("share", F.col("messages") / F.col("total"))
        .drop("total")
        .orderBy(F.desc("messages"), "name")
    )


def values(found: DataFrame) -> DataFrame:
    """Return the most frequent values of each attribute."""
    each = found.groupBy("name", "type", "value").agg(F.count("*").alias("messages"))
    rank = F.row_number().over(Window.partitionBy("name").orderBy(F.desc("messages"), "value"))
    return each.withColumn("rank", rank).where(F.col("rank") <= TOP).orderBy("name", "rank")


def filters(published: DataFrame, numbered: DataFrame, in_force: DataFrame) -> DataFrame:
    """Return a row for each filter: how many subscriptions have it, and how many of all messages satisfy it."""
    hits = published.select(F.explode("filters").alias("filter")).groupBy("filter").agg(F.count("*").alias("matches"))
    asked = in_force.groupBy("filter").agg(F.count("*").alias("subscriptions"))
    total = published.agg(F.count("filters").alias("total"))
    return (
        numbered.join(hits, "filter", "left")
        .join(asked, "filter", "left")
        .crossJoin(F.broadcast(total))
        .select(
            *("filter", "form", F.coalesce("subscriptions", F.lit(0)).alias("subscriptions")),
            F.coalesce("matches", F.lit(0)).alias("matches"),
            F.try_divide(F.coalesce("matches", F.lit(0)), F.col("total")).alias("selectivity"),
        )
        .orderBy(F.desc("matches"), "filter")
    )


def constraints(filters_found: DataFrame) -> DataFrame:
    """Return rows (attribute, operator, filters): how many filters have the pair."""
    form = F.from_json("form", "array<array<string>>")
    each = filters_found.select(F.explode(form).alias("constraint"))
    negated = F.col("constraint")[1] == "not"
    operator = F.when(negated, F.concat(F.lit("not "), F.try_element_at("constraint", F.lit(3)))).otherwise(
        F.col("constraint")[1]
    )
    each = each.select(F.col("constraint")[0].alias("name"), operator.alias("operator"))
    return each.groupBy("name", "operator").agg(F.count("*").alias("filters")).orderBy(F.desc("filters"), "name")


def densities(published: DataFrame, in_force: DataFrame, offsets: DataFrame) -> DataFrame:
    """Return one row: published, matching (messages that satisfy any subscription), notified (subscriptions satisfied,
    summed over messages), looked (subscriptions in force, summed), and pe = matching / published, pp = notified /
    published, sigma = pp / pe, density = notified / looked."""
    known = offsets.select("router", F.coalesce("offset_us", F.lit(0)).alias("offset_us"))
    spans = in_force.join(sent(known), "router").select(
        "filter", *((F.col(name) + F.col("offset_us")).alias(name) for name in ("since_us", "until_us"))
    )
    held = published.sparkSession.sparkContext.broadcast(_Held.of(spans.toArrow()))

    def counted(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            counts = held.value.counts(batch.column("at_us").to_numpy(), batch.column("filters"))
            yield pa.RecordBatch.from_arrays([pa.array([count]) for count in counts], names=list(_COUNTS))

    messages = published.where(F.col("filters").isNotNull()).select("at_us", "filters")
    each = messages.mapInArrow(counted, ", ".join(f"{name} long" for name in _COUNTS))
    return each.agg(*(F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in _COUNTS)).select(
        *_COUNTS,
        F.try_divide("matching", "published").alias("pe"),
        F.try_divide("notified", "published").alias("pp"),
        F.try_divide("notified", "matching").alias("sigma"),
        F.try_divide("notified", "looked").alias("density"),
    )


_COUNTS = ("published", "matching", "notified", "looked")
_Times = tuple[NDArray[np.int64], NDArray[np.int64]]


class _Held:
    """The sorted times at which subscriptions began and ended: of each filter, and of all."""

    def __init__(self, every: _Times, by_filter: dict[int, _Times]) -> None:
        self._every, self._by_filter = every, by_filter

    @classmethod
    def of(cls, spans: pa.Table) -> _Held:
        filters, since, until = (spans.column(name).to_numpy() for name in ("filter", "since_us", "until_us"))
        by_filter = {each: (np.sort(since[mine]), np.sort(until[mine])) for each, mine in _places(filters)}
        return cls((np.sort(since), np.sort(until)), by_filter)

    def counts(self, at_us: NDArray[np.int64], lists: pa.ListArray) -> tuple[int, int, int, int]:
        """Return the counts named in _COUNTS for messages at `at_us` and the filters that each satisfies."""
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
