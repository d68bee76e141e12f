"""Keeps as a client sees them: asked for, attached to, acknowledged, asked for again after a cut."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tamis.client.connection.walker import NoWalker, new_walker
from tamis.client.durable.consume_options import consume_options, replay_options
from tamis.client.durable.consumer_state import ConsumerState
from tamis.client.durable.core import AGAIN_S
from tamis.client.durable.policy import durable_of
from tamis.client.durable.stored_message import Handed, stored_head
from tamis.client.errors import AckUnknown, ClientClosed, DurableRefused, PublishRefused
from tamis.client.gap import Gap, GapReason
from tamis.protocol.errors import Refused
from tamis.protocol.limits import ACK_ANSWERS_MAX
from tamis.protocol.spaces import NO_SPACES
from tamis.protocol.wire.client_bodies import Ack, AckOf, AckVerdict, Credit, Lost, Range, Refusal
from tamis.protocol.wire.codes import ErrorCode, LossReason, RefusalCode
from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.deliver_view import StoredArea
from tamis.protocol.wire.durable_bodies import (
    CancelConsume,
    Consume,
    CreateDurable,
    Overflow,
    RemoveDurable,
    Replay,
    ReplayEnd,
    StartAt,
)
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.header import CONFIRM, DURABLE
from tamis.protocol.wire.session_bodies import Error
from tests.client.by_hand import Hand, delivery, handed


@pytest.fixture(autouse=True, params=[NoWalker, new_walker])
def _walker(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test twice: deliveries read by Python, and found by C."""
    monkeypatch.setattr(Hand, "new_walker", request.param)


def consume(hand: Hand, credit: int = 10, **told: Any) -> tuple[ConsumerState, Future[None]]:
    options = {"after": 0, "replay": None, "dedup": 100} | told
    waiter: Future[None] = Future()
    made = consume_options(hand.core.durables, "orders", credit=credit, **options)
    return hand.core.durables.consume(made, Handed, None, waiter), waiter


def accept(hand: Hand) -> list[Consume]:
    """Answer each CONSUME that was sent."""
    asked = hand.sent_of(Consume)
    for body in asked:
        hand.say(Ack(AckOf.CONSUME, body.request, (Range(body.id, body.id),)))
    return asked


def active(hand: Hand, credit: int = 10, **told: Any) -> ConsumerState:
    consumer, waiter = consume(hand, credit, **told)
    accept(hand)
    assert waiter.done()
    return consumer


def take(hand: Hand, consumer: ConsumerState) -> list[Any]:
    """What the application takes: numbers of messages, and gaps."""
    items = []
    while (item := consumer.take()) is not None:
        hand.core.durables.took(consumer)
        items.append(item)
    return items


def taken(hand: Hand, consumer: ConsumerState) -> list[Handed]:
    return [item for item in take(hand, consumer) if isinstance(item, Handed)]


def acked(hand: Hand) -> list[tuple[int, int]]:
    """The ranges that were acknowledged since."""
    return [tuple(each) for ack in hand.sent_of(Ack) for each in ack.ranges]  # type: ignore[misc]


