"""The offsets between the clocks of routers, and times of all routers on one clock.

Law: between neighbours, an offset is known to lie within what all their `clock` records allow together; along a path,
offsets and errors add up. The clock of the first router by name is the reference for all that it can be compared with.
An unknown offset is set to 0, with null as its error.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Final, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.records import parts

SCHEMA: Final = pa.schema(
    [("router", pa.string()), ("reference", pa.string()), ("offset_us", pa.int64()), ("error_us", pa.int64())]
)


class RouterClock(NamedTuple):
    """The offset from a router's time to the time of the reference clock, and its error."""

    router: str
    reference: str
    offset_us: int
    error_us: int | None


def between_neighbours(clock: DataFrame) -> DataFrame:
    """Return a row for each pair of neighbours: the widest span of offsets that its records allow."""
    low = F.min(F.col("offset_us") - F.col("error_us")).alias("low_us")
    high = F.max(F.col("offset_us") + F.col("error_us")).alias("high_us")
    return clock.groupBy("router", "neighbour").agg(low, high)


def common(spark: SparkSession, clock: DataFrame, routers: Iterable[str]) -> DataFrame:
    """Return a row for each router with its offset. Paths are searched here and not in Spark, as a network is small."""
    spans: dict[str, dict[str, tuple[int, int]]] = {}
    for row in between_neighbours(clock).collect():
        span = (row.low_us, row.high_us)
        _narrow(spans, row.router, row.neighbour, span)
        _narrow(spans, row.neighbour, row.router, (-span[1], -span[0]))
    return parts.of_rows(spark, _clocks(spans, sorted(routers)), SCHEMA)


def _narrow(spans: dict[str, dict[str, tuple[int, int]]], one: str, other: str, span: tuple[int, int]) -> None:
    """Keep the narrower of the two spans that the ends of a pair have measured."""
    known = spans.setdefault(one, {})
    if other not in known or known[other][1] - known[other][0] > span[1] - span[0]:
        known[other] = span


def _clocks(spans: dict[str, dict[str, tuple[int, int]]], routers: list[str]) -> list[RouterClock]:
    found: dict[str, RouterClock] = {}
    for reference in routers:
        if reference not in found:
            is_alone = reference not in spans
            heap = [(0, reference, 0)]
            while heap:
                error_us, router, offset_us = heappop(heap)
                if router in found:
                    continue
                found[router] = RouterClock(router, reference, offset_us, None if is_alone else error_us)
                for other, (low, high) in spans.get(router, {}).items():
                    # A neighbour's time less this offset is the router's time, and that plus offset_us the reference's.
                    heappush(heap, (error_us + (high - low + 1) // 2, other, offset_us - (low + high) // 2))
    return list(found.values())


def on_one_clock(records: DataFrame, clocks: DataFrame) -> DataFrame:
    """Return `records` with `at_us`, the time on the common clock, and `error_us`, both by the clock of the router that
    wrote."""
    known = parts.sent(clocks.select("router", F.col("offset_us").alias("_offset_us"), "error_us"))
    at = F.col("t_us") + F.coalesce("_offset_us", F.lit(0))
    return records.join(known, "router", "left").withColumn("at_us", at).drop("_offset_us")
