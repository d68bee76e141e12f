"""Patterns against regular expressions."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.protocol.dialects.patterns import Wild, matches, pieces_of
from tamis.protocol.dialects.rails import complement, if_present, two_valued
from tamis.protocol.dialects.widen import translated, within_limits
from tamis.protocol.evaluate import predicate_matches
from tamis.protocol.filters import Op, Predicate

PARTS = st.lists(st.sampled_from(["a", "b", "ab", Wild.ANY, Wild.ANY, Wild.ONE]), max_size=5)
TEXTS = st.text("ab", max_size=5)


def expression(parts):
    return "".join(re.escape(part) if isinstance(part, str) else ".*" if part is Wild.ANY else "." for part in parts)


@given(PARTS, st.lists(TEXTS, min_size=1, max_size=6))
def test_a_pattern_is_never_narrower_than_its_expression(parts, texts):
    rail = matches("x", pieces_of(parts), "p")
    wide, opposite = within_limits(rail), within_limits(complement(rail))
    for text in texts:
        wanted = re.fullmatch(expression(parts), text, re.DOTALL) is not None
        found = predicate_matches(wide.predicate, {"x": text})
        against = predicate_matches(opposite.predicate, {"x": text})
        assert (found, against) == (wanted, not wanted) if wide.exact else found >= wanted and against >= (not wanted)
    assert not predicate_matches(wide.predicate, {"x": 1})
    assert predicate_matches(opposite.predicate, {"x": 1})


@pytest.mark.parametrize(
    ("parts", "text", "wanted"),
    [
        (("a", Wild.ANY, "a"), "a", False),
        (("a", Wild.ANY, "a"), "aa", True),
        (("aba", Wild.ANY, "ba"), "aba", False),
        (("aba", Wild.ANY, "ba"), "ababa", True),
        (("ab", Wild.ANY, "c"), "abc", True),
    ],
)
def test_a_beginning_and_an_end_do_not_overlap(parts, text, wanted):
    found = within_limits(matches("x", parts, "p"))
    assert found.exact
    assert predicate_matches(found.predicate, {"x": text}) is wanted


@pytest.mark.parametrize(
    ("pieces", "is_exact"),
    [
        ((), True),
        ((Wild.ANY,), True),
        (("a" * 1024,), True),
        (("a" * 1025,), False),
        (("é" * 65, Wild.ANY), False),
        (("a" * 128, Wild.ANY, "a" * 128), True),
        (("a" * 128, Wild.ANY, "a" * 129), False),
        ((Wild.ANY, "a" * 129, Wild.ANY), False),
    ],
)
def test_a_pattern_of_any_size_is_taken(pieces, is_exact):
    found = within_limits(matches("x", pieces, "p"))
    assert found.exact is is_exact
    text = "".join(piece for piece in pieces if isinstance(piece, str))
    assert predicate_matches(found.predicate, {"x": text})
    assert (
        predicate_matches(within_limits(complement(matches("x", pieces, "p"))).predicate, {"x": text + "-"}) or is_exact
    )


def test_the_false_rail_is_unknown_where_the_attribute_is_absent():
    rail = matches("x", ("a",), "p")
    assert not predicate_matches(within_limits(if_present("x", rail).false).predicate, {})
    assert predicate_matches(within_limits(two_valued(rail).false).predicate, {})
    assert translated(two_valued(rail)).predicate == Predicate(within_limits(rail).predicate.filters)
    assert [c.op for c in within_limits(rail).predicate.filters[0].constraints] == [Op.EQ]
