"""Brokers of paper 003: the arithmetic by hand, and real switches that equal it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tamis.bench.reproduce.paper003.brokers import ADVERTISE, BUS4, DAS9, EF, expected, far, measured

ANYWHERE = Fraction(-1)


def test_hops_of_the_papers_networks() -> None:
    assert far(BUS4, 4)[0] == [0, 1, 2, 3]
    assert max(map(max, far(DAS9, 9))) == 4
    for brokers in range(2, 10):
        assert max(map(max, far(DAS9[: brokers - 1], brokers))) < brokers, "the first brokers hang together"


def test_frames_of_an_event_by_another_program() -> None:
    """Sums over trees, made apart from this code, to two places."""
    told = {2: 0.50, 3: 0.89, 4: 1.13, 5: 1.28, 6: 1.56, 7: 1.80, 8: 2.00, 9: 2.17}
    for brokers, frames in told.items():
        found = expected(DAS9[: brokers - 1], brokers, ADVERTISE, Fraction(1), 1, ANYWHERE)
        assert float(found.frames) == pytest.approx(frames, abs=0.006)
        assert found.duplication == brokers
        assert expected(DAS9[: brokers - 1], brokers, EF, Fraction(1), 1, ANYWHERE).frames == brokers - 1
    for pe in (Fraction(0), Fraction(3, 10), Fraction(1)):
        found = expected(BUS4, 4, ADVERTISE, pe, 1, ANYWHERE)
        assert (found.frames, found.busiest) == (Fraction(5, 4) * pe, Fraction(1, 4) + Fraction(7, 16) * pe)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [EF, ADVERTISE])
def test_events_that_cross_no_link_are_delivered(strategy: str) -> None:
    """Answers to subscriptions once came out in place of these deliveries."""
    found = measured(BUS4, 4, strategy, 4, Fraction(3, 10), 1, Fraction(1))
    assert found.frames == (3 if strategy == EF else 0)
