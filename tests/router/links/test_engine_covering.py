"""Routers whose engine compares filters: its structure finds those that need not be stated."""

from __future__ import annotations

import pytest

from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.wire.client_bodies import Ack, Unsubscribe
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.router.links.covering import EngineIndex
from tests.router.links.conftest import in_touch, linked
from tests.router.links.test_merging import held, own
from tests.router.links.test_network import subscribe
from tests.router.wire_client import subscription


def x_between(low: int, high: int) -> bytes:
    return encode_filter(Filter((Constraint("x", Op.BETWEEN, (low, high)),)))


@pytest.mark.parametrize("strategy", ["advertise", pytest.param("profile", marks=pytest.mark.slow)])
async def test_covered_filters_are_not_stated_and_return_when_their_cover_goes(nodes, strategy):
    made = await in_touch(nodes(linked("ab") + f"\nengine: interval\nstrategy: {strategy}"))
    a, b = made["a"].network.core, made["b"].network.core
    alice, bob = await made["a"].client("alice"), await made["b"].client("bob")
    await subscribe(bob, subscription(1, "x between 1 and 9"), subscription(2, "x in {2, 3} and s contains 'a'"))
    await made["a"].until(lambda: list(held(a, b.me).values()) == [x_between(1, 9)])
    await subscribe(bob, subscription(3, "x between 0 and 20"))
    await made["a"].until(lambda: list(held(a, b.me).values()) == [x_between(0, 20)])
    assert strategy == "profile" or isinstance(own(b).cover.index, EngineIndex)
    await bob.send(Unsubscribe(2, (3,)))
    await bob.next(Ack)
    await made["a"].until(lambda: list(held(a, b.me).values()) == [x_between(1, 9)])
    for x in (2, 15, 3):
        await alice.publish({"x": x, "s": "a"})
    assert [(await bob.delivered())["x"] for _ in range(2)] == [2, 3]
