"""The traffic: by link, by source, over time; dropped and refused messages.

Law: figures of links and interfaces are those of the counters, which count every message, sampled or not; figures of
sources are those of the recorded messages.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

COUNTERS = ("messages_in", "messages_out", "bytes_in", "bytes_out")


def by_link(interface: DataFrame) -> DataFrame:
    """Return a row for each router and neighbour: the traffic of the interface."""
    return _totals(interface.where(F.col("neighbour").isNotNull()), "router", "neighbour").orderBy(
        F.desc("bytes_out"), "router", "neighbour"
    )


def by_router(interface: DataFrame) -> DataFrame:
    return _totals(interface, "router").orderBy(F.desc("messages_in"), "router")


def over_time(interface: DataFrame, bucket_us: int) -> DataFrame:
    """Return rows by (router, from_us, to_us): the traffic of its interfaces in each span of time, by its own clock."""
    spans = interface.withColumn("from_us", _bucket(bucket_us))
    spans = spans.withColumn("to_us", F.col("from_us") + bucket_us)
    return _totals(spans, "router", "from_us", "to_us").orderBy("from_us", "router")


def by_source(messages: DataFrame) -> DataFrame:
    """Return a row for each source: the messages that entered there, and the length of their routes."""
    took = messages.where(F.col("refused").isNull())
    entered = F.col("hop") == 0
    return (
        took.groupBy("source")
        .agg(
            F.sum(entered.cast("long")).alias("published"),
            F.sum(F.when(entered, F.col("bytes")).otherwise(0)).alias("bytes"),
            F.sum((~entered).cast("long")).alias("hops"),
            F.sum(F.greatest(F.size("to_connections"), F.lit(0))).alias("deliveries"),
        )
        .orderBy(F.desc("published"), "source")
    )


def drops(interface: DataFrame) -> DataFrame:
    """Return rows (router, what, reason, messages); `what` is dropped or refused."""
    parts = [
        interface.select(
            "router", "neighbour", "client", F.lit(what).alias("what"), F.explode(what).alias("reason", "messages")
        )
        for what in ("dropped", "refused")
    ]
    together = parts[0].unionByName(parts[1]).groupBy("router", "neighbour", "client", "what", "reason")
    return together.agg(F.sum("messages").alias("messages")).orderBy(F.desc("messages"), "router", "reason")


def _totals(interface: DataFrame, *by: str) -> DataFrame:
    sums = [F.sum(F.coalesce(name, F.lit(0))).alias(name) for name in COUNTERS]
    return interface.groupBy(*by).agg(*sums, F.max("queued_bytes").alias("queued_bytes_max"))


def _bucket(bucket_us: int) -> Column:
    return (F.floor(F.col("t_us") / bucket_us) * bucket_us).alias("from_us")
