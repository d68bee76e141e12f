"""When the network was finding its ways anew, so that nothing can be demanded of deliveries between routers.

Law: a moment is restless if any router wrote of a link, a life or a new topology within `settle_us` of it, clock
errors added. Restlessness is kept by the second, rounded outwards.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

SECOND_US = 1_000_000


def changes(link: DataFrame, life: DataFrame, topology: DataFrame) -> DataFrame:
    """router, at_us, error_us, what: every change that somebody wrote down. All three are on one clock."""
    columns = ("router", "at_us", "error_us")
    links = link.select(*columns, F.concat(F.lit("link "), "what").alias("what"))
    lives = life.select(*columns, F.concat(F.lit("router "), "what").alias("what"))
    return links.unionByName(lives).unionByName(topology.select(*columns, F.lit("topology").alias("what")))


def restless(found: DataFrame, settle_us: int) -> DataFrame:
    """second, whats: each restless second and why."""
    reach = F.coalesce("error_us", F.lit(settle_us)) + settle_us
    first = F.floor((F.col("at_us") - reach) / SECOND_US)
    last = F.floor((F.col("at_us") + reach) / SECOND_US)
    seconds = found.select(F.explode(F.sequence(first, last)).alias("second"), F.concat_ws(" ", "router", "what").alias("what"))
    return seconds.groupBy("second").agg(F.collect_set("what").alias("whats"))


def spans(seconds: DataFrame) -> DataFrame:
    """from_us, to_us, whats: the same as spans that do not touch."""
    in_order = Window.orderBy("second")
    begins = (F.col("second") - F.lag("second").over(in_order) > 1).cast("int")
    islands = seconds.withColumn("island", F.sum(F.coalesce(begins, F.lit(0))).over(in_order))
    return islands.groupBy("island").agg(
        (F.min("second") * SECOND_US).alias("from_us"),
        ((F.max("second") + 1) * SECOND_US).alias("to_us"),
        F.sort_array(F.array_distinct(F.flatten(F.collect_list("whats")))).alias("whats"),
    ).drop("island")