def test_a_durable_travels_with_its_policies_and_returns_when_the_router_has_answered() -> None:
    hand, waiter = Hand().open(), Future[None]()
    since = datetime(2026, 11, 1, tzinfo=UTC)
    policy = {"for_": "7d", "bytes": "64 MiB", "backoff_s": (1, "2m"), "overflow": "refuse", "dead_letter": "dead"}
    hand.core.durables.create(durable_of("orders", "amount > 100", start=since, idle=None, **policy), waiter)
    (asked,) = hand.sent_of(CreateDurable)
    assert (asked.name, asked.start, asked.start_ns) == ("orders", StartAt.TIME, 1_793_491_200_000_000_000)
    sent = asked.policy
    assert (sent.for_ms, sent.bytes, sent.idle_ms, sent.backoff_ms) == (604_800_000, 2**26, 0, (1_000, 120_000))
    assert (sent.overflow, sent.dead_letter, sent.unacked_max) == (Overflow.REFUSE, "dead", 1_000)
    assert not waiter.done()
    hand.say(Ack(AckOf.CREATE_DURABLE, asked.request, (Range(0, 0),)))
    assert waiter.done()
    assert waiter.exception() is None


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"until": "acked", "for_": 3}, "not both"),
        ({"until": "read"}, "until is 'acked'"),
        ({"for_": "a week"}, 'text such as "30s"'),
        ({"for_": 0}, "for_ is 0.001 to"),
        ({"bytes": "1 GB"}, 'text such as "64 MiB"'),
        ({"count": 0}, "count is a whole number from 1"),
        ({"overflow": "block"}, "'drop-oldest' or 'refuse'"),
        ({"max_unacked": 100_001}, "max_unacked is a whole number from 1 to 100,000"),
        ({"backoff_s": range(9)}, "at most 8 times"),
        ({"ack_wait_s": "50d"}, "ack_wait_s is 0.001 to"),
        ({"start": "old"}, "start is 'new', 'earliest'"),
        ({"start": datetime(2026, 1, 1)}, "with a time zone"),  # noqa: DTZ001 - that is what is refused
        ({"dead_letter": "orders"}, "its own dead letter"),
        ({"order_by": ""}, "order_by is text of 1 to 256"),
        ({"homes": "ab"}, "homes is at most 3 routers in a list, not 'ab'"),
        ({"homes": "abcd"}, "homes is at most 3 routers"),
        ({"homes": ["a", "b", "a"]}, "homes is a list of different routers"),
        (
            {"homes": ["a", "b"], "copies_min": 3},
            "copies_min is a whole number from 1 to 2, the number of homes, not 3",
        ),
        ({"homes": ["a", "b"], "copies_min": 0}, "copies_min is a whole number from 1 to 2"),
        ({"homes": ["a"], "copies_min": 1}, "copies_min is of several homes"),
        ({"homes": ["a", "b"], "overflow": "refuse"}, "with several homes, start is 'new' and overflow is"),
        ({"homes": ["a", "b"], "start": "earliest"}, "with several homes, start is 'new' and overflow is"),
    ],
)
def test_policies_that_cannot_be_are_refused_by_name_with_what_is_allowed(told: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused, match=said):
        durable_of("orders", "amount > 100", **told)


def test_a_refusal_says_why_and_a_router_of_before_is_not_asked() -> None:
    hand, waiter = Hand().open(), Future[None]()
    hand.core.durables.create(durable_of("orders", "amount > 100"), waiter)
    (asked,) = hand.sent_of(CreateDurable)
    hand.say(
        Ack(AckOf.CREATE_DURABLE, asked.request, (), (Refusal(0, RefusalCode.DURABLE_DIFFERS, "it differs in bytes"),))
    )
    with pytest.raises(DurableRefused, match=r"DURABLE_DIFFERS.*bytes"):
        waiter.result()
    older, waiter = Hand().open(capabilities=()), Future[None]()
    older.core.durables.create(durable_of("orders", "amount > 100"), waiter)
    with pytest.raises(DurableRefused, match="earlier version"):
        waiter.result()
    assert older.sent() == []


def test_requests_without_an_answer_are_asked_again_after_a_cut_and_a_second_forget_is_done_by_the_first() -> None:
    hand, kept, forgotten = Hand().open(), Future[None](), Future[None]()
    hand.core.durables.create(durable_of("orders", "amount > 100"), kept)
    hand.core.durables.remove("old", forgotten)
    hand.sent()
    hand.cut()
    hand.open()
    sent = hand.sent()
    (asked,) = [body for body in sent if isinstance(body, CreateDurable)]
    (again,) = [body for body in sent if isinstance(body, RemoveDurable)]
    hand.say(Ack(AckOf.CREATE_DURABLE, asked.request, (Range(0, 0),)))
    hand.say(Ack(AckOf.REMOVE_DURABLE, again.request, (), (Refusal(0, RefusalCode.NO_SUCH_DURABLE, "there is none"),)))
    assert (kept.exception(), forgotten.exception()) == (None, None)


