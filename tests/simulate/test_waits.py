"""Whether an answer that everybody knows is judged by what everybody knows."""

from __future__ import annotations

import pytest

from tamis.protocol.wire.numbers import predicate_digest
from tamis.protocol.wire.routing_bodies import ReceiverAdvertisement
from tamis.router.core.core import CoreSettings
from tamis.simulate.faults.faults import MS
from tamis.simulate.faults.topologies import read
from tamis.simulate.nodes.node import Node
from tamis.simulate.nodes.run_parts import RunParts
from tamis.simulate.world.world import World


@pytest.fixture
def world() -> World:
    """Three routers in a line, at rest; the first has a client that wants something new, and nobody else has heard."""
    world = World(read("line:3", 1), 1, RunParts("advertise", CoreSettings()))
    world.begin()
    world.clock.run_until(20_000 * MS)
    client = world.clients[0]
    assert world.clients.subscribe(client, next(wish for wish in range(80) if wish not in client.wishes))
    world.waits.begin(client)
    return world


def _violations(world: World) -> list[str]:
    return [violation.what for violation in world.recorder.violations]


def _forge(world: World, at: Node, epoch_after: int) -> None:
    """Of the first router: it wants nothing, and says so in a later epoch."""
    first = world.nodes[0]
    epoch = first.core.epoch + epoch_after
    body = ReceiverAdvertisement(first.number, epoch, 1, True, 0, (), (), predicate_digest(()), 0, False)
    neighbour = next(iter(at.links))
    link, side = at.links[neighbour]
    session = link.believed[side]
    assert session is not None
    at.heard(neighbour, session.number, body)


def test_an_answer_is_true_when_all_know(world: World) -> None:
    world.clock.run_until(world.clock.now_us + 5_000 * MS)
    assert world.recorder.counts["judged waits"] == 1
    world.waits.at_rest()
    assert _violations(world) == []


def test_an_answer_that_comes_too_early_is_a_violation_for_each_that_does_not_know(world: World) -> None:
    world.waits.answered(world.nodes[0].number, 1)
    first, *others = (f"{node.number:x}" for node in world.nodes)
    assert sorted(_violations(world)) == sorted(
        f"{first} reports that {x} knows its filters, which is false" for x in others
    )


def test_whom_a_liar_deceived_may_know_nothing_and_everybody_else_must(world: World) -> None:
    first, second, third = world.nodes
    _forge(world, third, 1)
    world.recorder.truth.forged.add(first.number)
    world.waits.answered(first.number, 1)
    assert _violations(world) == [f"{first.number:x} reports that {second.number:x} knows its filters, which is false"]


def test_what_nobody_forged_in_this_round_excuses_nobody(world: World) -> None:
    first, _, third = world.nodes
    _forge(world, third, 1)
    world.recorder.truth.forged.add(third.number)
    world.waits.answered(first.number, 1)
    assert len(_violations(world)) == 2


def test_an_answer_that_never_comes_and_one_that_comes_twice_are_violations(world: World) -> None:
    world.waits.at_rest()
    world.clock.run_until(world.clock.now_us + 5_000 * MS)
    first = f"{world.nodes[0].number:x}"
    assert _violations(world) == [
        f"{first} never answered wait 1",
        f"{first} answered a wait that does not exist, or answered it twice",
    ]
