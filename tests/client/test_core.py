"""The life of a connection: greeting, signs of life, drains, errors, streams cut anywhere."""

from __future__ import annotations

from concurrent.futures import Future
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.client.connection.core import ClientCore
from tamis.client.connection.walker import NoWalker, Walker, new_walker
from tamis.client.errors import ClientClosed, NotAdmitted, PublishUnknown
from tamis.client.gap import Gap, GapReason
from tamis.client.message import Message
from tamis.client.messages.pending import PendingSubscription
from tamis.protocol import limits
from tamis.protocol.wire.client_bodies import Ack, AckOf, Credit, Lost, Range, Unsubscribe
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.frames import Frame, encode
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.session_bodies import (
    Auth,
    Authenticated,
    AuthMethod,
    Drain,
    Error,
    Hello,
    Ping,
    Pong,
    Role,
    Welcome,
)
from tests.client.by_hand import NAME, PLENTY, Hand, delivery, numbers

BOTH = (NoWalker(), new_walker())


SIGNED = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2ln"


def welcome(*methods: AuthMethod) -> Welcome:
    return Welcome("rome", 1, bytes(16), 1, (), 1 << 20, 30_000, 0, methods)


def items(wanted: PendingSubscription) -> list[object]:
    """What an iterator would yield now."""
    return [item["n"] if isinstance(item, Message) else item for item in wanted.inbox.items]


# --- greeting ------------------------------------------------------------------------------------------------------


def test_hello_says_who_and_how() -> None:
    (hello,) = Hand(hold_s=1.0).connect()
    assert isinstance(hello, Hello)
    assert (hello.role, hello.name, hello.hold_ms, hello.link_cost) == (Role.CLIENT, NAME, 1_000, 0)
    assert hello.frame_bytes_max == limits.FRAME_BYTES_MAX


@pytest.mark.parametrize(
    ("token", "methods", "expected"),
    [
        (None, (AuthMethod.NONE, AuthMethod.TOKEN), Auth(AuthMethod.NONE, b"")),
        ("secret", (AuthMethod.NONE, AuthMethod.TOKEN), Auth(AuthMethod.TOKEN, b"secret")),
        ("secret", (AuthMethod.NONE,), Auth(AuthMethod.NONE, b"")),
        (SIGNED, (AuthMethod.TOKEN, AuthMethod.JWT), Auth(AuthMethod.JWT, SIGNED.encode())),
        (SIGNED, (AuthMethod.NONE, AuthMethod.TOKEN), Auth(AuthMethod.TOKEN, SIGNED.encode())),
        ("eyJ.two", (AuthMethod.TOKEN, AuthMethod.JWT), Auth(AuthMethod.TOKEN, b"eyJ.two")),
    ],
)
def test_the_best_credential_that_both_know(token: str | None, methods: tuple[AuthMethod, ...], expected: Auth) -> None:
    hand = Hand(token=token)
    hand.connect()
    hand.say(welcome(*methods))
    assert hand.sent() == [expected]


@pytest.mark.parametrize(("method", "word"), [(AuthMethod.TOKEN, "a token"), (AuthMethod.SECRET, "a credential")])
def test_without_the_credential_that_is_asked_for_the_client_gives_up(method: AuthMethod, word: str) -> None:
    hand = Hand()
    hand.connect()
    hand.say(welcome(method))
    assert hand.core.wants_close
    hand.cut()
    assert hand.core.is_over
    with pytest.raises(NotAdmitted, match=f'router "rome" requires {word}'):
        hand.opened.result(0)


def test_a_token_that_is_refused_ends_everything() -> None:
    hand = Hand(token=b"wrong")
    hand.connect()
    hand.say(welcome(AuthMethod.TOKEN), Error(ErrorCode.AUTHENTICATION_FAILED, "no such token", FrameKind.AUTH, True))
    wanted, waiter = hand.subscribe("n = 1")
    hand.cut()
    for future in hand.opened, waiter:
        with pytest.raises(NotAdmitted, match="no such token"):
            future.result(0)
    assert isinstance(wanted.inbox.error, NotAdmitted)
    with pytest.raises(NotAdmitted):
        hand.publish(1)


@pytest.mark.parametrize(
    "frames",
    [
        (Authenticated(b"", stable_number(NAME), 1),),
        (Ping(1),),
        (delivery(1),),
        (welcome(AuthMethod.NONE), Authenticated(b"", 1, 1)),
        (Welcome("rome", 1, bytes(16), 4, (), 1 << 20, 30_000, 0, (AuthMethod.NONE,)),),
    ],
)
def test_a_router_that_breaks_the_rules_is_told_and_left(frames: tuple[Frame, ...]) -> None:
    hand = Hand()
    hand.connect()
    hand.say(*frames)
    (error,) = hand.sent_of(Error)
    assert error.fatal
    assert hand.core.wants_close
    hand.cut()
    assert not hand.core.is_over
    assert "protocol violation" in str(hand.core.redial.failures)


# --- streams -------------------------------------------------------------------------------------------------------


