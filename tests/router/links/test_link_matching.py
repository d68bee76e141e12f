"""Strategy link-matching between real routers: every filter is known everywhere, and each link carries one copy."""

from __future__ import annotations

import pytest

from tamis.configs import parse_topology
from tests.router.links.conftest import in_touch, linked
from tests.router.links.exchanges import all_subscribe, each_gets_what_it_wants
from tests.router.links.test_flood import RING, visits
from tests.router.links.test_network import subscribe
from tests.router.wire_client import subscription

LINK_MATCHING = "\nstrategy: link-matching"


async def test_every_filter_is_known_and_a_message_goes_where_it_is_wanted(nodes):
    """Of a ring of five, b and c have subscribers: c wants all that b wants, and more of it by itself."""
    made = await in_touch(nodes(linked(*RING) + LINK_MATCHING))
    alice, bob, carol = [await made[name[0]].client(name) for name in ("alice", "bob", "carol")]
    await subscribe(bob, subscription(1, "x > 1"))
    await subscribe(carol, subscription(1, "x > 2"))
    await subscribe(carol, subscription(2, "x > 3 and y = 1"))
    others = {"a": 3, "b": 2, "c": 1, "d": 3, "e": 3}
    for name, node in made.items():
        await node.until(lambda node=node, count=others[name]: node.network.table.stats().filters == count)
    for x in (1, 2, 3):
        await alice.publish({"x": x})
    assert [await bob.delivered() for _ in range(2)] == [{"x": 2}, {"x": 3}]
    assert await carol.delivered() == {"x": 3}
    await made["a"].until(lambda: visits(made) == 3 + 2 + 1)  # entered; copies on a - b, and on b - c


@pytest.mark.slow
@pytest.mark.parametrize("strategies", ["lfala", "fllll", "aalaa"], ids=["all three", "one floods", "one matches"])
async def test_it_mixes_with_the_others_in_one_ring(nodes, strategies):
    text = linked(*RING)
    made = nodes(text)
    full = text.replace("{}", str(made["a"]._folder))
    others = {"l": LINK_MATCHING, "f": "\nstrategy: flood", "a": ""}
    for name, strategy in zip(made, strategies, strict=True):
        made[name].settings = parse_topology(full + others[strategy]).router(name)
    await in_touch(made)
    clients = await all_subscribe(made)
    for place, client in enumerate(clients.values()):
        await subscribe(client, subscription(2, f"x = {place} and of = 'a'"))
    await each_gets_what_it_wants(clients)


async def test_a_ring_goes_on_when_a_router_is_killed(nodes):
    made = await in_touch(nodes(linked(*RING) + LINK_MATCHING))
    alice, carol = await made["a"].client("alice"), await made["c"].client("carol")
    await subscribe(carol, subscription(1, "x > 0"))
    await alice.publish({"x": 1})
    assert await carol.delivered() == {"x": 1}
    made["b"].kill()
    rest = {name: node for name, node in made.items() if name != "b"}
    for node in rest.values():
        await node.knows(*(name for name in rest if name != node.name))
    for x in (0, 2, 3):
        await alice.publish({"x": x})
    assert [await carol.delivered() for _ in range(2)] == [{"x": 2}, {"x": 3}]
