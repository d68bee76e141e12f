"""The life of a keep: its states, its lease, and what a router makes no more of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.client.durable.policy import durable_of
from tamis.protocol.errors import Refused
from tamis.router.durable.life import DURABLE_TABLE, DurableChange, DurableLife, DurableState
from tamis.router.durable.quotas import DurableQuotas

IDLE_MS = 1_000
DURABLE = durable_of("jobs", "true", bytes=1_000)


def test_every_state_is_left_and_those_behind_the_first_are_reached() -> None:
    assert {state for state, _ in DURABLE_TABLE} == set(DurableState)
    assert set(DURABLE_TABLE.values()) == {DurableState.IDLE, DurableState.SERVED}


def test_a_lease_runs_while_nobody_is_attached() -> None:
    life = DurableLife(DurableState.MAKING, 0)
    assert life.lease_ends_ms(IDLE_MS) is None
    life.change(DurableChange.COMMITTED, 10)
    assert life.lease_ends_ms(IDLE_MS) == 10 + IDLE_MS
    assert life.lease_ends_ms(0) is None
    life.change(DurableChange.FIRST_CONSUMED, 20)
    assert life.lease_ends_ms(IDLE_MS) is None
    life.change(DurableChange.LAST_CONSUMED, 5_000)
    assert life.lease_ends_ms(IDLE_MS) == 5_000 + IDLE_MS


def test_quotas_are_named() -> None:
    quotas = DurableQuotas(durables=2, subscriptions_per_client=1, bytes_per_client=1_999, consumers_per_subscription=3)
    assert quotas.exceeded(0, 0, 999, DURABLE) == ""
    assert quotas.exceeded(2, 0, 0, DURABLE) == "this router has 2 durable subscriptions, its limit"
    assert quotas.exceeded(1, 1, 0, DURABLE) == "a client may have at most 1 durable subscriptions"
    assert (
        quotas.exceeded(1, 0, 1_000, DURABLE)
        == "a client's durable subscriptions may have at most 1,999 bytes in total"
    )
    assert quotas.too_many(2) == ""
    assert quotas.too_many(3) == "a durable subscription may have at most 3 consumers"


def test_policies_are_within_their_bounds() -> None:
    with pytest.raises(Refused, match="unacked_max is 1 to 100000"):
        replace(DURABLE.policy, unacked_max=100_001)
