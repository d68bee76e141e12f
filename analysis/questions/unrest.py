"""The times when the network was finding new routes, in which no delivery between routers is due.

Law: a moment is restless from `notice_us` before any router wrote of a link, a life or a new topology (a link may be
dead for that time before a router notices) until `settle_us` after, clock errors added. Restlessness is recorded by
ticks, rounded outwards.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

TICK_US = 100_000


def changes(link: DataFrame, life: DataFrame, topology: DataFrame) -> DataFrame:
    """Return rows (router, at_us, error_us, what) of every recorded change. All three tables are on one clock."""
    columns = ("router", "at_us", "error_us")
    links = link.select(*columns, F.concat(F.lit("link "), "what").alias("what"))
    lives = life.select(*columns, F.concat(F.lit("router "), "what").alias("what"))
    return links.unionByName(lives).unionByName(topology.select(*columns, F.lit("topology").alias("what")))


def restless(found: DataFrame, notice_us: int, settle_us: int) -> DataFrame:
    """Return rows (tick, whats): each restless tick and why it is."""
    error = F.coalesce("error_us", F.lit(settle_us))
    first = F.floor((F.col("at_us") - error - notice_us) / TICK_US)
    last = F.floor((F.col("at_us") + error + settle_us) / TICK_US)
    ticks = found.select(
        F.explode(F.sequence(first, last)).alias("tick"), F.concat_ws(" ", "router", "what").alias("what")
    )
    return ticks.groupBy("tick").agg(F.collect_set("what").alias("whats"))


def spans(ticks: DataFrame) -> DataFrame:
    """Return rows (from_us, to_us, whats): the restless ticks joined to spans that do not touch."""
    in_order = Window.orderBy("tick")
    begins = (F.col("tick") - F.lag("tick").over(in_order) > 1).cast("int")
    islands = ticks.withColumn("island", F.sum(F.coalesce(begins, F.lit(0))).over(in_order))
    return (
        islands.groupBy("island")
        .agg(
            (F.min("tick") * TICK_US).alias("from_us"),
            ((F.max("tick") + 1) * TICK_US).alias("to_us"),
            F.sort_array(F.array_distinct(F.flatten(F.collect_list("whats")))).alias("whats"),
        )
        .drop("island")
    )
