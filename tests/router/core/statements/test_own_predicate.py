"""R1, R7: what a router asks for, after anything its clients do."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.protocol.covering import covers
from tamis.protocol.filters import EVERYTHING
from tamis.protocol.wire.numbers import NO_DIGEST, predicate_digest
from tamis.protocol.wire.packed_filters import decode_filter, encode_filter
from tamis.router.core.statements import cover as cover_
from tamis.router.core.statements.cover import Cover
from tamis.router.core.statements.own_predicate import Issue, OwnPredicate
from tamis.router.links.covering import NativeIndex
from tamis.simulate.twin.filter_index import PureIndex
from tests.router.core.bodies import less
from tests.router.core.graphs import checks
from tests.router.core.statements.test_cover import NEVER

HOLD_US = 10
FILTERS = [*(less(bound) for bound in (1, 2, 3, 4)), less(2, "y"), encode_filter(EVERYTHING), NEVER]
STEPS = st.lists(
    st.tuples(st.just("want"), st.sampled_from(FILTERS))
    | st.tuples(st.just("unwant"), st.integers(0, 9))
    | st.tuples(st.just("wait"), st.integers(1, HOLD_US))
    | st.tuples(st.sampled_from(["work", "issue"]), st.none()),
    max_size=50,
)


def own() -> OwnPredicate:
    return OwnPredicate(HOLD_US, Cover(PureIndex()))


def advertiser(*filters: bytes) -> OwnPredicate:
    """All of it issued."""
    asked = own()
    for packed in filters:
        asked.want(packed)
    asked.issue()
    return asked


class Walk:
    """Clients that come and go, and what the others know after each issue."""

    def __init__(self, cover: Cover) -> None:
        self.own, self.now_us, self.wanted = OwnPredicate(HOLD_US, cover), 0, Counter[bytes]()
        self.cover = cover
        self.known: dict[int, bytes] = {}
        self.ids: set[int] = set()
        self.left_us: dict[bytes, int] = {}

    def want(self, packed: bytes) -> None:
        self.own.want(packed)
        self.wanted[packed] += 1

    def unwant(self, index: int) -> None:
        if wanted := sorted(self.wanted.elements()):
            packed = wanted[index % len(wanted)]
            self.own.unwant(packed, self.now_us)
            self.wanted[packed] -= 1
            self.left_us[packed] = self.now_us

    def wait(self, for_us: int) -> None:
        above = [packed for packed in self.left_us if self.cover.is_above(packed)]
        self.now_us += for_us
        self.own.expire(self.now_us)
        self.left_us |= dict.fromkeys(above, self.now_us)  # their hold may have begun again

    def work(self, _: None) -> None:
        self.own.work()

    def issue(self, _: None) -> None:
        change = self.own.issue()
        assert not change.added.keys() & self.ids, "an id is never used twice"
        self.ids |= change.added.keys()
        for id_ in change.removed:
            del self.known[id_]
        self.known |= change.added
        assert change.digest == self.own.digest == predicate_digest(self.known.items())
        assert self.own.issued == self.known
        assert not self.own.has_changes

    def check(self) -> None:
        """Each wanted filter is asked for, or covered by one that somebody wants, or that waits for those it covers."""
        waiting = own_after_issue(self.own)
        above = {packed for packed in waiting if self.cover.is_above(packed)}
        lasting = [decode_filter(packed) for packed in waiting if self.wanted[packed] or packed in above]
        for packed in +self.wanted:
            assert packed in waiting or any(covers(wide, decode_filter(packed)) for wide in lasting)
        for packed in waiting:
            is_held = packed in above or self.now_us < self.left_us.get(packed, -HOLD_US) + HOLD_US
            assert self.wanted[packed] or is_held, "nothing is kept past its hold"
        assert len(waiting) == len(set(waiting)), "each filter is asked for once"
        figures = self.own.figures()
        assert figures["wanted"] == len(+self.wanted)
        assert figures["advertised"] == len(self.known)
        assert figures["covered"] == len(set(+self.wanted) - set(waiting))
        assert figures["leaving"] == len(set(waiting) - set(+self.wanted))


def own_after_issue(asked: OwnPredicate) -> list[bytes]:
    """What would be advertised if it were issued now."""
    gone = set(asked._gone)
    return [packed for id_, packed in {**asked.issued, **asked._fresh}.items() if id_ not in gone]


@pytest.mark.parametrize("make", [PureIndex, NativeIndex])
@pytest.mark.parametrize("slice_", [1, cover_.UNCOVERED_PER_SLICE])
def test_every_wanted_filter_is_asked_for_or_covered_by_one_that_is_whatever_clients_do(monkeypatch, slice_, make):
    monkeypatch.setattr(cover_, "UNCOVERED_PER_SLICE", slice_)

    @checks
    @given(STEPS)
    def hold(steps):
        walk = Walk(Cover(make()))
        for name, argument in steps:
            getattr(walk, name)(argument)
            walk.check()
        walk.issue(None)
        while walk.own.has_work:
            walk.work(None)
            walk.check()

    hold()


def test_what_covers_many_stays_until_all_of_them_are_asked_for(monkeypatch):
    monkeypatch.setattr(cover_, "UNCOVERED_PER_SLICE", 2)
    narrow, wide = [less(1, name) for name in "abcde"], encode_filter(EVERYTHING)
    asked = advertiser(*narrow, wide)
    while asked.has_work:
        asked.work()
    asked.issue()
    assert list(asked.issued.values()) == [wide]
    asked.unwant(wide, 0)
    asked.expire(HOLD_US)
    assert len(asked.issue().added) == 2
    assert wide in asked.issued.values(), "three are covered by nothing else"
    while asked.has_work:
        asked.work()
    asked.expire(2 * HOLD_US)
    asked.issue()
    assert sorted(asked.issued.values()) == narrow


def test_what_is_new_is_asked_for_at_once_and_once():
    asked = own()
    assert not asked.has_changes
    asked.want(less(1))
    asked.want(less(1))
    assert asked.has_changes
    assert asked.widens
    assert asked.issue() == Issue({1: less(1)}, {}, predicate_digest([(1, less(1))]))
    assert not asked.widens
    asked.unwant(less(1), 0)
    assert asked.due_us is None


def test_what_nobody_wants_any_more_is_asked_for_until_its_hold_is_over():
    asked = advertiser(less(1))
    asked.unwant(less(1), 5)
    assert asked.due_us == 5 + HOLD_US
    asked.expire(4 + HOLD_US)
    assert not asked.has_changes
    asked.expire(5 + HOLD_US)
    assert not asked.widens
    assert asked.due_us is None
    assert asked.issue() == Issue({}, {1: less(1)}, NO_DIGEST)


def test_a_client_that_comes_back_in_time_changes_nothing():
    asked = advertiser(less(1))
    asked.unwant(less(1), 0)
    asked.want(less(1))
    asked.expire(HOLD_US)
    assert not asked.has_changes
    asked.unwant(less(1), HOLD_US)
    asked.expire(2 * HOLD_US - 1)
    assert not asked.has_changes


def test_what_goes_before_it_was_ever_issued_needs_no_hold():
    asked = own()
    asked.want(less(1))
    asked.unwant(less(1), 0)
    assert not asked.has_changes
    assert asked.due_us is None
    assert asked.issue() == Issue({}, {}, NO_DIGEST)


def test_who_comes_back_after_the_hold_is_asked_for_under_another_id():
    asked = advertiser(less(1))
    asked.unwant(less(1), 0)
    asked.expire(HOLD_US)
    asked.want(less(1))
    assert asked.issue() == Issue({2: less(1)}, {1: less(1)}, predicate_digest([(2, less(1))]))


def test_what_is_covered_is_not_asked_for_any_more_and_again_at_once_when_what_covers_it_leaves():
    asked = advertiser(less(1), less(5))
    asked.work()
    assert not asked.has_work
    assert asked.issue()[:2] == ({}, {1: less(1)})
    asked.unwant(less(5), 0)
    assert asked.issue()[:2] == ({3: less(1)}, {})


def test_covering_never_delays_and_is_done_in_slices():
    filters = [less(bound) for bound in range(PureIndex.looks_per_slice + 1)]
    asked = advertiser(*filters)
    assert len(asked.issued) == len(filters)
    asked.work()
    assert asked.has_work
    assert len(asked.issue().removed) == PureIndex.looks_per_slice - 1
    asked.work()
    assert not asked.has_work
    assert asked.issue().added == {}
    assert list(asked.issued.values()) == [filters[-1]]


def test_a_filter_that_nobody_wants_cannot_be_given_back():
    with pytest.raises(KeyError):
        own().unwant(less(1), 0)
