"""Messages on their way: credit, order, confirmation, and what a cut does to them."""

from __future__ import annotations

from concurrent.futures import Future

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.client.errors import PublishRefused, PublishUnknown
from tamis.client.messages.outbox import OUTPUT_BYTES_MAX
from tamis.protocol.errors import Refused
from tamis.protocol.limits import DELIVERABLE_BYTES_MAX
from tamis.protocol.wire import header
from tamis.protocol.wire.client_bodies import Ack, AckOf, Credit, Range, Refusal
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.data_frames import DataFrame, encode_publish
from tamis.protocol.wire.numbers import stable_number
from tests.client.by_hand import NAME, PLENTY, Hand, numbers

SIZE = len(encode_publish(1, 1, 1, {"n": 0}))


def taken(first: int, last: int) -> Ack:
    return Ack(AckOf.PUBLISH, 0, (Range(first, last),))


def refused(counter: int, code: int = RefusalCode.OVERLOADED) -> Ack:
    return Ack(AckOf.PUBLISH, 0, (), (Refusal(counter, code, "no room"),))


def test_a_message_goes_out_as_the_wire_says() -> None:
    hand = Hand().open()
    assert hand.core.outbox.try_publish({"a": 1}, b"x", 17)
    (frame,) = hand.sent()
    assert isinstance(frame, DataFrame)
    assert frame.message.id == (stable_number(NAME), 1)
    assert (frame.flags, frame.publish_time_ns, frame.message.payload) == (0, 17, b"x")


def test_without_credit_nothing_goes_and_what_waits_goes_in_order() -> None:
    hand = Hand().open(credit=None)
    assert not hand.core.outbox.try_publish({"n": 0}, b"", 0)
    waiters = [hand.publish(number) for number in range(4)]
    assert hand.sent() == []
    hand.say(Credit(2, 2 * SIZE))
    assert numbers(hand.sent()) == [0, 1]
    assert [waiter.done() for waiter in waiters] == [True, True, False, False]
    hand.say(Credit(4, 2 * SIZE))  # frames enough, bytes not
    assert hand.sent() == []
    hand.say(Credit(4, 3 * SIZE))
    assert numbers(hand.sent()) == [2]
    assert not hand.core.outbox.try_publish({"n": 9}, b"", 0), "it would overtake what is held"


def test_credit_that_goes_back_is_not_believed() -> None:
    hand = Hand().open(Credit(1, 1_000))
    hand.say(Credit(0, 0), Credit(1, 1_000))
    assert hand.core.outbox.try_publish({"n": 0}, b"", 0)
    assert not hand.core.outbox.try_publish({"n": 1}, b"", 0)


def test_credit_begins_anew_with_a_connection() -> None:
    hand = Hand().open(Credit(10, 10_000))
    hand.cut()
    hand.open(Credit(1, 1_000))
    assert [hand.core.outbox.try_publish({"n": n}, b"", 0) for n in range(2)] == [(stable_number(NAME), 1), None]


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 400)), max_size=8), st.lists(st.integers(0, 2), max_size=30)
)
def test_credit_is_never_passed_and_order_kept(grants: list[tuple[int, int]], calls: list[int]) -> None:
    hand = Hand().open(credit=None)
    frames_total = bytes_total = counted = 0
    expected: list[int] = []
    sent: list[object] = []
    octets = 0
    for frames, size in grants:
        frames_total, bytes_total = frames_total + frames, bytes_total + size
        hand.say(Credit(frames_total, bytes_total))
        for call in calls:
            counted += 1
            if call == 2 or hand.core.outbox.try_publish({"n": counted}, bytes(call), 0):
                expected.append(counted)
            if call == 2:
                hand.publish(counted)
        data = [frame for frame in hand.sent() if isinstance(frame, DataFrame)]
        sent += numbers(data)  # type: ignore[arg-type]
        octets += sum(len(encode_publish(1, 1, 1, frame.message.attributes, frame.message.payload)) for frame in data)
        assert len(sent) <= frames_total
        assert octets <= bytes_total
    assert sent == expected[: len(sent)]


def test_confirmed_refused_and_neither() -> None:
    hand = Hand().open()
    yes, no, open_, late = (hand.publish(number, confirm=True) for number in range(4))
    assert all(frame.flags == header.CONFIRM for frame in hand.sent())
    hand.say(taken(1, 1), refused(2))
    assert yes.result(0) is None
    with pytest.raises(PublishRefused, match="no room") as caught:
        no.result(0)
    assert caught.value.code == RefusalCode.OVERLOADED
    assert not open_.done()
    hand.say(taken(0, 2**64 - 1))
    assert open_.done()
    assert late.done()


