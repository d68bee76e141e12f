"""The served simulator, against what is known of queues."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.simulate.nodes.served import PRECISION, Visit, bound_per_s, run, saturation_per_s


def line(*services_us: float, delay_us: float = 1_000) -> Visit:
    """A way by routers 0, 1, ..., one after the other."""
    visit = Visit(len(services_us) - 1, services_us[-1])
    for router in reversed(range(len(services_us) - 1)):
        visit = Visit(router, services_us[router], ((visit, delay_us),))
    return visit


def test_the_busiest_router_is_the_bound() -> None:
    assert bound_per_s([line(100, 250, 10)]) == pytest.approx(4_000)
    assert bound_per_s([line(100, 250, 10), line(900)]) == pytest.approx(2_000)


@pytest.mark.slow
def test_a_lone_router_waits_as_theory_says() -> None:
    """One server, Poisson arrivals, a constant service: the mean wait is rho / (2 (1 - rho)) services."""
    for load in (0.3, 0.6, 0.8):
        found = run([line(100)], 10_000 * load, 60, seed=1)
        assert found.mean_wait_us == pytest.approx(100 * load / (2 * (1 - load)), rel=0.06)
        assert not found.is_overloaded


@pytest.mark.slow
def test_a_queue_grows_only_beyond_the_bound() -> None:
    assert not run([line(100, 200)], 4_800, 20, seed=1).is_overloaded
    assert run([line(100, 200)], 5_300, 20, seed=1).is_overloaded
    assert saturation_per_s([line(100, 200)], 10, seed=1) == pytest.approx(5_000, rel=2 * PRECISION)


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(st.integers(0, 1 << 30))
def test_saturation_is_the_bound_on_any_tree(seed: int) -> None:
    """By the queues it is what the busiest router's mean service says, which shares no code with them."""
    rng = random.Random(seed)

    def journey(routers: list[int]) -> Visit:
        first, rest = routers[0], routers[1:]
        cut = rng.randint(0, len(rest))
        parts = [part for part in (rest[:cut], rest[cut:]) if part]
        return Visit(first, rng.randint(200, 900), tuple((journey(part), 500.0) for part in parts))

    journeys = [journey(rng.sample(range(6), rng.randint(1, 6))) for _ in range(8)]
    spent = [
        sum(visit.service_us for each in journeys for visit in each.all() if visit.router == at) for at in range(6)
    ]
    assert saturation_per_s(journeys, 8, seed) == pytest.approx(8e6 / max(spent), rel=2.5 * PRECISION)


def test_equal_questions_have_equal_answers() -> None:
    journeys = [line(100, 50), line(80)]
    assert run(journeys, 3_000, 1, seed=7) == run(journeys, 3_000, 1, seed=7)
    assert run(journeys, 3_000, 1, seed=7) != run(journeys, 3_000, 1, seed=8)


def test_a_run_that_would_not_end_is_refused() -> None:
    with pytest.raises(ValueError, match="at most"):
        run([line(1, 1)], 1e9, 60, seed=1)