STREAM: tuple[Frame, ...] = (
    delivery(1, number=1),
    delivery(1, number=2, payload=bytes(300)),
    Lost(3, 99, 1, ()),
    delivery(2, number=3),
    delivery(1, 2, number=4),
    Ping(8),
    Credit(2_000_000, 1 << 41),
    delivery(7, number=5),
    delivery(1, number=6),
)


def streamed(walker: Walker, pieces: list[bytes]) -> tuple[list[object], list[object], list[Frame], int]:
    hand = Hand(walker).open()
    first, second = hand.active("n > 0"), hand.active("n > 1")
    for piece in pieces:
        hand.core.receive(piece, hand.now)
    return items(first), items(second), hand.sent(), hand.core.registry.unclaimed


@given(st.lists(st.integers(0, sum(len(encode(frame)) for frame in STREAM))).map(sorted))
def test_any_cut_of_the_stream_gives_the_same_with_and_without_c(cuts: list[int]) -> None:
    data = b"".join(encode(frame) for frame in STREAM)
    pieces = [data[start:end] for start, end in pairwise([0, *cuts, len(data)])]
    whole = streamed(NoWalker(), [data])
    lost = next(item for item in whole[0] if isinstance(item, Gap))
    assert (lost.count, lost.bytes, lost.reason.name) == (3, 99, "QUEUE_FULL")
    assert whole == ([1, 2, lost, 4, 6], [lost, 3, 4], [Pong(8)], 1)
    for walker in BOTH:
        assert streamed(walker, pieces) == whole


def test_the_same_object_reaches_both_iterators() -> None:
    hand = Hand().open()
    first, second = hand.active("n > 0", "n > 1"), hand.active("n > 2")
    hand.say(delivery(1, 2, 3))
    assert len(first.inbox.items) == 1
    assert first.inbox.items[0] is second.inbox.items[0]


@pytest.mark.parametrize("walker", BOTH)
def test_after_a_bad_frame_nothing_is_delivered(walker: Walker) -> None:
    hand = Hand(walker).open()
    wanted = hand.active("n > 0")
    bad = bytearray(encode(delivery(1)))
    bad[7] = 1
    hand.core.receive(encode(delivery(1, number=5)) + bytes(bad) + encode(delivery(1)), hand.now)
    assert items(wanted) == [5]
    assert hand.sent_of(Error)[0].code == ErrorCode.RESERVED
    assert hand.core.wants_close


def test_an_extension_that_must_be_understood_costs_its_message_only() -> None:
    hand = Hand().open()
    wanted = hand.active("n > 0")
    unknown = bytearray(encode(delivery(1)))
    unknown[64:66] = (0x8001).to_bytes(2, "little")
    hand.core.receive(bytes(unknown) + encode(delivery(1, number=2)), hand.now)
    assert items(wanted) == [2]
    assert [(error.code, error.fatal) for error in hand.sent_of(Error)] == [(ErrorCode.UNKNOWN_EXTENSION, False)]
    assert not hand.core.wants_close


def test_a_passing_error_is_told_to_the_log_and_a_fatal_one_ends_the_connection() -> None:
    hand = Hand().open()
    hand.say(Error(ErrorCode.UNKNOWN_EXTENSION, "which?", FrameKind.PUBLISH, False))
    assert "which?" in hand.core.notices.pop()
    assert not hand.core.wants_close
    hand.say(Error(ErrorCode.MALFORMED, "nonsense", FrameKind.PUBLISH, True))
    assert hand.core.wants_close
    hand.cut()
    assert "nonsense" in hand.core.notices.pop()


# --- signs of life -------------------------------------------------------------------------------------------------


def test_a_ping_after_a_third_of_the_peers_hold_and_only_when_silent() -> None:
    hand = Hand(hold_s=60.0).open(hold_ms=3_000)
    hand.sent()
    began = hand.now
    assert hand.core.deadline == began + 1.0
    for step, expected in (0.9, []), (0.2, [Ping(0)]), (0.9, []), (0.2, [Ping(0)]):
        hand.now += step
        hand.core.tick(hand.now)
        assert hand.sent() == expected


def test_a_ping_is_answered() -> None:
    hand = Hand().open()
    hand.say(Ping(77))
    assert hand.sent() == [Pong(77)]


def test_after_our_own_hold_without_a_byte_the_connection_is_dead() -> None:
    hand = Hand(hold_s=1.0).open()
    hand.now += 0.99
    hand.core.tick(hand.now)
    assert not hand.core.wants_close
    hand.now += 0.02
    hand.core.tick(hand.now)
    assert hand.core.wants_close
    hand.cut()
    assert "no sign of life for 1.0 s" in hand.core.notices.pop()


def test_a_greeting_that_stops_is_dead_too() -> None:
    hand = Hand(hold_s=1.0)
    hand.connect()
    hand.now += 1.0
    hand.core.tick(hand.now)
    assert hand.core.wants_close


