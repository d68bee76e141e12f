"""R1, R7: what a router states where it merges filters, after anything its clients do.

The judge shares no code with merging or covering: `simulate/oracle/meaning.py` evaluates each filter for each of some
hundred messages."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.wire.packed_filters import decode_filter, encode_filter
from tamis.protocol.wire.routing_bodies import of_group
from tamis.router.core.statements.cover import Cover
from tamis.router.core.statements.merging import alike, own_merged
from tamis.router.core.statements.merging.own_merged import MergedPredicate
from tamis.router.links.covering import NativeIndex
from tamis.simulate.oracle.meaning import contents_of
from tamis.simulate.twin.filter_index import PureIndex
from tests.router.core.graphs import checks

HOLD_US = 10
MESSAGES = [
    {"x": x, **({} if y is None else {"y": y})}
    for x, y in product((-1, 0, 1, 2, 3, 4, 5, 7, 20, "a", "ab", "b"), (None, 0, 1, 2, 9, "c", True))
]


def packed(*constraints) -> bytes:
    return encode_filter(Filter(tuple(Constraint(name, Op(op), operands) for name, op, *operands in constraints)))


def between(low: int, high: int, y: int | None = None) -> bytes:
    return packed(("x", "between", low, high), *([] if y is None else [("y", "=", y)]))


FILTERS = [
    *(packed(("x", "=", value)) for value in (0, 1, 2, "a")),
    *(between(low, low + width) for low in (0, 2, 4) for width in (1, 3)),
    *(between(low, low + 1, y) for low in (0, 2, 4) for y in (0, 1)),
    packed(("x", "prefix", "a")),
    packed(("x", "<", 3)),
    packed(("y", "exists")),
    packed(("x", "<", 1), ("x", ">", 2)),
    packed(),
    of_group(packed(("x", "=", 1)), "workers"),
]
STEPS = st.lists(
    st.tuples(st.just("want"), st.sampled_from(FILTERS))
    | st.tuples(st.just("unwant"), st.integers(0, 9))
    | st.tuples(st.just("wait"), st.integers(1, HOLD_US))
    | st.tuples(st.sampled_from(["work", "work", "issue"]), st.none()),
    max_size=60,
)


def admitted(filter_: bytes) -> int:
    """Return the messages that a filter admits, as bits."""
    plain = [(each.name, each.op.value, each.operands, each.negated) for each in decode_filter(filter_).constraints]
    return contents_of(plain, MESSAGES)


def union(filters) -> int:
    bits = 0
    for filter_ in filters:
        bits |= admitted(filter_)
    return bits


def merging(limit: float, index=PureIndex) -> MergedPredicate:
    return MergedPredicate(HOLD_US, Cover(index()), limit)


def settled(asked: MergedPredicate) -> list[bytes]:
    """Do all work, end all holds, and return what is stated then."""
    now_us = 1_000_000
    while asked.has_work or asked.due_us is not None:
        while asked.has_work:
            asked.work()
        asked.expire(now_us)
        now_us += HOLD_US
    while asked.has_changes:
        asked.issue()
    return sorted(asked.issued.values())


class Walk:
    """Clients that come and go, and what others know after each issue."""

    def __init__(self, limit: float, index) -> None:
        self.own, self.now_us, self.wanted = merging(limit, index), 0, Counter[bytes]()
        self.known: dict[int, bytes] = {}
        self.confirmed: set[bytes] = set()
        """Wanted filters that an issue has made known."""

    def want(self, filter_: bytes) -> None:
        self.own.want(filter_)
        self.wanted[filter_] += 1

    def unwant(self, index: int) -> None:
        if wanted := sorted(self.wanted.elements()):
            filter_ = wanted[index % len(wanted)]
            self.own.unwant(filter_, self.now_us)
            self.wanted[filter_] -= 1
            if not self.wanted[filter_]:
                self.confirmed.discard(filter_)

    def wait(self, for_us: int) -> None:
        self.now_us += for_us
        self.own.expire(self.now_us)

    def work(self, _: None) -> None:
        self.own.work()

    def issue(self, _: None) -> None:
        change = self.own.issue()
        self.known |= change.added
        self.check()
        for id_ in change.removed:
            del self.known[id_]
        self.confirmed = set(+self.wanted)
        assert self.own.issued == self.known
        self.check()

    def check(self) -> None:
        """What was made known is known as long as it is wanted, also while an issue is half taken."""
        lacking = union(self.confirmed) & ~union(self.known.values())
        assert not lacking, f"{lacking:x} is wanted and not stated"


@pytest.mark.parametrize("index", [PureIndex, NativeIndex])
@pytest.mark.parametrize("limit", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("bound", [2, 32])
def test_what_clients_want_is_stated_whatever_they_do(monkeypatch, index, limit, bound):
    monkeypatch.setattr(own_merged, "PARTS_MAX", bound)
    monkeypatch.setattr(own_merged, "UNDER_MAX", bound)

    @checks
    @given(STEPS)
    def hold(steps):
        walk = Walk(limit, index)
        for name, argument in steps:
            getattr(walk, name)(argument)
            walk.check()
        walk.issue(None)
        stated = settled(walk.own)
        wanted = set(+walk.wanted)
        assert union(stated) & union(wanted) == union(wanted)
        if limit == 0.0:
            assert union(stated) == union(wanted), "a limit of 0 admits nothing else"
        for merged in set(stated) - wanted:
            parts = [each for each in wanted - set(stated) if not admitted(each) & ~admitted(merged)]
            assert len(parts) >= 2, "a merged filter stands for two or more"
        figures = walk.own.figures()
        assert figures["advertised"] == len(stated)
        assert figures["wanted"] == len(wanted)
        assert figures["leaving"] == 0

    hold()


@checks
@given(st.lists(st.sampled_from(FILTERS), max_size=12), st.data())
def test_when_all_have_gone_nothing_is_left(filters, data):
    asked = merging(0.9)
    for filter_ in filters:
        asked.want(filter_)
    settled(asked)
    for filter_ in data.draw(st.permutations(filters)):
        asked.unwant(filter_, 0)
        if data.draw(st.booleans()):
            asked.expire(HOLD_US)
            asked.work()
    assert settled(asked) == []
    assert asked.figures() == dict.fromkeys(("wanted", "advertised", "covered", "leaving", "merged"), 0)
    assert not asked._alike._entries
    assert not asked._alike._orders


def stated_for(limit: float, *filters: bytes) -> list[bytes]:
    asked = merging(limit)
    for filter_ in filters:
        asked.want(filter_)
    return settled(asked)


def test_neighbours_are_merged_within_the_limit_alone():
    near, far = between(0, 10), between(11, 20)
    assert stated_for(0.1, near, far) == [between(0, 20)]
    assert stated_for(0.01, near, far) == sorted([near, far])
    assert stated_for(0.1, near, between(40, 50)) == sorted([near, between(40, 50)])


def test_widenings_add_up():
    """Each gap is 2 of 10 values, a ninth of two steps and almost a fifth of twenty."""
    steps = [between(10 * at, 10 * at + 8) for at in range(20)]
    assert stated_for(0.1, *steps) == sorted(steps)
    assert 1 < len(stated_for(0.15, *steps)) < 20
    assert stated_for(0.2, *steps) == [between(0, 198)]


def test_sets_are_merged_without_any_widening():
    assert stated_for(0.0, *(packed(("x", "=", value)) for value in range(0, 30, 2))) == [
        packed(("x", "in", *range(0, 30, 2)))
    ]


def test_a_part_that_goes_brings_back_a_narrower_filter_before_the_wider_one_leaves():
    asked = merging(0.2)
    parts = [between(0, 10), between(11, 20), between(21, 30)]
    for part in parts:
        asked.want(part)
    assert settled(asked) == [between(0, 30)]
    asked.unwant(parts[2], 0)
    asked.expire(HOLD_US)
    while asked.has_work:
        asked.work()
    change = asked.issue()
    assert list(change.added.values()) == [between(0, 20)]
    assert list(change.removed.values()) == [between(0, 30)]
    asked.unwant(parts[0], 0)
    assert settled(asked) == [parts[1]]


def test_a_part_in_the_middle_that_goes_restores_its_parts_if_the_rest_is_over_the_limit():
    asked = merging(0.2)
    parts = [between(0, 10), between(11, 20), between(21, 30)]
    for part in parts:
        asked.want(part)
    settled(asked)
    asked.unwant(parts[1], 0)
    assert settled(asked) == sorted([parts[0], parts[2]])


def test_a_client_that_comes_back_in_time_changes_nothing():
    asked = merging(0.2)
    parts = [between(0, 10), between(11, 20)]
    for part in parts:
        asked.want(part)
    settled(asked)
    asked.unwant(parts[0], 0)
    assert asked.due_us == HOLD_US
    asked.want(parts[0])
    asked.expire(HOLD_US)
    assert not asked.has_work
    assert not asked.has_changes


def test_what_a_client_wants_itself_stays_when_its_parts_go():
    asked = merging(0.2)
    parts, wide = [between(0, 10), between(11, 20)], between(0, 20)
    for part in parts:
        asked.want(part)
    settled(asked)
    asked.want(wide)
    for part in parts:
        asked.unwant(part, 0)
    assert settled(asked) == [wide]


def test_a_filter_of_a_worker_group_is_stated_by_itself():
    shared = [of_group(between(0, 10), "workers"), of_group(between(11, 20), "workers")]
    assert sorted(map(bytes, stated_for(0.5, *shared))) == sorted(map(bytes, shared))


def test_the_work_for_a_filter_is_bounded(monkeypatch):
    """However many filters there are, one is compared with so many others."""
    merges = Counter[str]()

    def counted(*_):
        merges["all"] += 1
        return own_merged.Merged(decode_filter(FILTERS[0]), 1.0)

    monkeypatch.setattr(own_merged, "merge", counted)
    asked = merging(0.5)
    for number in range(300):
        asked.want(packed(*((f"a{at}", "=", number * (at + 7) % 301) for at in range(8))))
    while asked.has_work:
        before = merges["all"]
        asked.work()
        assert merges["all"] - before <= alike.ALIKE_MAX
    assert merges["all"] > 300


def test_beyond_the_most_filters_each_is_stated_by_itself(monkeypatch):
    monkeypatch.setattr(alike, "FILTERS_MAX", 0)
    filters = [between(0, 10), between(11, 20)]
    assert stated_for(0.5, *filters) == sorted(filters)


def test_parts_are_no_more_than_the_bound(monkeypatch):
    monkeypatch.setattr(own_merged, "PARTS_MAX", 4)
    steps = [between(10 * at, 10 * at + 9) for at in range(12)]
    stated = stated_for(0.3, *steps)
    assert union(stated) >= union(steps)
    assert len(stated) >= 3