def test_what_was_refused_is_sent_again_under_its_id() -> None:
    hand = Hand().open()
    waiter = hand.publish(1, confirm=True)
    [first] = hand.sent()
    hand.say(refused(1, RefusalCode.LOG_FULL))
    for answer in (refused(1, RefusalCode.LOG_FULL), taken(1, 1)):
        with pytest.raises(PublishRefused, match="LOG_FULL") as caught:
            waiter.result(0)
        assert caught.value.id == first.message.id
        hand.publish(2)
        waiter = Future()
        assert hand.core.outbox.publish_again(caught.value, waiter).id == first.message.id
        *_, again = hand.sent()
        assert (again.message, again.flags) == (first.message, header.CONFIRM | header.RETRY)
        hand.say(answer)
    assert waiter.result(0) is None


def test_what_was_never_sent_is_not_sent_again() -> None:
    hand = Hand().open()
    with pytest.raises(Refused, match="never sent"):
        hand.core.outbox.publish_again(PublishRefused(Refusal(0, RefusalCode.LOG_FAILED, "")), Future())


def test_after_a_cut_an_unanswered_message_is_unknown() -> None:
    hand = Hand().open()
    waiter = hand.publish(1, confirm=True)
    hand.sent()
    hand.cut()
    with pytest.raises(PublishUnknown, match="before the router answered"):
        waiter.result(0)


def test_with_retry_it_goes_again_first_under_its_id() -> None:
    hand = Hand().open()
    waiters = [hand.publish(number, confirm=True, retry=True) for number in (1, 2)]
    before = hand.sent()
    hand.cut()
    later = hand.publish(3)
    hand.open()
    again = [frame for frame in hand.sent() if isinstance(frame, DataFrame)]
    assert numbers(again) == [1, 2, 3]
    assert [frame.message.id for frame in again[:2]] == [frame.message.id for frame in before]
    assert [frame.flags for frame in again] == [header.CONFIRM | header.RETRY] * 2 + [0]
    assert later.done()
    hand.say(taken(1, 2))
    assert all(waiter.result(0) is None for waiter in waiters)


def test_a_router_that_drains_gets_nothing_new_and_its_refusals_are_retried_elsewhere() -> None:
    hand = Hand().open()
    retried, given_up = hand.publish(1, confirm=True, retry=True), hand.publish(2, confirm=True)
    hand.sent()
    hand.core.outbox.pause()
    held = hand.publish(3)
    hand.say(refused(1, RefusalCode.DRAINING), refused(2, RefusalCode.DRAINING))
    assert hand.sent() == []
    with pytest.raises(PublishRefused, match="DRAINING"):
        given_up.result(0)
    hand.cut()
    assert numbers(hand.open().sent()) == [1, 3]
    assert not retried.done()
    assert held.done()


def test_what_is_given_up_while_held_is_never_sent() -> None:
    hand = Hand().open(credit=None)
    waiters = [hand.publish(number) for number in range(3)]
    waiters[0].cancel()
    waiters[1].cancel()
    hand.say(Credit(1, 1_000))
    assert numbers(hand.sent()) == [2]


def test_output_that_nobody_takes_holds_messages_back() -> None:
    hand = Hand().open()
    count = 0
    while hand.core.outbox.try_publish({"n": count}, bytes(1_000), 0):
        count += 1
    assert OUTPUT_BYTES_MAX <= len(hand.core.outbox.output) < OUTPUT_BYTES_MAX + 2_000
    waiter = hand.publish(count)
    assert not waiter.done()
    assert numbers(hand.sent()) == list(range(count + 1))
    assert waiter.done()


def test_a_frame_longer_than_the_router_takes_is_refused_at_once() -> None:
    hand = Hand().open(frame_bytes_max=4_096)
    with pytest.raises(Refused, match="at most 4096 bytes"):
        hand.core.outbox.try_publish({}, bytes(4_096), 0)
    with pytest.raises(Refused, match="at most 4096 bytes"):
        hand.publish(1, bytes(4_096))


