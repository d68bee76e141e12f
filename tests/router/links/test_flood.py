"""Strategy flood between real routers: everybody asks for everything, and the last router filters for its clients."""

from __future__ import annotations

import pytest

from tests.router.links.conftest import in_touch, linked
from tests.router.links.exchanges import RING, all_subscribe, each_gets_what_it_wants, mixed_ring, visits
from tests.router.links.test_network import subscribe
from tests.router.wire_client import subscription

FLOOD = "\nstrategy: flood"
EVERYWHERE = "\nstrategy: {name: flood, prune: false}"


@pytest.mark.parametrize(("strategy", "frames"), [(FLOOD, 2), (EVERYWHERE, 4)], ids=["prune", "everywhere"])
async def test_a_message_goes_to_all_who_ask_and_is_filtered_there(nodes, strategy, frames):
    """Of a ring of five, b and c have subscribers, so that a message of a crosses two links or, unpruned, four."""
    made = await in_touch(nodes(linked(*RING) + strategy))
    alice, bob, carol = [await made[name[0]].client(name) for name in ("alice", "bob", "carol")]
    await subscribe(bob, subscription(1, "x > 1"))
    await subscribe(carol, subscription(1, "x > 2"))
    asking = 2 if frames == 2 else 5
    for name, node in made.items():
        await node.until(lambda node=node: node.connections.tables[1].stats().filters >= asking - 1)
        held = [entry.filters for entry in node.network.core.core_state.rib.entries.values() if entry.filters]
        assert [list(filters.values()) for filters in held] == [[b"\x90"]] * asking, name
    for x in (1, 2, 3):
        await alice.publish({"x": x})
    assert [await bob.delivered() for _ in range(2)] == [{"x": 2}, {"x": 3}]
    assert await carol.delivered() == {"x": 3}
    await made["a"].until(lambda: visits(made) == 3 * (1 + frames))
    await carol.publish({"x": 9})
    assert await bob.delivered() == {"x": 9}


async def test_tables_are_not_asked_while_all_want_everything(nodes):
    made = await in_touch(nodes(linked(*RING) + FLOOD))
    alice, dave = await made["a"].client("alice"), await made["d"].client("dave")
    await subscribe(dave, subscription(1, "x >= 0"))
    steps = []
    for x in range(20):
        await alice.publish({"x": x})
        assert await dave.delivered() == {"x": x}
        steps.append(sum(node.connections.tables[1].stats().steps for node in made.values()))
    assert steps[-1] == steps[9]


@pytest.mark.parametrize("flooding", ["b", "ad", "bce"])
async def test_routers_that_flood_and_routers_that_advertise_make_one_ring(nodes, flooding):
    made = await mixed_ring(nodes, [FLOOD if name in flooding else "" for name in "abcde"])
    clients = await all_subscribe(made)
    await each_gets_what_it_wants(clients)
