"""Covering is never wrongly claimed, and on the promised shapes never wrongly denied."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.protocol.covering import covers, covers_normal, predicate_covers
from tamis.protocol.errors import NeverMatches
from tamis.protocol.evaluate import constraint_holds, filter_matches, predicate_matches
from tamis.protocol.filters import PATTERN_OPS, Constraint, Filter, Op, Predicate
from tamis.protocol.json_form import decode_filter
from tamis.protocol.normal import normalize
from tests.strategies import attributes_near, filters, predicates

same_name = filters(max_size=3, name=st.just("a"))
NEVER = decode_filter([["x", "<", 1], ["x", ">", 1]])


def form_covers(a: list[list[object]], b: list[list[object]]) -> bool:
    return covers(decode_filter(a), decode_filter(b))


@settings(max_examples=settings.default.max_examples * 3 // 2)
@given(st.data())
def test_no_message_contradicts_a_claim(data):
    a, b = data.draw(st.tuples(same_name, same_name) | st.tuples(filters(max_size=2), filters()))
    claimed = covers(a, b)
    for _ in range(4):
        attributes = data.draw(attributes_near(a, b))
        assert not (claimed and filter_matches(b, attributes) and not filter_matches(a, attributes)), attributes


@given(st.data())
def test_a_filter_covers_itself_and_what_adds_to_it(data):
    a, b = data.draw(filters(max_size=4)), data.draw(filters(max_size=4))
    assert covers(a, a)
    assert covers(a, Filter(a.constraints + b.constraints))


@given(filters(), filters())
def test_normal_forms_give_the_same_answer(a, b):
    try:
        ours, theirs = normalize(a), normalize(b)
    except NeverMatches:
        return
    assert covers_normal(ours, theirs) == covers(a, b)


@given(st.data())
def test_no_message_contradicts_a_claim_about_predicates(data):
    p, q = data.draw(predicates()), data.draw(predicates())
    claimed = predicate_covers(p, q)
    attributes = data.draw(attributes_near(*p.filters, *q.filters))
    assert not (claimed and predicate_matches(q, attributes) and not predicate_matches(p, attributes))
    assert predicate_covers(Predicate(p.filters + q.filters), q)


# --- brute force over small domains ------------------------------------------------------------------------------

TEXTS = ["".join(letters) for length in range(3) for letters in itertools.product("ab", repeat=length)]
NUMBERS = [0, 1, math.nextafter(1, 2), 1.5, 2]
# Every difference between constraints over TEXTS shows in a string of four of these: a letter that is in no operand,
# the first and the last character, and the operands' own.
TEXT_WITNESSES = ["".join(letters) for length in range(5) for letters in itertools.product("\0abz", repeat=length)]
NUMBER_WITNESSES = sorted(
    {step for x in NUMBERS for step in (math.nextafter(x, -1), x, math.nextafter(x, 3))} | {-9, 9}
)
WITNESSES = [{}, *({"x": value} for value in [*TEXT_WITNESSES, *NUMBER_WITNESSES, True, False])]


def plain_constraints(values: list[str] | list[float]) -> list[Constraint]:
    ops = [op for op in Op if op not in (Op.EXISTS, Op.IN, Op.BETWEEN)]
    if not isinstance(values[0], str):
        ops = [op for op in ops if op not in PATTERN_OPS]
    found = [Constraint("x", op, (value,)) for op in ops for value in values]
    found += [Constraint("x", Op.BETWEEN, pair) for pair in itertools.combinations(sorted(values), 2)][::3]
    found += [Constraint("x", Op.IN, pair) for pair in itertools.combinations(values, 2)][::3]
    return [*found, Constraint("x", Op.EXISTS), Constraint("x", Op.EQ, (True,)), Constraint("x", Op.NE, (True,))]


def seen_by(filter_: Filter) -> int:
    """The witnesses that match, as the bits of a number."""
    return sum(1 << at for at, attributes in enumerate(WITNESSES) if filter_matches(filter_, attributes))


def assert_complete(candidates: list[Filter]) -> None:
    seen = [seen_by(filter_) for filter_ in candidates]
    for (a, sees_a), (b, sees_b) in itertools.product(zip(candidates, seen, strict=True), repeat=2):
        assert covers(a, b) == (sees_b & ~sees_a == 0), (a, b)


@pytest.mark.slow
@pytest.mark.parametrize("values", [TEXTS, NUMBERS], ids=["strings", "numbers"])
def test_one_constraint_against_one_is_decided_exactly(values):
    plain = plain_constraints(values)
    assert_complete([Filter((c,)) for c in [*plain, *(c.negate() for c in plain)]])


@pytest.mark.slow
@pytest.mark.parametrize("values", [TEXTS[:4], NUMBERS[:3]], ids=["strings", "numbers"])
def test_two_ordered_constraints_against_two_are_decided_exactly(values):
    ordered = [c for c in plain_constraints(values) if c.op not in (Op.SUFFIX, Op.CONTAINS, Op.IN)]
    assert_complete([Filter(pair) for pair in itertools.combinations(ordered, 2)][::7])


def test_witnesses_tell_constraints_apart():
    """Otherwise the brute force would prove nothing: different plain constraints are seen by different witnesses."""
    plain = [c for c in plain_constraints(TEXTS) if c.operands != ("",) and c.op is not Op.EXISTS]
    assert len({seen_by(Filter((c,))) for c in plain}) > 0.9 * len(plain)
    assert any(constraint_holds(plain[0], attributes) for attributes in WITNESSES)


# --- by hand -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([], [["x", "=", 1]], True),
        ([["x", "=", 1]], [], False),
        ([["x", "=", 1]], [["x", "=", 1], ["y", "=", 2]], True),
        ([["x", "=", 1], ["y", "=", 2]], [["x", "=", 1]], False),
        # kinds
        ([["x", "=", 1]], [["x", "=", True]], False),
        ([["x", "exists"]], [["x", "=", True]], True),
        ([["x", "in", [1, "a", True]]], [["x", "in", [True, 1]]], True),
        # order
        ([["x", ">", "a"]], [["x", ">=", "a\0"]], True),
        ([["x", ">=", "a\0"]], [["x", ">", "a"]], True),
        ([["x", "<=", 2**53]], [["x", "<", 2**53 + 1]], True),
        ([["x", "<=", 2.0**53]], [["x", "<", 2**53 + 2]], False),
        ([["x", "in", [2**53, 2**53 + 1]]], [["x", "between", [2**53, 2**53 + 1]]], True),
        ([["x", "in", [2**53]]], [["x", "between", [2**53, 2**53 + 1]]], False),
        ([["x", "!=", 3]], [["x", ">", 3]], True),
        ([["x", "!=", 3]], [["x", ">=", 3]], False),
        # patterns
        ([["x", "prefix", "ab"]], [["x", ">=", "abc"], ["x", "<", "abd"]], True),
        ([["x", "prefix", "ab"]], [["x", ">=", "ab"], ["x", "<", "ac"]], True),
        ([["x", "prefix", "ab"]], [["x", ">=", "ab"], ["x", "<=", "ac"]], False),
        ([["x", ">=", "ab"]], [["x", "prefix", "ab"]], True),
        ([["x", "<", "b"]], [["x", "prefix", "a\U0010ffff"]], True),
        ([["x", "contains", "bc"]], [["x", "between", ["abcd", "abce"]]], True),
        ([["x", "contains", "b"]], [["x", "suffix", "abc"], ["x", "!=", "abc"]], True),
        ([["x", "prefix", ""]], [["x", "contains", "a"]], True),
        ([["x", "!=", "aa"]], [["x", "suffix", "b"]], True),
        ([["x", "!=", ""]], [["x", "suffix", "b"]], True),
        ([["x", "!=", ""]], [["x", "contains", "b"], ["x", "<", "c"]], True),
        # negated
        ([["x", "not", "=", 3]], [["x", "=", 4]], True),
        ([["x", "not", "=", 3]], [["x", "=", "3"]], True),
        ([["x", "not", "=", 3]], [["x", "not", "exists"]], True),
        ([["x", "not", "exists"]], [["x", "not", "=", 3]], False),
        ([["x", "not", "prefix", "a"]], [["x", "prefix", "b"]], True),
        ([["x", "not", "prefix", "ab"]], [["x", "not", "prefix", "a"]], True),
        ([["x", "not", "prefix", "ab"]], [["x", "not", "contains", "b"]], True),
        ([["x", "not", "suffix", "b"]], [["x", "suffix", "a"]], True),
        ([["x", "not", "contains", "abc"]], [["x", "not", "contains", "b"]], True),
        ([["x", "not", "contains", "b"]], [["x", "not", "contains", "abc"]], False),
        ([["x", "not", "<", 3]], [["x", "not", "<", 4]], True),
        ([["x", "not", "=", 3]], [["y", "=", 3]], False),
        ([["x", "not", "<", ""]], [], True),
    ],
)
def test_table(a, b, expected):
    assert form_covers(a, b) is expected


def test_what_never_matches_is_covered_and_covers_nothing_else():
    assert covers(decode_filter([["y", "=", 1]]), NEVER)
    assert covers(NEVER, NEVER)
    assert not covers(NEVER, decode_filter([["y", "=", 1]]))
    assert predicate_covers(Predicate(()), Predicate((NEVER,)))
    assert not predicate_covers(Predicate((NEVER,)), Predicate((Filter(),)))
