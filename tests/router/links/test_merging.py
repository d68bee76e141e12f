"""`strategy.merge` between real routers: fewer filters are stated, and clients get what they want and nothing else."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tamis.router.core.core import Core
from tamis.router.core.statements.own_predicate import OwnPredicate
from tamis.router.core.strategies.edges import EdgeCore
from tests.router.links.conftest import in_touch, linked
from tests.router.links.test_network import subscribe
from tests.router.wire_client import subscription


def own(core: Core) -> OwnPredicate:
    return core.edges.interest.own if isinstance(core, EdgeCore) else core._advertiser.own


def held(core: Core, router: int) -> Mapping[int, bytes]:
    """Return the filters that a router holds of its only neighbour."""
    if isinstance(core, EdgeCore):
        return next(iter(core.held_edges)).filters
    return core.core_state.rib.entries[router].filters


@pytest.mark.parametrize("strategy", ["advertise", "profile"])
async def test_clients_get_what_they_want_from_merged_filters(nodes, strategy):
    made = await in_touch(nodes(linked("ab") + f"\nstrategy: {{name: {strategy}, merge: 0.3}}"))
    alice, bob = await made["a"].client("alice"), await made["b"].client("bob")
    await subscribe(bob, subscription(1, "x between 0 and 10"), subscription(2, "x between 12 and 20"))
    await made["b"].until(lambda: own(made["b"].network.core).figures()["merged"] == 2)
    await made["a"].until(lambda: len(held(made["a"].network.core, made["b"].network.core.me)) == 1)
    for x in (5, 11, 15, 25):
        await alice.publish({"x": x})
    assert [await bob.delivered() for _ in range(2)] == [{"x": 5}, {"x": 15}]
    await made["b"].until(lambda: made["b"].connections.switch.figures().in_vain == 1)
    assert made["b"].connections.switch.figures().messages_in == 3, "25 is outside of the merged filter"
