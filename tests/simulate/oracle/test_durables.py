"""The judge of durable subscriptions: which statements a router may not forget."""

from __future__ import annotations

import pytest

from tamis.simulate.oracle.durables import DurablesTruth, KnownByRouter

A, B = 1, 2
ALONE: dict[int, dict[int, int]] = {A: {}}
WRITTEN = {A: (1, 1, 0)}


@pytest.mark.parametrize(("home", "found"), [(A, []), (B, [17])])
def test_a_router_may_say_nothing_of_itself_after_a_restart_and_forgets_no_other(home: int, found: list[int]) -> None:
    reported: list[int] = []
    judge = DurablesTruth(lambda invariant, _: reported.append(invariant))
    judge.at_rest({A: KnownByRouter({home: ((1, 3), ())}, {}, {})}, WRITTEN, ALONE)
    judge.at_rest({A: KnownByRouter({}, {}, {})}, WRITTEN, ALONE)
    assert reported == found
