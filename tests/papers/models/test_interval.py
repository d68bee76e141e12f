"""The model of paper 003's filter structure: its answers, the figures of the paper, and what it says of covering."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.papers.models.interval import END, FIRST, FilterSet, IntervalTwin, axes_of
from tamis.protocol.covering.covers import covers
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value
from tests.strategies import attributes, filters


def equalities(**values: Value) -> Filter:
    return Filter(tuple(Constraint(name, Op.EQ, (value,)) for name, value in values.items()))


FIGURE_3 = {
    1: equalities(a3=10, a4=20, a5=50, type="T4"),
    2: equalities(a3=40, a4=10, a5=80, type="T4"),
    3: equalities(a3=40, a4=20, a5=100, type="T4"),
    4: equalities(a3=40, a5=100, type="T4"),
    5: equalities(a3=40, a4=20, a5=100, type="T4"),
}


@pytest.mark.parametrize("as_tree", [False, True])
def test_figure_3_of_the_paper(as_tree: bool) -> None:
    """The paper's e1 = (40, 10, 80) is left {2, 3, 4, 5}, {2, 4} and {2}."""
    twin = IntervalTwin(order=False, as_tree=as_tree)
    assert all(twin.add(handle, filter_) for handle, filter_ in FIGURE_3.items())
    assert twin.match({"type": "T4", "a3": 40, "a4": 10, "a5": 80})[0] == {2}
    assert twin.match({"type": "T4", "a3": 40, "a4": 20, "a5": 100})[0] == {3, 4, 5}
    assert twin.match({"type": "T4", "a3": 40, "a4": 99, "a5": 100})[0] == {4}
    assert twin.match({"type": "T4", "a3": 41, "a4": 20, "a5": 100})[0] == set()
    assert twin.match({"type": "T5", "a3": 40, "a4": 10, "a5": 80}) == (set(), 0)
    assert list(twin.structures) == ["T4"]
    (a3, a4, a5) = twin.structures["T4"].axes
    assert [axis.name for axis in (a3, a4, a5)] == ["a3", "a4", "a5"]
    assert [sorted(each.seats) for each in a3.sets] == [[], [0], [], [1, 2, 3, 4], []]
    assert a4.cares == {0, 1, 2, 4}


@pytest.mark.slow
@given(chosen=st.lists(filters(), max_size=12), messages=st.lists(attributes(), max_size=4), data=st.data())
def test_answers_are_those_of_each_filter(
    chosen: list[Filter], messages: list[dict[str, Value]], data: st.DataObject
) -> None:
    as_tree, by_type = data.draw(st.booleans()), data.draw(st.booleans())
    twin = IntervalTwin(data.draw(st.sampled_from([0, 1 / 32, 0.5, 2])), as_tree=as_tree, by_type=by_type)
    held = {handle: filter_ for handle, filter_ in enumerate(chosen) if twin.add(handle, filter_)}
    for handle in data.draw(st.lists(st.sampled_from(sorted(held)), unique=True)) if held else []:
        twin.remove(handle)
        del held[handle]
    for message in messages * 2:
        wanted = {handle for handle, filter_ in held.items() if filter_matches(filter_, message)}
        assert twin.match(message)[0] == wanted
    for structure in twin.structures.values():
        for axis in structure.axes:
            assert axis.cuts == sorted(set(axis.cuts))
            assert all(a.seats != b.seats for a, b in zip(axis.sets, axis.sets[1:], strict=False))


def test_what_is_no_interval_is_not_taken() -> None:
    twin = IntervalTwin()
    for constraint in (
        Constraint("x", Op.NE, (1,)),
        Constraint("x", Op.CONTAINS, ("a",)),
        Constraint("x", Op.SUFFIX, ("a",)),
        Constraint("x", Op.EQ, (1,), negated=True),
    ):
        assert not twin.add(1, Filter((constraint,)))
    assert axes_of(Filter((Constraint("x", Op.EXISTS),)), by_type=True) == (None, {"x": [(FIRST, END)]})


def test_a_set_changes_its_form_with_a_factor_of_two_between() -> None:
    kept, forms = FilterSet(), []
    for seat in range(40):
        kept.add(seat, 1024, 1 / 32)
        forms.append(kept.is_bits)
    assert forms == [False] * 31 + [True] * 9
    while kept.seats:
        kept.remove(max(kept.seats), 1024, 1 / 32)
        assert kept.is_bits == (len(kept.seats) >= 16)


def test_pointers_and_bits_cross_at_one_in_thirty_two() -> None:
    """Two sets of S of 1,024 filters are intersected: places of four bytes, in either form."""

    def steps(size: int, dense_from: float) -> int:
        twin = IntervalTwin(dense_from, order=False)
        for handle in range(1_024):
            wanted = 1 if handle < size else 2
            twin.add(handle, equalities(x=wanted, y=wanted))
        found, taken = twin.match({"x": 1, "y": 1})
        assert len(found) == size
        return taken - len(found)

    assert steps(31, 2) < steps(31, 0) == steps(500, 0)
    assert steps(32, 2) == steps(32, 0)
    assert steps(33, 2) > steps(33, 0)


RANGES = [Op.EQ, Op.BETWEEN, Op.LT, Op.LE, Op.GT, Op.GE, Op.EXISTS, Op.IN, Op.PREFIX]


def test_what_is_covered_is_read_off_the_structure() -> None:
    dice = random.Random(11)

    def constraint(name: str) -> Constraint:
        op = dice.choice(RANGES)
        a, b = sorted(dice.randrange(8) for _ in range(2))
        if op is Op.PREFIX:
            return Constraint(name, op, ("ab"[: dice.randrange(3)],))
        operands = {Op.EXISTS: (), Op.BETWEEN: (a, b), Op.IN: (a, b, "abc")}.get(op, (a,))
        return Constraint(name, op, operands)

    for _ in range(8):
        twin = IntervalTwin()
        made = [Filter(tuple(constraint(name) for name in "xyz" if dice.random() < 0.6)) for _ in range(25)]
        for handle, filter_ in enumerate(made):
            twin.add(handle, filter_)
        for a in range(25):
            assert twin.covered(a) == {b for b in range(25) if b != a and covers(made[a], made[b])}
