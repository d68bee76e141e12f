"""The normal form keeps the meaning, is its own normal form, and is the same for the same meaning."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.protocol import limits
from tamis.protocol._regions import UNIVERSE, region_of
from tamis.protocol.errors import NeverMatches
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import EVERYTHING, Constraint, Filter, Predicate
from tamis.protocol.json_form import decode_filter, encode_filter
from tamis.protocol.normal import normalize, normalize_predicate, spell_region
from tests.strategies import attributes_near, constraints, filters, predicates

LOWEST = -1.7976931348623157e308
HIGHEST = 1.7976931348623157e308
crowded = filters(max_size=5, name=st.just("a"))


def normal(form: list[list[object]]) -> list[list[object]]:
    return encode_filter(normalize(decode_filter(form)))


def normal_or_none(filter_: Filter) -> Filter | None:
    try:
        return normalize(filter_)
    except NeverMatches:
        return None


@settings(max_examples=settings.default.max_examples * 3 // 2)
@given(st.data())
def test_meaning_is_kept_and_nothing_changes_twice(data):
    filter_ = data.draw(crowded | filters())
    found = normal_or_none(filter_)
    assert found is None or (normalize(found) == found and hash(normalize(found)) == hash(found))
    for _ in range(3):
        attributes = data.draw(attributes_near(filter_))
        expected = filter_matches(filter_, attributes)
        assert expected == (found is not None and filter_matches(found, attributes)), attributes


@given(constraints())
def test_a_constraint_that_stands_alone_is_written_from_its_region(constraint):
    region = region_of([constraint])
    found = normal_or_none(Filter((constraint,)))
    expected = None if region is None else spell_region(constraint.name, region) if region != UNIVERSE else []
    assert found == (None if expected is None else Filter(tuple(sorted(expected, key=lambda each: each.identity))))


@given(constraints())
def test_the_negation_of_a_constraint_is_one_that_was_made(constraint):
    made = Constraint(constraint.name, constraint.op, constraint.operands, not constraint.negated)
    assert constraint.negate() == made
    assert constraint.negate().negate() == constraint


@given(st.data())
def test_order_and_repetition_leave_no_trace(data):
    constraints = data.draw(crowded | filters()).constraints
    shuffled = data.draw(st.permutations(constraints * 2))
    assert normal_or_none(Filter(tuple(shuffled))) == normal_or_none(Filter(constraints))


@given(predicates(max_size=4))
def test_predicate_loses_what_never_matches_and_repetitions(predicate):
    expected = dict.fromkeys(found for filter_ in predicate.filters if (found := normal_or_none(filter_)) is not None)
    assert normalize_predicate(predicate) == Predicate(tuple(expected))


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        # sets absorb
        ([["x", "in", [3]]], [["x", "=", 3]]),
        ([["x", "in", [1, 2, 3, "a"]], ["x", ">", 1]], [["x", "in", [2, 3]]]),
        ([["x", "in", [1, "a", True]], ["x", "exists"]], [["x", "in", [True, 1, "a"]]]),
        ([["x", "in", ["ab", "b"]], ["x", "not", "prefix", "a"]], [["x", "=", "b"]]),
        ([["x", "=", 1.0], ["x", "!=", 2]], [["x", "=", 1]]),
        # booleans
        ([["x", "!=", True]], [["x", "=", False]]),
        ([["x", "in", [True, False]]], [["x", "in", [False, True]]]),
        ([["x", "in", [True, False]], ["x", "not", "=", True]], [["x", "=", False]]),
        # ranges
        ([["x", ">=", 3], ["x", "<=", 5]], [["x", "between", [3, 5]]]),
        ([["x", ">", 3], ["x", "<", 5]], [["x", ">", 3], ["x", "<", 5]]),
        ([["x", ">=", 3], ["x", "<=", 3]], [["x", "=", 3]]),
        ([["x", "between", ["a", "a"]]], [["x", "=", "a"]]),
        ([["x", ">", "a"], ["x", "<=", "a\0"]], [["x", "=", "a\0"]]),
        ([["x", ">", "a"], ["x", ">", "b"]], [["x", ">", "b"]]),
        ([["x", ">=", 3], ["x", "!=", 3]], [["x", ">", 3]]),
        ([["x", ">=", 3], ["x", "!=", 2]], [["x", ">=", 3]]),
        ([["x", "between", [3, 5]], ["x", "!=", 5], ["x", "!=", 4]], [["x", ">=", 3], ["x", "<", 5], ["x", "!=", 4]]),
        ([["x", ">", 2**53], ["x", "<", 2**53 + 2]], [["x", "=", 2**53 + 1]]),
        ([["x", ">", math.nextafter(1, 0)], ["x", "<", math.nextafter(1, 2)]], [["x", "=", 1]]),
        ([["x", "<", 5], ["x", "exists"]], [["x", "<", 5]]),
        ([["x", "!=", 1], ["x", "!=", 2]], [["x", "!=", 1], ["x", "!=", 2]]),
        ([["x", ">", 0], ["x", "!=", 1], ["x", "!=", 2]], [["x", ">", 0], ["x", "not", "in", [1, 2]]]),
        ([["x", "<=", HIGHEST]], [["x", ">=", LOWEST]]),
        # patterns
        ([["x", "prefix", "a"], ["x", "prefix", "ab"]], [["x", "prefix", "ab"]]),
        ([["x", "suffix", "a"], ["x", "suffix", "ba"]], [["x", "suffix", "ba"]]),
        ([["x", "prefix", "abc"], ["x", "contains", "bc"]], [["x", "prefix", "abc"]]),
        ([["x", "contains", "a"], ["x", "contains", "ab"], ["x", "contains", ""]], [["x", "contains", "ab"]]),
        ([["x", "contains", ""]], [["x", "prefix", ""]]),
        ([["x", ">=", ""]], [["x", "prefix", ""]]),
        ([["x", "contains", "a"], ["x", "!=", ""]], [["x", "contains", "a"]]),
        ([["x", "contains", "a"], ["x", ">", ""], ["x", "<", "b"]], [["x", "<", "b"], ["x", "contains", "a"]]),
        ([["x", "suffix", ""], ["x", "!=", "a"]], [["x", "!=", "a"]]),
        ([["x", "prefix", "ab"], ["x", ">=", "a"]], [["x", "prefix", "ab"]]),
        ([["x", "prefix", "ab"], ["x", "<=", "ab"]], [["x", "=", "ab"]]),
        ([["x", "prefix", "ab"], ["x", "!=", "ab"]], [["x", ">", "ab"], ["x", "prefix", "ab"]]),
        ([["x", "prefix", "ab"], ["x", ">=", "abc"]], [["x", ">=", "abc"], ["x", "prefix", "ab"]]),
        ([["x", ">=", "ab"], ["x", "<", "ac"]], [["x", "prefix", "ab"]]),
        ([["x", ">=", "\ud7ff"], ["x", "<", "\ue000"]], [["x", "prefix", "\ud7ff"]]),
        ([["x", ">=", "\U0010ffff"]], [["x", "prefix", "\U0010ffff"]]),
        # negated, kind known
        ([["x", ">", 0], ["x", "not", "=", 5]], [["x", ">", 0], ["x", "!=", 5]]),
        ([["x", ">", 0], ["x", "not", ">=", 5]], [["x", ">", 0], ["x", "<", 5]]),
        ([["x", ">", 0], ["x", "not", "!=", 5]], [["x", "=", 5]]),
        ([["x", ">", 0], ["x", "not", "=", "a"], ["x", "not", "prefix", ""]], [["x", ">", 0]]),
        ([["x", "suffix", "a"], ["x", "not", "suffix", "b"]], [["x", "suffix", "a"]]),
        ([["x", "suffix", "a"], ["x", "not", "prefix", "b"]], [["x", "suffix", "a"], ["x", "not", "prefix", "b"]]),
        ([["x", "prefix", "a"], ["x", "not", "prefix", "b"]], [["x", "prefix", "a"]]),
        ([["x", "exists"], ["x", "not", "=", 1]], [["x", "exists"], ["x", "not", "=", 1]]),
        # negated, nothing else
        ([["x", "not", "exists"], ["x", "not", "=", 1]], [["x", "not", "exists"]]),
        ([["x", "not", "<", 3], ["x", "not", "<", 5]], [["x", "not", "<", 5]]),
        ([["x", "not", "in", [1, "a"]], ["x", "not", "=", 1]], [["x", "not", "in", [1, "a"]]]),
        ([["x", "not", "in", ["", LOWEST, True]]], [["x", "not", "in", [True, LOWEST, ""]]]),
        ([["x", "not", "contains", "a"], ["x", "not", "suffix", "ba"]], [["x", "not", "contains", "a"]]),
        ([["x", "not", "<", ""]], []),
        ([["x", "not", "!=", 3], ["x", "not", ">", 2]], [["x", "not", ">=", LOWEST]]),
    ],
)
def test_table(form, expected):
    assert normal(form) == expected
    assert normal(expected) == expected


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ([["x", "<", 3], ["y", "=", 1], ["x", ">", 5]], "x < 3 and x > 5 can never both hold"),
        ([["x", "=", 1], ["x", "=", True]], "x = 1 and x = true can never both hold"),
        ([["x", "<", 3], ["x", "prefix", "a"]], 'x < 3 and x prefix "a" can never both hold'),
        ([["x", "<", ""]], 'x < "" can never hold'),
        ([["x", ">", HIGHEST]], f"x > {HIGHEST!r} can never hold"),
        ([["x", "exists"], ["x", "not", "exists"]], "exists x and not (exists x) can never both hold"),
        ([["x", ">", "a"], ["x", "<", "a\0"]], 'x > "a" and x < "a\\u0000" can never both hold'),
        ([["x", ">", 1], ["x", "<", math.nextafter(1, 2)]], "can never both hold"),
        ([["x", "prefix", "a"], ["x", "prefix", "b"]], "can never both hold"),
        ([["x", "suffix", "a"], ["x", "suffix", "b"]], "can never both hold"),
        ([["x", "prefix", "b"], ["x", "<", "b"]], "can never both hold"),
        ([["x", "contains", "ab"], ["x", "not", "contains", "a"]], "can never both hold"),
        ([["x", "=", "a"], ["x", "not", "suffix", "a"]], "can never both hold"),
        ([["x", "in", [1, 2]], ["x", "!=", 1], ["x", "!=", 2]], "x in {1, 2} and x != 1 and x != 2 can never all hold"),
        ([["x", "!=", True], ["x", "!=", False]], "can never both hold"),
        ([["x", "between", [2**53, 2**53 + 1]], ["x", "not", "in", [2**53, 2**53 + 1]]], "can never both hold"),
    ],
)
def test_contradictions_are_refused_with_their_reason(form, reason):
    with pytest.raises(NeverMatches) as refused:
        normal(form)
    assert reason in str(refused.value)


def test_everything_is_its_own_normal_form():
    assert normalize(EVERYTHING) == EVERYTHING


def test_a_form_that_would_be_too_long_stays_as_written():
    """A `between` whose lower end reads shorter as `>` is two constraints; sixteen of them would be too many."""
    form = [[f"x{at:02}", "between", ["\0", "a"]] for at in range(limits.CONSTRAINTS_MAX)]
    assert normal(form[:1]) == [["x00", ">", ""], ["x00", "<=", "a"]]
    assert normal(form) == form


def test_many_values_left_out_are_listed_within_the_limit_of_a_list():
    lists = [list(range(at, at + limits.IN_VALUES_MAX)) for at in (0, 1_000)]
    found = normal([["x", ">", -10.5], *(["x", "not", "in", values] for values in lists)])
    assert found == [["x", ">", -10.5], *(["x", "not", "in", values] for values in lists)]


def test_longest_operands_stay_within_limits():
    long = "a" * limits.OPERAND_BYTES_MAX
    assert normal([["x", ">", long], ["x", "!=", long]]) == [["x", ">", long]]
    assert normal([["x", ">=", long], ["x", "not", "<=", long]]) == [["x", ">", long]]
