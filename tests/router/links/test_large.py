"""A predicate past what one body may be, on three real routers of which each is killed and started."""

from __future__ import annotations

import asyncio

import pytest

from tamis.bench.router.large import measured
from tamis.protocol.limits import ASSEMBLY_BYTES_MAX


@pytest.mark.slow
def test_seventy_megabytes_are_routed_again_after_each_restart(tmp_path):
    rows = asyncio.run(measured("wide", 0.35, tmp_path))
    assert [row["event"] for row in rows] == ["subscribe", "restart a", "restart b", "restart c"]
    for row in rows:
        assert row["megabytes"] * 1e6 > ASSEMBLY_BYTES_MAX
        assert row["delivered"]
        assert max(row["cpu_s"].values()) < 30


@pytest.mark.long
@pytest.mark.parametrize("shape", ["wide", "plain"])
def test_two_hundred_megabytes_and_a_million_filters(shape, tmp_path):
    for row in asyncio.run(measured(shape, 1.0, tmp_path)):
        assert row["delivered"]
        assert row["routed_s"] < 30, "on two cores for three routers"
