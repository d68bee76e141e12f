"""Another strategy is rolled out router by router, and back, in a ring of five processes under traffic: each message
comes once, what is lost lies under a gap, and nothing is lost between clients of the routers that stay."""

from __future__ import annotations

import asyncio

import pytest

from tamis.testing import ring, running
from tests.long.chaos import Traffic
from tests.long.test_strategies import NAMES, RATE, STRATEGIES, keeps_order
from tests.long.trouble import done, restarted, table

USUAL = "advertise"


@pytest.mark.long
@pytest.mark.parametrize("strategy", [each for each in STRATEGIES if each != USUAL])
async def test_a_strategy_is_rolled_out_and_back(tmp_path, strategy):
    async with running(tmp_path, ring(*NAMES, strategy=STRATEGIES[USUAL])) as network:
        await network.until_linked()
        addresses = {name: router.address for name, router in network.routers.items()}
        load = Traffic(addresses, RATE)
        async with load.running():
            await asyncio.sleep(1)
            steps = [restarted(name, strategy=STRATEGIES[to]) for to in (strategy, USUAL) for name in NAMES]
            passed = await done(steps, network, load, between_s=0.5)
            await load.settle(1)
        logs = {name: router.log.read_text() for name, router in network.routers.items()}
    verdict = load.judged()
    print(f"{strategy}: {verdict}", table(passed, verdict), *map(load.beside, verdict.untold), sep="\n    ")
    assert verdict.delivered > verdict.published
    assert (verdict.doubled, verdict.misdelivered) == (0, 0)
    assert keeps_order(strategy, verdict)
    assert verdict.untold == []
    assert [lost for each in passed for lost in each.lost_by_others(verdict)] == []
    for name, log in logs.items():
        assert "Traceback" not in log, (name, log[-2_000:])
