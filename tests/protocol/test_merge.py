"""A merged filter covers both originals and says no less than one filter can."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.protocol.covering import covers
from tamis.protocol.covering.merge import merge
from tamis.protocol.errors import NeverMatches
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.json_form import decode_filter, encode_filter
from tamis.protocol.normal import normalize
from tests.strategies import attributes_near, filters

same_name = filters(max_size=3, name=st.just("a"))
pairs = st.tuples(same_name, same_name) | st.tuples(filters(), filters())


def merge_or_reject(a, b):
    try:
        return merge(a, b)
    except NeverMatches:
        assert covers(a, b)
        assert covers(b, a)
        return None


@settings(max_examples=settings.default.max_examples * 3 // 2)
@given(st.data())
def test_covers_both_and_zero_is_exact(data):
    a, b = data.draw(pairs)
    merged = merge_or_reject(a, b)
    if merged is None:
        return
    assert normalize(merged.filter) == merged.filter
    assert covers(merged.filter, a)
    assert covers(merged.filter, b)
    assert 0.0 <= merged.widening <= 1.0
    attributes = data.draw(attributes_near(a, b))
    if merged.widening == 0.0 and filter_matches(merged.filter, attributes):
        assert filter_matches(a, attributes) or filter_matches(b, attributes)


@given(pairs)
def test_sides_are_alike_and_covering_is_free(pair):
    a, b = pair
    merged = merge_or_reject(a, b)
    if merged is None:
        return
    other = merge(b, a)
    assert covers(merged.filter, other.filter)
    assert covers(other.filter, merged.filter)
    assert merged.widening == pytest.approx(other.widening)
    if covers(a, b):
        assert merged.widening == 0.0
        assert covers(a, merged.filter)


@pytest.mark.parametrize(
    ("a", "b", "expected", "exact"),
    [
        ([["x", "=", 1]], [["x", "=", 2]], [["x", "in", [1, 2]]], True),
        ([["x", "=", 1]], [["x", "=", "a"]], [["x", "in", [1, "a"]]], True),
        (
            [["x", "=", 1], ["y", "=", 1]],
            [["x", "=", 2], ["y", "=", 2]],
            [["x", "in", [1, 2]], ["y", "in", [1, 2]]],
            False,
        ),
        ([["x", "=", 1], ["y", "=", 1]], [["x", "=", 1], ["z", "=", 1]], [["x", "=", 1]], False),
        ([["x", "in", list(range(10))]], [["x", "in", list(range(10, 20))]], [["x", "between", [0, 19]]], False),
        ([["x", "in", ["a", *range(10)]]], [["x", "in", list(range(10, 20))]], [["x", "exists"]], False),
        ([["x", "between", [1, 3]]], [["x", "between", [2, 9]]], [["x", "between", [1, 9]]], True),
        ([["x", "between", [1, 3]]], [["x", "between", [4, 9]]], [["x", "between", [1, 9]]], False),
        ([["x", "between", [1, 3]]], [["x", ">", 3]], [["x", ">=", 1]], True),
        ([["x", "<", 3]], [["x", ">", 3]], [["x", ">=", -1.7976931348623157e308]], False),
        ([["x", "between", [1, 3]]], [["x", "=", 7]], [["x", "between", [1, 7]]], False),
        ([["x", "<", 3]], [["x", "prefix", "a"]], [["x", "exists"]], False),
        ([["x", "prefix", "abc"]], [["x", "prefix", "abd"]], [["x", "prefix", "ab"]], False),
        ([["x", "prefix", "a"]], [["x", "prefix", "b"]], [["x", "prefix", ""]], False),
        ([["x", "suffix", "xab"]], [["x", "suffix", "yab"]], [["x", "suffix", "ab"]], False),
        (
            [["x", "prefix", "abc"], ["x", "suffix", "z"]],
            [["x", "contains", "bc"], ["x", "suffix", "yz"]],
            [["x", "suffix", "z"], ["x", "contains", "bc"]],
            False,
        ),
        (
            [["x", "in", ["ab1", "cb2"]]],
            [["x", "contains", "b"], ["x", "contains", "d"]],
            [["x", "contains", "b"]],
            False,
        ),
        ([["x", "not", "<", 3]], [["x", "not", "<", 5]], [["x", "not", "<", 3]], True),
        ([["x", "not", "=", 3]], [["x", "=", 3]], [], True),
        ([["x", ">", 5], ["y", "=", 1]], [["x", ">", 7], ["y", "=", 1]], [["x", ">", 5], ["y", "=", 1]], True),
        ([["x", "=", 1]], [["y", "=", 1]], [], False),
        ([["x", "=", 1], ["x", "=", 2]], [["y", "=", 1]], [["y", "=", 1]], True),
    ],
)
def test_table(a, b, expected, exact):
    merged = merge(decode_filter(a), decode_filter(b))
    assert encode_filter(merged.filter) == expected
    assert (merged.widening == 0.0) is exact


def test_a_wider_gap_costs_more():
    def widening(*forms):
        return merge(*(decode_filter(form) for form in forms)).widening

    near = widening([["x", "between", [0, 10]]], [["x", "between", [11, 20]]])
    far = widening([["x", "between", [0, 10]]], [["x", "between", [1_000_000, 1_000_010]]])
    free = widening([["x", "=", 1], ["y", "=", 1]], [["x", "=", 1], ["z", "=", 1]])
    assert 0.0 < near < far < 1.0
    assert free > 0.5


def test_two_that_never_match_have_no_merge():
    never = decode_filter([["x", "<", 1], ["x", ">", 1]])
    with pytest.raises(NeverMatches):
        merge(never, never)


RANGES = [["<", 40], ["<", 60], ["<=", 90], ["between", [10, 30]], ["between", [25, 70]], ["=", 50]]
ABOVE = [[">=", 60], ["between", [10, 30]], [">", 30], ["=", 50]]


@pytest.mark.parametrize(("a", "b"), [*product(RANGES, RANGES), *product(ABOVE, ABOVE)], ids=str)
def test_a_widening_is_about_what_evenly_spread_messages_count(a, b):
    """Counted over the integers from 0 to 100 for two attributes; an end that no filter names may lie elsewhere."""
    one, other = (
        decode_filter([["x", *each], ["y", "between", [20 * at, 20 * at + 30]]]) for at, each in ((0, a), (1, b))
    )
    merged = merge(one, other)
    messages = [{"x": x, "y": y} for x in range(101) for y in range(0, 101, 2)]
    admitted = [message for message in messages if filter_matches(merged.filter, message)]
    wanted = [message for message in admitted if filter_matches(one, message) or filter_matches(other, message)]
    counted = 1 - len(wanted) / len(admitted)
    assert merged.widening == pytest.approx(counted, abs=0.16)


def test_widenings_of_the_originals_count():
    first = merge(decode_filter([["x", "between", [0, 10]]]), decode_filter([["x", "between", [20, 30]]]))
    second = merge(first.filter, decode_filter([["x", "between", [30, 40]]]), (first.widening, 0.0))
    assert first.widening == pytest.approx(1 / 3)
    assert second.widening == pytest.approx(1 / 4, abs=0.03)
