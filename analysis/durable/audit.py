"""Records of stored messages, grouped by durable subscription and position and judged there.

Law: `fate.py` judges a position; faults across many positions (due messages that never arrived, order, unreported
losses) are found here. A message is due to a durable subscription of the router where it entered, if it satisfies the
predicate and the durable subscription was in force well before and after. What is found of one position, and what of
one message, is found by records of these alone, and by what `grounds.py` has of the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema

from tamis.analysis.durable import custody
from tamis.analysis.durable.catalog import TURN_US, DurableCatalog, vanished
from tamis.analysis.durable.fate import DurableEvent, judged
from tamis.analysis.records.by_message import CHAPTER
from tamis.analysis.spark import parts

PLACE: Final = ("router", "durable")
ID: Final = ("origin", "number")
LOSSES: Final = ("expired", "dropped", "undeliverable", "damaged", "skipped")
"""Outcomes that are reported to consumers."""
Told = Mapping[tuple[str, int, str], int]
"""(router, durable, outcome) -> the highest total that was reported to a consumer."""
_PLACE: Final = (("router", pa.string()), ("durable", pa.int64()))
_ID: Final = (("origin", pa.string()), ("number", pa.int64()))
_FAULT: Final = pa.struct([("fault", pa.string()), ("at_us", pa.int64())])
EVENT: Final = ("epoch", "n", *DurableEvent._fields[2:], "total")
"""What is gathered of a record; records of a position are in order of the first two."""
JUDGED: Final = pa.schema(
    [
        *(*_PLACE, ("position", pa.int64()), *_ID, ("fate", pa.string())),
        *((name, pa.int64()) for name in ("stored_us", "given_us", "left_us", "tries", "connection")),
        ("faults", pa.list_(_FAULT)),
        *((name, pa.int64()) for name in ("from_us", "to_us", "first_epoch", "last_epoch", CHAPTER)),
    ]
)
"""`from_us`, `to_us`: the time of its records; `first_epoch`, `last_epoch`: the lives in which they were written."""
FIRSTS: Final = pa.schema(
    [
        *(*_PLACE, ("epoch", pa.int64()), ("what", pa.string()), ("n", pa.int64()), ("position", pa.int64())),
        *(*_ID, ("t_us", pa.int64()), (CHAPTER, pa.int64())),
    ]
)
LOST: Final = pa.schema(
    [
        *(*_PLACE, ("epoch", pa.int64()), ("what", pa.string()), ("total", pa.int64())),
        *(("t_us", pa.int64()), (CHAPTER, pa.int64())),
    ]
)
DUE: Final = pa.schema([*_PLACE, *_ID, ("at_us", pa.int64()), (CHAPTER, pa.int64())])
OF_MESSAGES: Final = pa.schema(
    [
        *(("what", pa.string()), *_PLACE, ("position", pa.int64()), *_ID),
        *(("at_us", pa.int64()), ("epoch", pa.int64()), ("peer", pa.string()), ("how", pa.string())),
        *(("taken_us", pa.int64()), (CHAPTER, pa.int64())),
    ]
)
"""`missing`: a message that was due, of which no record says that it was stored; `stray`: one that does not match;
`twice`: one that was stored at several positions; `stored`: a durable subscription that stored any; `entered`: the rows
of `custody.entered`."""
WANTED: Final = pa.schema([*_PLACE, ("wanted", pa.list_(pa.int32()))])
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


def by_position(stored: DataFrame) -> DataFrame:
    """Return a row for each position of each durable subscription with its records in order. `stored`: with CHAPTER."""
    lives = parts.gathered(stored, *PLACE, "position").groupBy(*PLACE, "position", CHAPTER)
    return lives.agg(
        F.sort_array(F.collect_list(F.struct(*EVENT))).alias("events"),
        *(F.first(name, ignorenulls=True).alias(name) for name in ID),
    )


def verdicts(catalog: DurableCatalog, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the rows of JUDGED of a batch of positions. Times are by the router's clock."""
    return pa.RecordBatch.from_pylist([_judged(catalog, row) for row in batch.to_pylist()], JUDGED)


def _judged(catalog: DurableCatalog, row: dict[str, Any]) -> dict[str, Any]:
    events = [DurableEvent(*(event[name] for name in DurableEvent._fields)) for event in row["events"]]
    found = judged(catalog, row["router"], row["durable"], row["position"], events)
    return {
        **{name: row[name] for name in (*PLACE, "position", *ID, CHAPTER)},
        "fate": found.fate,
        "stored_us": found.kept.t_us if found.kept else None,
        "given_us": found.given[0].t_us if found.given else None,
        "left_us": found.left.t_us if found.left else None,
        "tries": len(found.given),
        "connection": found.given[-1].connection if found.given else None,
        "faults": [{"fault": fault, "at_us": at_us} for fault, at_us in found.faults],
        "from_us": min(event.t_us for event in events),
        "to_us": max(event.t_us for event in events),
        "first_epoch": events[0].epoch,
        "last_epoch": events[-1].epoch,
    }


