"""R2, R3, R9: what a router does with what it hears of others' filters."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from tamis.protocol.limits import FILTER_OVERHEAD_BYTES, STATEMENT_BYTES_MAX
from tamis.protocol.wire.numbers import predicate_digest, stable_number
from tamis.protocol.wire.routing_bodies import Entry, Held, ReceiverAdvertisement, SenderRequest, UpdateReply
from tamis.router.core.commands import Install, NeighbourSession, Send
from tamis.router.core.core import Core
from tamis.router.core.epochs import DAY_MS
from tamis.router.core.events import FiltersAdded
from tamis.router.core.timers import Due
from tamis.router.core.times import MS, S
from tests.router.core.bodies import change, entry, state, whole
from tests.router.core.single import Single

ME, A, B, C, X = map(stable_number, ("me", "a", "b", "c", "x"))
NONE: dict[int, bytes] = {}
ONE, TWO, THREE = {1: b"1"}, {1: b"1", 2: b"2"}, {2: b"2", 3: b"3"}


def among(*neighbours: str) -> Single:
    """All of them neighbours; x is linked with the first."""
    single = Single()
    single.joins(*neighbours)
    single.hears(neighbours[0], state(neighbours[0], 5, "me", "x"), state("x", 5, neighbours[0]))
    single.waits(3 * S)
    single.took(Send)
    return single


def reply(*entries: object, to: int = ME) -> UpdateReply:
    return UpdateReply(to, 0, 0, entries)  # type: ignore[arg-type]


def held(single: Single, issuer: int = X) -> tuple[int, dict[int, bytes]]:
    entry_ = single.core.core_state.rib.entries[issuer]
    return entry_.version.seq, entry_.filters


# --- what comes


def test_news_is_passed_on_to_all_but_whom_it_came_from_and_goes_into_the_table():
    single = among("a", "b", "c")
    single.hears("a", whole("x", 5, ONE))
    to_others = Send((NeighbourSession(B, 1), NeighbourSession(C, 1)), whole("x", 5, ONE))
    assert single.done == [to_others, Install(X, ONE, ())]
    single.took(Send)
    single.hears("b", whole("x", 5, ONE))
    assert single.took(object) == []


def test_a_change_goes_into_the_table_as_what_it_adds_and_removes():
    single = among("a", "b")
    single.hears("a", whole("x", 5, TWO), change("x", 5, 7, TWO, THREE))
    assert single.took(Install) == [Install(X, TWO, ()), Install(X, {3: b"3"}, (1,))]
    assert held(single) == (7, THREE)


def test_what_changes_nothing_does_not_go_to_the_table():
    single = among("a")
    single.hears("a", whole("x", 5, ONE), whole("x", 6, ONE), change("x", 6, 7, ONE, ONE))
    assert single.took(Install) == [Install(X, ONE, ())]


def test_a_change_that_cannot_be_applied_is_passed_on_all_the_same():
    single = among("a", "b")
    body = change("x", 6, 7, ONE, TWO)
    single.hears("a", body)
    assert single.took(ReceiverAdvertisement, "b") == [body]


def test_changes_in_any_order_lead_to_the_same_without_a_question():
    single = among("a")
    single.hears("a", change("x", 7, 8, TWO, THREE), change("x", 6, 7, ONE, TWO), change("x", 5, 6, NONE, ONE))
    assert single.took(Install) == []
    single.hears("a", whole("x", 5, NONE))
    assert held(single) == (8, THREE)
    single.waits(3 * S)
    assert single.took(SenderRequest) == []


def test_changes_that_waited_go_into_the_table_one_by_one():
    single = among("a")
    single.hears("a", change("x", 6, 7, TWO, THREE), change("x", 5, 6, ONE, TWO))
    single.hears("a", whole("x", 5, ONE))
    assert single.took(Install) == [Install(X, ONE, ()), Install(X, {2: b"2"}, ()), Install(X, {3: b"3"}, (1,))]


def test_a_change_that_waited_and_does_not_fit_is_dropped_and_asked_for():
    single = among("a")
    single.hears("a", replace(change("x", 5, 6, ONE, TWO), digest=predicate_digest(())), whole("x", 5, ONE))
    assert held(single) == (5, ONE)
    assert not single.core.core_state.rib.waits(X)
    single.waits(100 * MS)
    assert len(single.took(SenderRequest, "a")) == 1


# --- gaps


def test_a_gap_is_asked_about_after_a_tenth_of_a_second_where_it_must_be_known():
    single = among("a", "b")
    single.hears("b", change("x", 6, 7, ONE, TWO))
    single.waits(100 * MS - 1)
    assert single.took(SenderRequest) == []
    single.waits(1)
    [send] = [send for send in single.took(Send) if isinstance(send.body, SenderRequest)]
    assert send.to == (NeighbourSession(A, 1),)
    assert not send.body.digest


def test_a_second_gap_does_not_put_the_question_off():
    single = among("a")
    single.hears("a", change("x", 6, 7, ONE, TWO))
    single.waits(99 * MS)
    single.hears("a", change("x", 7, 8, TWO, THREE))
    single.waits(1 * MS)
    assert len(single.took(SenderRequest, "a")) == 1


def test_a_gap_that_the_answer_closes_is_not_asked_about_again():
    single = among("a")
    single.hears("a", change("x", 6, 7, ONE, TWO))
    single.waits(100 * MS)
    [asked] = single.took(SenderRequest, "a")
    single.hears("a", UpdateReply(*asked.ticket, (entry("x", 7, TWO),)))
    assert held(single) == (7, TWO)
    assert (Due.GAP, X) not in single.core.core_state.timers
    single.waits(3 * S)
    [compared] = single.took(SenderRequest)
    assert compared.digest


def test_when_an_answer_closes_a_gap_every_neighbour_compares_as_it_may_have_asked_before():
    single = among("a", "b")
    single.hears("a", change("x", 6, 7, ONE, TWO))
    single.waits(100 * MS)
    [asked] = single.took(SenderRequest, "a")
    single.hears("a", UpdateReply(*asked.ticket, (entry("x", 7, TWO),)))
    assert single.took(ReceiverAdvertisement) == [], "the change was passed on when it came"
    single.waits(100 * MS)
    [compared] = single.took(SenderRequest, "b")
    assert compared.digest


def test_a_gap_that_stays_is_asked_about_every_second():
    single = among("a")
    single.hears("a", change("x", 6, 7, ONE, TWO))
    single.waits(100 * MS)
    for _ in range(3):
        [asked] = single.took(SenderRequest, "a")
        single.hears("a", UpdateReply(*asked.ticket, ()))
        single.waits(1 * S - 1)
        assert single.took(SenderRequest) == []
        single.waits(1)


def test_what_nobody_holds_is_asked_for_ten_times_and_then_forgotten():
    single = among("a", "b")
    single.hears("b", change("x", 6, 7, ONE, TWO, confirm=True))
    single.took(object)
    for _ in range(11):
        single.waits(1 * S)
        if asked := [request for request in single.took(SenderRequest, "a") if not request.digest]:
            single.hears("a", UpdateReply(*asked[0].ticket, ()))
    core = single.core
    assert (Due.GAP, X) not in core.core_state.timers
    assert not core.figures().unfinished
    single.waits(1 * S)
    assert [request.digest for request in single.took(SenderRequest) if not request.digest] == []
    single.hears("a", whole("x", 6, THREE))
    assert len(single.took(ReceiverAdvertisement, "b")) == 1
    assert held(single) == (6, THREE)


def test_when_a_gap_is_given_up_neighbours_compare_and_what_was_held_is_not_passed_on_again():
    single = among("a", "b")
    single.hears("a", whole("x", 5, ONE))
    single.hears("b", change("x", 6, 7, ONE, TWO))
    single.waits(10 * S)
    single.took(object)
    single.waits(1 * S)
    assert single.took(SenderRequest, "b")
    single.hears("b", whole("x", 5, ONE))
    assert single.took(ReceiverAdvertisement) == []


def test_what_was_heard_of_in_an_epoch_that_is_believed_no_more_is_forgotten_at_once():
    clock_ms = [3 * DAY_MS]
    single = Single(core=partial(Core, unix_ms=lambda: clock_ms[0]))  # type: ignore[arg-type]
    single.joins("a", "b")
    single.hears("a", state("a", 5, "me", "x"), state("x", 5, "a"), whole("x", 5, ONE))
    single.hears("b", change("x", 6, 7, ONE, TWO, epoch=3 * DAY_MS))
    single.waits(1 * S)
    assert (Due.GAP, X) in single.core.core_state.timers
    clock_ms[0] = 1_000
    single.waits(1 * S)
    assert not single.core.core_state.rib.waits(X)
    single.took(object)
    single.hears("a", change("x", 5, 6, ONE, TWO))
    assert len(single.took(ReceiverAdvertisement, "b")) == 1
    assert held(single) == (6, TWO)


def test_a_gap_is_not_given_up_while_what_closes_it_is_collected():
    single = among("a")
    single.hears("a", change("x", 6, 7, ONE, TWO))
    piece = entry("x", 7, {**TWO, **THREE})._replace(total=9)
    for _ in range(15):
        single.hears("a", UpdateReply(ME, 1, 0, (piece,)))
        single.waits(1 * S)
    assert (Due.GAP, X) in single.core.core_state.timers
    assert single.core._predicates.collects(X)


def test_a_gap_of_a_router_out_of_reach_is_asked_of_nobody_and_leaves_nothing_behind():
    single = among("a")
    single.hears("a", change("c", 6, 7, ONE, TWO, confirm=True))
    single.waits(10 * S)
    assert single.took(SenderRequest) == []
    core = single.core
    single.waits(585 * S)
    assert core.core_state.rib.waits(C), "nobody was asked for it, so nobody is known not to hold it"
    single.waits(5 * S)
    assert (Due.GAP, C) not in core.core_state.timers
    assert not core.core_state.rib.waits(C)
    assert core._predicates.flood.newest(C) is None
    assert not core._predicates.confirmations.issuers


# --- what is put right


def test_whoever_says_something_older_is_told_what_is_newer_at_most_once_a_second():
    single = among("a", "b")
    single.hears("a", whole("x", 5, ONE))
    single.took(Send)
    for _ in range(2):
        single.hears("b", whole("x", 9, TWO, epoch=0))
        single.hears("b", whole("x", 4, TWO))
    assert single.took(Send) == [Send((NeighbourSession(B, 1),), reply(entry("x", 5, ONE), to=B))]
    single.waits(1 * S)
    single.hears("b", reply(entry("x", 4, TWO, epoch=0)))
    assert single.took(UpdateReply, "b") == [reply(entry("x", 5, ONE), to=B)]
    assert held(single) == (5, ONE)


def test_a_late_change_is_no_sign_that_a_neighbour_holds_something_older_unless_of_an_earlier_epoch():
    single = among("a", "b")
    single.hears("a", whole("x", 5, ONE, epoch=2))
    single.took(Send)
    single.hears("b", change("x", 3, 4, ONE, TWO, epoch=2))
    assert single.took(Send) == []
    single.hears("b", change("x", 8, 9, ONE, TWO, epoch=1))
    assert single.took(UpdateReply, "b") == [reply(entry("x", 5, ONE, epoch=2), to=B)]


def test_of_two_statements_of_equal_freshness_both_go_to_the_issuer_and_the_first_stays():
    single = among("a", "b")
    single.hears("a", whole("x", 5, ONE))
    to_x, mine = (NeighbourSession(A, 1),), reply(entry("x", 5, ONE), to=X)
    single.took(Send)
    single.hears("b", whole("x", 5, TWO))
    assert single.took(Send) == [Send(to_x, mine), Send(to_x, whole("x", 5, TWO))]
    single.hears("b", whole("x", 5, TWO))
    assert single.took(Send) == []
    single.waits(1 * S)
    single.hears("b", reply(entry("x", 5, TWO)))
    assert single.took(Send) == [Send(to_x, mine), Send(to_x, reply(entry("x", 5, TWO), to=X))]
    assert held(single) == (5, ONE)


# --- replies


def test_what_a_reply_brings_is_kept_and_passed_on_as_a_whole_predicate():
    single = among("a", "b")
    single.hears("a", reply(entry("x", 5, ONE)))
    assert single.took(ReceiverAdvertisement, "b") == [whole("x", 5, ONE)]
    single.hears("a", reply(entry("x", 6, TWO), entry("c", 1, ONE)))
    assert single.took(Install) == [Install(X, {2: b"2"}, ()), Install(C, ONE, ())]
    single.hears("b", reply(entry("x", 6, TWO)))
    assert single.took(object) == []


def test_a_late_reply_cannot_overwrite_what_is_newer():
    single = among("a")
    single.hears("a", whole("x", 6, TWO), reply(entry("x", 5, ONE)))
    assert held(single) == (6, TWO)


# --- of this router


def test_a_newer_statement_of_this_router_is_jumped_past():
    for heard in (whole("me", 99, ONE), reply(entry("me", 99, ONE)), whole("me", 1, NONE, epoch=2)):
        single = among("a", "b")
        single.handle(FiltersAdded((b"mine",)))
        single.took(Send)
        single.hears("a", heard)
        [said] = single.took(ReceiverAdvertisement, "b")
        version = heard.entries[0][1:3] if isinstance(heard, UpdateReply) else (heard.epoch, heard.seq)
        assert (said.epoch, said.seq) > version
        assert said.full
        assert held(single, ME) == (said.seq, {1: b"mine"})


def test_another_statement_of_this_router_of_equal_freshness_is_jumped_past_and_ones_own_is_not():
    single = among("a")
    seq, _ = held(single, ME)
    single.hears("a", whole("me", seq, NONE), reply(entry("me", seq, NONE)), whole("me", seq - 1, ONE))
    assert single.took(ReceiverAdvertisement) == []
    single.hears("a", whole("me", seq, ONE))
    assert len(single.took(ReceiverAdvertisement)) == 1
    assert single.took(Install) == []


# --- who holds what


def test_who_is_asked_confirms_what_it_holds_towards_the_issuer_and_once():
    single = among("a", "b")
    single.hears("b", whole("x", 5, ONE, confirm=True))
    single.waits(5 * MS - 1)
    assert single.took(Held) == []
    single.waits(1)
    [send] = [send for send in single.took(Send) if isinstance(send.body, Held)]
    assert send == Send((NeighbourSession(A, 1),), Held(X, 1, 5, (ME,)))
    single.hears("a", whole("x", 5, ONE, confirm=True), whole("x", 6, ONE))
    single.waits(1 * S)
    assert single.took(Held) == []


def test_who_lacks_the_base_confirms_when_it_has_caught_up():
    single = among("a")
    single.hears("a", change("x", 4, 5, ONE, TWO, confirm=True))
    single.waits(50 * MS)
    assert single.took(Held) == []
    single.hears("a", whole("x", 4, ONE))
    single.waits(5 * MS)
    assert single.took(Held) == [Held(X, 1, 5, (ME,))]


def test_what_others_confirm_is_passed_on_together_with_ones_own():
    single = among("a", "b")
    single.hears("a", whole("x", 5, ONE, confirm=True))
    single.waits(4 * MS)
    single.hears("b", Held(X, 1, 5, (B, C)))
    single.waits(1 * MS)
    assert single.took(Held, "a") == [Held(X, 1, 5, (ME, B, C))]
    single.hears("b", Held(X, 1, 5, (B,)))
    single.waits(5 * MS)
    assert single.took(Held, "a") == [Held(X, 1, 5, (B,))]


def test_the_version_confirmed_is_the_one_that_is_held():
    single = among("a")
    single.hears("a", change("x", 4, 5, NONE, ONE, confirm=True), change("x", 5, 6, ONE, TWO), whole("x", 4, NONE))
    single.waits(5 * MS)
    assert single.took(Held) == [Held(X, 1, 6, (ME,))]


# --- what is long or comes in pieces


@pytest.mark.parametrize(
    ("size", "is_told"), [(STATEMENT_BYTES_MAX // 16, False), (STATEMENT_BYTES_MAX // 16 + 1, True)]
)
def test_of_a_change_that_is_more_than_a_sixteenth_of_a_body_it_is_told_when_it_has_left(size, is_told):
    single = among("a", "b")
    body = whole("x", 6, {1: b"l" * (size - FILTER_OVERHEAD_BYTES)})
    single.hears("a", body)
    assert single.took(Send) == [Send((NeighbourSession(B, 1),), body, is_told)]
    assert single.core.core_state.links.by_neighbour[B].unsent == is_told


def piece(seq: int, filters: dict[int, bytes], of: dict[int, bytes]) -> Entry:
    said = entry("x", seq, of)
    return said._replace(filters=entry("x", seq, filters).filters, total=len(of))


def test_what_is_whole_is_held_in_a_slice_after_the_event_that_brought_it():
    single = among("a")
    single.hears("a", reply(piece(7, TWO, {**TWO, 3: b"3"})))
    assert single.due_in(Due.COLLECT, X) == 10 * S
    single.hears("a", reply(piece(7, {3: b"3"}, {**TWO, 3: b"3"})._replace(first=2)))
    assert single.due_in(Due.COLLECT, X) == 1
    assert X not in single.core.core_state.rib.entries
    single.waits(10)
    assert held(single) == (7, {**TWO, 3: b"3"})


@pytest.mark.parametrize(
    "other",
    [
        piece(6, {3: b"3"}, {**TWO, 3: b"3"})._replace(first=2),
        piece(7, {3: b"4"}, {**TWO, 3: b"4"})._replace(first=2),
        piece(7, {3: b"3"}, {**TWO, 3: b"3"})._replace(first=2, total=4),
    ],
    ids=["older", "of another digest", "of another total"],
)
def test_a_piece_of_something_else_is_not_taken_for_one_of_what_is_collected(other):
    single = among("a", "b")
    single.hears("a", reply(piece(7, TWO, {**TWO, 3: b"3"})))
    single.hears("b", reply(other))
    assert single.due_in(Due.COLLECT, X) == 10 * S
    assert single.core._predicates.collects_from(B), "it waits for this, too"
    single.hears("a", reply(piece(7, {3: b"3"}, {**TWO, 3: b"3"})._replace(first=2)))
    single.waits(10)
    assert held(single) == (7, {**TWO, 3: b"3"})


def test_news_of_a_large_predicate_are_asked_about_at_once_unless_an_answer_is_awaited():
    single = among("a")
    news = entry("x", 7, {})._replace(total=9)
    single.hears("a", reply(news))
    assert len([asked for asked in single.took(SenderRequest, "a") if not asked.digest]) == 1
    single.hears("a", reply(news))
    assert single.took(SenderRequest) == []
    assert single.due_in(Due.ASK, A) == 1 * S, "not now, and the first question is no repeated one"
