"""Strategy rendezvous between real routers: messages of a class go to its root, and from there to who wants them."""

from __future__ import annotations

import pytest

from tamis.protocol.wire.client_bodies import Lost
from tamis.router.admin.edges import class_form, edge_forms, onward_forms, root_changes, root_forms
from tamis.router.core.strategies.rendezvous import RendezvousCore
from tests.router.links.conftest import Node, in_touch, linked
from tests.router.links.exchanges import (
    RING,
    all_subscribe,
    each_gets_what_it_wants,
    killed,
    mixed_ring,
    visits,
)
from tests.router.links.test_network import subscribe
from tests.router.wire_client import subscription

PLAIN = "\nstrategy: rendezvous"
CLASSES = """
strategy:
  name: rendezvous
  classes: {odd: 'x in {1, 3, 5}', quotes: 'type = "quote"'}
  roots: {odd: [b, d], quotes: [c]}
  others: [e]
  storing: STORING
"""


def core_of(node: Node) -> RendezvousCore:
    core = node.network.core
    assert isinstance(core, RendezvousCore)
    return core


async def named(*nodes: Node) -> None:
    """Wait until every edge of the nodes is complete, and messages name the root of every class."""
    for node in nodes:
        await node.until(
            lambda node=node: (
                all(each.is_complete for each in core_of(node).held_edges)
                and all(core_of(node).core_state.forest.roots)
                and len(core_of(node).core_state.forest.roots) > 0
            )
        )


@pytest.mark.slow
@pytest.mark.parametrize("storing", ["optimistic", "preventive"])
async def test_messages_of_each_class_go_by_its_root_to_who_wants_them(nodes, storing):
    made = await in_touch(nodes(linked(*RING) + CLASSES.replace("STORING", storing)))
    clients = await all_subscribe(made)
    await each_gets_what_it_wants(clients)  # before any root is named, and after
    await named(*made.values())
    for node in made.values():
        roots = [node.network.core.core_state.topology.name_of(root) for root in core_of(node).roots.chosen]
        assert roots == ["b", "c", "e"]
    await each_gets_what_it_wants(clients)


@pytest.mark.slow
async def test_a_message_takes_the_way_to_the_root_and_to_who_wants_it_and_no_other(nodes):
    """On a line a - b - c - d with root b: what d publishes goes up to b, whoever wants it, and down to a for x > 1."""
    made = await in_touch(nodes(linked("ab", "bc", "cd") + "\nstrategy: {name: rendezvous, others: [b]}"))
    alice, dora = await made["a"].client("alice"), await made["d"].client("dora")
    await subscribe(alice, subscription(1, "x > 1"))
    await named(*made.values())
    before = visits(made)
    for x in (1, 2, 3):
        await dora.publish({"x": x})
    assert [await alice.delivered() for _ in range(2)] == [{"x": 2}, {"x": 3}]
    await made["b"].until(lambda: visits(made) == before + 3 * 3 + 2)
    assert [len(core_of(made[name]).held_edges) for name in "abcd"] == [0, 2, 1, 0]


@pytest.mark.slow
async def test_administration_says_which_edges_and_roots_there_are(nodes):
    """On a line a - b - c with roots a (odd) and c (others): b has an edge to each in both trees."""
    classes = "\nstrategy: {name: rendezvous, classes: {odd: 'x in {1, 3}'}, roots: {odd: [a]}, others: [c]}"
    made = await in_touch(nodes(linked("ab", "bc") + classes))
    carol = await made["c"].client("carol")
    await subscribe(carol, subscription(1, "x = 1"))
    await named(*made.values())
    await made["a"].until(lambda: sum(len(held.filters) for held in core_of(made["a"]).held_edges) == 1)
    network = {name: node.network for name, node in made.items()}
    forms = {
        name: {(str(form["root"]), str(form["neighbour"])): form for form in edge_forms(each.core)}
        for name, each in network.items()
    }
    assert [sorted(forms[name]) for name in "abc"] == [
        [("a", "b"), ("c", "b")],
        [("a", "a"), ("a", "c"), ("c", "a"), ("c", "c")],
        [("a", "b"), ("c", "b")],
    ]
    up, down = forms["b"]["a", "a"], forms["b"]["a", "c"]
    assert (up["held"], up["said"]) == (None, {"complete": True, "filters": 1})
    assert (down["held"], down["said"]) == ({"complete": True, "filters": 1}, None)
    assert (up["classes"], forms["b"]["c", "a"]["classes"], down["routers"]) == (["odd"], [None], 1)
    every = list(edge_forms(network["b"].core))
    assert [list(edge_forms(network["b"].core, cursor)) for cursor in range(5)] == [every[at:] for at in range(5)]
    assert root_forms(network["b"]) == [
        {"class": "odd", "root": "a", "named": True, "preferred": "a"},
        {"class": None, "root": "c", "named": True, "preferred": "c"},
    ]
    assert onward_forms(network["b"], {"x": 1}) == [
        {"neighbour": "a", "routers": [], "why": "root"},
        {"neighbour": "c", "routers": [], "why": "edge"},
    ]
    assert onward_forms(network["a"], {"x": 3}) == []
    assert class_form(network["a"].core, {"x": 2}) == {"class": None, "root": "c"}


@pytest.mark.slow
async def test_when_a_root_is_killed_the_next_one_takes_its_place(nodes):
    made = await in_touch(nodes(linked(*RING) + "\nstrategy: {name: rendezvous, others: [b, d]}"))
    alice, carol = await made["a"].client("alice"), await made["c"].client("carol")
    await subscribe(carol, subscription(1, "x > 0"))
    await named(*made.values())
    await alice.publish({"x": 1})
    assert await carol.delivered() == {"x": 1}
    rest = await killed(made, "b")
    for x in (0, 2, 3):
        await alice.publish({"x": x})
    assert [await carol.delivered() for _ in range(2)] == [{"x": 2}, {"x": 3}]
    await named(*rest.values())
    assert {core_of(node).roots.chosen for node in rest.values()} == {(made["d"].network.core.me,)}
    assert {(form["root"], form["preferred"]) for node in rest.values() for form in root_forms(node.network) or ()} == {
        ("d", "b")
    }
    assert all((root_changes(node.network.core) or 0) > 0 for node in rest.values())
    assert isinstance(await carol.next(), Lost)  # ways by b had broken
    await alice.publish({"x": 4})
    assert await carol.delivered() == {"x": 4}


@pytest.mark.parametrize("others", ["ad", *(pytest.param(each, marks=pytest.mark.slow) for each in ("b", "bce"))])
async def test_routers_of_both_families_make_one_ring(nodes, others):
    made = await mixed_ring(nodes, [PLAIN if name in others else "" for name in "abcde"])
    clients = await all_subscribe(made)
    await each_gets_what_it_wants(clients)


async def test_routers_that_differ_about_roots_go_by_the_trees_of_sources(nodes):
    made = await mixed_ring(nodes, [PLAIN, "\nstrategy: {name: rendezvous, others: [c]}", PLAIN, PLAIN, PLAIN])
    clients = await all_subscribe(made)
    await each_gets_what_it_wants(clients)
    assert all(core_of(node).roots.chosen == () for node in made.values())
