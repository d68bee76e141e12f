"""Strategy link-matching between real routers: every filter is known everywhere, and each link carries one copy."""

from __future__ import annotations

import pytest

from tests.router.links.conftest import in_touch, linked
from tests.router.links.exchanges import RING, all_subscribe, each_gets_what_it_wants, mixed_ring, visits
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
        await node.until(lambda node=node, count=others[name]: node.connections.tables[1].stats().filters == count)
    for x in (1, 2, 3):
        await alice.publish({"x": x})
    assert [await bob.delivered() for _ in range(2)] == [{"x": 2}, {"x": 3}]
    assert await carol.delivered() == {"x": 3}
    await made["a"].until(lambda: visits(made) == 3 + 2 + 1)  # entered; copies on a - b, and on b - c


@pytest.mark.slow
@pytest.mark.parametrize("strategies", ["lfala", "fllll", "aalaa"], ids=["all three", "one floods", "one matches"])
async def test_it_mixes_with_the_others_in_one_ring(nodes, strategies):
    others = {"l": LINK_MATCHING, "f": "\nstrategy: flood", "a": ""}
    made = await mixed_ring(nodes, [others[dead_letter] for dead_letter in strategies])
    clients = await all_subscribe(made)
    for place, client in enumerate(clients.values()):
        await subscribe(client, subscription(2, f"x = {place} and of = 'a'"))
    await each_gets_what_it_wants(clients)
