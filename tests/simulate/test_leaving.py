"""A router that leaves is judged as one that leaves, whatever becomes of it until it is gone."""

from __future__ import annotations

from tamis.router.core.core import CoreSettings
from tamis.simulate.faults.faults import DAY_MS, MS, Operation
from tamis.simulate.faults.topologies import read
from tamis.simulate.faults.workload import CONTENTS
from tamis.simulate.nodes.run_parts import RunParts
from tamis.simulate.settle import Rest
from tamis.simulate.world.world import LEAVE_US, World

SEED = 7
"""One of the seeds with which both links come up early enough for the network to be calm before the router is gone."""


def _perform(world: World, kind: str, *args: int) -> None:
    world.perform(Operation(0, 1, 0, kind, args, ()))


def test_a_router_that_jumps_to_a_new_epoch_while_it_leaves_carries_nothing_all_the_same() -> None:
    """In a line of three the middle router returns, its clock put back and its epoch file lost, and leaves before a
    neighbour tells it of its earlier life. It states no links in the new epoch either, so its neighbours are apart."""
    world = World(read("line:3", SEED), SEED, RunParts("advertise", CoreSettings()))
    rest = Rest(world, SEED)
    world.begin()
    rest.come(0)
    _perform(world, "crash", 1, 0)
    _perform(world, "jump", 1, -DAY_MS)
    _perform(world, "return", 1, 0)
    _perform(world, "leave", 1)
    world.clock.run_until(world.clock.now_us + LEAVE_US - 50 * MS)
    assert world.nodes[1].is_leaving
    assert world.recorder.counts["raised epochs"] == 1
    assert all(link.open for link in world.links)
    now_us, recorder = world.clock.now_us, world.recorder
    assert recorder.truth.last_calm(recorder.patience.known_us, now_us) == now_us
    for content in range(len(CONTENTS)):
        assert world.publish(0, content, 1)
    rest.come(1)
    assert [str(violation) for violation in world.recorder.violations] == []
