"""Strategy profile between real routers: what lies behind an edge, said to the neighbour at its other end."""

from __future__ import annotations

import pytest

from tamis.protocol.wire.client_bodies import Ack, Unsubscribe
from tamis.router.admin.edges import onward_forms
from tamis.router.core.strategies.edges import EdgeCore
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

PROFILE = "\nstrategy: profile"
PREVENTIVE = "\nstrategy: {name: profile, storing: preventive}"


def edges(node: Node) -> EdgeCore:
    core = node.network.core
    assert isinstance(core, EdgeCore)
    return core


async def settled(*nodes: Node) -> None:
    """Wait until every edge of the nodes is complete and in their tables."""
    for node in nodes:
        await node.until(
            lambda node=node: (
                all(each.is_complete for each in edges(node).held_edges) and node.network.installer.is_idle
            )
        )


async def old_trees_gone(*nodes: Node) -> None:
    """An edge of earlier trees that was not complete yet counts as everything for as long as these are in force."""
    for node in nodes:
        await node.until(lambda node=node: node.connections.switch.figures().generations == 1)


@pytest.mark.parametrize("strategy", [PROFILE, PREVENTIVE], ids=["optimistic", "preventive"])
async def test_messages_go_along_one_tree_to_who_wants_them(nodes, strategy):
    made = await in_touch(nodes(linked(*RING) + strategy))
    clients = await all_subscribe(made)
    await settled(*made.values())
    assert sum(len(edges(node).held_edges) for node in made.values()) == 2 * 4
    await each_gets_what_it_wants(clients)


@pytest.mark.slow
async def test_a_message_takes_no_link_behind_which_nobody_wants_it(nodes):
    made = await in_touch(nodes(linked("ab", "bc", "cd") + PROFILE))
    await old_trees_gone(*made.values())
    alice, bob = await made["a"].client("alice"), await made["b"].client("bob")
    await subscribe(bob, subscription(1, "x > 1"))
    await settled(*made.values())
    assert onward_forms(made["a"].network, {"x": 2}) == [{"neighbour": "b", "routers": [], "why": "edge"}]
    assert onward_forms(made["a"].network, {"x": 1}) == []
    before = visits(made)
    for x in (1, 2, 3):
        await alice.publish({"x": x})
    assert [await bob.delivered() for _ in range(2)] == [{"x": 2}, {"x": 3}]
    await made["a"].until(lambda: visits(made) == before + 3 + 2)


async def test_a_ring_goes_on_when_a_router_is_killed(nodes):
    made = await in_touch(nodes(linked(*RING) + PROFILE))
    alice, carol = await made["a"].client("alice"), await made["c"].client("carol")
    await subscribe(carol, subscription(1, "x > 0"))
    await settled(*made.values())
    await alice.publish({"x": 1})
    assert await carol.delivered() == {"x": 1}
    rest = await killed(made, "b")
    for x in (0, 2, 3):
        await alice.publish({"x": x})
    assert [await carol.delivered() for _ in range(2)] == [{"x": 2}, {"x": 3}]
    await settled(*rest.values())
    await alice.publish({"x": 4})
    assert await carol.delivered() == {"x": 4}


@pytest.mark.parametrize("others", ["ad", *(pytest.param(each, marks=pytest.mark.slow) for each in ("b", "bce"))])
async def test_routers_of_both_families_make_one_ring(nodes, others):
    made = await mixed_ring(nodes, [PROFILE if name in others else "" for name in "abcde"])
    clients = await all_subscribe(made)
    await each_gets_what_it_wants(clients)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "before", "after"),
    [(PROFILE, (0,), (1,)), (PREVENTIVE, (0, 1, 5), (1, 5))],
    ids=["optimistic", "preventive"],
)
async def test_what_is_covered_is_said_as_the_strategy_stores_it(nodes, strategy, before, after):
    """c wants what b wants, less, and more: a hears of the widest filter alone, or of all three."""
    made = await in_touch(nodes(linked("ab", "bc") + strategy))
    alice, bob, carol = [await made[name].client(name) for name in "abc"]
    await subscribe(bob, subscription(1, "x > 1"))
    await subscribe(carol, subscription(1, "x > 5"))
    await subscribe(carol, subscription(2, "x > 0"))
    await settled(*made.values())
    [held] = edges(made["a"]).held_edges
    said = {bound: subscription(1, f"x > {bound}").filters[0] for bound in (0, 1, 5)}
    await made["a"].until(lambda: sorted(held.filters.values()) == sorted(said[bound] for bound in before))
    await carol.send(Unsubscribe(2, (2,)))
    assert isinstance(await carol.next(), Ack)
    await made["a"].until(lambda: sorted(held.filters.values()) == sorted(said[bound] for bound in after))
    for x in (1, 2, 6):
        await alice.publish({"x": x})
    assert [await bob.delivered() for _ in range(2)] == [{"x": 2}, {"x": 6}]
    assert await carol.delivered() == {"x": 6}
