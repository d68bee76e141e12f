"""Twenty faults on eight real routers under traffic: no client misses a message whose route stayed up."""

from __future__ import annotations

import pytest

from tamis.bench.networks.chaos.report import for_people
from tamis.bench.networks.chaos.run import Plan, run


@pytest.mark.long
async def test_twenty_faults(tmp_path):
    operations = {"kill": 8, "stop": 4, "cut": 4, "add": 4}
    plan = Plan(routers=8, clients=32, rate=10, operations=operations, seed=2_004, seconds=600)
    found = await run(plan, tmp_path, print)
    print(for_people(plan, found))
    assert found.is_clean, found.shown
    assert found.left == 0
