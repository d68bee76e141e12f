"""The faults of the logs themselves: invalid lines, missing records, lives without an end.

Law: nothing is guessed. A gap in the numbers of a router's records is a hole in time, from the record before it to the
one after; a truncated line makes a hole without end, at the router and in the life that it still names. Anything in a
hole, or after the last record of a life, cannot be judged by the other questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.records.parts import sent
from tamis.analysis.records.reading import CORRUPT
from tamis.protocol.records import VERSION

BEGINNING_US = -(1 << 62)
END_US = 1 << 62
PROGRAM = ("sampling", "engine", "strategy", "broadcast", "version")
"""Fields that a router states about itself at its start."""
_NAMED = r'"t_us": ?(\d+), ?"router": ?"([^"]+)", ?"epoch": ?(\d+),'


def lines(tallies: DataFrame) -> DataFrame:
    """Return a row for each family: lines, broken lines (half-written, or no records), lines of a newer version."""
    return tallies.groupBy("family").agg(
        F.sum("lines").alias("lines"),
        F.sum("broken").alias("broken"),
        F.sum(F.when(F.col("v") > VERSION, F.col("lines")).when(F.col("v").isNotNull(), 0)).alias("newer"),
        F.collect_set("v").alias("versions"),
    )


def holes(tallies: DataFrame, heads: Mapping[str, DataFrame], lost: DataFrame, settle_us: int) -> DataFrame:
    """Return rows (router, epoch, family, from_us, to_us, records) of missing records, by the router's clock. `heads`
    are only read if the tallies show that something is missing."""
    found = lost.select(
        *("router", "epoch", "family", (F.col("t_us") - settle_us).alias("from_us")),
        *(F.col("t_us").alias("to_us"), F.col("count").alias("records")),
    )
    columns = ("router", "epoch", "n", "t_us", CORRUPT)
    lines_of = [rows.select(*columns, F.lit(family).alias("family")) for family, rows in heads.items()]
    every = reduce(DataFrame.unionByName, lines_of)
    uneven = _uneven(tallies)
    if not uneven.isEmpty():
        found = found.unionByName(_gaps(every, uneven))
    if not tallies.where(F.col("broken") > 0).isEmpty():
        found = found.unionByName(_broken_off(every))
    return found


def _gaps(lines_of: DataFrame, uneven: DataFrame) -> DataFrame:
    numbered = lines_of.where(F.col(CORRUPT).isNull() & F.col("n").isNotNull() & F.col("router").isNotNull())
    numbered = numbered.join(sent(uneven), ["router", "epoch", "family"], "left_semi")
    order = Window.partitionBy("router", "epoch", "family").orderBy("n")
    return (
        numbered.withColumn("before", F.lag("n").over(order))
        .withColumn("from_us", F.coalesce(F.lag("t_us").over(order), F.lit(BEGINNING_US)))
        .withColumn("records", F.col("n") - F.coalesce("before", F.lit(-1)) - 1)
        .where(F.col("records") > 0)
        .select("router", "epoch", "family", "from_us", F.col("t_us").alias("to_us"), "records")
    )


def _uneven(tallies: DataFrame) -> DataFrame:
    """Return the lives whose numbers are not simply 0, 1, 2 and so on: only these have to be sorted."""
    of_routers = tallies.where(F.col("router").isNotNull() & (F.col("numbered") > 0))
    counted = of_routers.groupBy("router", "epoch", "family").agg(
        F.sum("numbered").alias("count"), F.max("n_max").alias("last"), F.sum("n_sum").alias("sum")
    )
    is_even = (F.col("count") == F.col("last") + 1) & (F.col("sum") * 2 == F.col("count") * F.col("last"))
    return counted.where(~is_even).select("router", "epoch", "family")


def _broken_off(lines_of: DataFrame) -> DataFrame:
    broken = lines_of.where(F.col(CORRUPT).rlike(_NAMED))
    at_us, router, epoch = (F.regexp_extract(CORRUPT, _NAMED, group) for group in (1, 2, 3))
    return broken.select(
        *(router.alias("router"), epoch.cast("long").alias("epoch"), "family"),
        *(at_us.cast("long").alias("from_us"), F.lit(END_US).alias("to_us"), F.lit(1).cast("long").alias("records")),
    )


def lives(tallies: DataFrame, life: DataFrame) -> DataFrame:
    """Return a row for each life of a router: its first and last record, how it ended, what it recorded."""
    spans = (
        tallies.where(F.col("router").isNotNull())
        .groupBy("router", "epoch")
        .agg(*(F.min("first_us").alias("first_us"), F.max("last_us").alias("last_us"), F.sum("lines").alias("records")))
    )
    said = life.groupBy("router", "epoch").agg(
        F.max((F.col("what") == "stopped").cast("int")).alias("stopped"),
        *(F.first(name, ignorenulls=True).alias(name) for name in PROGRAM),
    )
    ended = F.lead("first_us").over(Window.partitionBy("router").orderBy("first_us"))
    end = (
        F.when(F.col("stopped") == 1, "stopped")
        .when(ended.isNotNull(), "broke off")
        .otherwise("open: still running, or not restarted")
    )
    return spans.join(said, ["router", "epoch"], "left").withColumn("end", end).drop("stopped")


def changes(link: DataFrame, life: DataFrame) -> DataFrame:
    """Return a row for each link that came up or went down, as each of its ends wrote it, and for each router that
    started or stopped. Both tables are on one clock."""
    links = link.select(
        "at_us", "router", F.concat(F.lit("link "), "what").alias("what"), F.col("neighbour"), F.col("reason")
    )
    lives = life.select("at_us", "router", F.concat(F.lit("router "), "what").alias("what"))
    return links.unionByName(lives, allowMissingColumns=True).orderBy("at_us", "router", "what", "neighbour")