@pytest.mark.parametrize("confirm", [False, True])
def test_a_message_that_could_never_be_delivered_is_refused_at_once(confirm: bool) -> None:
    """Its DELIVER is eight bytes longer, and would not fit a frame."""
    hand = Hand().open()
    rest = DELIVERABLE_BYTES_MAX - len(encode_publish(1, 1, 0, {"n": 1}))
    refused = rf"up to {DELIVERABLE_BYTES_MAX} bytes of frame, this one has {DELIVERABLE_BYTES_MAX + 1}"
    if confirm:
        with pytest.raises(Refused, match=refused):
            hand.core.outbox.publish({"n": 1}, bytes(rest + 1), 0, Future(), confirm=True, retry=False)
    else:
        with pytest.raises(Refused, match=refused):
            hand.core.outbox.try_publish({"n": 1}, bytes(rest + 1), 0)
    assert hand.core.outbox.try_publish({"n": 1}, bytes(rest), 0)


def test_a_frame_held_for_a_router_that_takes_less_fails() -> None:
    hand = Hand().open(credit=None)
    waiter = hand.publish(1, bytes(4_096))
    hand.cut()
    hand.open(PLENTY, frame_bytes_max=4_096)
    with pytest.raises(Refused, match="at most 4096 bytes"):
        waiter.result(0)


@pytest.mark.parametrize("attributes", [{"": 1}, {"a": None}, {"a": 2**63}, {"a": float("nan")}, {"a" * 257: 1}])
def test_a_message_outside_the_model_is_refused(attributes: dict[str, int]) -> None:
    hand = Hand().open()
    with pytest.raises(Refused):
        hand.core.outbox.try_publish(attributes, b"", 0)
    assert hand.sent() == []


def test_held_messages_survive_a_cut() -> None:
    hand = Hand()
    waiter = hand.publish(1)
    assert not hand.core.outbox.try_publish({"n": 2}, b"", 0)
    assert numbers(hand.open().sent()) == [1]
    assert waiter.done()


# --- counters --------------------------------------------------------------------------------------------------------


def counters(hand: Hand) -> list[int]:
    return [frame.message.id.counter for frame in hand.sent() if isinstance(frame, DataFrame)]


def test_what_was_never_sent_is_counted_above_what_the_router_knows() -> None:
    """The clock was put back: the counters of this start are below those of the last."""
    hand = Hand()
    hand.publish(1)
    hand.publish(2, confirm=True)
    hand.open(newest=1_000)
    hand.publish(3)
    assert counters(hand) == [1_001, 1_002, 1_003]
    hand.cut()
    hand.open(newest=900)
    hand.publish(4)
    assert counters(hand) == [1_004], "another router knows less"


def test_the_answer_finds_a_message_that_was_counted_anew() -> None:
    hand = Hand()
    waiter = hand.publish(1, confirm=True)
    hand.open(newest=50)
    hand.say(taken(51, 51))
    assert waiter.result(0) is None


def test_a_second_try_keeps_its_counter_whatever_the_router_knows() -> None:
    hand = Hand().open()
    hand.publish(1, confirm=True, retry=True)
    assert counters(hand) == [1]
    hand.cut()
    hand.publish(2)
    hand.open(newest=1_000)
    assert counters(hand) == [1, 1_001]


def test_a_counter_that_no_clock_reaches_is_not_followed() -> None:
    hand = Hand().open(newest=2**64 - 1)
    hand.publish(1)
    assert counters(hand) == [1]


@pytest.mark.parametrize("code", [RefusalCode.DUPLICATE, RefusalCode.TOO_OLD, RefusalCode.NOT_IN_STEP])
def test_a_fresh_message_whose_counter_is_not_taken_fails_and_the_next_are_counted_above(code: RefusalCode) -> None:
    hand = Hand().open()
    waiter = hand.publish(1, confirm=True)
    hand.sent()
    hand.say(Ack(AckOf.PUBLISH, 0, (), (Refusal(1, code, "", 700),)))
    with pytest.raises(PublishRefused, match=code.name):
        waiter.result(0)
    hand.publish(2)
    assert counters(hand) == [701]


def second_attempt() -> tuple[Hand, Future[None]]:
    hand = Hand().open()
    waiter = hand.publish(1, confirm=True, retry=True)
    hand.cut()
    hand.open().sent()
    return hand, waiter


def test_a_second_try_that_was_taken_before_is_done() -> None:
    hand, waiter = second_attempt()
    hand.say(refused(1, RefusalCode.DUPLICATE))
    assert waiter.result(0) is None


@pytest.mark.parametrize("code", [RefusalCode.TOO_OLD, RefusalCode.NOT_IN_STEP, RefusalCode.EXPIRED])
def test_a_second_try_that_is_refused_leaves_the_first_unknown(code: RefusalCode) -> None:
    hand, waiter = second_attempt()
    hand.say(refused(1, code))
    with pytest.raises(PublishUnknown, match=code.name):
        waiter.result(0)
