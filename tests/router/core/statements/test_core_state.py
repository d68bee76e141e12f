"""R2, R9: how often others are corrected, how many of them a router knows, and which of their epochs it believes."""

from __future__ import annotations

import pytest

from tamis.protocol.limits import ROUTERS_MAX
from tamis.protocol.wire.numbers import NO_DIGEST, stable_number
from tamis.protocol.wire.routing_bodies import EpochRefused, SenderRequest, UpdateReply
from tamis.router.core.commands import ANY_EPOCH, Alarm, BoundSource, Forget, NeighbourSession, Send
from tamis.router.core.epochs import DAY_MS, EPOCH_MAX
from tamis.router.core.statements import core_state as module
from tamis.router.core.statements.freshness import Version
from tamis.router.core.statements.links import RELAYED_MAX
from tamis.router.core.timers import Due
from tamis.router.core.times import MS, S
from tests.router.core.bodies import entry, state, whole
from tests.router.core.single import NOW, Single, clocked

ME, A, B, C, X, Y = map(stable_number, ("me", "a", "b", "c", "x", "y"))
YEARS = 3_650 * DAY_MS
FAR = NOW + YEARS


@pytest.fixture(params=[1, 2])
def full(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Single:
    """It knows as many routers as it may, or one more: itself, and a."""
    single = Single()
    single.joins("a")
    monkeypatch.setattr(module, "ROUTERS_MAX", request.param)
    single.waits(3 * S)
    single.took(object)
    return single


def test_of_each_neighbour_and_issuer_one_correction_a_second():
    core_state = Single().core.core_state
    asked = [(1, 7), (2, 7), (1, 8), (1, 7), (2, 7)]
    assert [core_state.may_correct(*who) for who in asked] == [True, True, True, False, False]
    core_state.now_us += 1 * S - 1
    assert core_state.may_correct(3, 7)
    assert not core_state.may_correct(1, 7)
    core_state.now_us += 1
    assert [core_state.may_correct(1, 7), core_state.may_correct(1, 7), core_state.may_correct(3, 7)] == [
        True,
        False,
        False,
    ]


def test_of_corrections_that_are_over_nothing_is_left():
    core_state = Single().core.core_state
    for issuer in range(100):
        core_state.may_correct(1, issuer)
    core_state.now_us += 1 * S
    core_state.may_correct(1, 0)
    assert len(core_state._corrected) == 1


def test_there_is_room_for_as_many_routers_as_the_limit_says(full):
    assert ROUTERS_MAX > 3_000
    full.hears("a", state("a", 9, "me"), whole("a", 10, {1: b"1"}))
    assert full.core.core_state.rib.entries[stable_number("a")].filters == {1: b"1"}


@pytest.mark.parametrize("neighbour", [X - 1, X + 1])
def test_what_is_only_late_is_not_corrected_unless_the_issuer_itself_says_it(neighbour):
    core_state = Single().core.core_state
    assert core_state.is_corrected(X, 5, neighbour), "nothing is held"
    core_state.now_us += 1 * S
    core_state.rib.replace(X, Version(5, 1), NO_DIGEST, {})
    assert not core_state.is_corrected(X, 5, neighbour)
    assert core_state.is_corrected(X, 4, neighbour)
    assert not core_state.is_corrected(X, 4, neighbour), "once a second"
    assert core_state.is_corrected(X, 5, int(str(X)))


@pytest.mark.parametrize(
    "body", [state("x", 1), whole("x", 1, {1: b"1"}), UpdateReply(1, 0, 0, (entry("x", 1, {1: b"1"}),))]
)
def test_of_routers_beyond_that_nothing_is_kept_and_there_is_one_alarm_a_second(full, body):
    full.up("b")
    full.took(object)
    full.hears("a", body, body)
    done = list(full.done)
    assert len(full.took(Alarm)) == 1
    full.done = done
    assert full.took(Send) == []
    assert X not in full.core.core_state.rib.entries
    assert X not in full.core.core_state.topology.states
    assert full.core._predicates.flood.newest(X) is None
    full.waits(1 * S)
    full.took(object)
    full.hears("a", body)
    assert len(full.took(Alarm)) == 1


def test_who_is_known_by_its_links_is_known_by_its_filters_too(full):
    full.core.core_state.topology.hear(state("x", 1))
    full.hears("a", whole("x", 2, {1: b"1"}))
    assert full.core.core_state.rib.entries[X].filters == {1: b"1"}
    full.hears("a", state("x", 3, "a"))
    assert full.core.core_state.topology.states[X].body.seq == 3


# --- what is sent, and when ------------------------------------------------------------------------------------------


def test_a_body_to_all_but_one_that_is_told_of_counts_as_unsent_with_each_that_gets_it():
    single = Single()
    single.joins("a", "b", "c")
    core_state = single.core.core_state
    core_state.flood(state("x", 1), A)
    assert [core_state.links.by_neighbour[one].unsent for one in (A, B, C)] == [0, 0, 0]
    core_state.flood(state("x", 1), A, is_told=True)
    core_state.flood(state("x", 1), C, is_told=True)
    assert [core_state.links.by_neighbour[one].unsent for one in (A, B, C)] == [1, 2, 1]
    core_state.send(core_state.links.by_neighbour[A], state("x", 1), is_told=True)
    core_state.send(core_state.links.by_neighbour[A], state("x", 1))
    assert core_state.links.by_neighbour[A].unsent == 2
    assert [send.is_told for send in core_state.out] == [False, True, True, True, False]


def test_a_long_body_is_passed_on_to_those_that_have_room_and_the_others_are_left_out():
    single = Single()
    single.joins("a", "b", "c")
    core_state, links = single.core.core_state, single.core.core_state.links.by_neighbour
    links[B].unsent, links[C].unsent = RELAYED_MAX - 1, RELAYED_MAX
    core_state.pass_on(state("x", 1), A)
    assert core_state.out == [Send((NeighbourSession(B, 1),), state("x", 1), is_told=True)]
    assert [links[one].unsent for one in (A, B, C)] == [0, RELAYED_MAX, RELAYED_MAX]
    assert [links[one].is_left_out for one in (A, B, C)] == [False, False, True]
    core_state.out.clear()
    core_state.pass_on(state("x", 1), A)
    assert core_state.out == []


def test_the_next_slice_of_a_long_work_comes_after_the_present_event():
    single = clocked([NOW], "a")
    single.core.core_state.soon(Due.TIDY)
    assert single.due_in(Due.TIDY) == 1


def test_a_router_states_something_newer_at_once_and_the_next_time_a_second_after():
    core_state = clocked([NOW], "a").core.core_state
    core_state.hear_of_me(Version(NOW, 99))
    assert core_state.timers._due[Due.JUMP, 0][0] == core_state.now_us
    core_state.timers.cancel((Due.JUMP, 0))
    core_state.identity.jump(core_state.now_us)
    core_state.now_us += 300 * MS
    core_state.hear_of_me(Version(NOW, 100))
    assert core_state.timers._due[Due.JUMP, 0][0] == core_state.now_us + 700 * MS


# --- what is held, and what is refused -------------------------------------------------------------------------------


def test_the_epoch_that_is_held_of_a_router_is_the_higher_of_its_two_statements():
    core_state = clocked([NOW], "a").core.core_state
    assert [core_state.held_epoch(router) for router in (ME, X, Y)] == [NOW, NOW, 0]
    core_state.rib.replace(X, Version(NOW - 1, 9), NO_DIGEST, {})
    core_state.rib.replace(Y, Version(NOW - 1, 9), NO_DIGEST, {})
    assert [core_state.held_epoch(router) for router in (X, Y)] == [NOW, NOW - 1]
    core_state.rib.replace(X, Version(NOW + 1, 1), NO_DIGEST, {})
    assert core_state.held_epoch(X) == NOW + 1


def test_an_epoch_that_is_held_stays_plausible_whatever_the_clock_shows_and_nobodys_never_is():
    clock_ms = [NOW]
    core_state = clocked(clock_ms, "a", "b").core.core_state
    assert not core_state.is_epoch_valid(0, 1)
    assert core_state.is_epoch_valid(X, NOW + DAY_MS)
    assert not core_state.is_epoch_valid(X, NOW + DAY_MS + 1)
    clock_ms[0] = 0
    for router in (X, ME):
        assert core_state.is_epoch_valid(router, NOW)
        assert not core_state.is_epoch_valid(router, NOW + 1)
    assert not core_state.is_epoch_valid(Y, NOW)


def test_a_refused_statement_bounds_the_messages_of_its_issuer_by_what_would_be_believed_once():
    single = clocked([NOW], "a", "b")
    single.hears("a", state("y", 1, epoch=NOW + DAY_MS // 2))
    single.took(object)
    single.hears("b", state("x", 9, epoch=FAR), state("y", 9, epoch=FAR))
    assert single.took(BoundSource) == [BoundSource(X, NOW + DAY_MS), BoundSource(Y, NOW + DAY_MS * 3 // 2)]
    single.hears("b", state("x", 9, epoch=FAR), state("me", 9, epoch=FAR), state("nobody", 9, epoch=FAR))
    assert single.took(BoundSource) == []
    assert single.core.core_state.refused == 5


def test_a_refusal_is_told_to_all_neighbours_and_an_epoch_that_no_clock_shows_only_to_the_one_that_stated_it():
    single = clocked([NOW], "b", "a", "c")
    single.hears("b", state("x", 9, epoch=EPOCH_MAX))
    [send] = [send for send in single.took(Send) if isinstance(send.body, EpochRefused)]
    assert send == Send(tuple(NeighbourSession(one, 1) for one in sorted((A, B, C))), send.body)
    assert send.body == EpochRefused(X, EPOCH_MAX, NOW + DAY_MS)
    single.waits(1 * S - 1)
    single.hears("b", state("x", 9, epoch=EPOCH_MAX))
    assert single.took(EpochRefused) == [], "once a second"
    single.hears("b", state("y", 9, epoch=EPOCH_MAX + 1))
    [send] = [send for send in single.took(Send) if isinstance(send.body, EpochRefused)]
    assert send == Send((NeighbourSession(B, 1),), EpochRefused(Y, EPOCH_MAX + 1, NOW + DAY_MS))
    single.waits(1)
    single.hears("b", state("x", 9, epoch=EPOCH_MAX))
    assert single.took(EpochRefused) == [EpochRefused(X, EPOCH_MAX, NOW + DAY_MS)]


def test_what_is_refused_for_its_number_is_told_to_nobody():
    single = clocked([NOW], "a", "b")
    assert not single.core.core_state.believes(0, 1, B)
    assert [type(command) for command in single.core.core_state.out] == [Alarm]
    assert single.due_in(Due.DIGESTS) == 1 * S


def test_an_answer_with_the_own_clock_does_not_take_the_turn_of_a_refusal():
    single = clocked([NOW], "a", "b")
    single.hears("b", state("y", 9, epoch=FAR))
    single.took(object)
    for _ in range(2):
        single.hears("b", EpochRefused(Y, FAR, NOW + DAY_MS))
    assert single.took(EpochRefused, "b") == [EpochRefused(Y, 0, NOW + DAY_MS)]


def test_an_alarm_names_who_states_what_of_whom_once_a_minute_for_each_neighbour():
    single = clocked([NOW], "a", "b", "c", "d")
    far, absurd = NOW + 1_000 * 365 * DAY_MS - 1, NOW + 1_000 * 365 * DAY_MS
    single.hears("a", state("x", 9, epoch=far), state("y", 9, epoch=absurd))
    single.hears("b", state("x", 9, epoch=absurd))
    assert [alarm.text for alarm in single.took(Alarm)] == [
        f"a states epoch {far} of x, refused as too far ahead of this router's clock, which may be behind",
        f"b states epoch {absurd} of x, refused as too far ahead of any clock",
    ]
    single.now_us += 60 * S - 1
    single.hears("a", state("x", 9, epoch=far))
    assert single.took(Alarm) == []
    single.now_us += 1
    single.hears("a", state("x", 9, epoch=far))
    assert len(single.took(Alarm)) == 1


@pytest.mark.parametrize(
    ("ahead_ms", "soon_us"),
    [(1, 1 * S), (1_000, 1 * S), (20_000, 20 * S), (45_001, 45 * S), (YEARS, 45 * S), (EPOCH_MAX - NOW, 45 * S)],
)
def test_neighbours_are_asked_again_when_the_clock_may_have_come_to_a_refused_epoch(ahead_ms, soon_us):
    single = clocked([NOW], "a", "b")
    single.hears("b", state("y", 9, epoch=min(NOW + DAY_MS + ahead_ms, EPOCH_MAX)))
    assert single.due_in(Due.DIGESTS) == soon_us


def test_neighbours_are_not_asked_again_for_an_epoch_that_no_clock_comes_to():
    single = clocked([NOW], "a", "b")
    single.hears("b", state("y", 9, epoch=EPOCH_MAX + 1))
    assert single.due_in(Due.DIGESTS) is None


@pytest.mark.parametrize("days", [(5, 9), (9, 5)])
def test_when_the_lowest_refused_epoch_is_believed_neighbours_are_told_and_asked(days):
    clock_ms = [NOW]
    single = clocked(clock_ms, "a", "b")
    single.hears("b", *(state("y", 9, epoch=NOW + each * DAY_MS) for each in days))
    clock_ms[0] = NOW + 4 * DAY_MS - 1
    single.hears("a", state("x", 6, "a", epoch=NOW))
    single.took(object)
    single.hears("a", state("x", 7, "a", epoch=NOW))
    assert single.took(EpochRefused) == []
    clock_ms[0] += 1
    single.hears("a", state("x", 8, "a", epoch=NOW))
    [send] = [send for send in single.took(Send) if isinstance(send.body, EpochRefused)]
    assert send.body == EpochRefused(0, 0, NOW + 5 * DAY_MS)
    assert {session.neighbour for session in send.to} == {A, B}
    assert single.due_in(Due.DIGESTS) == 100 * MS
    single.waits(2 * S)
    assert len(single.took(SenderRequest, "b")) == 1
    single.hears("a", state("x", 9, "a", epoch=NOW))
    assert single.took(EpochRefused) == [], "of what was asked for nothing is remembered"


# --- what is believed against the clock ------------------------------------------------------------------------------


def test_an_epoch_that_only_neighbours_vouch_for_is_believed_of_its_issuer_alone():
    single = clocked([NOW], "a")
    single.hears("a", state("y", 1, epoch=FAR))
    assert single.took(BoundSource) == [BoundSource(Y, FAR)]
    assert single.core.core_state.highest < NOW + 1
    assert single.core.epoch_max(single.now_us) == NOW + 2 * DAY_MS
    single.hears("a", state("y", 2, epoch=FAR), state("me", 9, epoch=FAR))
    assert single.took(BoundSource) == []


def test_the_highest_epoch_up_to_the_bound_of_the_clock_needs_no_bound_of_its_own():
    single = clocked([NOW], "a")
    for epoch, bounds in ((NOW + 2 * DAY_MS, []), (NOW + 2 * DAY_MS + 1, [BoundSource(Y, NOW + 2 * DAY_MS + 1)])):
        single.hears("a", state("y", 1, epoch=epoch))
        assert single.took(BoundSource) == bounds
        assert single.core.core_state.highest == NOW + 2 * DAY_MS


def test_a_bound_ends_when_its_issuer_states_a_higher_epoch_that_the_clock_allows():
    clock_ms = [NOW]
    single = clocked(clock_ms, "a", "b")
    single.hears("b", state("x", 9, epoch=FAR))
    assert single.took(BoundSource) == [BoundSource(X, NOW + DAY_MS)]
    single.hears("a", state("x", 6, "a", epoch=NOW + DAY_MS))
    assert single.took(BoundSource) == [], "its bound is not passed"
    clock_ms[0] += DAY_MS
    single.hears("a", state("x", 7, "a", epoch=NOW + DAY_MS + 1))
    assert single.took(BoundSource) == [BoundSource(X, ANY_EPOCH)]
    single.hears("b", state("x", 9, epoch=FAR))
    assert single.took(BoundSource) == [BoundSource(X, NOW + 2 * DAY_MS + 1)], "the next refusal sets a new one"


def test_a_bound_against_the_clock_falls_to_what_the_clock_allows_unless_more_is_held():
    core_state = clocked([NOW], "a").core.core_state
    for router in (X, Y):
        assert core_state.believes(router, FAR, A)
    core_state.rib.replace(X, Version(NOW + 1, 1), NO_DIGEST, {})
    core_state.out.clear()
    core_state._bound(X, NOW)
    assert core_state.out == []
    core_state._bound(X, NOW + 1)
    core_state._bound(Y, NOW)
    assert core_state.out == [BoundSource(X, NOW + 2 * DAY_MS), BoundSource(Y, NOW + 2 * DAY_MS)]
    core_state._bound(Y, NOW)
    assert len(core_state.out) == 2


def test_when_the_clock_steps_back_epochs_that_it_allows_no_more_are_bounds_of_their_issuers():
    clock_ms = [NOW]
    single = clocked(clock_ms, "a", "b")
    single.hears("a", state("y", 1, epoch=NOW - 30 * DAY_MS), whole("c", 1, {1: b"1"}, epoch=NOW + DAY_MS))
    single.took(object)
    assert single.core.epoch_max(0) == NOW + 2 * DAY_MS
    clock_ms[0] = NOW - DAY_MS
    single.waits(100 * S)
    assert single.took(BoundSource) == []
    assert single.core.epoch_max(single.now_us) == NOW + DAY_MS
    clock_ms[0] = NOW - 10 * DAY_MS
    single.hears("a", state("a", 9, "me", "x"))
    assert set(single.took(BoundSource)) == {BoundSource(X, NOW), BoundSource(C, NOW + DAY_MS)}
    assert single.core.core_state.highest == NOW - 30 * DAY_MS
    assert single.core.epoch_max(single.now_us) == NOW - 8 * DAY_MS


def test_of_a_source_that_is_forgotten_no_bound_is_left():
    core_state = clocked([NOW], "a", "b").core.core_state
    assert not core_state.believes(X, FAR, B)
    core_state.out.clear()
    core_state.forget_source(X)
    core_state.forget_source(Y)
    assert core_state.out == [Forget(X), Forget(Y)]
    assert not core_state.believes(X, FAR, B)
    assert core_state.out[2] == BoundSource(X, NOW + DAY_MS)


@pytest.mark.parametrize(
    ("held", "epoch", "came_from", "is_given_up"),
    [
        (FAR, NOW, X, True),
        (FAR, NOW + 2 * DAY_MS, X, True),
        (FAR, NOW + 2 * DAY_MS + 1, X, False),
        (FAR, NOW, A, False),
        (FAR + 1, NOW, A, True),
        (NOW + 2 * DAY_MS + 1, NOW, X, True),
        (NOW + 2 * DAY_MS, NOW, X, False),
    ],
    ids=["by itself", "at the bound", "past it", "vouched", "not vouched", "held past the bound", "held at it"],
)
def test_what_is_held_gives_way_to_what_the_clock_allows_if_its_issuer_says_so_or_nobody_vouches(
    held, epoch, came_from, is_given_up
):
    """The only other neighbour vouches for an epoch as high as FAR."""
    core_state = clocked([NOW], "a").core.core_state
    core_state.epoch_validator.stated(A, Y, FAR)
    core_state.rib.replace(X, Version(held, 1), NO_DIGEST, {})
    given_up: list[tuple[int, int]] = []
    core_state.unlearn = lambda issuer, above: given_up.append((issuer, above))
    core_state._reconsider(X, epoch, held, came_from)
    assert given_up == ([(X, NOW + 2 * DAY_MS)] if is_given_up else [])


def test_an_epoch_as_high_as_the_one_held_is_no_reason_to_reconsider_it_and_neither_is_one_of_this_router():
    core_state = clocked([NOW], "a").core.core_state
    core_state.rib.replace(X, Version(FAR, 1), NO_DIGEST, {})
    core_state.identity.epoch = FAR
    given_up: list[int] = []
    core_state.unlearn = lambda issuer, above: given_up.append(issuer)  # noqa: ARG005 - the call's form
    for issuer, epoch in ((X, FAR), (ME, NOW)):
        assert core_state.believes(issuer, epoch, issuer)
    assert given_up == []
    assert core_state.believes(X, NOW, X)
    assert given_up == [X]


def test_what_this_router_would_take_follows_its_own_clock_not_that_of_a_single_neighbour():
    single = clocked([NOW], "a")
    core_state = single.core.core_state
    assert core_state.takes(X) == EpochRefused(X, 0, NOW + DAY_MS)
    core_state.epoch_validator.takes(A, NOW - YEARS, single.now_us)
    assert core_state.takes(X, 7) == EpochRefused(X, 7, NOW + DAY_MS)
