"""A client asks for `copies_min` where the router has its capability, and nowhere else."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from tamis.client.durable.policy import durable_of
from tamis.client.errors import DurableRefused
from tamis.protocol.wire.client_bodies import COPIES_MIN, DURABLES
from tamis.protocol.wire.durable_bodies import CreateDurable
from tests.client.by_hand import Hand


def test_copies_min_is_asked_of_a_router_that_knows_it_and_of_no_other() -> None:
    durable = durable_of("orders", "amount > 100", homes=("a", "b"), copies_min=1)
    hand = Hand().open(capabilities=(DURABLES, COPIES_MIN))
    hand.core.durables.create(durable, Future())
    (asked,) = hand.sent_of(CreateDurable)
    assert (asked.policy.copies_min, asked.homes) == (1, ("a", "b"))
    older, waiter = Hand().open(capabilities=(DURABLES,)), Future[None]()
    older.core.durables.create(durable, waiter)
    with pytest.raises(DurableRefused, match=r"NOT_ALLOWED.*does not know copies_min: it is of an earlier version"):
        waiter.result()
    assert older.sent() == []
    older.core.durables.create(durable_of("orders", "amount > 100", homes=("a", "b")), Future())
    assert len(older.sent_of(CreateDurable)) == 1