def test_messages_come_with_their_place_and_are_acknowledged_in_ranges_of_one_frame() -> None:
    hand = Hand().open()
    consumer = active(hand)
    hand.say(*(handed(consumer.id, position) for position in (5, 6, 7, 9)), handed(consumer.id, 11, expiry=2**62))
    messages = taken(hand, consumer)
    assert [(each.position, each.deliveries, each["n"]) for each in messages] == [(p, 1, p) for p in (5, 6, 7, 9, 11)]
    hand.sent()
    for message in (*messages, messages[0]):
        hand.core.durables.acknowledge(consumer, message)
    (ack,) = hand.sent_of(Ack)
    assert (ack.of, ack.request, ack.subscription, ack.verdict) == (AckOf.DELIVER, 0, consumer.id, AckVerdict.DONE)
    assert ack.ranges == (Range(5, 7), Range(9, 9), Range(11, 11))
    assert hand.sent() == []


def test_credit_is_raised_when_half_of_it_was_taken_and_never_before() -> None:
    hand = Hand().open()
    consumer = active(hand, credit=4)
    hand.say(*(handed(consumer.id, position) for position in (1, 2, 3, 4)))
    assert hand.sent_of(Credit) == []
    consumer.take()
    hand.core.durables.took(consumer)
    assert hand.sent_of(Credit) == []
    consumer.take()
    hand.core.durables.took(consumer)
    assert hand.sent_of(Credit) == [Credit(6, 0, consumer.id)]


def test_what_was_acknowledged_is_not_yielded_again_and_is_acknowledged_again() -> None:
    hand = Hand().open()
    consumer = active(hand)
    hand.say(handed(consumer.id, 5))
    (message,) = taken(hand, consumer)
    hand.core.durables.acknowledge(consumer, message)
    hand.cut()  # the acknowledgement was in the output
    hand.open()
    (asked,) = accept(hand)
    assert (asked.name, asked.credit_frames) == ("orders", 10)
    hand.say(handed(consumer.id, 5, times=2))
    assert take(hand, consumer) == []
    assert acked(hand) == [(5, 5)]
    assert consumer.hidden == 1


def test_what_the_application_has_after_a_cut_is_not_yielded_again_and_its_word_counts() -> None:
    hand = Hand().open()
    consumer = active(hand)
    hand.say(handed(consumer.id, 5), handed(consumer.id, 6))
    message = consumer.take()
    assert isinstance(message, Handed)
    hand.cut()  # 6 waits in the inbox, and comes again; 5 is being worked on
    hand.open()
    accept(hand)
    hand.say(handed(consumer.id, 5, times=2), handed(consumer.id, 6, times=2))
    assert [each.position for each in taken(hand, consumer)] == [6]
    hand.core.durables.acknowledge(consumer, message)
    assert acked(hand) == [(5, 5)]


def test_what_comes_again_as_no_word_came_in_time_is_yielded_again() -> None:
    hand = Hand().open()
    consumer = active(hand)
    hand.say(handed(consumer.id, 5))
    assert len(taken(hand, consumer)) == 1
    hand.say(handed(consumer.id, 5, times=2))
    assert [each.deliveries for each in taken(hand, consumer)] == [2]
    hand.say(handed(consumer.id, 6), handed(consumer.id, 6, times=2))  # it waits in the inbox still
    assert len(taken(hand, consumer)) == 1


def test_a_publishers_second_try_at_another_position_is_hidden_and_both_are_acknowledged() -> None:
    hand = Hand().open()
    consumer = active(hand)
    hand.say(handed(consumer.id, 5, number=1))
    (message,) = taken(hand, consumer)
    hand.say(handed(consumer.id, 9, number=1))
    assert taken(hand, consumer) == []
    hand.core.durables.acknowledge(consumer, message)
    assert acked(hand) == [(5, 5), (9, 9)]


def test_two_that_wait_together_are_one_message_too_and_both_are_acknowledged() -> None:
    hand = Hand().open()
    consumer = active(hand, credit=2)
    hand.say(handed(consumer.id, 5, number=1), handed(consumer.id, 9, number=1))
    message = consumer.take()
    assert isinstance(message, Handed)
    hand.core.durables.acknowledge(consumer, message)
    assert acked(hand) == [(5, 5)]
    assert consumer.take() is None
    hand.core.durables.took(consumer)
    assert acked(hand) == [(9, 9)]
    assert consumer.hidden == 1
    hand.say(handed(consumer.id, 10, number=2), handed(consumer.id, 11, number=3))
    assert [each.position for each in taken(hand, consumer)] == [10, 11]


