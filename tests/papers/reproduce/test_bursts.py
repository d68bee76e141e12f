"""Bursts of paper 002's events: every event is in equally many, and each burst is full."""

from __future__ import annotations

from collections import Counter

import pytest

from tamis.papers.reproduce.paper002 import bursts
from tamis.simulate.nodes.served import Visit, run


@pytest.mark.parametrize("size", [1, 2, 3, 10])
def test_bursts_are_full_and_fair(size: int) -> None:
    alone = [Visit(place, 10.0) for place in range(4)]
    made = bursts.together(alone, size)
    assert {len(burst.onward) for burst in made} == {size}
    assert len(set(Counter(visit.router for burst in made for visit, _ in burst.onward).values())) == 1


def test_events_of_a_burst_wait_for_one_another() -> None:
    """At one router, where an event takes 10 us and few bursts come: the k-th of ten waits for k - 1 others."""
    found = run(bursts.together([Visit(0, 10.0)], 10), 1.0, 50.0, seed=1)
    brokers = found.visits * 10 / 11
    assert found.waited_us / brokers == pytest.approx(45.0, rel=0.02)
