"""Control frames between routers: how many, why, how fast they spread, and when there were too many.

Law: a change of the topology is one span of unrest in which a link or a router changed, and has spread when the last
router made a new topology of it. A storm is a second in which a router received far more than usual.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.records.parts import sent

SECOND_US = 1_000_000
STORM_FRAMES = 50
"""Frames in a second below which no second is a storm, however quiet other seconds are."""
STORM_TIMES = 10
"""The factor over the usual second of a router that makes a storm."""


def frames(control: DataFrame) -> DataFrame:
    """Return rows (way, what, cause, frames, bytes, filters) of control frames."""
    return (
        control.groupBy("router", "way", "what", "cause")
        .agg(
            F.count("*").alias("frames"),
            *(F.sum(F.coalesce(name, F.lit(0))).alias(name) for name in ("bytes", "added", "removed")),
        )
        .orderBy("router", "way", "what", "cause")
    )


def statements(control: DataFrame) -> DataFrame:
    """Return a row for each statement of a router: its cost for the network and how long it took to spread. `control`
    is on one clock. Filters are those of the change, even if some neighbours received the whole."""
    said = control.where(F.col("what").isin("LSA", "RA") & F.col("issuer").isNotNull())
    out = F.col("way") == "out"
    return (
        said.groupBy("what", "issuer", "issuer_epoch", "seq")
        .agg(
            F.sum(F.when(out, 1).otherwise(0)).alias("frames"),
            F.sum(F.when(out, F.col("bytes")).otherwise(0)).alias("bytes"),
            F.coalesce(F.max(F.when(~F.col("full"), F.col("added"))), F.max("added"), F.lit(0)).alias("added"),
            F.max(F.coalesce("removed", F.lit(0))).alias("removed"),
            F.countDistinct(F.when(~out, F.col("router"))).alias("heard_by"),
            F.min("at_us").alias("from_us"),
            (F.max(F.when(~out, F.col("at_us"))) - F.min("at_us")).alias("spread_us"),
        )
        .orderBy("from_us", "issuer", "seq")
    )


def convergence(spans: DataFrame, changes: DataFrame) -> DataFrame:
    """Return a row for each span of unrest: its first change of a link or router, and when the last router made a
    topology of it."""
    inside = F.broadcast(spans).join(changes, F.col("at_us").between(F.col("from_us"), F.col("to_us")))
    is_topology = F.col("what") == "topology"
    found = inside.groupBy("from_us", "to_us").agg(
        F.min(F.when(~is_topology, F.col("at_us"))).alias("changed_us"),
        F.max(F.when(is_topology, F.col("at_us"))).alias("settled_us"),
        F.sum((~is_topology).cast("long")).alias("changes"),
        F.countDistinct(F.when(is_topology, F.col("router"))).alias("routers"),
    )
    took = F.greatest(F.col("settled_us") - F.col("changed_us"), F.lit(0))
    return found.withColumn("took_us", took).orderBy("from_us")


def storms(control: DataFrame) -> DataFrame:
    heard = control.where(F.col("way") == "in").groupBy("router", F.floor(F.col("t_us") / SECOND_US).alias("second"))
    seconds = heard.agg(F.count("*").alias("frames"), F.sum("bytes").alias("bytes"))
    usual = seconds.groupBy("router").agg(F.percentile_approx("frames", 0.5).alias("usual"))
    worse = (F.col("frames") >= STORM_FRAMES) & (F.col("frames") > STORM_TIMES * F.col("usual"))
    return seconds.join(sent(usual), "router").where(worse).orderBy(F.desc("frames"), "router", "second")
