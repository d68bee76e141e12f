"""Explanations say what the plain evaluation says, and what was seen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.protocol.evaluate import constraint_holds, predicate_matches
from tamis.protocol.explain import explain
from tamis.protocol.filters import EVERYTHING, NOTHING, Predicate
from tamis.protocol.language import parse
from tamis.protocol.plain import PlainTable
from tests.strategies import attributes, filters, predicates


@given(predicates(), attributes())
def test_an_explanation_agrees_with_the_evaluation(predicate, message) -> None:
    explanation = explain(predicate, message)
    assert explanation.matches == predicate_matches(predicate, message)
    for verdict, filter_ in zip(explanation.filters, predicate.filters, strict=True):
        assert [part.holds for part in verdict.constraints] == [
            constraint_holds(constraint, message) for constraint in filter_.constraints
        ]


@pytest.mark.parametrize(
    ("text", "message", "seen"),
    [
        ("x > 2", {"x": 6}, "x is 6"),
        ("x > 2", {}, "x is absent"),
        ("x > 2", {"x": "6"}, 'x is the string "6"'),
        ("x > 2", {"x": True}, "x is the boolean true"),
        ("x in {1, 'a'}", {"x": "b"}, 'x is "b"'),
        ("x in {1, 'a'}", {"x": False}, "x is the boolean false"),
        ("exists `x y`", {"x y": 1.5}, "`x y` is 1.5"),
        ("not (x prefix 'a')", {"x": "a\n"}, r'x is "a\n"'),
    ],
)
def test_what_was_seen(text: str, message: dict[str, str | int], seen: str) -> None:
    (verdict,) = explain(parse(text), message).filters[0].constraints
    assert verdict.seen == seen


def test_everything_and_nothing() -> None:
    assert explain(Predicate((EVERYTHING,)), {}).matches
    assert not explain(NOTHING, {"x": 1}).matches


@given(st.lists(st.tuples(filters(), st.sampled_from([1, "1", 2])), max_size=6), attributes())
def test_the_plain_table_gives_each_matching_interface_once(entries, message) -> None:
    table = PlainTable()
    for filter_, interface in entries:
        table.add(filter_, interface)
    found = table.match(message)
    assert len(found) == len(set(found))
    assert set(found) == {
        interface for filter_, interface in entries if predicate_matches(Predicate((filter_,)), message)
    }
