"""Brokers of paper 003: the cost model by hand, and real switches that equal it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tamis.papers.reproduce import clocked
from tamis.papers.reproduce.figure import Disagreement
from tamis.papers.reproduce.paper003.brokers import STRATEGIES, BrokersAsked, events_of, fleet_of, measured
from tamis.papers.reproduce.paper003.load import UnitCosts, asked, load_of, network, pieces, rate, work

HALF = Fraction(1, 2)


def test_links_of_the_papers_networks() -> None:
    assert network("bus4").links == ((0, 1, 1), (1, 2, 1), (2, 3, 1))
    for brokers in range(1, 10):
        assert len(network("das9", brokers).links) == brokers - 1, "the first brokers hang together"


def test_loads_by_hand() -> None:
    """One event in two matches, on two brokers: half of these are for the other one."""
    pair = asked(network("das9", 2).tree, HALF)
    assert load_of("EF", pair) == load_of("EF", asked(network("das9", 2).tree, Fraction(0)))
    assert (load_of("EF", pair).frames, load_of("PF8", pair).frames) == (1, Fraction(1, 4))
    assert load_of("RN8", pair).frames == HALF + Fraction(1, 8), "half for the root, and half of a half of a half back"
    assert [load_of(name, pair).duplication for name in ("EF", "PF8", "RN8")] == [1, 2, Fraction(3, 2)]


def test_work_by_hand() -> None:
    """EF on two brokers: each takes both publishers' events, filters them, passes on its own, and notifies."""
    pair = asked(network("das9", 2).tree, HALF, equal=3)
    per_broker = {1 + 1 + HALF + Fraction(3, 4)}
    assert set(work("EF", pair).values()) == per_broker
    assert rate("EF", pair) == 1 / per_broker.pop()
    dear = UnitCosts(receive=Fraction(2), filter=Fraction(3), send=Fraction(5), notify=Fraction(7))
    assert set(work("EF", pair, dear).values()) == {2 + 3 + 5 * HALF + 7 * Fraction(3, 4)}


def test_pieces_of_work_by_hand() -> None:
    """Two brokers, of which b2 is the root; half of the events match, half of these are for either broker."""
    pair = asked(network("das9", 2).tree, HALF, equal=3)
    leaf, root = (pieces("RN8", pair)[name] for name in ("b1", "b2"))
    assert (leaf["enter"], leaf["name"], leaf["send"]) == (HALF, HALF, HALF), "it publishes half, for the root"
    assert (root["filter"], root["others"], leaf["others"]) == (1, 1, 0), "the root alone has profiles of another"
    assert leaf["receive"] == HALF + Fraction(1, 8), "what it publishes, and of the root's own what it wants"
    assert (root["deliver"], root["notify"]) == (Fraction(1, 4), Fraction(3, 4))
    assert all(done["others"] == 0 and done["name"] == 0 for done in pieces("EF", pair).values())
    assert all(done["others"] == done["filter"] for done in pieces("PF8", pair).values())


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_events_that_cross_no_link_are_delivered(strategy: str) -> None:
    """Answers to subscriptions once came out in place of these deliveries."""
    found, _ = measured(BrokersAsked(network("bus4"), strategy, Fraction(3, 10), 1, Fraction(1)), 4)
    by_hand = {"EF": 3, "RN": 1}
    assert found.frames == by_hand.get(strategy, 0)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_routers_equal_the_model_on_nine_brokers_and_three_types(strategy: str) -> None:
    found, size = measured(BrokersAsked(network("das9"), strategy, HALF, 2, kinds=3), 12)
    assert size > found.frames * 64


def test_routers_with_clocks_of_their_own() -> None:
    """A network that sends nothing over links works in all of its routers at once; one that floods does not."""
    rates = {}
    for strategy in ("EF", "advertise"):
        point = BrokersAsked(network("bus4"), strategy, Fraction(0))
        fleet, _, _ = fleet_of(point, 4)
        fleet.publish(events_of(point, 4, 2_000))
        rates[strategy] = clocked.rate(fleet)
    assert 0.5 < rates["EF"].busiest_share <= 1
    assert rates["advertise"].events_per_s > rates["EF"].events_per_s


def test_a_fleet_with_clocks_that_sends_other_frames_ends_the_run() -> None:
    fleet, _, _ = fleet_of(BrokersAsked(network("bus4"), "EF", HALF), 4)
    fleet.first.frames += 1
    with pytest.raises(Disagreement, match="in waves"):
        clocked.rate(fleet, passes=1)
