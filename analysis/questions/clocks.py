"""The offsets between the clocks of routers, and times of all routers on one clock.

Law: between neighbours, an offset is known to lie within what all their `clock` records allow together; along a path,
offsets and errors add up. The clock of the first router by name is the reference for all that it can be compared with.
An unknown offset is set to 0, with null as its error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import heappop, heappush
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.spark import parts

ROUTERS_MAX = 64
"""Routers whose offsets are part of a plan, which looks at them one after the other."""
_OFFSETS: Final = pa.schema([("router", pa.string()), ("_offset_us", pa.int64())])
SCHEMA: Final = pa.schema(
    [("router", pa.string()), ("reference", pa.string()), ("offset_us", pa.int64()), ("error_us", pa.int64())]
)


class RouterClock(NamedTuple):
    """The offset from a router's time to the time of the reference clock, and its error."""

    router: str
    reference: str
    offset_us: int
    error_us: int | None


def between_neighbours(clock: pa.Table) -> Iterator[tuple[str, str, int, int]]:
    """Yield each pair of neighbours with the widest span of offsets that its records allow."""
    offset, error = clock.column("offset_us"), clock.column("error_us")
    columns = [clock.column("router"), clock.column("neighbour"), pc.subtract(offset, error), pc.add(offset, error)]
    each = pa.table(columns, names=["router", "neighbour", "low_us", "high_us"])
    found = each.group_by(["router", "neighbour"]).aggregate([("low_us", "min"), ("high_us", "max")])
    yield from zip(*(column.to_pylist() for column in found.itercolumns()), strict=True)


def common(clock: pa.Table, routers: Iterable[str]) -> list[RouterClock]:
    """Return the offset of each router."""
    spans: dict[str, dict[str, tuple[int, int]]] = {}
    for router, neighbour, low_us, high_us in between_neighbours(clock):
        _narrow(spans, router, neighbour, (low_us, high_us))
        _narrow(spans, neighbour, router, (-high_us, -low_us))
    return _clocks(spans, sorted(routers))


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


def on_one_clock(records: DataFrame, clocks: Mapping[str, RouterClock]) -> DataFrame:
    """Return `records` with `at_us`, the time on the common clock, by the clock of the router that wrote. Few routers
    are part of the plan, which saves a join."""
    offsets = {router: clock.offset_us for router, clock in sorted(clocks.items()) if clock.offset_us}
    if not offsets:
        return records.withColumn("at_us", F.col("t_us"))
    if len(offsets) > ROUTERS_MAX:
        known = parts.of_rows(records.sparkSession, offsets.items(), _OFFSETS)
        found = records.join(parts.sent(known), "router", "left")
        return found.withColumn("at_us", F.col("t_us") + F.coalesce("_offset_us", F.lit(0))).drop("_offset_us")
    offset = F.create_map(*(F.lit(part) for pair in offsets.items() for part in pair))[F.col("router")]
    return records.withColumn("at_us", F.col("t_us") + F.coalesce(offset, F.lit(0)))


def moved(rows: pa.Table, clocks: Mapping[str, RouterClock]) -> list[dict[str, Any]]:
    """Return the rows of a small table as `on_one_clock` does."""
    found: list[dict[str, Any]] = rows.to_pylist()
    for row in found:
        clock = clocks.get(row["router"])
        row["at_us"] = row["t_us"] + (clock.offset_us if clock else 0)
        row["error_us"] = clock.error_us if clock else None
    return found
