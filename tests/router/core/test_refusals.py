"""R9: what a router does about the epochs that neighbours refuse, and about those that others state of it."""

from __future__ import annotations

import pytest

from tamis.protocol.wire.numbers import NO_DIGEST, stable_number
from tamis.protocol.wire.routing_bodies import EpochRefused, LinkState, ReceiverAdvertisement, SenderRequest
from tamis.router.core.commands import Alarm, Forget, Install, NeighbourSession, RaiseEpoch, Send
from tamis.router.core.epochs import DAY_MS
from tamis.router.core.events import Tick
from tamis.router.core.statements.freshness import Version
from tamis.router.core.timers import Due
from tamis.router.core.times import MS, S
from tests.router.core.bodies import digest_of, state, whole
from tests.router.core.single import NOW, Single, clocked

ME, A, B, C, X = map(stable_number, ("me", "a", "b", "c", "x"))
YEARS = 3_650 * DAY_MS
FAR = NOW + YEARS


def refusals(single: Single) -> list[Send]:
    return [send for send in single.took(Send) if isinstance(send.body, EpochRefused)]


def to(*neighbours: int) -> tuple[NeighbourSession, ...]:
    return tuple(NeighbourSession(neighbour, 1) for neighbour in sorted(neighbours))


# --- refusals of others


def test_a_refusal_is_answered_with_the_own_clock_and_an_answer_is_not_answered():
    single = clocked([NOW], "a", "b")
    single.hears("b", EpochRefused(X, 0, NOW + DAY_MS))
    assert refusals(single) == []
    single.hears("b", EpochRefused(X, 7, NOW + DAY_MS))
    assert refusals(single) == [Send(to(B), EpochRefused(X, 0, NOW + DAY_MS))]
    assert single.due_in(Due.LOWER) is None


def test_a_refused_epoch_that_is_held_is_told_towards_its_issuer():
    single = clocked([NOW], "a", "b")
    single.hears("b", EpochRefused(X, NOW, NOW - 8 * DAY_MS))
    assert refusals(single) == [
        Send(to(B), EpochRefused(X, 0, NOW + DAY_MS)),
        Send(to(A), EpochRefused(X, NOW, NOW + DAY_MS)),
    ]


@pytest.mark.parametrize("epoch", [NOW - 1, NOW + 1])
def test_a_refused_epoch_that_is_not_held_is_not_told_on(epoch):
    single = clocked([NOW], "a", "b")
    single.hears("b", EpochRefused(X, epoch, NOW - 8 * DAY_MS))
    assert [send.to for send in refusals(single)] == [to(B)]


def test_a_refusal_does_not_go_back_to_where_it_came_from_and_not_to_a_router_out_of_reach():
    single = clocked([NOW], "a", "b")
    single.hears("b", whole("c", 1, {}, epoch=NOW))
    single.took(object)
    single.hears("a", EpochRefused(X, NOW, NOW - 8 * DAY_MS))
    single.hears("b", EpochRefused(C, NOW, NOW - 8 * DAY_MS))
    assert [(send.to, send.body.epoch) for send in refusals(single)] == [(to(A), 0), (to(B), 0)]


def test_a_refusal_may_move_the_clock_so_that_refused_statements_are_asked_for():
    single = clocked([NOW], "a", "b")
    single.hears("b", state("c", 1, epoch=FAR))
    single.took(object)
    for neighbour in "ab":
        single.hears(neighbour, EpochRefused(0, 0, FAR + DAY_MS))
    assert refusals(single) == [Send(to(A, B), EpochRefused(0, 0, FAR + DAY_MS))]


# --- refusals of this router's own epoch


def test_when_the_own_epoch_is_refused_the_other_neighbours_are_asked_too():
    single = clocked([NOW], "a", "b", "c")
    single.hears("b", EpochRefused(ME, NOW, NOW - YEARS))
    assert refusals(single) == [
        Send(to(B), EpochRefused(ME, 0, NOW + DAY_MS)),
        Send(to(A, C), EpochRefused(ME, NOW, NOW + DAY_MS)),
    ]
    assert single.due_in(Due.LOWER) == 1 * S


@pytest.mark.parametrize("epoch", [0, NOW - 1, NOW + 1])
def test_what_is_refused_of_this_router_but_is_not_its_epoch_lowers_nothing(epoch):
    single = clocked([NOW], "a", "b")
    single.hears("b", EpochRefused(ME, epoch, NOW - YEARS))
    assert all(send.to == to(B) for send in refusals(single))
    assert single.due_in(Due.LOWER) is None


def test_neighbours_that_have_not_told_their_clocks_are_asked_each_second_until_none_refuses():
    single = clocked([NOW], "a", "b", "c")
    single.hears("b", EpochRefused(ME, NOW, NOW - YEARS))
    single.hears("c", EpochRefused(ME, 0, NOW + DAY_MS))
    single.took(object)
    single.waits(1 * S)
    assert refusals(single) == [Send(to(A), EpochRefused(ME, NOW, NOW + DAY_MS))]
    assert single.due_in(Due.LOWER) == 1 * S
    single.hears("b", EpochRefused(ME, 0, NOW + DAY_MS))
    single.waits(1 * S)
    assert refusals(single) == []
    assert single.due_in(Due.LOWER) is None
    assert single.core.epoch == NOW


