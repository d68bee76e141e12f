"""Routers of commit da1168e, which speak version 1 of the wire alone, and of now in one ring, in both roles, the new
ones by each strategy.

Under kills of either kind: no link is refused, nothing is doubled or misdelivered, and nothing is missing once the
network is quiet; the old client works with new routers and the new one with old routers. Order is printed and not
judged while routers are killed: the old ones do not keep it while ways change, and tell nobody that a way broke.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path

import pytest

from tamis.protocol.wire.numbers import stable_number
from tamis.testing import NetworkPlan, RouterNetwork, running
from tests.long.chaos import Traffic
from tests.long.test_strategies import STRATEGIES
from tests.trees import is_in_history, tree_of

OLD = "da1168e"
NAMES = ("r0", "r1", "r2", "r3", "r4")
RING = tuple((name, NAMES[(place + 1) % 5], 1) for place, name in enumerate(NAMES))
OLD_ONES = {"two old": {"r1", "r4"}, "three old": {"r0", "r2", "r3"}}
"""With two of them, two of the new ones are neighbours."""
MESSAGES = 200
EXCHANGE = str(Path(__file__).with_name("exchange.py"))

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not is_in_history(OLD), reason=f"commit {OLD} is not in this clone's history"),
]


@pytest.fixture(name="old_tree", scope="module")
def _old_tree(tmp_path_factory) -> str:
    return str(tree_of(OLD, tmp_path_factory.mktemp("old")))


async def exchanged(environment: dict[str, str], there: str, here: str) -> dict[str, object]:
    """By a client of the tree that `environment` names."""
    command = (sys.executable, "-P", EXCHANGE, str(MESSAGES), there, here)
    pipes = {"stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.PIPE}
    process = await asyncio.create_subprocess_exec(*command, env=os.environ | environment, **pipes)  # type: ignore[arg-type]
    out, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()[-2_000:]
    found: dict[str, object] = json.loads(out)
    return found


def dialled_by(old: set[str]) -> set[tuple[bool, bool]]:
    """(is the dialling end old, is the accepting one) over the links: the smaller number dials."""
    ends = (sorted((a, b), key=stable_number) for a, b, _ in RING)
    return {(dialling in old, accepting in old) for dialling, accepting in ends}


async def all_up(network: RouterNetwork) -> None:
    async with asyncio.timeout(20):
        while not all(
            link["state"] == "up" for each in (await network.status()).values() for link in each["network"]["links"]
        ):
            await asyncio.sleep(0.1)


@pytest.mark.parametrize(
    ("which", "strategy"), [("three old", "advertise"), *(("two old", each) for each in STRATEGIES)]
)
async def test_old_and_new_routers_in_one_ring(tmp_path, old_tree, which, strategy):
    old = OLD_ONES[which]
    assert {(True, False), (False, True)} <= dialled_by(old), "old and new meet in both roles"
    before = {"PYTHONPATH": old_tree}
    theirs: dict[str, dict[str, object]] = {name: {"strategy": STRATEGIES[strategy]} for name in set(NAMES) - old}
    plan = NetworkPlan(NAMES, RING, keys_of=theirs, environments=dict.fromkeys(old, before), is_proxied=True)
    async with running(tmp_path, plan) as network:
        await network.until_linked()
        addresses = {name: router.address for name, router in network.routers.items()}
        load = Traffic(addresses, 100)
        async with load.running():
            await asyncio.sleep(1)
            for name in (min(old), min(set(NAMES) - old)):
                await network.routers[name].kill()
                await asyncio.sleep(1)
                await network.routers[name].start()
                await network.until_linked()
            await all_up(network)
            await asyncio.sleep(6)  # clients that were cut wait up to 5 s between attempts
            quiet_s = time.monotonic()
            for environment, there, here in (
                (before, min(set(NAMES) - old), max(set(NAMES) - old)),
                (before, min(old), max(set(NAMES) - old)),
                ({}, min(old), max(old)),
                ({}, max(set(NAMES) - old), min(old)),
            ):
                found = await exchanged(environment, addresses[there], addresses[here])
                assert (found["came"], found["in_order"]) == (MESSAGES, True)
                assert str(found["of"]).startswith(old_tree) is bool(environment)
            await load.settle(1)
        for name, router in network.routers.items():
            loaded = Path(f"/proc/{router.pid}/maps").read_text()
            assert (old_tree in loaded) is (name in old), f"{name} runs another build"
        logs = {name: router.log.read_text() for name, router in network.routers.items()}
    verdict = load.judged()
    print(f"old {sorted(old)}, new by {strategy}: {verdict}")
    assert (verdict.doubled, verdict.misdelivered) == (0, 0)
    assert not [each for each in verdict.lost if each.at_s > quiet_s]
    for name, log in logs.items():
        assert "Traceback" not in log, (name, log[-2_000:])
        assert "refused" not in log.lower(), (name, log[-2_000:])
