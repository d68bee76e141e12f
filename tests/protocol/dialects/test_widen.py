"""What is beyond the limits of a predicate is widened, in bounded time."""

from __future__ import annotations

import functools
import operator
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.protocol import limits
from tamis.protocol.dialects.rails import complement, every, holds, one_of_two, present, some, two_valued
from tamis.protocol.dialects.widen import TOO_LARGE, within_limits
from tamis.protocol.evaluate import predicate_matches
from tamis.protocol.filters import Op
from tests.protocol.dialects.agreement import said

NAMES = [f"n{number}" for number in range(24)]
CONDITION = st.tuples(st.sampled_from(["=", "<", "!="]), st.sampled_from(NAMES), st.integers(0, 3))
TREES = st.recursive(
    CONDITION,
    lambda inner: st.tuples(st.sampled_from(["all", "any"]), st.lists(inner, min_size=2, max_size=20)),
    max_leaves=60,
)
EVENTS = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 3), max_size=24)
COMPARE = {"=": operator.eq, "<": operator.lt, "!=": operator.ne}


def rail_of(tree):
    if tree[0] in ("all", "any"):
        return (every if tree[0] == "all" else some)(*map(rail_of, tree[1]))
    return holds(tree[1], Op(tree[0]), tree[2])


def is_true(tree, event):
    if tree[0] in ("all", "any"):
        return (all if tree[0] == "all" else any)(is_true(part, event) for part in tree[1])
    return tree[1] in event and COMPARE[tree[0]](event[tree[1]], tree[2])


@pytest.mark.slow
@settings(max_examples=200)
@given(TREES, st.lists(EVENTS, min_size=1, max_size=5), st.booleans())
def test_it_is_never_narrower_and_within_the_limits(tree, events, negated):
    rail = rail_of(tree)
    found = within_limits(complement(rail) if negated else rail)
    assert len(found.predicate.filters) <= limits.DISJUNCTS_MAX
    for event in events:
        wanted = is_true(tree, event) is not negated
        assert predicate_matches(found.predicate, event) or not wanted
        assert said(found, event) in (wanted, None)
        assert found.decided or tree_size(tree) > 20


def tree_size(tree):
    return sum(map(tree_size, tree[1])) if tree[0] in ("all", "any") else 1


def pairs(count):
    return every(*(some(holds(f"a{at}", Op.EQ, 1), holds(f"b{at}", Op.EQ, 1)) for at in range(count)))


@pytest.mark.parametrize(
    "rail",
    [
        every(*(holds(f"a{at}", Op.EQ, 1) for at in range(17))),
        some(*(holds(f"a{at}", Op.EQ, 1) for at in range(65))),
        some(*(holds(f"a{at % 7}", Op.GT, at) for at in range(5_000))),
        pairs(7),
        pairs(2_000),
        functools.reduce(one_of_two, (two_valued(holds(f"a{at}", Op.EQ, 1)) for at in range(40))).true,
        every(
            some(*(holds("a", Op.EQ, at) for at in range(64))),
            some(*(holds("a", Op.EQ, -1 - at) for at in range(64))),
            pairs(9),
        ),
    ],
)
def test_it_is_bounded(rail):
    started = time.process_time()
    found = within_limits(rail)
    assert time.process_time() - started < 5
    assert TOO_LARGE in found.needs
    assert len(found.predicate.filters) <= limits.DISJUNCTS_MAX


def test_what_fits_is_kept():
    found = within_limits(every(*(holds(f"a{at:02}", Op.EQ, 1) for at in range(20))))
    assert [len(filter_.constraints) for filter_ in found.predicate.filters] == [limits.CONSTRAINTS_MAX]


def test_a_list_of_many_values_is_several():
    found = within_limits(holds("x", Op.IN, *range(600)))
    assert found.exact
    assert len(found.predicate.filters) == 3
    assert not predicate_matches(within_limits(complement(holds("x", Op.IN, *range(600)))).predicate, {"x": 599})


def test_alternatives_of_one_attribute_are_one_condition():
    found = within_limits(some(*(holds("x", Op.EQ, at) for at in range(200)), holds("y", Op.EQ, 1)))
    assert found.exact
    assert [len(each.constraints[0].operands) for each in found.predicate.filters] == [200, 1]
    found = within_limits(complement(some(*(holds("x", Op.EQ, at) for at in range(200)))))
    assert found.exact
    assert predicate_matches(found.predicate, {"x": 200})
    assert not predicate_matches(found.predicate, {"x": 199})


def test_a_long_operand_is_cut():
    found = within_limits(holds("x", Op.IN, "a", "b" * 2_000))
    assert not found.exact
    assert predicate_matches(found.predicate, {"x": "b" * 2_000})
    assert not predicate_matches(found.predicate, {"x": "c"})
    assert predicate_matches(within_limits(complement(holds("x", Op.EQ, "b" * 2_000))).predicate, {"x": "b" * 1_999})


@pytest.mark.parametrize("op", [Op.EQ, Op.PREFIX, Op.SUFFIX, Op.CONTAINS])
def test_a_program_compares_a_text_that_is_too_long_for_a_pattern(op):
    text = "a" * 1_000
    rail = holds("x", op, text)
    for value, wanted in ((text, True), ("a" * 999, False), (1, False), (None, False)):
        event = {} if value is None else {"x": value}
        assert said(within_limits(rail), event) is wanted
        assert said(within_limits(complement(rail)), event) is not wanted
        both = every(some(complement(rail), holds("y", Op.EQ, 1)), present("y"))
        assert said(within_limits(both), event | {"y": 0}) is not wanted
    assert within_limits(holds("x", op, "a" * 1_025)).residual is None


def test_what_a_program_cannot_hold_is_left_undecided():
    found = within_limits(some(*(holds(f"a{at}", Op.EQ, 1) for at in range(65))))
    assert (found.exact, found.decided) == (False, False)
    found = within_limits(every(*(holds(f"a{at}", Op.EQ, 1) for at in range(50))))
    assert (found.exact, found.decided) == (False, True)


def test_a_name_that_no_message_has_is_absent():
    found = within_limits(present("n" * 257))
    assert found.exact
    assert not found.predicate.filters


def test_a_contradiction_matches_nothing_and_is_told():
    found = within_limits(every(holds("x", Op.EQ, 1), holds("x", Op.EQ, 2)))
    assert not found.predicate.filters
    assert found.warnings == ("this can never match: x = 1 and x = 2 can never both hold",)


def test_thousands_of_values_that_are_left_out_are_exact():
    values = [f"a{number}" for number in range(3_000)]
    found = within_limits(every(present("x"), *(complement(holds("x", Op.EQ, value)) for value in values)))
    assert found.exact
    for value, wanted in (("a0", False), ("a2999", False), ("a3000", True), (5, True)):
        assert predicate_matches(found.predicate, {"x": value}) is wanted


def test_values_in_a_list_and_left_out_of_another_are_exact():
    values = list(range(200))
    found = within_limits(every(holds("x", Op.IN, *values), *(complement(holds("x", Op.EQ, at)) for at in values[1:])))
    assert found.exact
    assert [predicate_matches(found.predicate, {"x": at}) for at in (0, 1, 200)] == [True, False, False]
