"""Reuse of matches between real routers: where tables are equal, nobody on a message's way asks its table."""

from __future__ import annotations

import asyncio

import pytest

from tamis.protocol.wire.client_bodies import Lost
from tests.router.links.conftest import in_touch, linked
from tests.router.links.exchanges import RING, each_gets_what_it_wants, killed, mixed_ring, visits
from tests.router.links.test_network import subscribe
from tests.router.wire_client import subscription

REUSE = "\nstrategy: {reuse: destinations}"
LINK_MATCHING = "\nstrategy: {name: link-matching, reuse: destinations}"
MANY = 40
"""Filters of one client: more than a plan takes, which is cheaper than a set."""


async def _subscribed(made, bob, carol) -> None:
    """Of a ring of five, b and c have subscribers; each router knows it."""
    await subscribe(bob, subscription(1, "x > 1"))
    await subscribe(carol, subscription(1, "x > 2"), *(subscription(2 + y, f"y = {y}") for y in range(MANY)))
    for name, node in made.items():
        others = 2 + MANY - {"b": 1, "c": 1 + MANY}.get(name, 0)
        await node.until(lambda node=node, count=others: node.connections.tables[1].stats().filters == count)


async def _sets_for_all(made) -> None:
    """Wait until one generation of trees is in force; then let each message have a set, whatever that is worth in a
    network of five."""
    await asyncio.sleep(2.2)
    for node in made.values():
        node.network.connections.switch.tell_tree({})


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [REUSE, LINK_MATCHING], ids=["advertise", "link-matching"])
async def test_a_router_on_the_way_takes_the_answer_of_the_first(nodes, strategy):
    made = await in_touch(nodes(linked(*RING) + strategy))
    alice, bob, carol = [await made[name[0]].client(name) for name in ("alice", "bob", "carol")]
    await _subscribed(made, bob, carol)
    await _sets_for_all(made)
    for x in range(1, 11):
        await alice.publish({"x": x})
    assert [await bob.delivered() for _ in range(9)] == [{"x": x} for x in range(2, 11)]
    assert [await carol.delivered() for _ in range(8)] == [{"x": x} for x in range(3, 11)]
    await made["a"].until(lambda: visits(made) == 10 + 9 + 8)  # entered; copies on a - b, and on b - c
    asked = made["b"].connections.tables[1].stats().steps
    await alice.publish({"x": 11})
    assert await carol.delivered() == {"x": 11}
    assert made["b"].connections.tables[1].stats().steps == asked
    figures = {name: node.network.connections.switch.figures() for name, node in made.items()}
    assert (figures["a"].sets_written, figures["a"].sets_believed) == (10, 0)
    assert {name: (figures[name].sets_believed, figures[name].sets_stale) for name in "bc"} == {
        "b": (10, 0),
        "c": (9, 0),
    }


@pytest.mark.slow
async def test_routers_whose_tables_change_match_until_these_are_equal_again(nodes):
    made = await in_touch(nodes(linked(*RING) + REUSE))
    alice, bob, carol = [await made[name[0]].client(name) for name in ("alice", "bob", "carol")]
    dave = await made["d"].client("dave")
    await _subscribed(made, bob, carol)
    await _sets_for_all(made)
    for x in range(50):
        await alice.publish({"x": 10 + x})
        if x % 10 == 5:
            await subscribe(dave, subscription(2 + x, f"z = {x}"))
    assert [await bob.delivered() for _ in range(50)] == [{"x": 10 + x} for x in range(50)]
    assert [await carol.delivered() for _ in range(50)] == [{"x": 10 + x} for x in range(50)]
    figures = made["b"].network.connections.switch.figures()
    assert figures.sets_believed > 10


@pytest.mark.slow
async def test_it_mixes_with_the_others_in_one_ring(nodes):
    made = await mixed_ring(nodes, (REUSE, "", LINK_MATCHING, "\nstrategy: match-first", REUSE))
    clients = {name: await node.client(f"at {name}") for name, node in made.items()}
    many = [subscription(2 + y, f"y = {y}") for y in range(MANY)]
    for place, client in enumerate(clients.values()):
        await subscribe(client, subscription(1, f"x = {place} or x = 9"), *(many if place == 0 else ()))
    await _sets_for_all(made)
    await each_gets_what_it_wants(clients)


@pytest.mark.slow
async def test_a_ring_goes_on_when_a_router_is_killed(nodes):
    made = await in_touch(nodes(linked(*RING) + REUSE))
    alice, bob, carol = [await made[name[0]].client(name) for name in ("alice", "bob", "carol")]
    await _subscribed(made, bob, carol)
    await _sets_for_all(made)
    await alice.publish({"x": 10})
    assert await carol.delivered() == {"x": 10}
    rest = await killed(made, "b")
    for x in range(20, 24):
        await alice.publish({"x": x})
    assert [await carol.delivered() for _ in range(4)] == [{"x": x} for x in range(20, 24)]
    await carol.next(Lost)  # the way has changed, two seconds ago
    await _sets_for_all(rest)
    before = made["d"].network.connections.switch.figures().sets_believed
    await alice.publish({"x": 30})
    assert await carol.delivered() == {"x": 30}
    assert made["d"].network.connections.switch.figures().sets_believed == before + 1


@pytest.mark.slow
async def test_where_nobody_is_on_the_way_no_set_is_written(nodes):
    """Of two routers the other one is a leaf of the tree: it matches for its own clients alone, set or not."""
    made = await in_touch(nodes(linked("ab") + REUSE))
    alice, bob = await made["a"].client("alice"), await made["b"].client("bob")
    await subscribe(bob, *(subscription(2 + y, f"y = {y}") for y in range(MANY)))
    await made["a"].until(lambda: made["a"].connections.tables[1].stats().filters == MANY)
    await asyncio.sleep(2.2)
    for _ in range(40):
        await alice.publish({"y": 1})
    assert [await bob.delivered() for _ in range(40)] == [{"y": 1}] * 40
    assert made["a"].network.connections.switch.figures().sets_written == 0
