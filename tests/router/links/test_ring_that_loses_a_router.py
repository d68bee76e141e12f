"""A ring of five routers loses one: the others deliver what their clients want by the way that is left."""

from __future__ import annotations

import pytest

from tests.router.links.conftest import in_touch, linked
from tests.router.links.exchanges import RING, killed
from tests.router.links.test_network import subscribe
from tests.router.wire_client import subscription


@pytest.mark.parametrize("strategy", ["advertise", "flood", "link-matching", "match-first"])
async def test_a_ring_goes_on_when_a_router_is_killed(nodes, strategy):
    made = await in_touch(nodes(f"{linked(*RING)}\nstrategy: {strategy}"))
    alice, carol = await made["a"].client("alice"), await made["c"].client("carol")
    await subscribe(carol, subscription(1, "x > 0"))
    await alice.publish({"x": 1})
    assert await carol.delivered() == {"x": 1}
    await killed(made, "b")
    for x in (0, 2, 3):
        await alice.publish({"x": x})
    assert [await carol.delivered() for _ in range(2)] == [{"x": 2}, {"x": 3}]