def test_while_nothing_is_read_nobody_is_dead() -> None:
    hand = Hand(hold_s=1.0, inbox_messages=2).open()
    wanted = hand.active("n > 0")
    hand.say(delivery(1), delivery(1))
    assert not hand.core.may_read(hand.now)
    hand.now += 10
    hand.core.tick(hand.now)
    assert not hand.core.wants_close
    wanted.inbox.take()
    wanted.inbox.take()
    assert hand.core.may_read(hand.now)
    hand.core.tick(hand.now)
    assert not hand.core.wants_close, "it counts from when reading began again"
    hand.now += 1
    hand.core.tick(hand.now)
    assert hand.core.wants_close


# --- reading or not ------------------------------------------------------------------------------------------------


def test_a_full_inbox_stops_reading_unless_a_call_waits_for_an_answer() -> None:
    hand = Hand(inbox_messages=2).open(Credit(3, 1_000))
    wanted = hand.active("n > 0")
    hand.say(delivery(1), delivery(1))
    assert not hand.core.may_read(hand.now)
    confirmed = hand.publish(1, confirm=True)
    assert hand.core.may_read(hand.now)
    hand.say(Ack(AckOf.PUBLISH, 0, (Range(1, 1),)))
    assert confirmed.done()
    assert not hand.core.may_read(hand.now)
    for number in range(3):
        held = hand.publish(number)
    assert not held.done()
    assert hand.core.may_read(hand.now), "credit would not arrive"
    hand.say(PLENTY)
    assert not hand.core.may_read(hand.now)
    hand.core.registry.end(wanted, None)
    assert hand.core.may_read(hand.now)


def test_an_answer_is_reached_through_a_full_inbox_at_the_price_of_a_gap() -> None:
    hand = Hand(inbox_messages=2).open()
    wanted = hand.active("n > 0")
    confirmed = hand.publish(1, confirm=True)
    for number in range(1, 8):
        hand.say(delivery(1, number=number))
    hand.say(Ack(AckOf.PUBLISH, 0, (Range(1, 1),)))
    assert confirmed.done()
    size = len(encode(delivery(1)))
    assert items(wanted) == [1, 2, 3, 4, Gap(GapReason.INBOX_FULL, 3, 3 * size)]


# --- drain and close -----------------------------------------------------------------------------------------------


def drained(core: ClientCore) -> Future[None]:
    waiter: Future[None] = Future()
    core.drain(waiter, 5_000)
    return waiter


def test_a_drain_ends_when_everything_is_answered() -> None:
    hand = Hand().open(credit=None)
    wanted = hand.active("n > 0")
    held = hand.publish(1, confirm=True)
    waiter = drained(hand.core)
    with pytest.raises(ClientClosed):
        hand.publish(2)
    with pytest.raises(ClientClosed):
        hand.subscribe("n > 0")
    assert hand.sent() == []
    hand.say(PLENTY)
    assert numbers(hand.sent()) == [1]
    hand.say(Ack(AckOf.PUBLISH, 0, (Range(1, 1),)))
    assert held.done()
    drain, unsubscribe, ping = hand.sent()
    assert isinstance(drain, Drain)
    assert isinstance(unsubscribe, Unsubscribe)
    assert isinstance(ping, Ping)
    hand.say(delivery(1, number=5), Pong(ping.token))
    assert not waiter.done(), "the end of the subscription is not answered"
    hand.say(delivery(1, number=6), Ack(AckOf.UNSUBSCRIBE, unsubscribe.request, (Range(1, 1),)), delivery(1))
    assert waiter.done()
    assert items(wanted) == [5, 6]
    assert wanted.inbox.is_ended


def test_a_drain_without_a_connection_or_cut_short_ends() -> None:
    assert drained(Hand().core).done()
    hand = Hand().open()
    waiter = drained(hand.core)
    assert not waiter.done()
    hand.cut()
    assert waiter.done()


def test_a_drain_waits_for_what_is_retried() -> None:
    hand = Hand().open()
    retried = hand.publish(1, confirm=True, retry=True)
    waiter = drained(hand.core)
    hand.cut()
    assert not waiter.done()
    hand.open()
    hand.say(Ack(AckOf.PUBLISH, 0, (Range(1, 1),)))
    assert retried.done()
    (ping,) = hand.sent_of(Ping)
    hand.say(Pong(ping.token))
    assert waiter.done()


def test_the_routers_drain_holds_new_messages_back_until_the_next_connection() -> None:
    hand = Hand().open()
    wanted = hand.active("n > 0")
    hand.say(Drain(1_000, "update"))
    waiter = hand.publish(1)
    hand.say(delivery(1, number=4))
    assert not waiter.done()
    assert items(wanted) == [4]
    hand.cut()
    hand.open()
    assert waiter.done()


def test_closing_fails_what_waits_and_ends_the_iterators() -> None:
    hand = Hand().open()
    wanted = hand.active("n > 0")
    sent = hand.publish(1, confirm=True)
    _, asked = hand.subscribe("n > 1")
    hand.core.outbox.pause()
    held = hand.publish(2)
    hand.core.close()
    hand.core.close()
    with pytest.raises(PublishUnknown):
        sent.result(0)
    with pytest.raises(ClientClosed):
        held.result(0)
    assert asked.done()
    assert wanted.inbox.is_ended
    assert wanted.inbox.error is None
    with pytest.raises(ClientClosed):
        hand.publish(3)