def test_a_copy_that_was_hidden_and_comes_again_stays_hidden() -> None:
    hand = Hand().open()
    consumer = active(hand)
    hand.say(handed(consumer.id, 5, number=1))
    assert len(taken(hand, consumer)) == 1
    hand.say(handed(consumer.id, 9, number=1))
    hand.say(handed(consumer.id, 9, number=1, times=2))
    assert taken(hand, consumer) == []
    hand.say(handed(consumer.id, 5, number=1, times=2))
    assert [each.position for each in taken(hand, consumer)] == [5]


def test_dead_letters_about_one_message_are_letters_of_their_own() -> None:
    hand = Hand().open()
    consumer = active(hand)
    hand.say(handed(consumer.id, 5, number=1))
    (message,) = taken(hand, consumer)
    hand.say(handed(consumer.id, 7, number=1, dead=True))
    (first,) = taken(hand, consumer)
    hand.say(handed(consumer.id, 9, number=1, dead=True))
    (second,) = taken(hand, consumer)
    assert [each.dead_letter for each in (message, first, second)] == [False, True, True]
    hand.core.durables.acknowledge(consumer, first)
    assert acked(hand) == [(7, 7)]
    hand.say(handed(consumer.id, 7, number=1, times=2, dead=True))
    assert taken(hand, consumer) == []
    assert acked(hand) == [(7, 7)]
    for each in (message, second):
        hand.core.durables.acknowledge(consumer, each)
    assert acked(hand) == [(5, 5), (9, 9)]


def test_what_is_wanted_again_is_yielded_again_and_what_is_rejected_is_not() -> None:
    hand = Hand().open()
    consumer = active(hand)
    hand.say(handed(consumer.id, 5), handed(consumer.id, 6))
    first, second = taken(hand, consumer)
    hand.core.durables.say(consumer, first, AckVerdict.AGAIN, 250, "busy")
    hand.core.durables.say(consumer, second, AckVerdict.REJECT, reason="no such order")
    said = [(ack.verdict, ack.ranges, ack.delay_ms, ack.reason) for ack in hand.sent_of(Ack)]
    assert said == [
        (AckVerdict.AGAIN, (Range(5, 5),), 250, "busy"),
        (AckVerdict.REJECT, (Range(6, 6),), 0, "no such order"),
    ]
    hand.say(handed(consumer.id, 5, times=2), handed(consumer.id, 6, times=2))
    assert [each.position for each in taken(hand, consumer)] == [5]


def test_an_acknowledgement_that_is_confirmed_waits_for_the_disk_and_is_unknown_after_a_cut() -> None:
    hand = Hand().open()
    consumer = active(hand)
    hand.say(handed(consumer.id, 5), handed(consumer.id, 6))
    first, second = taken(hand, consumer)
    waiter: Future[None] = Future()
    hand.core.durables.acknowledge(consumer, first)
    hand.core.durables.confirm(consumer, waiter)
    (ack,) = hand.sent_of(Ack)
    assert ack.request
    assert ack.ranges == (Range(5, 5),)
    assert not waiter.done()
    hand.say(Ack(AckOf.DELIVER, ack.request, ack.ranges))
    assert waiter.done()
    assert waiter.exception() is None
    lost: Future[None] = Future()
    hand.core.durables.acknowledge(consumer, second)
    hand.core.durables.confirm(consumer, lost)
    hand.cut()
    with pytest.raises(AckUnknown, match="before the router answered"):
        lost.result()


