"""A client that is sent away goes to another router: the steps as a table, and each message once."""

from __future__ import annotations

from concurrent.futures import Future
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.client.address import Endpoint, parse_address
from tamis.client.gap import Gap, GapReason
from tamis.client.handover import BEFORE, CATCH_UP_S, PAUSE_S, STEPS, Event, Step
from tamis.client.line import Line
from tamis.client.overlap import OVERLAP_MESSAGES_MAX
from tamis.client.redial import Redial
from tamis.client.wanted import ON_ITS_WAY_S, Wishes, options_of, packing
from tamis.protocol.messages import Message as Published
from tamis.protocol.messages import MessageId
from tamis.protocol.wire.client_bodies import (
    GROUPS,
    KEPT,
    Ack,
    AckOf,
    Lost,
    Reach,
    Refusal,
    Subscribe,
    Unsubscribe,
    ranges_of,
)
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.frames import Frame, decode, encode
from tamis.protocol.wire.header import Transit
from tamis.protocol.wire.keep_bodies import Attach
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.reader import FrameReader
from tamis.protocol.wire.session_bodies import (
    MOVES,
    Authenticated,
    AuthMethod,
    Drain,
    GoAway,
    Hello,
    Ping,
    Pong,
    Welcome,
)
from tests.client.by_hand import NAME, PLENTY, Hand, delivery, handed, numbers
from tests.client.test_core import drained, items
from tests.client.test_kept import active as attached_of

AWAY = GoAway(5_000, (), "the router is stopping")


class Other:
    """The other router, by hand: what it says to the new connection of a core, and what that has sent."""

    def __init__(self, hand: Hand) -> None:
        self._hand = hand
        dial = hand.core.take_dial()
        assert dial is not None
        self.address, self.pause_s = dial
        assert hand.core.take_dial() is None
        line = hand.core.move_connected(self.address, hand.now)
        assert line is not None
        self.line: Line = line
        self._reader = FrameReader()
        self._reader.authenticated()

    def open(self, *, capabilities: tuple[str, ...] = (KEPT, GROUPS)) -> Other:
        self.say(Welcome("oslo", 1, bytes(16), 2, capabilities, 1 << 20, 30_000, 0, (AuthMethod.NONE,)))
        self.sent()
        self.say(Authenticated(b"", stable_number(NAME), 10_000), PLENTY)
        return self

    def say(self, *frames: Frame) -> None:
        self._hand.core.receive(b"".join(encode(frame) for frame in frames), self._hand.now, self.line)

    def sent(self) -> list[Frame]:
        while output := self._hand.core.take_output(self._hand.now, self.line):
            self._reader.feed(output)
        return [decode(frame) for frame in self._reader]

    def sent_of(self, kind: type) -> list[Any]:
        return [frame for frame in self.sent() if isinstance(frame, kind)]

    def accept(self, *refusals: Refusal) -> list[Subscribe]:
        asked = self.sent_of(Subscribe)
        refused = {refusal.number for refusal in refusals}
        for body in asked:
            ids = {subscription.id for subscription in body.subscriptions}
            mine = tuple(refusal for refusal in refusals if refusal.number in ids)
            self.say(Ack(AckOf.SUBSCRIBE, body.request, ranges_of(ids - refused), mine))
        return asked

    def cut(self) -> None:
        self._hand.core.cut("closed by the router", self._hand.now, self.line)


class Old:
    """The router that sends the client away: its line, which the core may have left meanwhile."""

    def __init__(self, hand: Hand) -> None:
        self._hand, self.line = hand, hand.core.line

    def say(self, *frames: Frame) -> None:
        self._hand.core.receive(b"".join(encode(frame) for frame in frames), self._hand.now, self.line)

    def sent(self) -> list[Frame]:
        reader = FrameReader()
        reader.authenticated()
        while output := self._hand.core.take_output(self._hand.now, self.line):
            reader.feed(output)
        return [decode(frame) for frame in reader]

    def end_all(self) -> list[Frame]:
        """Answer what a client that leaves asks; return what it sends then."""
        for frame in self.sent():
            if isinstance(frame, Unsubscribe):
                self.say(Ack(AckOf.UNSUBSCRIBE, frame.request, ranges_of(frame.ids)))
            elif isinstance(frame, Ping):
                self.say(Pong(frame.token))
        return self.sent()

    def cut(self) -> None:
        self._hand.core.cut("closed by the router", self._hand.now, self.line)


def opened(**settings: Any) -> Hand:
    return Hand(**settings).open(capabilities=(KEPT, GROUPS))


def sent_away(hand: Hand) -> tuple[Old, Other]:
    hand.sent()
    old = Old(hand)
    hand.say(AWAY)
    return old, Other(hand)


def step_of(hand: Hand) -> Step:
    return Step.OVER if hand.core.handover is None else hand.core.handover.step


def later(hand: Hand, seconds: float) -> None:
    hand.now += seconds
    hand.core.tick(hand.now)


def to_step(hand: Hand, step: Step) -> tuple[Old, Other]:
    """Let a client with a subscription of id 1 come to `step`."""
    old, other = sent_away(hand)
    if step is not Step.DIALLING:
        other.open()
    if step not in (Step.DIALLING, Step.SUBSCRIBING):
        other.accept()
    if step in (Step.LEAVING, Step.TRAILING):
        later(hand, ON_ITS_WAY_S)
    if step is Step.TRAILING:
        old.end_all()
    assert step_of(hand) is step
    return old, other


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


def group_of(hand: Hand) -> Wishes:
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


# --- what goes wrong, at each step -----------------------------------------------------------------------------------


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


# --- kept subscriptions ----------------------------------------------------------------------------------------------


def test_attachments_stay_at_the_old_router_until_it_ends() -> None:
    hand = opened()
    attached = attached_of(hand)
    old, other = sent_away(hand)
    other.open()
    old.end_all()
    assert hand.core.line is other.line
    assert not old.line.wants_close
    old.say(handed(attached.id, 1))
    assert len(attached.inbox.items) == 1
    assert not other.sent_of(Attach)
    old.cut()
    [again] = other.sent_of(Attach)
    assert again.id == attached.id


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
