"""A client that is sent away goes to another router: the way there, and each message once."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.client.connection.address import Endpoint, parse_address
from tamis.client.connection.handover import BEFORE, CATCH_UP_S, PAUSE_S, Step
from tamis.client.connection.redial import Redial
from tamis.client.messages.overlap import OVERLAP_MESSAGES_MAX
from tamis.client.messages.pending import ON_ITS_WAY_S, PendingSubscription, options_of, packing
from tamis.protocol.messages import Message as Published
from tamis.protocol.messages import MessageId
from tamis.protocol.wire.client_bodies import Ack, AckOf, Lost, Reach, Unsubscribe, ranges_of
from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.durable_bodies import Consume
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.frames import decode
from tamis.protocol.wire.header import Transit
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.reader import FrameReader
from tamis.protocol.wire.session_bodies import MOVES, Drain, GoAway, Hello, Ping, Pong
from tests.client.by_hand import NAME, Hand, delivery, handed, numbers
from tests.client.test_core import drained, items
from tests.client.test_durable import active as consumer_of
from tests.client.two_routers import AWAY, later, opened, sent_away, step_of, to_step

# --- who goes, and where ---------------------------------------------------------------------------------------------


def test_a_client_with_two_addresses_says_that_it_moves() -> None:
    for addresses, said in ((("tamis+unix:/a",), ()), (("tamis+unix:/a", "tamis+unix:/b"), (MOVES,))):
        (hello,) = Hand(addresses=addresses).connect()
        assert isinstance(hello, Hello)
        assert hello.capabilities == said


def test_a_client_with_one_address_stays_whatever_it_is_told() -> None:
    hand = Hand(addresses=("tamis://one:1",)).open()
    hand.say(GoAway(5_000, ("tamis://two:2",), ""))
    assert hand.core.take_dial() is None


@pytest.mark.parametrize(
    ("own", "told", "expected"),
    [
        ("tamis://a:1 tamis://b:1", "", "tamis://b:1"),
        ("tamis://a:1 tamis://b:1 tamis://c:1", "", "tamis://b:1 tamis://c:1"),
        ("tamis://a:1 tamis://b:1 tamis://c:1", "tamis://c:1 tamis://d:1", "tamis://c:1 tamis://b:1 tamis://d:1"),
        ("tamis://a:1 tamis://b:1", "tamis://a:1 nonsense tamis+unix:/x", "tamis://b:1"),
        ("tamis+tls://a:1 tamis://b:1", "tamis://c:1 tamis+tls://d:1", "tamis://b:1 tamis+tls://d:1"),
        ("tamis://a:1", "tamis://c:1", ""),
    ],
)
def test_its_own_addresses_come_first_and_of_these_those_that_it_is_told(own: str, told: str, expected: str) -> None:
    redial = Redial(tuple(map(parse_address, own.split())), lambda: 0.5)
    assert redial.elsewhere(told.split()) == [parse_address(text) for text in expected.split()]


def test_others_come_in_any_order() -> None:
    drawn = iter([0.9, 0.1])
    redial = Redial((Endpoint("a", 1), Endpoint("b", 1)), lambda: next(drawn))
    assert [each.host for each in redial.elsewhere(["tamis://c:1", "tamis://d:1"])] == ["b", "d", "c"]


def test_addresses_are_tried_in_turn_until_one_answers() -> None:
    hand = opened(addresses=("tamis+unix:/a", "tamis+unix:/b", "tamis+unix:/c"))
    hand.say(AWAY)
    dialled = []
    for _ in range(4):
        dial = hand.core.take_dial()
        assert dial is not None
        address, pause_s = dial
        assert PAUSE_S <= pause_s <= 2 * PAUSE_S
        dialled.append(address.path)
        hand.core.move_failed(address)
    assert dialled == ["/b", "/c", "/b", "/c"]


# --- the way of a handover -------------------------------------------------------------------------------------------


def test_make_before_break() -> None:
    hand = opened()
    wanted = hand.active("n > 0")
    old, other = sent_away(hand)
    assert other.address.path == "/b"
    other.open()
    [asked] = other.accept()
    assert (asked.wait, asked.subscriptions) == (Reach.NETWORK, wanted.subscriptions)
    assert hand.core.router == "rome"
    assert numbers_published(hand, 1) == ([1], [])
    later(hand, ON_ITS_WAY_S - 0.01)
    assert step_of(hand) is Step.SETTLING
    later(hand, 0.01)
    assert step_of(hand) is Step.LEAVING
    held = hand.publish(2)
    assert not held.done(), "the old router has not read everything"
    *_, drain = old.end_all()
    assert isinstance(drain, Drain)
    assert old.line.wants_close
    assert held.done()
    assert numbers(other.sent()) == [2]
    assert (hand.core.router, hand.core.redial.address.path) == ("oslo", "/b")
    old.cut()
    assert step_of(hand) is Step.TRAILING
    later(hand, ON_ITS_WAY_S)
    assert step_of(hand) is Step.OVER
    assert items(wanted) == []
    hand.say(delivery(1, number=5))
    assert items(wanted) == [5]


def numbers_published(hand: Hand, number: int) -> tuple[list[Any], list[Any]]:
    """Publish now; return what went by the connection that counts, and by the other one."""
    hand.publish(number)
    counts, handover = hand.core.line, hand.core.handover
    assert handover is not None
    rest = handover.new if counts is handover.old else handover.old
    assert rest is not None
    sent = []
    for line in (counts, rest):
        reader = FrameReader()
        reader.authenticated()
        reader.feed(hand.core.take_output(hand.now, line))
        sent.append(numbers([decode(frame) for frame in reader]))
    return sent[0], sent[1]


def test_without_subscriptions_nothing_has_to_arrive() -> None:
    hand = opened()
    old, other = sent_away(hand)
    other.open()
    assert step_of(hand) is Step.LEAVING or step_of(hand) is Step.TRAILING
    old.end_all()
    assert hand.core.line is other.line


def test_a_confirmed_message_is_answered_by_the_old_router_before_the_client_publishes_elsewhere() -> None:
    hand = opened()
    confirmed = hand.publish(1, confirm=True)
    old, other = sent_away(hand)
    other.open()
    later_one = hand.publish(2, confirm=True)
    old.end_all()
    assert numbers(other.sent()) == []
    old.say(Ack(AckOf.PUBLISH, 0, ranges_of({1})))
    assert confirmed.done()
    assert numbers(other.sent()) == [2]
    other.say(Ack(AckOf.PUBLISH, 0, ranges_of({2})))
    assert later_one.done()


def test_what_the_old_router_never_answers_goes_again_under_its_id() -> None:
    hand = opened()
    retried = hand.publish(1, confirm=True, retry=True)
    old, other = sent_away(hand)
    other.open()
    old.end_all()
    old.cut()
    [again] = [frame for frame in other.sent() if isinstance(frame, DataFrame)]
    assert (again.message.id.counter, again.message.attributes) == (1, {"n": 1})
    assert not retried.done()
    other.say(Ack(AckOf.PUBLISH, 0, ranges_of({1})))
    assert retried.done()


# --- each message once -----------------------------------------------------------------------------------------------


@st.composite
def overlaps(draw: st.DrawFn) -> tuple[list[tuple[bool, int]], int]:
    """What comes, by the new router (True) or the old one, each in its order, and where the new one begins."""
    count, first = draw(st.integers(0, 12)), draw(st.integers(0, 12))
    by_old, by_new = list(range(1, count + 1)), list(range(min(first, count) + 1, count + 4))
    order = draw(st.permutations([False] * len(by_old) + [True] * len(by_new)))
    lanes = {False: iter(by_old), True: iter(by_new)}
    return [(is_new, next(lanes[is_new])) for is_new in order], count + 3


@given(overlaps())
def test_each_message_is_heard_once_and_in_order_however_the_two_interleave(drawn: tuple[Any, int]) -> None:
    """The old router brings all that was published before, the new one all from some point on."""
    came, last = drawn
    hand = opened()
    wanted = hand.active("n > 0")
    old, other = to_step(hand, Step.SETTLING)
    for is_new, number in came:
        (other if is_new else old).say(delivery(1, number=number))
    later(hand, ON_ITS_WAY_S + CATCH_UP_S)
    later(hand, CATCH_UP_S)
    old.end_all()
    assert step_of(hand) is Step.TRAILING
    assert items(wanted) == list(range(1, last + 1))


def test_the_old_router_may_bring_what_it_has_until_it_has_ended_the_subscriptions() -> None:
    hand = opened()
    wanted = hand.active("n > 0")
    old, other = to_step(hand, Step.SETTLING)
    old.say(delivery(1, number=1))
    later(hand, ON_ITS_WAY_S)
    other.say(delivery(1, number=2), delivery(1, number=3))
    old.say(delivery(1, number=2))
    assert items(wanted) == [1, 2]
    old.end_all()
    assert items(wanted) == [1, 2, 3]


def test_it_waits_for_what_the_new_router_has_brought_and_the_old_one_has_not() -> None:
    hand = opened()
    wanted = hand.active("n > 0")
    old, other = to_step(hand, Step.SETTLING)
    other.say(delivery(1, number=1))
    later(hand, ON_ITS_WAY_S)
    assert step_of(hand) is Step.SETTLING
    old.say(delivery(1, number=1))
    assert step_of(hand) is Step.LEAVING
    assert items(wanted) == [1]


def test_but_not_for_ever() -> None:
    hand = opened()
    wanted = hand.active("n > 0")
    old, other = to_step(hand, Step.SETTLING)
    other.say(delivery(1, number=1))
    later(hand, ON_ITS_WAY_S)
    later(hand, CATCH_UP_S)
    assert step_of(hand) is Step.LEAVING
    old.end_all()
    assert items(wanted) == [1]


def test_two_subscriptions_that_end_one_after_the_other_miss_nothing() -> None:
    hand = opened()
    one, two = hand.active("n > 0"), hand.active("n > 1")
    old, other = to_step(hand, Step.LEAVING)
    other.say(delivery(1, 2, number=5))
    old.say(delivery(2, number=5))
    old.end_all()
    assert (items(one), items(two)) == ([5], [5])


def own(*ids: int, number: int) -> DataFrame:
    message = Published({"n": number}, b"", MessageId(stable_number(NAME), number))
    return DataFrame(FrameKind.DELIVER, message, 0, 8, Transit(1, 1, 1), 5_000, {ExtensionType.SATISFIED: ids})


@pytest.mark.parametrize("step", [Step.SETTLING, Step.TRAILING])
def test_own_messages_that_come_round_by_the_other_router_are_given_to_those_who_want_them(step: Step) -> None:
    hand = opened()
    stranger = hand.active("n > 0")
    mine, _ = hand.subscribe("n > 0", own_messages=True)
    hand.accept()
    old, other = to_step(hand, step)
    other.say(own(1, 2, number=7))
    if step is Step.SETTLING:
        old.say(own(1, 2, number=7))
    assert (items(stranger), items(mine)) == ([], [7])


def test_what_a_group_shares_is_given_at_once() -> None:
    hand = opened()
    wanted = group_of(hand)
    old, other = to_step(hand, Step.SETTLING)
    other.say(delivery(1, number=1))
    old.say(delivery(1, number=2))
    other.say(own(1, number=3))
    assert items(wanted) == [1, 2, 3]


def group_of(hand: Hand) -> PendingSubscription:
    options = options_of(False, "home", "workers")
    wanted = hand.core.subscribe(tuple(packing(["n > 0"], options)), options, Future())
    hand.accept()
    return wanted


def test_the_new_connection_is_not_read_past_the_bound() -> None:
    hand = opened()
    hand.active("n > 0")
    old, other = to_step(hand, Step.SETTLING)
    for first in range(0, OVERLAP_MESSAGES_MAX, 4_096):
        other.say(*(delivery(1, number=first + number + 1) for number in range(4_096)))
    assert not hand.core.may_read(hand.now, other.line)
    assert hand.core.may_read(hand.now, old.line)
    old.say(delivery(1, number=1))
    assert hand.core.may_read(hand.now, other.line)


def test_a_loss_that_the_new_router_tells_of_stands_in_its_place() -> None:
    hand = opened()
    wanted = hand.active("n > 0")
    old, other = to_step(hand, Step.SETTLING)
    other.say(delivery(1, number=1), Lost(3, 99, 1, ()), delivery(1, number=2))
    old.say(delivery(1, number=1))
    later(hand, ON_ITS_WAY_S + CATCH_UP_S)
    later(hand, CATCH_UP_S)
    old.end_all()
    assert [getattr(item, "count", None) or item for item in items(wanted)] == [1, 3, 2]


# --- what the application does meanwhile -----------------------------------------------------------------------------


def test_a_subscription_of_that_time_is_asked_of_both_and_heard_once() -> None:
    hand = opened()
    old, other = sent_away(hand)
    hand.active("n > 0")
    other.open()
    other.accept()
    wanted, waiter = hand.subscribe("n > 1")
    assert step_of(hand) is Step.SUBSCRIBING
    hand.accept()
    assert waiter.done()
    other.accept()
    assert step_of(hand) is Step.SETTLING
    other.say(delivery(2, number=3))
    old.say(delivery(2, number=3))
    assert items(wanted) == [3]


def test_a_subscription_that_is_ended_meanwhile_is_ended_at_both() -> None:
    hand = opened()
    wanted = hand.active("n > 0")
    old, other = to_step(hand, Step.SUBSCRIBING)
    hand.core.registry.end(wanted, None)
    [ended] = other.sent_of(Unsubscribe)
    assert ended.ids == (1,)
    other.say(delivery(1, number=1), Ack(AckOf.UNSUBSCRIBE, ended.request, ranges_of({1})))
    old.end_all()
    later(hand, ON_ITS_WAY_S)
    assert step_of(hand) in (Step.LEAVING, Step.TRAILING)
    assert items(wanted) == []


@pytest.mark.parametrize("step", [step for step in Step if step is not Step.OVER])
@pytest.mark.parametrize("way", ["close", "drain"])
def test_a_client_that_ends_meanwhile_leaves_no_connection(step: Step, way: str) -> None:
    hand = opened()
    hand.active("n > 0")
    old, other = to_step(hand, step)
    if way == "close":
        hand.core.close()
        assert step_of(hand) is Step.OVER
        assert old.line.wants_close
        assert other.line.wants_close
        return
    waiter = drained(hand.core)
    assert step_of(hand) is Step.OVER
    counts, rest = (old, other) if step in BEFORE else (other, old)
    assert rest.line.wants_close
    for frame in counts.sent():
        if isinstance(frame, Unsubscribe):
            counts.say(Ack(AckOf.UNSUBSCRIBE, frame.request, ranges_of(frame.ids)))
        elif isinstance(frame, Ping):
            counts.say(Pong(frame.token))
    assert waiter.done()


# --- kept subscriptions ----------------------------------------------------------------------------------------------


def test_attachments_stay_at_the_old_router_until_it_ends() -> None:
    hand = opened()
    consumer = consumer_of(hand)
    old, other = sent_away(hand)
    other.open()
    old.end_all()
    assert hand.core.line is other.line
    assert not old.line.wants_close
    old.say(handed(consumer.id, 1))
    assert len(consumer.inbox.items) == 1
    assert not other.sent_of(Consume)
    old.cut()
    [again] = other.sent_of(Consume)
    assert again.id == consumer.id


def test_a_second_word_to_go_is_followed_when_the_first_has_been() -> None:
    hand = opened()
    hand.active("n > 0")
    old, other = to_step(hand, Step.TRAILING)
    other.say(AWAY)
    assert hand.core.take_dial() is None
    old.cut()
    later(hand, ON_ITS_WAY_S)
    dial = hand.core.take_dial()
    assert dial is not None
    assert dial[0].path == "/a"
