"""E4 where wholes are long: one that is said again takes the place of the last word in slices."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.protocol.wire.edge_bodies import EdgeHeld, EdgeRequest
from tamis.protocol.wire.numbers import predicate_digest
from tamis.router.core.events import Heard
from tamis.router.core.statements.edges import held as held_module
from tamis.router.core.statements.edges.edges import PACKED_EVERYTHING
from tamis.router.core.statements.edges.held import EdgeChange, HeldEdge
from tamis.router.core.statements.sizes import size_of
from tamis.router.core.times import MS, S
from tests.router.core.statements.edges.test_edges import B, filters, held, is_, run, statement, table, world_of

ROOM = 1 << 40


class Reckoning:
    """What is held of an edge, and what was said of it: dicts from ids, kept beside without slices."""

    def __init__(self) -> None:
        world = world_of("ab", "ab")
        self.held = HeldEdge(held(world, "a", "b").place)
        self.said: dict[int, bytes] = {}
        self.passed_on: Counter[bytes] = Counter()
        self.seq = 0

    def say(self, filters: dict[int, bytes], is_full: bool) -> list[EdgeChange] | None:
        before = {} if is_full else self.said
        self.seq, base = self.seq + 1, None if is_full else self.seq
        added = {id_: packed for id_, packed in filters.items() if id_ not in before}
        removed = tuple(id_ for id_ in before if id_ not in filters)
        self.said = dict(filters)
        digest, count = predicate_digest(filters.items()), len(filters)
        last_word = set(self.held.filters.values())
        body = statement("b", self.seq, added, base, removed=removed, digest=digest, count=count)
        changes = self.held.hear(body, ROOM)
        self.takes(changes, last_word)
        return changes

    def takes(self, changes: list[EdgeChange] | None, last_word: set[bytes]) -> None:
        lasting = last_word & set(self.held.filters.values())
        for change in changes or ():
            self.passed_on.update(change.added.values())
            self.passed_on.subtract(change.removed.values())
            assert lasting <= (+self.passed_on).keys(), "nobody sees it shrink and grow"

    def work(self) -> None:
        last_word = set(self.held.filters.values())
        if self.held.is_comparing:
            self.takes(self.held.work(), last_word)
        else:
            self.takes(self.held.take(self.held.next_waiting(), ROOM), last_word)


PREDICATES = st.dictionaries(st.integers(1, 12), st.integers(0, 6).map(is_), max_size=8)


@settings(deadline=None)
@given(st.lists(st.tuples(PREDICATES, st.booleans(), st.integers(0, 6)), min_size=1, max_size=8), st.integers(1, 5))
def test_what_is_held_after_a_long_whole_is_what_was_said(
    says: list[tuple[dict[int, bytes], bool, int]], per_slice: int
) -> None:
    """Whole after whole, with changes between, and slices of work between these: nothing is passed on twice, and what
    feeds others never lacks what both the old and the new whole have."""
    reckoning = Reckoning()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(held_module, "COMPARED_PER_SLICE", per_slice)
        reckoning.say({}, True)
        for filters, is_full, slices in says:
            keeps_ids = all(reckoning.said.get(id_, packed) == packed for id_, packed in filters.items())
            reckoning.say(filters, is_full or not keeps_ids)
            for _ in range(slices):
                if reckoning.held.has_work:
                    reckoning.work()
        while reckoning.held.has_work:
            reckoning.work()
    assert reckoning.held.filters == reckoning.said
    assert reckoning.held.is_complete
    assert reckoning.held.size == size_of(reckoning.said.values())
    assert +reckoning.passed_on == Counter(reckoning.said.values())
    assert not -reckoning.passed_on


def test_a_long_whole_takes_the_place_of_the_last_word_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    world = world_of("abc", "ab", "bc")
    many = [is_(number) for number in range(30)]
    world.want("c", *many)
    run(world)
    monkeypatch.setattr(held_module, "COMPARED_PER_SLICE", 10)
    world.cut("b", "c")
    world.connect("b", "c")
    world.run(1 * S)
    edge = held(world, "b", "c")
    assert edge.is_comparing
    assert not edge.is_complete
    assert PACKED_EVERYTHING in table(world, "b", "c")
    assert filters(world, "a", "b") == set(many), "the last word"
    world.want("c", is_(99))
    world.run(100 * MS)
    assert is_(99) not in filters(world, "b", "c"), "it waits"
    run(world)
    assert table(world, "b", "c") == filters(world, "a", "b") == {*many, is_(99)}


def test_what_waits_for_a_whole_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    reckoning = Reckoning()
    monkeypatch.setattr(held_module, "COMPARED_PER_SLICE", 1)
    reckoning.say({1: is_(1)}, True)
    reckoning.say({1: is_(1), 2: is_(2)}, True)
    monkeypatch.setattr(held_module, "WAITING_BYTES_MAX", 2 * held_module.EMPTY_BYTES)
    assert reckoning.say({1: is_(1)}, False) is None
    with pytest.raises(held_module.Missed):
        reckoning.say({}, False)


def test_what_only_goes_waits_for_a_whole_like_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    world = world_of("ab", "ab")
    world.want("b", is_(1), is_(2))
    run(world)
    monkeypatch.setattr(held_module, "COMPARED_PER_SLICE", 1)
    asked = world.frames(EdgeRequest)
    world.handle("a", Heard(B, 1, statement("b", 1_000, {1: is_(3), 2: is_(4)})))
    assert held(world, "a", "b").is_comparing
    only = {1: is_(3)}
    said = {"removed": (2,), "digest": predicate_digest(only.items()), "count": 1}
    world.handle("a", Heard(B, 1, statement("b", 1_001, {}, 1_000, **said)))
    world.work()
    assert table(world, "a", "b") == {is_(3)}
    assert (world.frames(EdgeRequest), world.alarms) == (asked, [])


def test_a_confirmation_comes_once_the_whole_has_taken_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    world = world_of("ab", "ab")
    world.want("b", is_(1), is_(2))
    run(world)
    monkeypatch.setattr(held_module, "COMPARED_PER_SLICE", 1)
    world.lose += [EdgeHeld]
    before = world.frames(EdgeHeld)
    world.handle("a", Heard(B, 1, statement("b", 1_000, {1: is_(3), 2: is_(4)}, confirm=True)))
    assert held(world, "a", "b").is_comparing
    assert world.frames(EdgeHeld) == before
    world.work()
    assert world.frames(EdgeHeld) == before + 1