def test_what_is_confirmed_in_one_turn_is_asked_for_once_and_all_verbs_can_be_confirmed() -> None:
    hand = Hand().open()
    consumer = active(hand)
    hand.say(*(handed(consumer.id, position) for position in range(5, 9)))
    messages = taken(hand, consumer)
    waiters: list[Future[None]] = []
    for message in messages[:3]:
        hand.core.durables.acknowledge(consumer, message)
        waiters.append(Future())
        hand.core.durables.confirm(consumer, waiters[-1])
    (ack,) = hand.sent_of(Ack)
    assert ack.ranges == (Range(5, 7),)
    hand.core.durables.say(consumer, messages[3], AckVerdict.REJECT, 0, "no such order")
    waiters.append(Future())
    hand.core.durables.confirm(consumer, waiters[-1])
    rejected, asked = hand.sent_of(Ack)
    assert (rejected.verdict, rejected.request, asked.ranges) == (AckVerdict.REJECT, 0, ())
    assert not any(waiter.done() for waiter in waiters)
    hand.say(Ack(AckOf.DELIVER, ack.request, ack.ranges))
    assert [waiter.done() for waiter in waiters] == [True, True, True, False]
    hand.say(Ack(AckOf.DELIVER, asked.request, ()))
    assert waiters[3].done()


def test_no_more_answers_are_asked_for_than_a_router_lets_wait_and_the_next_one_is_of_all_the_rest() -> None:
    hand = Hand().open()
    consumer = active(hand, 10)
    waiters: list[Future[None]] = [Future() for _ in range(ACK_ANSWERS_MAX + 5)]
    asked: list[Ack] = []
    for waiter in waiters:
        hand.core.durables.confirm(consumer, waiter)
        asked += hand.sent_of(Ack)
    assert [ack.request > 0 for ack in asked] == [True] * ACK_ANSWERS_MAX
    hand.say(Ack(AckOf.DELIVER, asked[0].request, ()))
    assert [waiter.done() for waiter in waiters] == [True] + [False] * (len(waiters) - 1)
    (last,) = hand.sent_of(Ack)
    hand.say(Ack(AckOf.DELIVER, last.request, ()))
    assert [waiter.done() for waiter in waiters[-5:]] == [True] * 5
    assert not waiters[-6].done()


def test_what_is_confirmed_without_a_connection_is_unknown() -> None:
    hand = Hand().open()
    consumer = active(hand)
    hand.cut()
    unknown: Future[None] = Future()
    hand.core.durables.confirm(consumer, unknown)
    with pytest.raises(AckUnknown, match="no connection"):
        unknown.result()


@pytest.mark.parametrize("comes_first", [False, True])
def test_a_delivery_that_says_no_position_ends_the_connection_and_what_came_before_it_is_there(
    comes_first: bool,
) -> None:
    hand = Hand().open()
    consumer = active(hand)
    wanted = hand.active("n > 0")
    (id_,) = wanted.ids
    others = delivery(id_, number=1), delivery(id_, number=2)
    before = [] if comes_first else [handed(consumer.id, 5), others[0]]
    hand.say(*before, delivery(consumer.id), others[1], handed(consumer.id, 6))
    assert [each.position for each in taken(hand, consumer)] == [5][: len(before)]
    assert [each["n"] for each in wanted.inbox.items if not isinstance(each, Gap)] == [1][: len(before)]
    (error,) = hand.sent_of(Error)
    assert error.code == ErrorCode.BAD_EXTENSION
    assert hand.core.wants_close


def test_what_is_of_no_durable_or_of_another_subscription_goes_its_way_in_one_run_of_frames() -> None:
    hand = Hand().open()
    consumer, wanted = active(hand), hand.active("n > 0")
    (id_,) = wanted.ids
    hand.say(
        handed(consumer.id, 5), delivery(id_, number=1), handed(id_, 9), handed(consumer.id, 6), delivery(99, number=3)
    )
    assert [each.position for each in taken(hand, consumer)] == [5, 6]
    assert [each["n"] for each in wanted.inbox.items if not isinstance(each, Gap)] == [1, 9]
    assert hand.core.registry.unclaimed == 1


def test_losses_are_gaps_of_what_was_not_told_before() -> None:
    hand = Hand().open()
    consumer = active(hand)

    def lost(messages: int, reason: LossReason = LossReason.LOG_FULL) -> Lost:
        return Lost(messages, 0, reason, (consumer.id,), in_all=True)

    hand.say(lost(3), handed(consumer.id, 5), lost(3), lost(7), lost(2, LossReason.EXPIRED))
    found = [item for item in take(hand, consumer) if isinstance(item, Gap)]
    assert [(gap.reason, gap.count, gap.in_all) for gap in found] == [
        (GapReason.LOG_FULL, 3, 3),
        (GapReason.LOG_FULL, 4, 7),
        (GapReason.EXPIRED, 2, 2),
    ]
    hand.say(Lost(9, 100, LossReason.QUEUE_FULL))  # of best effort: a keep loses nothing by it
    assert take(hand, consumer) == []


