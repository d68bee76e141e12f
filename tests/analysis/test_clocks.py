"""Clocks that nobody reads exactly: the truth lies within the error, and the error is what was measured with."""

from __future__ import annotations

from random import Random

import pytest

pytest.importorskip("pyspark")

import pyarrow as pa
from pyspark.sql import SparkSession

from tamis.analysis.questions import clocks
from tamis.simulate.faults import topologies
from tamis.simulate.oracle.paths import costs_from

pytestmark = pytest.mark.long
ROUTERS = 30
APART = "z"
MEASURES = 4
NAMES = ("router", "neighbour", "offset_us", "error_us")


def test_the_truth_is_within_the_error() -> None:
    random = Random(7)
    network = topologies.read(f"random:{ROUTERS}", 7)
    ahead_us = {name: random.randint(-(10**7), 10**7) for name in network.names}
    measured: list[tuple[str, str, int, int]] = []
    widest_us: dict[int, dict[int, int]] = {place: {} for place in range(ROUTERS)}
    for one, other, _ in network.links:
        for router, neighbour in ((one, other), (other, one)) * MEASURES:
            error_us = random.randint(1, 5_000)
            true_us = ahead_us[network.names[neighbour]] - ahead_us[network.names[router]]
            offset_us = true_us + random.randint(-error_us, error_us)
            measured.append((network.names[router], network.names[neighbour], offset_us, error_us))
            # Of measures that differ all are believed: the truth may have changed between them.
            widest_us[router][neighbour] = max(widest_us[router].get(neighbour, 0), 2 * error_us)
            widest_us[neighbour][router] = widest_us[router][neighbour]
    columns = dict(zip(NAMES, map(list, zip(*measured, strict=True)), strict=True))
    found = clocks.common(pa.table(columns), [*network.names, APART])
    reference = min(network.names)
    reach_us = costs_from(widest_us, network.names.index(reference))
    assert {row.router for row in found} == {*network.names, APART}
    for row in found:
        if row.router == APART:
            assert (row.reference, row.error_us) == (APART, None)
        else:
            assert row.reference == reference
            assert abs(row.offset_us - ahead_us[reference] + ahead_us[row.router]) <= row.error_us
            assert row.error_us <= reach_us[network.names.index(row.router)]


@pytest.mark.parametrize("routers_max", [clocks.ROUTERS_MAX, 0])
def test_records_of_few_routers_and_of_many_come_on_one_clock(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, routers_max: int
) -> None:
    monkeypatch.setattr(clocks, "ROUTERS_MAX", routers_max)
    known = {name: clocks.RouterClock(name, "a", offset_us, 0) for name, offset_us in (("a", 0), ("b", -7), ("c", 90))}
    rows = [(router, t_us) for router in "abcd" for t_us in (5, 1_000)]
    found = clocks.on_one_clock(spark.createDataFrame(rows, "router string, t_us long"), known).collect()
    wanted = {(router, t_us, t_us + {"b": -7, "c": 90}.get(router, 0)) for router, t_us in rows}
    assert {(row.router, row.t_us, row.at_us) for row in found} == wanted
    assert len(found) == len(rows)
