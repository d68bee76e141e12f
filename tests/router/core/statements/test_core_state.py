"""R2, R9: how often others are corrected, and how many of them a router knows."""

from __future__ import annotations

import pytest

from tamis.protocol.limits import ROUTERS_MAX
from tamis.protocol.wire.numbers import NO_DIGEST, stable_number
from tamis.protocol.wire.routing_bodies import UpdateReply
from tamis.router.core.commands import Alarm, Send
from tamis.router.core.statements import core_state as module
from tamis.router.core.statements.freshness import Version
from tamis.router.core.times import S
from tests.router.core.bodies import entry, state, whole
from tests.router.core.single import Single

X = stable_number("x")


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