def test_an_unknown_range_that_has_grown_is_a_gap_of_what_is_new() -> None:
    hand = Hand().open()
    consumer = active(hand)

    def lost(messages: int, first: int, last: int, reason: LossReason = LossReason.CUSTODY_FULL) -> Lost:
        return Lost(messages, 0, reason, (consumer.id,), unknowns=1, first=first, last=last)

    hand.say(
        lost(3, 5, 5),
        lost(7, 5, 6),
        lost(7, 5, 6),
        lost(2, 9, 9),
        lost(0, 5, 12),
        lost(0, 13, 13, LossReason.ENTRY_LOST),
    )
    found = [item for item in take(hand, consumer) if isinstance(item, Gap)]
    assert [(gap.reason, gap.count, gap.positions) for gap in found] == [
        (GapReason.CUSTODY_FULL, 3, (5, 5)),
        (GapReason.CUSTODY_FULL, 4, (5, 6)),
        (GapReason.CUSTODY_FULL, 2, (9, 9)),
        (GapReason.CUSTODY_FULL, None, (5, 12)),
        (GapReason.ENTRY_LOST, None, (13, 13)),
    ]


def test_after_and_latest_are_asked_for_once() -> None:
    hand = Hand().open()
    consume(hand, after=77, replay="latest")
    (asked,) = hand.sent_of(Consume)
    assert (asked.after, asked.latest) == (77, True)
    hand.cut()
    hand.open()
    (again,) = accept(hand)
    assert (again.after, again.latest) == (77, True)  # the first was not answered
    hand.cut()
    hand.open()
    (later,) = accept(hand)
    assert (later.after, later.latest) == (0, False)


def test_detaching_says_first_what_was_acknowledged_and_then_nothing_more() -> None:
    hand = Hand().open()
    consumer = active(hand)
    hand.say(handed(consumer.id, 5))
    (message,) = taken(hand, consumer)
    hand.core.durables.acknowledge(consumer, message)
    waiter: Future[None] = Future()
    hand.core.durables.cancel(consumer, waiter)
    first, second = hand.sent()
    assert isinstance(first, Ack)
    assert isinstance(second, CancelConsume)
    hand.say(handed(consumer.id, 6))
    assert not waiter.done()
    assert consumer.inbox.is_ended
    hand.say(Ack(AckOf.CANCEL_CONSUME, second.request, (Range(consumer.id, consumer.id),)))
    assert waiter.done()
    with pytest.raises(ClientClosed, match="go to other consumers"):
        hand.core.durables.acknowledge(consumer, message)


def test_a_durable_that_is_gone_ends_its_iterators_with_the_reason() -> None:
    hand = Hand().open()
    consumer = active(hand)
    hand.cut()
    hand.open()
    (asked,) = hand.sent_of(Consume)
    refusal = Refusal(asked.id, RefusalCode.NO_SUCH_DURABLE, "there is no durable subscription 'orders'")
    hand.say(Ack(AckOf.CONSUME, asked.request, (), (refusal,)))
    assert consumer.inbox.is_ended
    assert isinstance(consumer.inbox.error, DurableRefused)


def test_a_consumer_whose_way_to_its_home_was_cut_asks_again_and_the_others_stay() -> None:
    hand = Hand().open()
    other, consumer = active(hand), active(hand)
    hand.say(handed(consumer.id, 5), handed(consumer.id, 8))
    first = consumer.take()
    hand.core.durables.acknowledge(consumer, first)
    confirmed = Future[None]()
    hand.core.durables.confirm(consumer, confirmed)
    hand.core.durables.flush()
    hand.sent()
    hand.say(ReplayEnd(consumer.id, 0, RefusalCode.DURABLE_ELSEWHERE, "the way to router c was cut"))
    assert isinstance(confirmed.exception(), AckUnknown)
    (asked,) = hand.sent_of(Consume)
    assert (asked.id, asked.credit_frames) == (consumer.id, 10)
    hand.say(Ack(AckOf.CONSUME, asked.request, (Range(asked.id, asked.id),)))
    hand.say(handed(consumer.id, 5), handed(consumer.id, 8))
    assert [each.position for each in taken(hand, consumer)] == [8]
    hand.core.durables.flush()
    assert acked(hand) == [(5, 5)]  # once more, as its acknowledgement may be lost
    assert not other.inbox.is_ended


