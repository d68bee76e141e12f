"""The latency of messages: over a link, from source to router by the length of the route, and in the tables.

Law: a hop lasts from one router's record to the next one's, on one clock; it is no more exact than both clocks. The
records of a message lie together, and all its hops follow from them. Equal times are counted, which are whole
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
from tamis.analysis.questions.matches import Ints, group_starts, numbered
from tamis.analysis.records.by_message import CHAPTER, one_batch
from tamis.analysis.records.rows import Grouping
from tamis.analysis.spark.parts import ordered

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
TIMES: Final = pa.schema(
    [
        *((CHAPTER, pa.int64()), ("from_router", pa.string()), ("to_router", pa.string())),
        *((name, pa.int64()) for name in ("hop", "us", "messages")),
    ]
)
_ASKED: Final = [CHAPTER, *WAY, "hop", "router", "from_neighbour", "t_us"]
TOOK: Final = Grouping(TIMES.names[:-1], TIMES.names[-1:])
MATCHED: Final = pa.schema(
    [
        *((CHAPTER, pa.int64()), ("router", pa.string())),
        *((name, pa.int64()) for name in ("epoch", "second", "messages", "match_ns", "match_ns_max")),
    ]
)
BY_SECOND: Final = Grouping(MATCHED.names[:4], MATCHED.names[4:6], MATCHED.names[6:])
_MATCHING: Final = pa.schema(
    [
        *(("filters_from", pa.int64()), ("messages", pa.int64())),
        *(("match_ns_mean", pa.float64()), ("match_ns_max", pa.int64())),
    ]
)


def times(_: object, records: pa.RecordBatch) -> pa.RecordBatch:
    """Return how many messages took how long, by their routers' own clocks: rows of TIMES, where `hop` is the number
    of links from the source, and -1 is one link. All records of a message are in one batch."""
    took = records.select(_ASKED).filter(pc.invert(records.column("is_refused")))
    routers, (router, before, source) = _codes(*(took.column(name) for name in ("router", "from_neighbour", "source")))
    way = numbered(source, *(pc.fill_null(took.column(name), -1).to_numpy() for name in WAY[1:]))
    t_us = took.column("t_us").to_numpy()
    visit = way * (len(routers) + 1) + router
    order = np.lexsort([t_us, visit])
    last = np.append(group_starts(visit[order])[1:], len(order)) - 1 if len(order) else order
    visits, seen_us = visit[order][last], t_us[order][last]
    crossed = np.flatnonzero(before >= 0)
    found = []
    for begin, hop in ((before, None), (source, took.column("hop"))):
        wanted = way[crossed] * (len(routers) + 1) + begin[crossed]
        place = np.minimum(np.searchsorted(visits, wanted), max(len(visits) - 1, 0))
        is_seen = (visits[place] == wanted) & (begin[crossed] >= 0)
        mine = crossed[is_seen]
        rows = pa.array(mine)
        columns = {
            CHAPTER: took.column(CHAPTER).take(rows),
            "from_router": pa.array(begin[mine]),
            "to_router": pa.array(router[mine]),
            "hop": pa.array(np.full(len(mine), -1)) if hop is None else hop.take(rows),
            "us": pa.array(t_us[mine] - seen_us[place[is_seen]]),
            "messages": pa.array(np.ones(len(mine), np.int64)),
        }
        found.append(pa.table(columns))
    counted = TOOK.of(pa.concat_tables(found))
    for at, name in enumerate(TIMES.names[1:3], 1):
        counted = counted.set_column(at, name, routers.take(counted.column(name)))
    return one_batch(counted.cast(TIMES))


def _codes(*columns: pa.Array) -> tuple[pa.Array, list[Ints]]:
    """Return all names in some columns, and the place of each name; -1 is none."""
    every = pa.concat_arrays(columns).dictionary_encode()
    codes = pc.fill_null(every.indices, -1).to_numpy().astype(np.int64)
    return every.dictionary, np.split(codes, np.cumsum([len(column) for column in columns])[:-1])


def in_buckets(counted: DataFrame) -> DataFrame:
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


def matched(_: object, records: pa.RecordBatch) -> pa.RecordBatch:
    """Return the match times of each second of a router: rows of MATCHED."""
    mine = records.filter(records.column("match_ns").is_valid())
    columns = {
        **{name: mine.column(name) for name in (CHAPTER, "router", "epoch")},
        "second": pa.array(mine.column("t_us").to_numpy() // SECOND_US),
        "messages": pa.array(np.ones(mine.num_rows, np.int64)),
        **{name: mine.column("match_ns") for name in ("match_ns", "match_ns_max")},
    }
    return BY_SECOND.of_batch(pa.RecordBatch.from_arrays(list(columns.values()), schema=MATCHED))


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
