"""A client that is sent away and loses one of the two routers: what happens at each step, as a table."""

from __future__ import annotations

from itertools import product

import pytest

from tamis.client.connection.handover import STEPS, Event, Step
from tamis.client.gap import Gap, GapReason
from tamis.client.messages.pending import ON_ITS_WAY_S
from tamis.protocol.wire.client_bodies import Refusal
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.session_bodies import Drain
from tests.client.by_hand import delivery, numbers
from tests.client.test_core import items
from tests.client.two_routers import Other, later, opened, step_of, to_step


def test_the_table_says_what_happens_at_every_step() -> None:
    """A cut of either connection, and the end of the client, may come at any step."""
    running = [step for step in Step if step is not Step.OVER]
    assert set(product(running, (Event.NEW_CUT, Event.OLD_CUT, Event.GIVEN_UP))) <= STEPS.keys()
    assert not [pair for pair in STEPS if pair[0] is Step.OVER]
    assert set(STEPS.values()) | {Step.DIALLING} == set(Step)


@pytest.mark.parametrize("step", [Step.DIALLING, Step.SUBSCRIBING, Step.SETTLING])
def test_where_the_new_router_is_lost_before_it_counts_another_one_is_tried(step: Step) -> None:
    hand = opened()
    wanted = hand.active("n > 0")
    old, other = to_step(hand, step)
    if step is not Step.DIALLING:
        other.say(delivery(1, number=9))
    other.cut()
    assert step_of(hand) is Step.DIALLING
    old.say(delivery(1, number=1))
    assert items(wanted) == [1]
    again = Other(hand).open()
    again.accept()
    later(hand, ON_ITS_WAY_S)
    old.end_all()
    assert hand.core.line is again.line
    assert items(wanted) == [1]


def test_one_that_drains_too_is_left_for_another_one() -> None:
    hand = opened()
    hand.active("n > 0")
    _, other = to_step(hand, Step.SUBSCRIBING)
    other.accept(Refusal(1, RefusalCode.DRAINING, "leaving"))
    assert other.line.wants_close
    other.cut()
    assert step_of(hand) is Step.DIALLING


@pytest.mark.parametrize("step", [Step.LEAVING, Step.TRAILING])
def test_where_the_new_router_is_lost_once_it_counts_the_client_dials_anew(step: Step) -> None:
    hand = opened()
    wanted = hand.active("n > 0")
    old, other = to_step(hand, step)
    other.say(delivery(1, number=1))
    other.cut()
    assert step_of(hand) is Step.OVER
    assert old.line.wants_close
    assert not hand.core.is_connected
    old.cut()
    hand.open()
    hand.accept()
    hand.say(delivery(1, number=2))
    one, gap, two = items(wanted)
    assert (one, two) == (1, 2)
    assert isinstance(gap, Gap)


def test_where_the_old_router_is_gone_before_the_new_one_answers_the_client_dials_anew() -> None:
    hand = opened()
    hand.active("n > 0")
    old, other = to_step(hand, Step.DIALLING)
    old.cut()
    assert step_of(hand) is Step.OVER
    assert other.line.wants_close
    hand.open()
    assert hand.accept()


@pytest.mark.parametrize("step", [Step.SUBSCRIBING, Step.SETTLING])
def test_where_the_old_router_is_gone_too_soon_the_new_one_counts_and_a_gap_says_so(step: Step) -> None:
    hand = opened()
    wanted = hand.active("n > 0")
    old, other = to_step(hand, step)
    old.say(delivery(1, number=1), Drain(1_000, "update"))
    other.say(delivery(1, number=1), delivery(1, number=3))
    old.cut()
    assert hand.core.line is other.line
    assert hand.core.is_connected
    other.accept()
    other.say(delivery(1, number=4))
    heard = items(wanted)
    assert [item for item in heard if not isinstance(item, Gap)] == [1, 3, 4]
    assert {item.reason for item in heard if isinstance(item, Gap)} == {GapReason.RECONNECTED}
    assert isinstance(heard[1], Gap)
    hand.publish(1)
    assert numbers(other.sent()) == [1]


def test_where_the_old_router_is_gone_before_it_has_ended_the_subscriptions_a_gap_says_so() -> None:
    hand = opened()
    wanted = hand.active("n > 0")
    old, other = to_step(hand, Step.LEAVING)
    other.say(delivery(1, number=3))
    old.cut()
    assert step_of(hand) is Step.TRAILING
    gap, three = items(wanted)
    assert isinstance(gap, Gap)
    assert three == 3


def test_a_predicate_that_the_new_router_refuses_ends_its_subscription() -> None:
    hand = opened()
    wanted, other_one = hand.active("n > 0"), hand.active("n > 1")
    old, other = to_step(hand, Step.SUBSCRIBING)
    other.accept(Refusal(1, RefusalCode.TOO_MANY_FILTERS, "no room"))
    later(hand, ON_ITS_WAY_S)
    old.end_all()
    assert wanted.inbox.is_ended
    assert "no room" in str(wanted.inbox.error)
    assert not other_one.inbox.is_ended
