"""Layouts: routers that go by different trees notice it, go by source trees, and say who differs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.routing_bodies import Adjacency, LinkState
from tamis.router.core.commands import Alarm, RaiseEpoch, Reroute
from tamis.router.core.core import Core
from tamis.router.core.routing.shared_tree import SharedTree
from tamis.router.core.routing.source_trees import SourceTrees
from tamis.router.core.routing.trees import Broadcast
from tamis.router.core.statements.layouts import disagreement, layout_of
from tamis.router.core.times import S
from tests.router.core.bodies import state
from tests.router.core.single import Single
from tests.router.core.world import World

SHARED = "rib shared-tree"


def on(broadcast: Broadcast) -> Callable[..., Core]:
    return lambda name, epoch, settings: Core(name, epoch, replace(settings, broadcast=broadcast))


def ring(layers: dict[str, Broadcast]) -> World:
    world = World()
    for name, broadcast in layers.items():
        world.start(name, core=on(broadcast))  # type: ignore[arg-type]
    names = [*layers]
    for one, other in zip(names, [*names[1:], names[0]], strict=True):
        world.connect(one, other)
    world.run(5 * S)
    return world


def layers(world: World) -> dict[str, type]:
    return {name: type(core.core_state.trees) for name, core in world.cores.items()}


def shared(*layouts: str) -> Single:
    """A router on the shared tree, linked with a, b, ... which state these layouts."""
    single = Single(broadcast="shared-tree")
    names = "abc"[: len(layouts)]
    single.joins(*names)
    for name, layout in zip(names, layouts, strict=True):
        single.hears(name, replace(state(name, 2, "me"), layout=layout))
    single.waits(5 * S)
    return single


def mine(single: Single) -> LinkState:
    body = single.core.core_state.topology.states[single.core.me].body
    assert isinstance(body, LinkState)
    return body


def test_the_default_is_not_written():
    assert layout_of("rib", "source-trees") == ""
    assert layout_of("rib", "shared-tree") == SHARED
    body = LinkState("a", 1, 1, (Adjacency(2, 1, 1),))
    assert encode(body) == encode(replace(body, layout=""))
    assert encode(replace(body, layout=SHARED))[8:].endswith(SHARED.encode())
    assert mine(Single()).layout == ""
    assert mine(Single(broadcast="shared-tree")).layout == SHARED


def test_routers_that_agree_go_by_their_layer():
    world = ring(dict.fromkeys("abcd", "shared-tree"))
    assert set(layers(world).values()) == {SharedTree}
    assert world.alarms == []


@pytest.mark.parametrize("other", ["source-trees", "reverse-path"])
def test_one_that_differs_makes_all_go_by_source_trees_until_it_has_gone(other: Broadcast):
    world = ring({"a": "shared-tree", "b": "shared-tree", "c": other, "d": "shared-tree"})
    assert set(layers(world).values()) == {SourceTrees}
    assert any("layout is rib shared-tree; other layouts: c (" in text for text in world.alarms)
    world.stop("c")
    world.run(5 * S)
    assert layers(world) == dict.fromkeys("abd", SharedTree)


def test_parts_of_a_network_go_each_by_what_it_agrees_on():
    world = ring({"a": "shared-tree", "b": "shared-tree", "c": "reverse-path", "d": "reverse-path"})
    assert set(layers(world).values()) == {SourceTrees}
    world.cut("b", "c")
    world.cut("d", "a")
    world.run(5 * S)
    found = layers(world)
    assert (found["a"], found["b"]) == (SharedTree, SharedTree)
    assert SourceTrees not in {found["c"], found["d"]}


def test_a_restart_with_another_layout_is_noticed_though_no_edge_differs():
    single = shared(SHARED)
    assert isinstance(single.core.core_state.trees, SharedTree)
    single.took(object)
    single.hears("a", state("a", 1, "me", epoch=2))
    single.waits(5 * S)
    assert isinstance(single.core.core_state.trees, SourceTrees)
    [alarm] = single.took(Alarm)
    assert alarm.text == (
        "this router's layout is rib shared-tree; other layouts: a (states none). "
        "Until all agree, messages use source-trees"
    )
    single.hears("a", replace(state("a", 2, "me", epoch=2), layout=SHARED))
    single.waits(5 * S)
    assert isinstance(single.core.core_state.trees, SharedTree)


def test_the_same_disagreement_is_one_alarm():
    single = shared("rib reverse-path", SHARED)
    assert len(single.took(Alarm)) == 1
    single.hears("b", replace(state("b", 3, "me", "a"), layout=SHARED))
    single.hears("a", replace(state("a", 3, "me", "b"), layout="rib reverse-path"))
    single.waits(5 * S)
    assert single.took(Alarm) == []


def test_a_router_on_source_trees_does_not_move():
    single = Single()
    single.joins("a")
    single.waits(5 * S)
    single.took(object)
    single.hears("a", replace(state("a", 2, "me"), layout=SHARED))
    single.waits(5 * S)
    assert [type(done) for done in single.done if isinstance(done, Reroute | Alarm)] == [Alarm]


def test_the_layout_is_no_part_of_what_is_compared():
    """An earlier release passes a state on without its last field: that is the same state, one's own included."""
    single = shared(SHARED)
    single.took(object)
    before = mine(single)
    single.hears("a", replace(before, layout=""), state("a", 2, "me"))
    single.waits(5 * S)
    assert single.took(RaiseEpoch) == []
    assert mine(single) == before
    assert isinstance(single.core.core_state.trees, SharedTree)


def test_layouts_are_stated_again_when_a_router_without_one_has_gone():
    single = shared(SHARED, "")
    before = mine(single)
    single.hears("a", replace(state("a", 3, "me", "b"), layout=SHARED))
    single.hears("b", state("b", 3, "me", "a"))
    single.waits(5 * S)
    assert mine(single) == before
    single.hears("a", replace(state("a", 4, "me"), layout=SHARED))
    single.down("b")
    single.waits(5 * S)
    assert mine(single).seq == before.seq + 2  # for the link, and for the layout
    assert isinstance(single.core.core_state.trees, SharedTree)


def test_an_alarm_names_five_and_counts_the_rest():
    others = [(name, "rib reverse-path") for name in "abcdefg"] + [("h", SHARED)]
    said = disagreement(SHARED, others)
    assert said.count("(rib reverse-path)") == 5
    assert " and 2 more. " in said
    assert "layout is rib source-trees, which is not stated; other layouts: " in disagreement("", others)
