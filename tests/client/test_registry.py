"""Subscriptions: asked for, refused, asked for again, ended."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

import pytest

from tamis.client.connection.walker import NoWalker, Walker, new_walker
from tamis.client.errors import SubscriptionRefused
from tamis.client.gap import Gap, GapReason
from tamis.client.messages.pending import ON_ITS_WAY_S, SubscriptionState, batches, options_of
from tamis.protocol.errors import PredicateError, Refused
from tamis.protocol.filters import Filter, Predicate
from tamis.protocol.language import parse
from tamis.protocol.limits import SUBSCRIPTIONS_PER_FRAME_MAX
from tamis.protocol.wire.client_bodies import (
    Ack,
    AckOf,
    Lost,
    Range,
    Reach,
    Refusal,
    Subscribe,
    SubscriptionItem,
    Unsubscribe,
    ranges_of,
)
from tamis.protocol.wire.codes import ErrorCode, LossReason, RefusalCode
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.protocol.wire.session_bodies import Error
from tests.client.by_hand import Hand, delivery
from tests.client.test_core import items


def back_after(seconds: float) -> Gap:
    """The gap of a connection that was silent for so long."""
    return Gap(GapReason.RECONNECTED, span_s=seconds + ON_ITS_WAY_S)


def ended(hand: Hand) -> None:
    """Answer every UNSUBSCRIBE."""
    for body in hand.sent_of(Unsubscribe):
        hand.say(Ack(AckOf.UNSUBSCRIBE, body.request, ranges_of(body.ids)))


def test_predicates_travel_packed_each_under_its_id() -> None:
    hand = Hand().open()
    wanted, waiter = hand.subscribe("a > 1 and b = 2 or c = 3", "exists d", own_messages=True)
    (asked,) = hand.sent()
    assert isinstance(asked, Subscribe)
    assert (asked.own_messages, asked.wait, asked.durable) == (True, Reach.HOME, False)
    assert wanted.ids == (1, 2)
    read = [Predicate(tuple(decode_filter(packed) for packed in each.filters)) for each in asked.subscriptions]
    assert read == [parse("a > 1 and b = 2 or c = 3"), parse("exists d")]
    hand.say(Ack(AckOf.SUBSCRIBE, asked.request, (Range(1, 1),)))
    assert not waiter.done()
    hand.say(Ack(AckOf.SUBSCRIBE, asked.request, (Range(2, 2),)))
    assert waiter.done()
    assert wanted.state is SubscriptionState.ACTIVE


def test_a_mistake_is_shown_with_its_caret_and_nothing_is_sent() -> None:
    hand = Hand().open()
    with pytest.raises(PredicateError) as caught:
        hand.subscribe("severity > 2", "severity >> 2")
    assert "severity >> 2\n         ^" in str(caught.value)
    with pytest.raises(Refused, match="at least one predicate"):
        hand.subscribe()
    with pytest.raises(Refused, match="never receive anything"):
        hand.subscribe("false")
    with pytest.raises(Refused, match="wait is home or network, not 'moon'"):
        options_of(False, "moon")
    assert hand.sent() == []


def test_what_a_frame_cannot_carry_is_refused() -> None:
    hand = Hand().open(frame_bytes_max=4_096)
    values = ", ".join(f'"{number}{"x" * 100}"' for number in range(50))
    with pytest.raises(Refused, match="at most 2048 bytes"):
        hand.subscribe(f"a in {{{values}}}")


def test_a_refusal_names_the_predicate_and_gives_the_others_back() -> None:
    hand = Hand().open()
    wanted, waiter = hand.subscribe("a = 1", "b = 2", "c = 3")
    hand.accept(Refusal(2, RefusalCode.NOT_ALLOWED, "not you"))
    with pytest.raises(SubscriptionRefused, match=r"b = 2: NOT_ALLOWED \(not you\)") as caught:
        waiter.result(0)
    assert caught.value.refusals == {"b = 2": Refusal(2, RefusalCode.NOT_ALLOWED, "not you")}
    (given_back,) = hand.sent_of(Unsubscribe)
    assert given_back.ids == (1, 3)
    assert wanted.inbox.is_ended


def test_after_a_cut_everything_is_asked_for_again_with_a_gap_in_its_place() -> None:
    hand = Hand().open()
    first, second = hand.active("a = 1"), hand.active("b = 2", "c = 3")
    hand.say(delivery(1, number=1))
    hand.cut()
    hand.now += 3
    hand.open()
    (asked,) = hand.accept()
    assert [each.id for each in asked.subscriptions] == [1, 2, 3]
    hand.say(delivery(1, number=2))
    assert items(first) == [1, back_after(3), 2]
    assert items(second) == [back_after(3)]


@pytest.mark.parametrize("walker", [NoWalker, new_walker])
@pytest.mark.parametrize("ids", [(1,), (1, 9)])
def test_the_gap_of_a_cut_stands_in_front_of_what_comes_before_the_answer(
    walker: Callable[[], Walker], ids: tuple[int, ...]
) -> None:
    """One filter at the home router is there as a whole, so that one gap tells everything."""
    hand = Hand(walker()).open()
    wanted = hand.active("a = 1")
    hand.say(delivery(1, number=1))
    hand.now += 2
    hand.cut()  # the router was silent before
    hand.now += 3
    hand.open()
    hand.say(delivery(*ids, number=2), delivery(*ids, number=3))
    hand.now += 1
    hand.accept()
    assert items(wanted) == [1, back_after(5), 2, 3]


def test_a_gap_of_the_router_comes_behind_that_of_the_cut() -> None:
    hand = Hand().open()
    wanted = hand.active("a = 1")
    hand.cut()
    hand.open()
    hand.say(Lost(1, 8, LossReason.QUEUE_FULL))
    hand.accept()
    assert items(wanted) == [back_after(0), Gap(GapReason.QUEUE_FULL, 1, 8)]


@pytest.mark.parametrize("predicates", [("a = 1", "b = 2"), ("a = 1 or b = 2",)])
def test_what_the_router_takes_piece_by_piece_has_a_second_gap_at_the_answer(predicates: tuple[str, ...]) -> None:
    hand = Hand().open()
    wanted = hand.active(*predicates)
    hand.cut()
    hand.now += 3
    hand.open()
    hand.say(delivery(1, number=1))
    hand.now += 2
    hand.accept()
    assert items(wanted) == [back_after(3), 1, Gap(GapReason.RECONNECTED, span_s=2)]
    hand.cut()
    hand.open()
    hand.accept()
    assert items(wanted)[3:] == [back_after(0)]


def test_what_is_wanted_of_the_whole_network_has_a_second_gap_at_the_answer() -> None:
    hand = Hand().open()
    wanted, _ = hand.subscribe("a = 1", wait="network")
    hand.accept()
    hand.cut()
    hand.open()
    hand.say(delivery(1, number=1))
    hand.now += 2
    hand.accept()
    assert items(wanted) == [back_after(0), 1, Gap(GapReason.RECONNECTED, span_s=2)]


def test_a_gap_reaches_over_connections_that_brought_nothing() -> None:
    hand = Hand().open()
    wanted = hand.active("a = 1")
    for _ in range(3):
        hand.cut()
        hand.now += 2
        hand.open()
    hand.accept()
    assert items(wanted) == [back_after(6)]


def test_what_was_never_active_has_no_gap() -> None:
    hand = Hand()
    wanted, waiter = hand.subscribe("a = 1")
    hand.open()
    hand.sent()
    hand.cut()
    hand.open()
    hand.accept()
    assert waiter.done()
    assert items(wanted) == []


def test_a_refused_resubscription_raises_in_its_iterator_alone() -> None:
    hand = Hand().open()
    kept, refused = hand.active("a = 1"), hand.active("b = 2")
    hand.say(delivery(2, number=1))
    hand.cut()
    hand.open()
    hand.accept(Refusal(2, RefusalCode.TOO_MANY_FILTERS, ""))
    assert items(refused) == [1, back_after(0)]
    assert isinstance(refused.inbox.error, SubscriptionRefused)
    assert kept.state is SubscriptionState.ACTIVE
    assert kept.inbox.error is None
    hand.cut()
    hand.open()
    assert [each.id for body in hand.sent_of(Subscribe) for each in body.subscriptions] == [1]


def test_a_router_that_drains_does_not_end_a_subscription() -> None:
    hand = Hand().open()
    wanted, waiter = hand.subscribe("a = 1")
    hand.accept(Refusal(1, RefusalCode.DRAINING, "leaving"))
    assert not waiter.done()
    hand.cut()
    hand.open()
    hand.accept()
    assert waiter.done()
    assert wanted.state is SubscriptionState.ACTIVE


def test_options_go_in_frames_of_their_own() -> None:
    hand = Hand()
    hand.subscribe("a = 1")
    hand.subscribe("b = 2", own_messages=True)
    hand.subscribe("c = 3")
    hand.open()
    asked = hand.accept()
    assert [(body.own_messages, [each.id for each in body.subscriptions]) for body in asked] == [
        (False, [1, 3]),
        (True, [2]),
    ]


def test_from_the_call_on_nothing_is_yielded() -> None:
    hand = Hand().open()
    wanted = hand.active("a = 1")
    hand.say(delivery(1, number=1))
    waiter: Future[None] = Future()
    hand.core.registry.end(wanted, waiter)
    hand.say(delivery(1, number=2))
    assert items(wanted) == []
    assert not waiter.done()
    ended(hand)
    assert waiter.done()
    assert wanted.state is SubscriptionState.ENDED
    again: Future[None] = Future()
    hand.core.registry.end(wanted, again)
    assert again.done()
    assert hand.sent() == []


def test_ended_before_it_was_answered() -> None:
    hand = Hand().open()
    wanted, started = hand.subscribe("a = 1")
    waiter: Future[None] = Future()
    hand.core.registry.end(wanted, waiter)
    asked, unasked = hand.sent()
    assert isinstance(asked, Subscribe)
    assert isinstance(unasked, Unsubscribe)
    hand.say(Ack(AckOf.SUBSCRIBE, asked.request, (Range(1, 1),)))
    assert wanted.state is SubscriptionState.ENDING
    hand.say(Ack(AckOf.UNSUBSCRIBE, unasked.request, (), (Refusal(1, RefusalCode.NO_SUCH_ID, ""),)))
    assert started.done()
    assert waiter.done()
    assert wanted.state is SubscriptionState.ENDED


def test_a_cut_ends_what_was_ending() -> None:
    hand = Hand().open()
    wanted = hand.active("a = 1")
    waiter: Future[None] = Future()
    hand.core.registry.end(wanted, waiter)
    hand.cut()
    assert waiter.done()
    hand.open()
    assert hand.sent_of(Subscribe) == []


def test_ids_are_never_used_twice() -> None:
    hand = Hand().open()
    for expected in 1, 2, 3:
        wanted = hand.active("a = 1")
        assert wanted.ids == (expected,)
        hand.core.registry.end(wanted, None)
        ended(hand)


def test_an_ack_of_nothing_that_was_asked_breaks_the_rules() -> None:
    hand = Hand().open()
    hand.say(Ack(AckOf.SUBSCRIBE, 99, (Range(1, 1),)))
    assert hand.sent_of(Error)[0].code == ErrorCode.MALFORMED


def test_an_ack_that_claims_every_number_costs_nothing() -> None:
    hand = Hand().open()
    _, waiter = hand.subscribe("a = 1", "b = 1")
    (asked,) = hand.sent_of(Subscribe)
    hand.say(Ack(AckOf.SUBSCRIBE, asked.request, (Range(0, 2**64 - 1),)))
    assert waiter.done()


def test_a_loss_that_names_its_subscriptions_concerns_those() -> None:
    hand = Hand().open()
    first, second = hand.active("a = 1"), hand.active("b = 1")
    hand.say(Lost(2, 50, 1, (2,)), Lost(1, 10, 999, ()))
    unknown = Gap(GapReason.UNKNOWN, 1, 10)
    assert items(first) == [unknown]
    assert items(second) == [Gap(GapReason.QUEUE_FULL, 2, 50), unknown]


def test_a_gap_says_how_far_back_it_reaches_and_whether_it_goes_on() -> None:
    hand = Hand().open()
    wanted = hand.active("a = 1")
    hand.say(Lost(0, 0, LossReason.ROUTE_CHANGED, (), 2_500, goes_on=True), Lost(0, 0, LossReason.ROUTE_CHANGED))
    away, back = items(wanted)
    assert away == Gap(GapReason.ROUTE_CHANGED, None, None, 2.5, goes_on=True)
    assert back == Gap(GapReason.ROUTE_CHANGED)


def test_batches_keep_to_both_bounds() -> None:
    subscriptions = [SubscriptionItem(id_, (bytes(100),)) for id_ in range(SUBSCRIPTIONS_PER_FRAME_MAX + 1)]
    by_count = list(batches(subscriptions, 1 << 30))
    assert list(map(len, by_count)) == [SUBSCRIPTIONS_PER_FRAME_MAX, 1]
    by_bytes = list(batches(subscriptions[:100], 4_096))
    assert [each for batch in by_bytes for each in batch] == subscriptions[:100]
    assert len(by_bytes) == 4
    assert list(batches([], 4_096)) == []


def test_a_predicate_may_be_given_as_filters() -> None:
    hand = Hand().open()
    wanted, _ = hand.subscribe(Predicate((Filter(),)))  # type: ignore[arg-type]
    assert wanted.texts == ("true",)


def test_a_refused_batch_is_told_in_a_few_lines() -> None:
    refusals = {f"n = {number}": Refusal(number, RefusalCode.TOO_MANY_FILTERS, "full") for number in range(20_000)}
    error = SubscriptionRefused(refusals)
    assert str(error).splitlines()[1:] == [
        *(f"n = {number}: TOO_MANY_FILTERS (full)" for number in range(3)),
        "and 19,997 more predicates, 20,000 in all",
    ]
    assert error.refusals == refusals
