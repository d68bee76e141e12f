"""The latency of messages: over a link, from source to router by the length of the route, and in the tables.

Law: a hop lasts from one router's record to the next one's, on one clock; it is no more exact than both clocks. The
visits of a message are gathered once, and all its hops follow from them. Percentiles are exact: times are whole
microseconds, and equal ones are counted before they are put in order, those of links and of lengths in one pass.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.records.parts import gathered, ordered

WAY = ("source", "source_epoch", "transit")
"""Columns that are equal at every router that a message passes."""
PERCENTS = (50, 90, 99)
_BY = ("from_router", "to_router", "hop")
SECOND_US = 1_000_000


def hops(messages: DataFrame) -> DataFrame:
    """Return a row for each link that a message crossed: `took_us` for that link, `since_us` from its source.
    `messages` are on one clock."""
    took = messages.where(F.col("refused").isNull())
    visit = F.struct("router", "hop", "at_us", "from_neighbour")
    visits = took.select(*WAY, visit.alias("visit"))
    ways = gathered(visits, *WAY).groupBy(*WAY).agg(F.collect_list("visit").alias("visits"))
    times = F.map_from_entries(F.transform("visits", lambda visit: F.struct(visit.router, visit.at_us)))
    each = ways.withColumn("times", times).select("source", "times", F.explode("visits").alias("visit"))
    return each.where(F.col("visit.from_neighbour").isNotNull()).select(
        "source",
        F.col("visit.from_neighbour").alias("from_router"),
        F.col("visit.router").alias("to_router"),
        F.col("visit.hop").alias("hop"),
        (F.col("visit.at_us") - F.try_element_at("times", F.col("visit.from_neighbour"))).alias("took_us"),
        (F.col("visit.at_us") - F.try_element_at("times", F.col("source"))).alias("since_us"),
    )


def percentiles(crossed: DataFrame) -> DataFrame:
    """Return, for each percentile, the least time that this share of the times does not exceed: rows by (from_router,
    to_router) for a link, and by `hop`, the number of links from the source."""
    link = F.struct("from_router", "to_router", F.lit(None).cast("long").alias("hop"), F.col("took_us").alias("us"))
    length = F.struct(
        F.lit(None).cast("string").alias("from_router"),
        F.lit(None).cast("string").alias("to_router"),
        "hop",
        F.col("since_us").alias("us"),
    )
    both = crossed.select(F.explode(F.array(link, length)).alias("one")).select("one.*")
    counted = both.where(F.col("us").isNotNull()).groupBy(*_BY, "us").agg(F.count("*").alias("messages"))
    ordered_by = Window.partitionBy(*_BY).orderBy("us")
    whole = ordered_by.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    sums = {"so_far": F.sum("messages").over(ordered_by), "of": F.sum("messages").over(whole)}
    ranked = counted.withColumns(sums)
    each = [
        F.min(F.when(F.col("so_far") * 100 >= F.col("of") * percent, F.col("us"))).alias(f"p{percent}_us")
        for percent in PERCENTS
    ]
    return ranked.groupBy(*_BY).agg(F.sum("messages").alias("messages"), *each, F.max("us").alias("max_us"))


def by_link(found: pa.Table) -> pa.Table:
    links = found.filter(pc.is_valid(found.column("from_router")))
    return ordered(links.drop_columns(["hop"]), "from_router", "to_router")


def by_length(found: pa.Table) -> pa.Table:
    """Return how long messages take from source to router, by the number of links between them."""
    lengths = found.filter(pc.is_null(found.column("from_router")))
    return ordered(lengths.drop_columns(["from_router", "to_router"]), "hop")


def matching(messages: DataFrame, table: DataFrame) -> DataFrame:
    """Return match times by the size of the table, in powers of two of its filters. The size is the last one recorded
    up to the second of the message; messages before the first one are left out."""
    second = ("router", "epoch", F.floor(F.col("t_us") / SECOND_US).alias("second"))
    looked = (
        messages.where(F.col("match_ns").isNotNull())
        .groupBy(*second)
        .agg(
            F.count("*").alias("messages"), F.sum("match_ns").alias("match_ns"), F.max("match_ns").alias("match_ns_max")
        )
    )
    filters = F.coalesce("filters", F.lit(0)) + F.coalesce("remote_filters", F.lit(0))
    sizes = table.groupBy(*second).agg(F.max_by(filters, "n").alias("filters"))
    so_far = Window.partitionBy("router", "epoch").orderBy("second").rangeBetween(Window.unboundedPreceding, 0)
    both = looked.unionByName(sizes, allowMissingColumns=True)
    both = both.withColumn("filters", F.last("filters", ignorenulls=True).over(so_far))
    size = F.pow(F.lit(2), F.floor(F.log2(F.greatest("filters", F.lit(1))))).cast("long")
    known = both.where(F.col("messages").isNotNull() & F.col("filters").isNotNull())
    found = known.groupBy(size.alias("filters_from"))
    return found.agg(
        F.sum("messages").alias("messages"),
        (F.sum("match_ns") / F.sum("messages")).alias("match_ns_mean"),
        F.max("match_ns_max").alias("match_ns_max"),
    )
