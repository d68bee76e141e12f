"""The life of a keep: its states, its lease, and what a router makes no more of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.client.durable.terms import keep_of
from tamis.protocol.errors import Refused
from tamis.router.kept.life import KEEP_TABLE, KeepChange, KeepLife, KeepState
from tamis.router.kept.quotas import KeepQuotas

IDLE_MS = 1_000
KEEP = keep_of("jobs", "true", bytes=1_000)


def test_every_state_is_left_and_those_behind_the_first_are_reached() -> None:
    assert {state for state, _ in KEEP_TABLE} == set(KeepState)
    assert set(KEEP_TABLE.values()) == {KeepState.IDLE, KeepState.SERVED}


def test_a_lease_runs_while_nobody_is_attached() -> None:
    life = KeepLife(KeepState.MAKING, 0)
    assert life.lease_ends_ms(IDLE_MS) is None
    life.change(KeepChange.COMMITTED, 10)
    assert life.lease_ends_ms(IDLE_MS) == 10 + IDLE_MS
    assert life.lease_ends_ms(0) is None
    life.change(KeepChange.FIRST_ATTACHED, 20)
    assert life.lease_ends_ms(IDLE_MS) is None
    life.change(KeepChange.LAST_DETACHED, 5_000)
    assert life.lease_ends_ms(IDLE_MS) == 5_000 + IDLE_MS


def test_quotas_are_named() -> None:
    quotas = KeepQuotas(keeps=2, keeps_per_client=1, bytes_per_client=1_999, members_per_keep=3)
    assert quotas.exceeded(0, 0, 999, KEEP) == ""
    assert quotas.exceeded(2, 0, 0, KEEP) == "this router keeps for 2 names"
    assert quotas.exceeded(1, 1, 0, KEEP) == "a client may make 1 keeps"
    assert quotas.exceeded(1, 0, 1_000, KEEP) == "the keeps of a client may have 1,999 bytes in all"
    assert quotas.too_many(2) == ""
    assert quotas.too_many(3) == "a keep has 3 members at most"


def test_terms_are_within_their_bounds() -> None:
    with pytest.raises(Refused, match="unacked_max is 1 to 100000"):
        replace(KEEP.terms, unacked_max=100_001)
