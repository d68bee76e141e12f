"""Parts of a network that are apart for so long that they forget each other (R8)."""

from __future__ import annotations

import pytest

from tamis.router.core.core import CoreSettings
from tamis.router.core.times import Times
from tamis.simulate.faults.faults import Operation
from tamis.simulate.faults.topologies import read
from tamis.simulate.faults.workload import CONTENTS
from tamis.simulate.nodes.run_parts import RunParts
from tamis.simulate.settle import Rest
from tamis.simulate.world.world import World

S = 1_000_000
SEED = 7
END = 2


def _perform(world: World, kind: str, *args: int) -> None:
    world.perform(Operation(0, 1, 0, kind, args, ()))


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["advertise", "profile"])
def test_whoever_is_apart_for_longer_than_it_is_remembered_knows_no_filter_any_more(strategy: str) -> None:
    """The end of a line of three is cut off for ten minutes. Then the other two break for a moment, and their clients
    are told of a gap that does not go on."""
    world = World(read("line:3", SEED), SEED, RunParts(strategy, CoreSettings()))
    rest = Rest(world, SEED)
    world.begin()
    rest.come(0)
    cut = next(at for at, link in enumerate(world.links) if world.nodes[END].number in link.name)
    _perform(world, "cut", cut, 0)
    world.clock.run_until(world.clock.now_us + 60 * S)
    told = world.recorder.gaps.counts["gaps"]
    rest.come(1)
    world.clock.run_until(world.clock.now_us + Times().age_out_us)
    _perform(world, "reset", 1 - cut)
    world.clock.run_until(world.clock.now_us + 10 * S)
    assert world.recorder.gaps.counts["gaps"] > told
    for content in range(len(CONTENTS)):
        assert world.publish(END, content, END)
    rest.come(2)
    assert [str(violation) for violation in world.recorder.violations] == []
