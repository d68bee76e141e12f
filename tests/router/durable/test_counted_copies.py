"""Which durable subscriptions that a router states count as copies of one (copies_min)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.protocol.wire.durable_bodies import DurablePolicy
from tamis.protocol.wire.home_bodies import StatedCopy, StatedDurable
from tamis.protocol.wire.numbers import stable_number
from tamis.router.durable.catalog import DurableCreated
from tamis.router.durable.copies import counted_copy
from tests.native.test_others import packed

HOMES = ("a", "b")
POLICY = DurablePolicy((packed("n = 1"),), copies_min=1)
A, B, C = map(stable_number, "abc")


def stated(policy: DurablePolicy = POLICY, homes: tuple[str, ...] = HOMES, made_ms: int = 0) -> StatedDurable:
    return StatedDurable("orders", "me", policy.filters, 0, 0, 0, (StatedCopy(homes, made_ms, policy, ()),))


def test_all_copies_share_a_number_which_each_home_finds_for_its_own() -> None:
    copies, copies_min = counted_copy(A, stated())
    assert copies_min == 1
    assert counted_copy(B, stated(made_ms=9)) == (copies, 1)
    assert DurableCreated("orders", "me", POLICY, homes=HOMES).copies == copies
    assert 0 < copies < 1 << 64


@pytest.mark.parametrize(
    "other",
    [
        stated(replace(POLICY, copies_min=2)),
        stated(replace(POLICY, filters=(packed("n = 2"),))),
        stated(homes=("b", "a")),
        replace(stated(), owner="another"),
        replace(stated(), name="jobs"),
    ],
)
def test_another_durable_subscription_has_another_number(other: StatedDurable) -> None:
    assert counted_copy(A, other)[0] not in (0, counted_copy(A, stated())[0])


@pytest.mark.parametrize(
    ("home", "each"),
    [
        (C, stated()),
        (A, stated(replace(POLICY, copies_min=0))),
        (A, stated(replace(POLICY, copies_min=3))),
        (A, replace(stated(), copy=())),
    ],
)
def test_what_a_router_that_is_no_home_states_is_no_copy_nor_is_one_without_a_valid_number(
    home: int, each: StatedDurable
) -> None:
    assert counted_copy(home, each) == (0, 0)


def test_a_durable_subscription_with_one_home_has_no_copies() -> None:
    assert DurableCreated("orders", "me", replace(POLICY, copies_min=0)).copies == 0
