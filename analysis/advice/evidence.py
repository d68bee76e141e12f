"""The input of the rules: small tables made from the records.

Law: figures of messages are those of the recorded messages, totals those of the counters, which count all messages.
Times are the mean without the slowest hundredth: a match that the system interrupted is no measurement of an engine.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, DoubleType, LongType, StringType, StructField, StructType

SLOWEST: Final = 0.01
ACCURACY: Final = 10_000
QUEUE_FULL: Final = "queue_full"
PREDICATES: Final = ("RA", "SR", "UR", "HELD", "EA", "EH", "ER")
"""Kinds of control frames that a network which floods every message would not need."""
THRESHOLDS: Final = (10, 20, 40, 60, 80, 120, 160, 240)
"""Thresholds of reuse to try: from a few keys up to the largest that paper 001 tried."""


def _schema(**types: type[LongType | DoubleType | StringType]) -> StructType:
    return StructType([StructField(name, of()) for name, of in types.items()])


MATCH_TIMES: Final = _schema(router=StringType, messages=LongType, match_ns=DoubleType, at_us=LongType)
OVERFLOWS: Final = _schema(
    router=StringType,
    neighbour=StringType,
    client=StringType,
    dropped=LongType,
    worst=LongType,
    message_bytes=DoubleType,
)
REACH: Final = StructType(
    [
        StructField("source", StringType()),
        StructField("wanted_at", ArrayType(StringType())),
        StructField("messages", LongType()),
        StructField("frames", LongType()),
    ]
)
TOTALS: Final = _schema(
    published=LongType, control_bytes=LongType, frame_bytes=DoubleType, downstream_ns=DoubleType, links_lost=LongType
)
EXCLUSIONS: Final = _schema(name=StringType, in_messages=DoubleType, in_filters=DoubleType, excluded=DoubleType)
KEYS: Final = _schema(threshold=LongType, complete=DoubleType, keys=DoubleType)


def _as(schema: StructType, found: DataFrame) -> DataFrame:
    return found.select(*(F.col(field.name).cast(field.dataType) for field in schema.fields))


def match_times(messages: DataFrame) -> DataFrame:
    """Return a row for each router: how many matches were timed, how long they took, and when half of them were
    over."""
    timed = messages.where(F.col("match_ns").isNotNull() & F.col("refused").isNull())
    bounds = timed.groupBy("router").agg(
        F.count("*").alias("messages"),
        F.percentile_approx("match_ns", 1 - SLOWEST, ACCURACY).alias("most_ns"),
        F.percentile_approx("t_us", 0.5, ACCURACY).alias("at_us"),
    )
    usual = timed.join(F.broadcast(bounds), "router").where(F.col("match_ns") <= F.col("most_ns"))
    found = usual.groupBy("router", "messages", "at_us").agg(F.avg("match_ns").alias("match_ns"))
    return _as(MATCH_TIMES, found).orderBy("router")


def overflows(interface: DataFrame, messages: DataFrame) -> DataFrame:
    """Return a row for each interface that lost messages to a full queue: how many, the most that one overflow
    took, from an empty queue to the next one, and the size of a message: of those that the router recorded as
    dropped, or of all that it recorded, but no less than the counters have it. (The counters miss what was queued
    and never written.)"""
    one = ("router", "epoch", "interface")
    lost = F.coalesce(F.try_element_at("dropped", F.lit(QUEUE_FULL)), F.lit(0))
    is_empty = (F.coalesce("queued_bytes", F.lit(0)) == 0).cast("long")
    before = Window.partitionBy(*one).orderBy("n").rowsBetween(Window.unboundedPreceding, -1)
    runs = interface.withColumn("lost", lost).withColumn("run", F.coalesce(F.sum(is_empty).over(before), F.lit(0)))
    each = runs.groupBy(*one, "run").agg(
        F.sum("lost").alias("lost"),
        *(F.sum(F.coalesce(name, F.lit(0))).alias(name) for name in ("bytes_out", "messages_out")),
        *(F.first(name, ignorenulls=True).alias(name) for name in ("neighbour", "client")),
    )
    found = each.groupBy(*one).agg(
        F.sum("lost").alias("dropped"),
        F.max("lost").alias("worst"),
        F.try_divide(F.sum("bytes_out"), F.sum("messages_out")).alias("written_bytes"),
        *(F.first(name, ignorenulls=True).alias(name) for name in ("neighbour", "client")),
    )
    was_dropped = F.size("dropped") > 0
    sizes = messages.groupBy("router").agg(
        F.coalesce(F.avg(F.when(was_dropped, F.col("bytes"))), F.avg("bytes")).alias("recorded_bytes")
    )
    sized = found.where(F.col("dropped") > 0).join(F.broadcast(sizes), "router", "left")
    sized = sized.withColumn("message_bytes", F.greatest("written_bytes", "recorded_bytes"))
    return _as(OVERFLOWS, sized).orderBy("router", "neighbour", "client")


def reach(messages: DataFrame) -> DataFrame:
    """Return a row for each source and set of routers that delivered its messages: how many messages, and how many
    frames between routers they caused."""
    took = messages.where(F.col("refused").isNull())
    each = took.groupBy("source", "source_epoch", "transit").agg(
        F.sort_array(F.collect_set(F.when(F.coalesce("matched", F.lit(0)) > 0, F.col("router")))).alias("wanted_at"),
        F.sum((F.col("hop") > 0).cast("long")).alias("frames"),
    )
    found = each.groupBy("source", "wanted_at").agg(F.count("*").alias("messages"), F.sum("frames").alias("frames"))
    return _as(REACH, found).orderBy("source", "wanted_at")


def totals(interface: DataFrame, control: DataFrame, messages: DataFrame, link: DataFrame) -> DataFrame:
    """Return one row: what clients published, the control bytes about filters between routers, the size of a frame
    between routers, the usual match time after the first router, and how often an end of a link lost it."""
    counted = interface.agg(F.sum(F.when(F.col("neighbour").isNull(), F.col("messages_in"))).alias("published"))
    said = control.where((F.col("way") == "out") & F.col("what").isin(*PREDICATES))
    spoken = said.agg(F.coalesce(F.sum("bytes"), F.lit(0)).alias("control_bytes"))
    crossed = messages.where((F.col("hop") > 0) & F.col("refused").isNull()).agg(
        F.avg("bytes").alias("frame_bytes"), F.percentile_approx("match_ns", 0.5, ACCURACY).alias("downstream_ns")
    )
    lost = link.agg(F.sum((F.col("what") == "down").cast("long")).alias("links_lost"))
    return _as(TOTALS, counted.crossJoin(spoken).crossJoin(crossed).crossJoin(lost))


def exclusions(attributes: DataFrame, constraints: DataFrame, filters: DataFrame) -> DataFrame:
    """Return a row for each name that filters constrain: the share of messages and of filters that have it, and the
    share of all filters that looking for it first excludes on average (those that need it, where it is absent)."""
    total = filters.agg(F.count("*").alias("total"))
    gating = constraints.where(~F.col("operator").startswith("not "))
    named = gating.groupBy("name").agg(F.sum("filters").alias("filters")).crossJoin(F.broadcast(total))
    in_filters = F.least(F.col("filters") / F.col("total"), F.lit(1.0))
    in_messages = F.coalesce("share", F.lit(0.0))
    found = named.join(attributes.select("name", "share"), "name", "left").select(
        *("name", in_messages.alias("in_messages"), in_filters.alias("in_filters")),
        ((1 - in_messages) * in_filters).alias("excluded"),
    )
    return _as(EXCLUSIONS, found).orderBy(F.desc("excluded"), F.desc("in_filters"), "name")


def keys(published: DataFrame) -> DataFrame:
    """Return a row for each threshold of reuse: the share of messages that satisfy no more filters than that, and the
    keys that a message would carry."""
    satisfied = published.where(F.col("filters").isNotNull()).select(F.size("filters").alias("size"))
    columns = []
    for threshold in THRESHOLDS:
        complete = F.avg((F.col("size") <= threshold).cast("double"))
        carried = F.avg(F.least("size", F.lit(threshold)).cast("double"))
        columns.append(F.struct(F.lit(threshold).alias("threshold"), complete.alias("complete"), carried.alias("keys")))
    found = satisfied.agg(F.array(*columns).alias("rows")).select(F.explode("rows").alias("row")).select("row.*")
    return _as(KEYS, found.where(F.col("complete").isNotNull())).orderBy("threshold")
