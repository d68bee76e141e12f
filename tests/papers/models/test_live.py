"""The model of paper 003 beside simulated routers: frames and profiles, exactly.

Each router has one subscriber, who asks for a content that no other asks for; each content, and as many that nobody
asks for, is published once at each router.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tamis.papers.models.das import ALGORITHMS
from tamis.papers.models.das_costs import costs
from tamis.papers.models.das_tree import BrokerTree
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.router.core.core import CoreSettings
from tamis.router.core.routing.roots import REST, RootChoice
from tamis.simulate.faults import topologies
from tamis.simulate.faults.workload import CONTENTS
from tamis.simulate.nodes import view
from tamis.simulate.nodes.classes import NO_CLASSES, RunClasses
from tamis.simulate.nodes.run_parts import RunParts
from tamis.simulate.world.world import World
from tests.papers.models.test_das import setting

TOPOLOGIES = Path(__file__).parents[3] / "configs" / "topologies"
S = 1_000_000
BY_LIVE = {"flood-everywhere": "EF", "profile": "PF8", "profile-preventive": "PF5"} | {
    "rendezvous": "RN8",
    "rendezvous-preventive": "RN5",
}
BY_ROOT = RunClasses((RootChoice(REST, (stable_number("b2"),)),))


def exactly(content: int) -> bytes:
    """The filter that this content alone satisfies."""
    attributes = CONTENTS[content]
    here = [Constraint(name, Op.EQ, (value,)) for name, value in attributes.items()]
    absent = [] if "urgent" in attributes else [Constraint("urgent", Op.EXISTS, (), negated=True)]
    return encode_filter(Filter((*here, *absent)))


def started(topology: str, strategy: str) -> World:
    """A network at rest, with a subscriber of content i at the router of index i."""
    network = topologies.read(str(TOPOLOGIES / f"{topology}.yaml"), 1)
    classes = BY_ROOT if strategy.startswith("rendezvous") else NO_CLASSES
    layer = "shared-tree" if strategy.startswith("profile") else "source-trees"
    world = World(network, 1, RunParts(strategy, CoreSettings(layer, classes=classes.choices), classes=classes))
    for node in world.nodes:
        node.start()
    for link in world.links:
        link.wake()
    world.clock.run_until(5 * S)
    for index, node in enumerate(world.nodes):
        world.recorder.sessions[index] = 1
        node.want(index, (exactly(index),), 1 << index)
    world.clock.run_until(20 * S)
    return world


def frames(world: World, contents: range) -> Fraction:
    """How many frames between routers a message takes, in the mean over all publishers and these contents."""
    counts, published = world.recorder.counts, 0
    before = counts["hops"] + counts["refused copies"]
    for index, _ in enumerate(world.nodes):
        for content in contents:
            world.publish(index, content, 1_000 + index)
            published += 1
            world.clock.run_until(world.clock.now_us + S // 10)
    world.clock.run_until(world.clock.now_us + S)
    arrived = counts["hops"] + counts["refused copies"] - before - published  # a message is taken where it enters, too
    return Fraction(arrived, published)


@pytest.mark.slow
@pytest.mark.parametrize("topology", ["bus4", "das9"])
@pytest.mark.parametrize("strategy", BY_LIVE)
def test_simulated_routers_send_what_the_model_says(topology: str, strategy: str) -> None:
    tree, algorithm = BrokerTree.of(TOPOLOGIES / f"{topology}.yaml"), ALGORITHMS[BY_LIVE[strategy]]
    world, size = started(topology, strategy), len(tree.brokers)
    assert frames(world, range(size)) == costs(algorithm, setting(tree, Fraction(1))).frames
    assert frames(world, range(size, 2 * size)) == costs(algorithm, setting(tree, Fraction(0))).frames


@pytest.mark.parametrize(
    ("topology", "strategy", "wanted", "unwanted"),
    [
        ("bus4", "flood-everywhere", 3, 3),
        ("bus4", "profile", 1.25, 0),
        ("bus4", "rendezvous", 1.625, 1),
        ("das9", "flood-everywhere", 8, 8),
        ("das9", "profile", 2.17, 0),
        ("das9", "rendezvous", 1.33 + 1.09, 1.33),
    ],
)
def test_they_send_what_the_arithmetic_of_the_paper_says(
    topology: str, strategy: str, wanted: float, unwanted: float
) -> None:
    world = started(topology, strategy)
    size = len(world.nodes)
    assert float(frames(world, range(size))) == pytest.approx(wanted, abs=0.01)
    assert float(frames(world, range(size, 2 * size))) == pytest.approx(unwanted, abs=0.005)


@pytest.mark.parametrize(("strategy", "copies"), [("flood-everywhere", 1), ("profile", 9), ("rendezvous", 2.33)])
def test_they_hold_as_many_copies_of_a_profile_as_the_model_says(strategy: str, copies: float) -> None:
    world, tree = started("das9", strategy), BrokerTree.of(TOPOLOGIES / "das9.yaml")
    profiles = {exactly(index) for index, _ in enumerate(world.nodes)}
    held = sum(
        packed in profiles for node in world.nodes for of in node.table.filters.values() for packed in of.values()
    )
    own = len(world.nodes)
    model = costs(ALGORITHMS[BY_LIVE[strategy]], setting(tree, Fraction(1)))
    assert held + own == model.stored
    assert (held + own) / own == pytest.approx(copies, abs=0.005)
    assert all(not view.unfinished(node) for node in world.nodes)
