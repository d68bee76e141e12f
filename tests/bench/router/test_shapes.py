"""What small networks of real routers show, as far as it does not depend on the machine's speed."""

from __future__ import annotations

import pytest

from tamis.bench.router.shapes.clients import Arrivals
from tamis.bench.router.shapes.diamond import diamond
from tamis.bench.router.shapes.triangle import MESSAGES, triangle


def test_a_pause_is_between_arrivals():
    arrivals = Arrivals()
    arrivals.times = {1: 10.0, 2: 10.5, 3: 12.0}
    assert arrivals.pause_s(10.2) == 1.5
    assert arrivals.pause_s(12.0) == float("inf")


@pytest.mark.slow
async def test_a_triangle_carries_one_copy_to_each(tmp_path):
    found = await triangle(tmp_path)
    assert found["copies"] == [MESSAGES] * 3
    assert found["duplicates"] == 0
    assert found["frames"] == {"a->b": MESSAGES, "a->c": MESSAGES}


@pytest.mark.slow
async def test_a_router_that_dies_duplicates_nothing(tmp_path):
    found = await diamond(tmp_path, "kill")
    assert found["duplicates"] == 0
    assert found["longest_pause_s"] < 3
