"""The covering index answers as a scan of the table would, pauses included."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from tamis.protocol.covering import covers
from tamis.protocol.errors import NeverMatches
from tamis.protocol.filters import EVERYTHING, Filter
from tamis.protocol.json_form import decode_filter
from tamis.simulate.twin.cover_index import CoverIndex
from tests.strategies import filters

some_filters = filters(max_size=3) | filters(max_size=2, name=st.just("a"))


def never_matches(filter_: Filter) -> bool:
    """Only then it is covered by a filter that has nothing to do with it."""
    return covers(decode_filter([["elsewhere", "=", 1]]), filter_)


class IndexMachine(RuleBasedStateMachine):
    """Against a dict and a scan; several copies of a filter may be in the table."""

    def __init__(self) -> None:
        super().__init__()
        self.index: CoverIndex[int] = CoverIndex()
        self.model: dict[int, Filter] = {}
        self.ids = itertools.count()

    asked = Bundle("asked")

    @initialize(target=asked)
    def everything(self):
        return EVERYTHING

    @rule(target=asked, filter_=some_filters)
    def add(self, filter_):
        id_ = next(self.ids)
        if never_matches(filter_):
            with pytest.raises(NeverMatches):
                self.index.add(id_, filter_)
            return EVERYTHING
        self.index.add(id_, filter_)
        self.model[id_] = filter_
        return filter_

    @rule(filter_=asked)
    def add_again(self, filter_):
        id_ = next(self.ids)
        self.index.add(id_, filter_)
        self.model[id_] = filter_

    @rule(data=st.data())
    def remove(self, data):
        if self.model:
            id_ = data.draw(st.sampled_from(sorted(self.model)))
            self.index.remove(id_)
            del self.model[id_]

    @rule(filter_=asked | some_filters)
    def ask(self, filter_):
        if never_matches(filter_):
            return
        covering = {id_ for id_, other in self.model.items() if covers(other, filter_)}
        covered = {id_ for id_, other in self.model.items() if covers(filter_, other)}
        assert sorted(self.index.covering(filter_)) == sorted(covering)
        assert sorted(self.index.covered_by(filter_)) == sorted(covered)
        assert sorted(itertools.chain(*self.index.covering_slices(filter_, 2))) == sorted(covering)
        assert sorted(itertools.chain(*self.index.covered_by_slices(filter_, 2))) == sorted(covered)

    @invariant()
    def same_size(self):
        assert len(self.index) == len(self.model)


TestIndexMachine = pytest.mark.slow(IndexMachine.TestCase)
TestIndexMachine.settings = settings(
    max_examples=settings.default.max_examples * 3 // 10,
    stateful_step_count=25,
    suppress_health_check=[HealthCheck.too_slow],
    deadline=None,
)


def filled() -> CoverIndex[str]:
    index: CoverIndex[str] = CoverIndex()
    for limit in range(10):
        index.add(f"below {limit}", decode_filter([["x", "<", limit]]))
    index.add("all", EVERYTHING)
    index.add("absent", decode_filter([["x", "not", "exists"]]))
    index.add("not 3", decode_filter([["x", "not", "=", 3]]))
    return index


def test_filters_without_positive_constraints():
    index = filled()
    assert set(index.covering(decode_filter([["x", "not", "exists"]]))) == {"all", "absent", "not 3"}
    assert set(index.covered_by(decode_filter([["x", "not", "=", 3]]))) == {
        "absent",
        "not 3",
        "below 0",
        "below 1",
        "below 2",
        "below 3",
    }
    assert set(index.covering(EVERYTHING)) == {"all"}
    assert len(list(index.covered_by(EVERYTHING))) == len(index)


def test_a_reader_may_pause_and_go_on():
    reader = filled().covered_by(decode_filter([["x", "<", 5]]))
    first = [next(reader), next(reader)]
    assert sorted([*first, *reader]) == [f"below {limit}" for limit in range(6)]


def test_a_slice_is_short_even_where_no_candidate_is_an_answer():
    index: CoverIndex[int] = CoverIndex()
    for number in range(10):
        index.add(number, decode_filter([["x", "=", 1], ["y", "=", number]]))
    index.add(10, decode_filter([["x", "=", 1], ["z", "=", 1]]))
    assert list(index.covered_by_slices(decode_filter([["x", "=", 1]]), 4)) == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9, 10],
    ]
    question = decode_filter([["x", "not", "=", 2], ["y", "suffix", "no number"]])
    assert list(index.covered_by_slices(question, 4)) == []
    for number in range(11, 20):
        index.add(number, decode_filter([["y", "prefix", f"{number} is"]]))
    slices = list(index.covered_by_slices(question, 4))
    assert len(slices) > 1
    assert not any(slices)


def test_a_slice_has_candidates():
    with pytest.raises(ValueError, match="at least 1 candidate, not 0"):
        next(filled().covering_slices(EVERYTHING, 0))


@pytest.mark.parametrize(("op", "sign"), [("<", 1), (">=", -1)])
def test_of_ranges_with_one_end_only_answers_are_judged(op, sign):
    index: CoverIndex[int] = CoverIndex()
    for width in range(100):
        index.add(width, decode_filter([["price", op, sign * width]]))
    question = decode_filter([["price", op, sign * 90]])
    assert sorted(index.covering_slices(question, 1)) == [[width] for width in range(90, 100)]
    assert sorted(index.covered_by_slices(question, 1)) == [[width] for width in range(91)]


@pytest.mark.parametrize("question", ["covering", "covered_by"])
def test_a_reader_of_slices_is_told_of_a_change(question):
    index = filled()
    reader = getattr(index, f"{question}_slices")(EVERYTHING, 1)
    next(reader)
    index.remove("below 0")
    with pytest.raises(RuntimeError, match="index changed"):
        next(reader)


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("change", ["add", "remove"])
def test_a_reader_is_told_of_a_change(started, change):
    index = filled()
    reader = index.covering(decode_filter([["x", "=", 1]]))
    if started:
        next(reader)
    if change == "add":
        index.add("new", EVERYTHING)
    else:
        index.remove("below 0")
    with pytest.raises(RuntimeError, match="index changed"):
        next(reader)


def test_ids_are_taken_once():
    index = filled()
    with pytest.raises(ValueError, match="already has a filter 'all'"):
        index.add("all", EVERYTHING)
    index.remove("all")
    assert "all" not in index
    with pytest.raises(KeyError):
        index.remove("all")


def test_a_filter_that_never_matches_leaves_the_index_as_it_was():
    index = filled()
    never = decode_filter([["y", "<", 1], ["y", ">", 1]])
    size = len(index)
    for refuse in (lambda: index.add("never", never), lambda: index.covering(never), lambda: index.covered_by(never)):
        with pytest.raises(NeverMatches):
            refuse()
    assert len(index) == size
