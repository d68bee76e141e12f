"""Records of stored messages, grouped by durable subscription and position and judged there.

Law: `fate.py` judges a position; faults across many positions (due messages that never arrived, order, unreported
losses) are found here. A message is due to a durable subscription of the router where it entered, if it satisfies the
predicate and the durable subscription was in force well before and after.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa
from pyarrow import dataset
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, LongType, StringType, StructField, StructType

from tamis.analysis.durable.catalog import TURN_US, DurableCatalog, vanished
from tamis.analysis.durable.fate import DurableEvent, judged
from tamis.analysis.records import parts

PLACE: Final = ("router", "durable")
ID: Final = ("origin", "number")
LOSSES: Final = ("expired", "dropped", "undeliverable", "damaged", "skipped")
"""Outcomes that are reported to consumers."""
_FAULT: Final = StructType([StructField("fault", StringType()), StructField("at_us", LongType())])
JUDGED: Final = StructType(
    [
        *(StructField("router", StringType()), StructField("durable", LongType()), StructField("position", LongType())),
        *(StructField("origin", StringType()), StructField("number", LongType()), StructField("fate", StringType())),
        *(StructField(name, LongType()) for name in ("stored_us", "given_us", "left_us", "tries", "connection")),
        *(StructField("source", StringType()), StructField("faults", ArrayType(_FAULT))),
    ]
)
FAULTS: Final = pa.schema(
    [
        *(("fault", pa.string()), ("router", pa.string()), ("durable", pa.int64()), ("position", pa.int64())),
        *(("origin", pa.string()), ("number", pa.int64()), ("at_us", pa.int64()), ("messages", pa.int64())),
    ]
)
WANTS: Final = pa.schema(
    [
        *(("router", pa.string()), ("epoch", pa.int64()), ("durable", pa.int64()), ("filter", pa.int32())),
        *(("since_us", pa.int64()), ("until_us", pa.int64())),
    ]
)
HOLES: Final = pa.schema(
    [
        ("router", pa.string()),
        ("holes", pa.list_(pa.struct([("from_us", pa.int64()), ("to_us", pa.int64())]))),
    ]
)


# ---- one position ----


def verdicts(kept: DataFrame, published: DataFrame, catalog: DurableCatalog) -> DataFrame:
    """Return a row for each position of each durable subscription, with JUDGED columns. Times are by the router's
    clock."""
    event = F.struct(*DurableEvent._fields)
    alone = kept.where(F.col("position").isNotNull())
    lives = parts.gathered(alone, *PLACE, "position").groupBy(*PLACE, "position")
    told = lives.agg(
        F.sort_array(F.collect_list(event)).alias("events"),
        *(F.first(name, ignorenulls=True).alias(name) for name in ID),
    )
    known = told.join(published.select(*ID, "filters"), list(ID), "left")
    shared = kept.sparkSession.sparkContext.broadcast(catalog)
    schema = to_arrow_schema(JUDGED)

    def judge(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [_judged(shared.value, row) for row in batch.to_pylist()]
            yield pa.RecordBatch.from_pylist(rows, schema)

    columns = (*PLACE, "position", *ID, "events", "filters")
    return known.select(*columns).mapInArrow(judge, JUDGED)


def _judged(catalog: DurableCatalog, row: dict[str, Any]) -> dict[str, Any]:
    events = [DurableEvent(**event) for event in row["events"]]
    found = judged(catalog, row["router"], row["durable"], row["position"], events, row["filters"])
    return {
        **{name: row[name] for name in (*PLACE, "position", *ID)},
        "fate": found.fate,
        "stored_us": found.kept.t_us if found.kept else None,
        "given_us": found.given[0].t_us if found.given else None,
        "left_us": found.left.t_us if found.left else None,
        "tries": len(found.given),
        "connection": found.given[-1].connection if found.given else None,
        "source": found.kept.source if found.kept else None,
        "faults": [{"fault": fault, "at_us": at_us} for fault, at_us in found.faults],
    }


def highest_given(kept: dataset.Dataset) -> dict[tuple[str, int, int], int]:
    """Return, by (router, epoch, durable), the highest position that was delivered for the first time in each life."""
    is_first = (dataset.field("what") == "given") & (dataset.field("deliveries") == 1)
    found: dict[tuple[str, int, int], int] = {}
    for batch in kept.to_batches(columns=["router", "epoch", "keep", "position"], filter=is_first):
        highest = pa.table(batch).group_by(["router", "epoch", "keep"]).aggregate([("position", "max")])
        for row in highest.to_pylist():
            place = row["router"], row["epoch"], row["keep"]
            found[place] = max(found.get(place, 0), row["position_max"])
    return found


# ---- many positions ----


def wants(spark: SparkSession, catalog: DurableCatalog) -> DataFrame:
    """Return a row for each filter of a durable subscription and life: from when to when matching messages were
    certainly due."""
    rows = [
        (router, epoch, number, each, span.from_us + TURN_US, span.to_us - _margin_us(catalog, router, epoch))
        for (router, number), durable in catalog.durables.items()
        for epoch, span in durable.lives.items()
        for each in durable.filters
    ]
    return parts.of_rows(spark, rows, WANTS)


def _margin_us(catalog: DurableCatalog, router: str, epoch: int) -> int:
    life = catalog.lives.get((router, epoch))
    return catalog.settle_us if life is None or life.is_broken else TURN_US


def missing(
    spark: SparkSession, published: DataFrame, entered: DataFrame, found: DataFrame, catalog: DurableCatalog
) -> DataFrame:
    """Return the messages that were due to a durable subscription and were never stored. `entered`: when a message
    entered, by the clock of a router, in one of its lives."""
    source = (F.col("source").alias("router"), F.col("source_epoch").alias("epoch"))
    due = (
        published.select(*ID, *source, "filters")
        .join(entered, [*ID, "router", "epoch"])
        .withColumn("filter", F.explode("filters"))
        .join(parts.sent(wants(spark, catalog)), ["router", "epoch", "filter"])
        .where(F.col("entered_us").between(F.col("since_us"), F.col("until_us")))
        .groupBy(*PLACE, *ID)
        .agg(F.min("entered_us").alias("at_us"))
    )
    gone = due.join(found.select(*PLACE, *ID), [*PLACE, *ID], "left_anti")
    rows = [(router, [span._asdict() for span in spans]) for router, spans in catalog.holes.items()]
    holes = parts.beside(parts.of_rows(spark, rows, HOLES))
    at, settle_us = F.col("at_us"), catalog.settle_us
    is_dark = F.exists(
        F.coalesce("holes", F.array()),
        lambda hole: (hole.from_us - settle_us <= at) & (at <= hole.to_us + settle_us),
    )
    return _faults(gone.join(holes, "router", "left").where(~is_dark), "missing")


def twice(found: DataFrame, kept: DataFrame) -> DataFrame:
    """Return messages of publishers that a durable subscription stored under two positions, though none was marked as a
    second attempt. One that may have been lost in a crash does not count."""
    plain = kept.where(
        (F.col("what") == "kept") & (F.col("source") == "publisher") & ~F.coalesce("maybe_duplicate", F.lit(False))
    )
    there = found.where(F.col("fate") != "unknown").select(*PLACE, "position")
    ids = (
        plain.join(there, [*PLACE, "position"], "left_semi")
        .groupBy(*PLACE, *ID)
        .agg(
            F.countDistinct("position").alias("positions"),
            F.max("position").alias("position"),
            F.max("t_us").alias("at_us"),
        )
    )
    return _faults(ids.where(F.col("positions") > 1), "twice")


def disorder(kept: DataFrame, ordered: DataFrame) -> DataFrame:
    """Return messages that a durable subscription stored, or delivered for the first time in a life, behind later ones.
    `ordered`: the durable subscriptions that deliver in order."""
    is_first = (F.col("what") == "kept") | ((F.col("what") == "given") & (F.col("deliveries") == 1))
    before = Window.partitionBy(*PLACE, "epoch", "what").orderBy("n").rowsBetween(Window.unboundedPreceding, -1)
    firsts = kept.where(is_first).join(parts.beside(ordered), list(PLACE), "left_semi")
    behind = firsts.withColumn("highest", F.max("position").over(before)).where(F.col("position") < F.col("highest"))
    return _faults(behind.withColumn("at_us", F.col("t_us")), "order")


def losses(kept: DataFrame) -> DataFrame:
    """Return by (router, durable, epoch, what) the losses beyond the highest total that was reported to a consumer: how
    many, and when the first was."""
    told = kept.where(F.col("what") == "told").groupBy(*PLACE, F.col("lost").alias("what"))
    most = told.agg(F.max("total").alias("told"))
    lost = kept.where(F.col("what").isin(*LOSSES)).join(parts.beside(most), [*PLACE, "what"], "left")
    untold = lost.where(F.col("total") > F.coalesce("told", F.lit(0)))
    return untold.groupBy(*PLACE, "epoch", "what").agg(F.count("*").alias("messages"), F.min("t_us").alias("at_us"))


def of_durables(spark: SparkSession, catalog: DurableCatalog, untold: pa.Table) -> DataFrame:
    """Return faults of whole durable subscriptions: losses that were not reported although a consumer was attached, and
    durable subscriptions that vanished."""
    rows: list[tuple[object, ...]] = [
        ("untold", row["router"], row["durable"], None, None, None, row["at_us"], row["messages"])
        for row in untold.to_pylist()
        if catalog.had_members(row["router"], row["durable"], row["at_us"])
        and not catalog.may_be_undone(row["router"], row["epoch"], row["at_us"])
        and not catalog.has_hole(row["router"], -(1 << 62), 1 << 62)
    ]
    rows += [
        ("vanished", router, durable, None, None, None, at_us, None) for router, durable, at_us in vanished(catalog)
    ]
    return parts.of_rows(spark, rows, FAULTS)


def of_positions(found: DataFrame) -> DataFrame:
    each = found.withColumn("one", F.explode("faults"))
    return _faults(each.withColumn("at_us", F.col("one.at_us")), F.col("one.fault"))


def _faults(rows: DataFrame, fault: Any) -> DataFrame:  # noqa: ANN401 - a name, or a column
    named = F.lit(fault) if isinstance(fault, str) else fault
    position = F.col("position") if "position" in rows.columns else F.lit(None).cast("long")
    return rows.select(
        named.alias("fault"), *PLACE, position.alias("position"), *ID, "at_us", F.lit(1).cast("long").alias("messages")
    )
