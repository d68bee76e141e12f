"""The latency of messages: over a link, from source to router by the length of the route, and in the tables.

Law: a hop lasts from one router's record to the next one's, on one clock; it is no more exact than both clocks. The
visits of a message are gathered once, and all its hops follow from them. Spark counts equal times, which are whole
microseconds, as the two routers' own clocks show them, which later records do not change; the difference between these
clocks is added here. Percentiles are exact while two routers have no more than EXACT_MAX different times; the times of
others are counted in buckets, so that what comes here is bounded for two routers and a number of links: a bucket
is as wide as 1/1,024 of its distance from the least time, at most, and counts as the greatest time in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.questions.clocks import RouterClock
from tamis.analysis.questions.matches import group_starts
from tamis.analysis.records.chapters import CHAPTER
from tamis.analysis.records.parts import gathered, ordered

WAY = ("source", "source_epoch", "transit")
"""Columns that are equal at every router that a message passes."""
PERCENTS = (50, 90, 99)
EXACT_MAX = 1_024
"""Different times of two routers and a number of links up to which each is counted by itself."""
BUCKET_BITS: Final = 11
"""Binary digits of a distance from the least time that tell buckets apart: 2,048 buckets of a microsecond, and 1,024
more for each doubling."""
SECOND_US = 1_000_000
_FIGURES: Final = ("messages", *(f"p{percent}_us" for percent in PERCENTS), "max_us")
_SECOND: Final = ("router", "epoch", "second")
_MATCHING: Final = pa.schema(
    [
        *(("filters_from", pa.int64()), ("messages", pa.int64())),
        *(("match_ns_mean", pa.float64()), ("match_ns_max", pa.int64())),
    ]
)


def times(messages: DataFrame) -> DataFrame:
    """Return how many messages took how long, by their routers' own clocks: rows (from_router, to_router, hop, us,
    messages), where `hop` is the number of links from the source, and -1 is one link."""
    took = messages.where(F.col("refused").isNull())
    visit = F.struct("router", "hop", "t_us", "from_neighbour")
    visits = took.select(CHAPTER, *WAY, visit.alias("visit"))
    ways = gathered(visits, *WAY).groupBy(CHAPTER, *WAY).agg(F.collect_list("visit").alias("visits"))
    known = F.map_from_entries(F.transform("visits", lambda visit: F.struct(visit.router, visit.t_us)))
    each = ways.withColumn("times", known).select(CHAPTER, "source", "times", F.explode("visits").alias("visit"))
    crossed = each.where(F.col("visit.from_neighbour").isNotNull())
    link, length = (
        F.struct(
            F.col(router).alias("from_router"),
            F.col("visit.router").alias("to_router"),
            hop.alias("hop"),
            (F.col("visit.t_us") - F.try_element_at("times", F.col(router))).alias("us"),
        )
        for router, hop in (("visit.from_neighbour", F.lit(-1).cast("long")), ("source", F.col("visit.hop")))
    )
    both = crossed.select(CHAPTER, F.explode(F.array(link, length)).alias("one")).select(CHAPTER, "one.*")
    return _in_buckets(both.where(F.col("us").isNotNull()).groupBy(*both.columns).agg(F.count("*").alias("messages")))


def _in_buckets(counted: DataFrame) -> DataFrame:
    """Return the counted times, those of a pair with many in buckets."""
    pair = [name for name in counted.columns if name not in ("us", "messages")]
    mine = Window.partitionBy(*pair)
    above_us = F.col("us") - F.min("us").over(mine)
    digits = F.when(F.count("*").over(mine) > EXACT_MAX, F.length(F.bin(above_us))).otherwise(0)
    placed = counted.withColumns({"above_us": above_us, "shift": F.greatest(digits - BUCKET_BITS, F.lit(0))})
    bucket = F.expr("shiftright(above_us, shift)").alias("bucket")
    found = placed.groupBy(*pair, "shift", bucket).agg(F.max("us").alias("us"), F.sum("messages").alias("messages"))
    return found.select(*counted.columns)


def by_link(found: pa.Table, clocks: Mapping[str, RouterClock]) -> pa.Table:
    links = found.filter(pc.equal(found.column("hop"), -1))
    return _percentiles(_on_one_clock(links, clocks), "from_router", "to_router")


def by_length(found: pa.Table, clocks: Mapping[str, RouterClock]) -> pa.Table:
    """Return how long messages take from source to router, by the number of links between them."""
    lengths = found.filter(pc.fill_null(pc.not_equal(found.column("hop"), -1), fill_value=True))
    return _percentiles(_on_one_clock(lengths, clocks), "hop")


def _on_one_clock(found: pa.Table, clocks: Mapping[str, RouterClock]) -> pa.Table:
    """Return the times with the difference between the clocks of the two routers."""
    routers = sorted(clocks)
    offsets_us = pa.array([clocks[router].offset_us for router in routers], pa.int64())
    from_us, to_us = (
        pc.fill_null(offsets_us.take(pc.index_in(found.column(name), pa.array(routers, pa.string()))), 0)
        for name in ("from_router", "to_router")
    )
    us = pc.add(found.column("us"), pc.subtract(to_us, from_us))
    return found.set_column(found.schema.get_field_index("us"), "us", us)


def _percentiles(found: pa.Table, *by: str) -> pa.Table:
    """Return, for each percentile, the least time that this share of the times does not exceed."""
    counted = found.group_by([*by, "us"], use_threads=False).aggregate([("messages", "sum")])
    rows = ordered(counted, *by, "us").combine_chunks()
    us, messages = (rows.column(name).to_numpy() for name in ("us", "messages_sum"))
    keys = [pc.fill_null(rows.column(name).dictionary_encode("encode").combine_chunks().indices, -1) for name in by]
    starts = group_starts(*(key.to_numpy() for key in keys))
    ends = np.append(starts[1:], len(us))
    figures = []
    for start, end in zip(starts, ends, strict=True) if len(us) else ():
        so_far = np.cumsum(messages[start:end])
        least = [np.searchsorted(so_far * 100, so_far[-1] * percent) for percent in PERCENTS]
        figures.append((so_far[-1], *us[start + np.array(least)], us[end - 1]))
    columns = [pa.array(column, pa.int64()) for column in zip(*figures, strict=True)] or [pa.array([], pa.int64())] * 5
    groups = rows.select(list(by)).take(pa.array(starts if len(us) else [], pa.int64()))
    return pa.table([*groups.columns, *columns], names=[*by, *_FIGURES])


def matched(messages: DataFrame) -> DataFrame:
    """Return the match times of each second of a router."""
    second = F.floor(F.col("t_us") / SECOND_US).alias("second")
    return (
        messages.where(F.col("match_ns").isNotNull())
        .groupBy(CHAPTER, "router", "epoch", second)
        .agg(
            F.count("*").alias("messages"), F.sum("match_ns").alias("match_ns"), F.max("match_ns").alias("match_ns_max")
        )
    )


def sizes(table: DataFrame) -> DataFrame:
    """Return the last size of the table in each second of a router in which it was recorded."""
    filters = F.coalesce("filters", F.lit(0)) + F.coalesce("remote_filters", F.lit(0))
    second = F.floor(F.col("t_us") / SECOND_US).alias("second")
    return table.groupBy("router", "epoch", second).agg(F.max_by(filters, "n").alias("filters"))


def matching(looked: pa.Table, tables: pa.Table) -> pa.Table:
    """Return match times by the size of the table, in powers of two of its filters. The size is the last one recorded
    up to the second of the message; messages before the first one are left out."""
    summed = looked.group_by(list(_SECOND), use_threads=False).aggregate(
        [("messages", "sum"), ("match_ns", "sum"), ("match_ns_max", "max")]
    )
    names = ("messages", "match_ns", "match_ns_max")
    summed = summed.rename_columns([*_SECOND, *names])
    both = pa.concat_tables([tables, summed], promote_options="default")
    rows = both.append_column("is_looked", both.column("messages").is_valid())
    rows = ordered(rows, *_SECOND, "is_looked").combine_chunks()
    is_size = rows.column("filters").is_valid().to_numpy()
    lives = (rows.column(name).combine_chunks().dictionary_encode().indices for name in ("router", "epoch"))
    starts = group_starts(*(life.to_numpy() for life in lives))
    first = np.repeat(starts, np.diff(np.append(starts, len(rows)))) if len(rows) else starts
    last = np.maximum.accumulate(np.where(is_size, np.arange(len(rows)), -1))
    known = rows.column("is_looked").to_numpy() & (last >= first)
    filters = pc.fill_null(rows.column("filters"), 0).to_numpy()[last[known]]
    size = pa.array(1 << (np.frexp(np.maximum(filters, 1))[1].astype(np.int64) - 1))
    sized = rows.select(list(names)).filter(pa.array(known)).append_column("filters_from", size)
    totals = sized.group_by("filters_from", use_threads=False).aggregate(
        [("messages", "sum"), ("match_ns", "sum"), ("match_ns_max", "max")]
    )
    mean = pc.divide(totals.column("match_ns_sum").cast(pa.float64()), totals.column("messages_sum"))
    columns = [totals.column("filters_from"), totals.column("messages_sum"), mean, totals.column("match_ns_max_max")]
    return ordered(pa.table(columns, schema=_MATCHING), "filters_from")