@pytest.mark.parametrize(("refusing", "is_lowered"), [("b", False), ("ab", False), ("abc", True), ("abcd", True)])
def test_an_epoch_is_lowered_if_more_than_half_of_the_neighbours_refuse_it(refusing, is_lowered):
    """Its own clock was ahead when it started, and has been put right."""
    single = clocked([NOW], "a", "b", "c", "d", epoch=FAR)
    for neighbour in refusing:
        single.hears(neighbour, EpochRefused(ME, FAR, NOW + DAY_MS))
    single.took(object)
    single.waits(1 * S)
    done = list(single.done)
    assert (single.core.epoch == NOW) is is_lowered
    assert single.took(RaiseEpoch) == ([RaiseEpoch(NOW)] if is_lowered else [])
    single.done = done
    texts = [f"the neighbours refuse epoch {FAR}, so this router now uses {NOW}: is its clock ahead?"]
    assert [alarm.text for alarm in single.took(Alarm)] == (texts if is_lowered else [])
    single.done = done
    assert {body.epoch for body in single.took(LinkState, "a")} == ({NOW} if is_lowered else set())
    single.done = done
    assert {body.epoch for body in single.took(ReceiverAdvertisement, "a")} == ({NOW} if is_lowered else set())


# --- what others state of this router


def test_beyond_the_highest_epoch_that_is_believed_a_router_says_so_and_tries_again_each_second():
    clock_ms = [NOW]
    single = clocked(clock_ms, "a")
    heard = NOW + 2 * DAY_MS
    text = f"another router states the highest valid epoch of me, {heard}: no newer one can follow"
    single.hears("a", state("me", 1, epoch=heard))
    assert [alarm.text for alarm in single.took(Alarm)] == [text]
    assert (single.core.epoch, single.due_in(Due.JUMP)) == (NOW, 1 * S)
    single.waits(1 * S)
    assert text in [alarm.text for alarm in single.took(Alarm)]
    assert (single.core.epoch, single.due_in(Due.JUMP)) == (NOW, 1 * S)
    clock_ms[0] += 1
    single.waits(1 * S)
    assert single.took(RaiseEpoch) == [RaiseEpoch(heard + 1)]
    assert single.core.epoch == heard + 1
    assert single.due_in(Due.JUMP) is None


def test_a_jump_out_of_an_epoch_that_is_believed_is_no_alarm_and_is_not_repeated():
    single = clocked([NOW], "a", "b")
    single.hears("b", state("me", 99, epoch=NOW))
    done = list(single.done)
    assert [raised.epoch > NOW for raised in single.took(RaiseEpoch)] == [True]
    single.done = done
    assert single.took(Alarm) == []
    assert single.due_in(Due.JUMP) is None


def test_a_newer_statement_within_a_lower_epoch_needs_no_jump_of_the_epoch():
    single = clocked([NOW], "a", "b")
    single.core.core_state.hear_of_me(Version(NOW - 1, 99))
    single.waits(0)
    assert single.took(Alarm) == []
    assert single.core.epoch == NOW
    assert single.due_in(Due.JUMP) is None


def test_a_question_of_a_neighbour_is_a_statement_of_its_epoch():
    single = clocked([NOW], "a", "b")
    for number, requester in enumerate(("b", "x"), 1):
        question = digest_of(requester)
        single.hears("b", SenderRequest(stable_number(requester), FAR, number, question.scope, question.digest, ()))
    assert single.core.core_state.refused == 1
    assert single.took(EpochRefused) == [EpochRefused(B, FAR, NOW + DAY_MS)]


# --- what is believed no more


@pytest.mark.parametrize(("of_filters", "of_links"), [(FAR, NOW), (NOW, FAR), (FAR, FAR)])
def test_of_a_router_only_what_has_an_epoch_that_is_believed_no_more_is_forgotten(of_filters, of_links):
    single = clocked([NOW], "a")
    bodies = whole("x", 6, {1: b"1"}, epoch=of_filters), state("x", 6, "a", epoch=of_links)
    single.hears("a", *sorted(bodies, key=lambda body: body.epoch))
    assert single.core.core_state.rib.entries[X].filters == {1: b"1"}
    single.took(object)
    single.core.core_state.timers.cancel((Due.DIGESTS, 0))
    single.core._unlearn(X, NOW + 2 * DAY_MS)
    single.handle(Tick())
    assert (X in single.core.core_state.rib.entries) is (of_filters == NOW)
    assert (X in single.core.core_state.topology.states) is (of_links == NOW)
    assert single.due_in(Due.DIGESTS) == 100 * MS
    done = list(single.done)
    assert single.took(Install) == ([] if of_filters == NOW else [Install(X, {}, (1,))])
    single.done = done
    assert single.took(Forget) == [Forget(X)]


def test_an_epoch_as_high_as_what_is_believed_is_kept():
    single = clocked([NOW], "a")
    single.core.core_state.rib.replace(X, Version(NOW, 1), NO_DIGEST, {})
    single.core._unlearn(X, NOW)
    assert X in single.core.core_state.rib.entries
    assert X in single.core.core_state.topology.states