def test_a_consumer_whose_home_is_away_after_a_cut_is_asked_for_each_second() -> None:
    hand = Hand().open()
    consumer = active(hand)
    hand.cut()
    hand.open()
    for _ in range(2):
        (asked,) = hand.sent_of(Consume)
        away = Refusal(asked.id, RefusalCode.HOME_AWAY, "router c is out of reach now")
        hand.say(Ack(AckOf.CONSUME, asked.request, (), (away,)))
        began = hand.now
        hand.core.tick(began)
        assert hand.core.deadline <= began + AGAIN_S
        hand.core.tick(began + AGAIN_S - 0.01)
        assert not hand.sent_of(Consume)
        hand.core.tick(began + AGAIN_S)
    (asked,) = hand.sent_of(Consume)
    hand.say(Ack(AckOf.CONSUME, asked.request, (Range(asked.id, asked.id),)))
    hand.say(handed(consumer.id, 5))
    assert [each.position for each in taken(hand, consumer)] == [5]


def test_a_first_consumer_whose_home_is_away_is_refused() -> None:
    hand = Hand().open()
    consumer, waiter = consume(hand)
    (asked,) = hand.sent_of(Consume)
    hand.say(Ack(AckOf.CONSUME, asked.request, (), (Refusal(asked.id, RefusalCode.HOME_AWAY, "away"),)))
    assert consumer.inbox.is_ended
    assert isinstance(waiter.exception(), DurableRefused)


def test_a_replay_that_is_cut_begins_anew_and_yields_nothing_twice() -> None:
    hand, waiter = Hand().open(), Future[None]()
    options = replay_options("n > 0", since=None, until=None, credit=10, spaces=NO_SPACES, space=None)
    consumer = hand.core.durables.consume(options, Handed, None, waiter)
    for turn in range(2):
        (asked,) = hand.sent_of(Replay)
        hand.say(Ack(AckOf.REPLAY, asked.request, (Range(asked.id, asked.id),)))
        hand.say(handed(asked.id, 5, replayed=True), handed(asked.id, 8, replayed=True))
        if turn == 0:
            assert [each.position for each in taken(hand, consumer)] == [5, 8]
            hand.cut()
            hand.open()
    hand.say(handed(consumer.id, 9, replayed=True), ReplayEnd(consumer.id, 3))
    messages = taken(hand, consumer)
    assert [each.position for each in messages] == [9]
    assert consumer.inbox.is_ended
    assert consumer.inbox.error is None


def test_a_message_that_is_to_be_kept_says_so_and_a_router_of_before_does_not_get_it() -> None:
    hand, waiter = Hand().open(), Future[None]()
    hand.core.outbox.publish({"n": 1}, b"", 0, waiter, confirm=True, retry=False, durable=True)
    (sent,) = hand.sent()
    assert isinstance(sent, DataFrame)
    assert sent.flags == CONFIRM | DURABLE
    older, refused = Hand().open(capabilities=()), Future[None]()
    older.core.outbox.publish({"n": 1}, b"", 0, refused, confirm=True, retry=False, durable=True)
    with pytest.raises(PublishRefused, match=r"NO_LOG.*earlier version"):
        refused.result()
    assert older.sent() == []


@pytest.mark.parametrize("frame", [handed(3, 2**63, number=1), handed(3, 1, times=9), handed(3, 4, replayed=True)])
def test_what_a_delivery_says_is_read_alike_by_both_ways(frame: DataFrame) -> None:
    with_more = replace(frame, extensions={ExtensionType.EXPIRY: 9, **frame.extensions})
    assert stored_head(encode(frame)) == stored_head(encode(with_more))
    assert isinstance(stored_head(encode(frame)), StoredArea)