def firsts(_: object, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the records that messages were stored, or delivered for the first time in a life."""
    rows = _events(batch)
    is_first = pc.and_(pc.equal(rows.column("what"), "given"), pc.equal(rows.column("deliveries"), 1))
    return _batch(rows.filter(pc.or_kleene(is_first, pc.equal(rows.column("what"), "kept"))), FIRSTS)


def losses(told: Told, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the losses that were not reported to a consumer."""
    rows = _events(batch)
    return untold(told, _batch(rows.filter(pc.is_in(rows.column("what"), pa.array(LOSSES))), LOST))


def untold(told: Told, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return those rows of LOST that are beyond the highest total that was reported."""
    keys = zip(*(batch.column(name).to_pylist() for name in (*PLACE, "what")), strict=True)
    highest = pa.array([told.get(key, 0) for key in keys], pa.int64())
    return batch.filter(pc.greater(batch.column("total"), highest))


def _events(batch: pa.RecordBatch) -> pa.Table:
    """Return a row for each record of a batch of positions, with the message of its position."""
    lists = batch.column("events")
    of, events = pc.list_parent_indices(lists), lists.flatten()
    columns = {name: events.field(name) for name in EVENT}
    return pa.table(columns | {name: batch.column(name).take(of) for name in (*PLACE, "position", *ID, CHAPTER)})


def _batch(rows: pa.Table, schema: pa.Schema) -> pa.RecordBatch:
    found: list[pa.RecordBatch] = rows.select(schema.names).cast(schema).combine_chunks().to_batches()
    return found[0] if found else pa.RecordBatch.from_pylist([], schema)


# ---- one message ----


@dataclass(frozen=True)
class DueContext:
    """From when to when messages are due to durable subscriptions, and the difference of each router's clock."""

    wants: pa.Table
    offsets_us: Mapping[str, int]


def due(known: DueContext, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the rows of DUE of a batch of messages that entered. Times are by the router's clock."""
    offsets_us = [known.offsets_us.get(router, 0) for router in batch.column("source").to_pylist()]
    entered_us = pc.subtract(batch.column("at_us"), pa.array(offsets_us, pa.int64()))
    lists = batch.column("filters")
    columns = [*(batch.column(name) for name in (*ID, "source", "source_epoch", CHAPTER)), entered_us]
    each = [lists.flatten(), *(column.take(pc.list_parent_indices(lists)) for column in columns)]
    rows = pa.table(each, names=["filter", *ID, "router", "epoch", CHAPTER, "at_us"])
    found = rows.join(known.wants, ["router", "epoch", "filter"], join_type="inner", use_threads=False)
    at_us, since_us, until_us = (found.column(name) for name in ("at_us", "since_us", "until_us"))
    is_due = pc.and_(pc.greater_equal(at_us, since_us), pc.less_equal(at_us, until_us))
    return _batch(found.filter(is_due).group_by(DUE.names, use_threads=False).aggregate([]), DUE)


def of_messages(
    spark: SparkSession, asked: DataFrame, entered: DataFrame, stored: DataFrame, catalog: DurableCatalog
) -> DataFrame:
    """Return the rows of OF_MESSAGES. `asked`: rows of DUE; `stored`: the records that messages were stored, here or
    for another router."""
    key, for_others = [*PLACE, *ID], custody.entered(stored)
    stored = stored.where(F.col("what") == "kept")
    is_plain = (F.col("source") == "publisher") & ~F.coalesce("maybe_duplicate", F.lit(False))
    plain = stored.where(is_plain).groupBy(*key, CHAPTER).agg(F.collect_set(F.struct("position", "t_us")).alias("all"))
    several = plain.where(F.size(F.array_distinct(F.col("all.position"))) > 1)
    filters = [(*place, sorted(durable.filters)) for place, durable in catalog.durables.items() if durable.filters]
    wanted = parts.beside(parts.of_rows(spark, filters, WANTED))
    known = entered.where(F.col("filters").isNotNull()).select(*ID, "filters")
    alone = stored.where(~F.col("source").eqNullSafe("letter")).join(known, list(ID)).join(wanted, list(PLACE))
    others = alone.where(~F.arrays_overlap("filters", "wanted"))
    found = (
        ("missing", asked.join(stored.select(*key), key, "left_anti")),
        ("stray", others.groupBy(*key, "position", CHAPTER).agg(F.min("t_us").alias("at_us"))),
        ("twice", several.select(*key, CHAPTER, F.inline("all")).withColumnRenamed("t_us", "at_us")),
        ("stored", stored.select(*PLACE, CHAPTER).distinct()),
        ("entered", for_others.select("router", "epoch", "peer", "position", *ID, "at_us", "how", "taken_us", CHAPTER)),
    )
    return reduce(DataFrame.unionByName, (_of_message(what, rows) for what, rows in found))


def _of_message(what: str, rows: DataFrame) -> DataFrame:
    columns = (
        F.col(field.name) if field.name in rows.columns else F.lit(None).cast(field.dataType).alias(field.name)
        for field in from_arrow_schema(OF_MESSAGES).fields[1:]
    )
    return rows.select(F.lit(what).alias("what"), *columns)


# ---- many positions ----


def wants(catalog: DurableCatalog) -> pa.Table:
    """Return a row for each filter of a durable subscription and life: from when to when matching messages were
    certainly due."""
    rows = (
        (router, epoch, number, each, span.from_us + TURN_US, span.to_us - _margin_us(catalog, router, epoch))
        for (router, number), durable in catalog.durables.items()
        for epoch, span in durable.lives.items()
        for each in durable.filters
    )
    return parts.table_of(rows, WANTS)


def _margin_us(catalog: DurableCatalog, router: str, epoch: int) -> int:
    life = catalog.lives.get((router, epoch))
    return catalog.settle_us if life is None or life.is_broken else TURN_US


def missing(spark: SparkSession, of_message: DataFrame, found: DataFrame, catalog: DurableCatalog) -> DataFrame:
    """Return the messages that were due to a durable subscription and were never stored."""
    asked = of_message.where(F.col("what") == "missing")
    gone = asked.join(found.select(*PLACE, *ID), [*PLACE, *ID], "left_anti")
    rows = [(router, [span._asdict() for span in spans]) for router, spans in catalog.holes.items()]
    holes = parts.beside(parts.of_rows(spark, rows, HOLES))
    at, settle_us = F.col("at_us"), catalog.settle_us
    is_dark = F.exists(
        F.coalesce("holes", F.array()),
        lambda hole: (hole.from_us - settle_us <= at) & (at <= hole.to_us + settle_us),
    )
    return _faults(gone.join(holes, "router", "left").where(~is_dark), "missing")


def strays(of_message: DataFrame) -> DataFrame:
    return _faults(of_message.where(F.col("what") == "stray"), "stray")


def twice(of_message: DataFrame, found: DataFrame) -> DataFrame:
    """Return messages of publishers that a durable subscription stored under two positions, though none was marked as a
    second attempt. One that may have been lost in a crash does not count."""
    there = found.where(F.col("fate") != "unknown").select(*PLACE, "position")
    ids = (
        of_message.where(F.col("what") == "twice")
        .join(there, [*PLACE, "position"], "left_semi")
        .groupBy(*PLACE, *ID)
        .agg(
            F.countDistinct("position").alias("positions"),
            F.max("position").alias("position"),
            F.max("at_us").alias("at_us"),
        )
    )
    return _faults(ids.where(F.col("positions") > 1), "twice")


def disorder(first: DataFrame, ordered: DataFrame) -> DataFrame:
    """Return messages that a durable subscription stored, or delivered for the first time in a life, behind later ones.
    `first`: rows of FIRSTS; `ordered`: the durable subscriptions that deliver in order."""
    before = Window.partitionBy(*PLACE, "epoch", "what").orderBy("n").rowsBetween(Window.unboundedPreceding, -1)
    mine = first.join(parts.beside(ordered), list(PLACE), "left_semi")
    behind = mine.withColumn("highest", F.max("position").over(before)).where(F.col("position") < F.col("highest"))
    return _faults(behind.withColumn("at_us", F.col("t_us")), "order")


def lost(unreported: DataFrame) -> DataFrame:
    """Return by (router, durable, epoch, what) the losses that were not reported: how many, and when the first was."""
    grouped = unreported.groupBy(*PLACE, "epoch", "what")
    return grouped.agg(F.count("*").alias("messages"), F.min("t_us").alias("at_us"))


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


def missing_at_home(found: DataFrame) -> DataFrame:
    """Return the messages that a home of custody lacks. `found`: the rows of `custody.judged`."""
    return _faults(custody.missing_at_home(found), "missing at home")


def of_positions(found: DataFrame) -> DataFrame:
    each = found.withColumn("one", F.explode("faults"))
    return _faults(each.withColumn("at_us", F.col("one.at_us")), F.col("one.fault"))


def _faults(rows: DataFrame, fault: Any) -> DataFrame:  # noqa: ANN401 - a name, or a column
    named = F.lit(fault) if isinstance(fault, str) else fault
    position = F.col("position") if "position" in rows.columns else F.lit(None).cast("long")
    return rows.select(
        named.alias("fault"), *PLACE, position.alias("position"), *ID, "at_us", F.lit(1).cast("long").alias("messages")
    )
