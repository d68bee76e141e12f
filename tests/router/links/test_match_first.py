"""Strategy match-first between real routers: a message is matched where it enters, and nobody on its way is asked."""

from __future__ import annotations

import pytest

from tests.router.links.conftest import in_touch, linked
from tests.router.links.exchanges import RING, all_subscribe, each_gets_what_it_wants, mixed_ring, visits
from tests.router.links.test_network import subscribe
from tests.router.wire_client import subscription

MATCH_FIRST = "\nstrategy: match-first"
ONE = "\nstrategy: {name: match-first, destinations_max: 1}"


@pytest.mark.parametrize(("strategy", "is_asked"), [(MATCH_FIRST, False), (ONE, True)], ids=["all listed", "too many"])
async def test_a_router_on_the_way_matches_a_message_only_if_it_is_for_too_many(nodes, strategy, is_asked):
    """Of a ring of five, b and c have subscribers. There are more filters than a plan takes."""
    made = await in_touch(nodes(linked(*RING) + strategy))
    alice, bob, carol = [await made[name[0]].client(name) for name in ("alice", "bob", "carol")]
    await subscribe(bob, subscription(1, "x > 1"))
    more = [subscription(2 + place, f"y = {place}") for place in range(40)]
    await subscribe(carol, subscription(1, "x > 2"), *more)
    for name, node in made.items():
        others = 42 - {"b": 1, "c": 41}.get(name, 0)
        await node.until(lambda node=node, count=others: node.connections.tables[1].stats().filters == count)
    for x in range(1, 11):
        await alice.publish({"x": x})
    assert [await bob.delivered() for _ in range(9)] == [{"x": x} for x in range(2, 11)]
    assert [await carol.delivered() for _ in range(8)] == [{"x": x} for x in range(3, 11)]
    await made["a"].until(lambda: visits(made) == 10 + 9 + 8)  # entered; copies on a - b, and on b - c
    # the first ones were asked for the names that filters speak of
    asked = made["b"].connections.tables[1].stats().steps
    await alice.publish({"x": 11})
    assert await carol.delivered() == {"x": 11}
    assert (made["b"].connections.tables[1].stats().steps > asked) == is_asked


@pytest.mark.parametrize("strategies", ["mfala", "fmmmm", "aamaa"], ids=["all four", "one floods", "one matches first"])
async def test_it_mixes_with_the_others_in_one_ring(nodes, strategies):
    others = {"m": MATCH_FIRST, "l": "\nstrategy: link-matching", "f": "\nstrategy: flood", "a": ""}
    made = await mixed_ring(nodes, [others[dead_letter] for dead_letter in strategies])
    clients = await all_subscribe(made)
    await each_gets_what_it_wants(clients)
