"""Lookup reuse by keys between real routers: where tables are equal, a router on the path looks up the keys it got."""

from __future__ import annotations

import asyncio

import pytest

from tamis.protocol.wire.client_bodies import Lost
from tests.router.links.conftest import in_touch, linked
from tests.router.links.exchanges import RING, each_gets_what_it_wants, killed, mixed_ring, visits
from tests.router.links.test_network import subscribe
from tests.router.wire_client import subscription

KEYS = "\nstrategy: {reuse: keys, keys_max: 2}\nengine: counting"
LINK_MATCHING = "\nstrategy: {name: link-matching, reuse: keys}\nengine: sff"
MANY = 40
"""Filters of one client: more than a plan takes, for which no keys are written."""
ONE_GENERATION_S = 2.2
"""Seconds until one generation of trees is in force."""


async def _subscribed(made, bob, carol) -> None:
    """Of a ring of five, b and c have subscribers; each router knows it."""
    await subscribe(bob, subscription(1, "x > 1"))
    await subscribe(carol, subscription(1, "x > 2"), *(subscription(2 + y, f"y = {y}") for y in range(MANY)))
    for name, node in made.items():
        others = 2 + MANY - {"b": 1, "c": 1 + MANY}.get(name, 0)
        await node.until(lambda node=node, count=others: node.connections.tables[1].stats().filters == count)
    await asyncio.sleep(ONE_GENERATION_S)


def figures(made, name):
    found = made[name].network.connections.switch.figures()
    return found.keys_written, found.keys_believed, found.keys_stale


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [KEYS, LINK_MATCHING], ids=["advertise", "link-matching"])
async def test_a_router_on_the_path_looks_up_what_the_first_found(nodes, strategy):
    made = await in_touch(nodes(linked(*RING) + strategy))
    alice, bob, carol = [await made[name[0]].client(name) for name in ("alice", "bob", "carol")]
    await _subscribed(made, bob, carol)
    for x in range(1, 11):
        await alice.publish({"x": x})
    assert [await bob.delivered() for _ in range(9)] == [{"x": x} for x in range(2, 11)]
    assert [await carol.delivered() for _ in range(8)] == [{"x": x} for x in range(3, 11)]
    await made["a"].until(lambda: visits(made) == 10 + 9 + 8)  # entered; copies on a - b, and on b - c
    asked = made["b"].connections.tables[1].stats().steps
    await alice.publish({"x": 11})
    assert await carol.delivered() == {"x": 11}
    assert made["b"].connections.tables[1].stats().steps == asked
    assert figures(made, "a") == (10, 0, 0)
    assert figures(made, "b") == (0, 10, 0)


@pytest.mark.slow
async def test_a_router_matches_the_links_for_which_the_keys_are_not_all(nodes):
    """Behind b more filters match than a copy carries keys of."""
    made = await in_touch(nodes(linked(*RING) + KEYS))
    alice, bob, carol = [await made[name[0]].client(name) for name in ("alice", "bob", "carol")]
    await _subscribed(made, bob, carol)
    await subscribe(bob, *(subscription(100 + z, f"z = {z} or y < {MANY}") for z in range(4)))
    await made["a"].until(lambda: made["a"].connections.tables[1].stats().filters > 2 + MANY)
    await made["b"].until(lambda: figures(made, "b")[2] == 0)
    await asyncio.sleep(ONE_GENERATION_S)
    for y in range(20):
        await alice.publish({"y": y})
    assert [await carol.delivered() for _ in range(20)] == [{"y": y} for y in range(20)]
    assert [await bob.delivered() for _ in range(20)] == [{"y": y} for y in range(20)]
    assert figures(made, "a")[0] == 20


@pytest.mark.slow
async def test_routers_whose_tables_change_match_until_these_are_equal_again(nodes):
    made = await in_touch(nodes(linked(*RING) + KEYS))
    alice, bob, carol = [await made[name[0]].client(name) for name in ("alice", "bob", "carol")]
    dave = await made["d"].client("dave")
    await _subscribed(made, bob, carol)
    for x in range(50):
        await alice.publish({"x": 10 + x})
        if x % 10 == 5:
            await subscribe(dave, subscription(2 + x, f"z = {x}"))
    assert [await bob.delivered() for _ in range(50)] == [{"x": 10 + x} for x in range(50)]
    assert [await carol.delivered() for _ in range(50)] == [{"x": 10 + x} for x in range(50)]
    assert figures(made, "b")[1] > 10


@pytest.mark.slow
async def test_it_mixes_with_the_others_in_one_ring(nodes):
    made = await mixed_ring(
        nodes, (KEYS, "", LINK_MATCHING, "\nstrategy: {reuse: destinations}", "\nstrategy: match-first")
    )
    clients = {name: await node.client(f"at {name}") for name, node in made.items()}
    many = [subscription(2 + y, f"y = {y}") for y in range(MANY)]
    for place, client in enumerate(clients.values()):
        await subscribe(client, subscription(1, f"x = {place} or x = 9"), *(many if place == 0 else ()))
    await asyncio.sleep(ONE_GENERATION_S)
    await each_gets_what_it_wants(clients)


@pytest.mark.slow
async def test_a_ring_goes_on_when_a_router_is_killed(nodes):
    made = await in_touch(nodes(linked(*RING) + KEYS))
    alice, bob, carol = [await made[name[0]].client(name) for name in ("alice", "bob", "carol")]
    await _subscribed(made, bob, carol)
    await alice.publish({"x": 10})
    assert await carol.delivered() == {"x": 10}
    rest = await killed(made, "b")
    for x in range(20, 24):
        await alice.publish({"x": x})
    assert [await carol.delivered() for _ in range(4)] == [{"x": x} for x in range(20, 24)]
    await carol.next(Lost)  # the path has changed
    await asyncio.sleep(ONE_GENERATION_S)
    before = figures(rest, "d")[1]
    await alice.publish({"x": 30})
    assert await carol.delivered() == {"x": 30}
    assert figures(rest, "d")[1] == before + 1
