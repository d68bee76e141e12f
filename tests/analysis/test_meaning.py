"""The audit's own reading of filters against the product's, over everything that the strategies can say."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("numpy")

from tamis.analysis.questions.meaning import MessageBatch, ParsedFilters, match_lists
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import Filter
from tamis.protocol.json_form import decode_filter, decode_message, encode_filter
from tests.strategies import attributes, filters


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(filters(), max_size=6), st.lists(attributes(), max_size=8))
def test_it_agrees_with_the_language(wanted: list[Filter], said: list[dict[str, object]]) -> None:
    forms = [json.dumps(encode_filter(filter_)) for filter_ in wanted]
    texts = [json.dumps(message) for message in said]
    numbers, starts = match_lists(ParsedFilters.of(forms), MessageBatch.of(list(map(json.loads, texts))))
    for row, text in enumerate(texts):
        expected = [
            number
            for number, form in enumerate(forms)
            if filter_matches(decode_filter(json.loads(form)), decode_message(text))
        ]
        assert list(numbers[starts[row] : starts[row + 1]]) == expected


@pytest.mark.parametrize(
    ("constraint", "value", "holds"),
    [
        (["x", "=", 9007199254740993], 9007199254740992.0, False),
        (["x", "<", 9007199254740993], 9007199254740992.0, True),
        (["x", "=", 1], 1.0, True),
        (["x", "=", 1], True, False),
        (["x", "!=", "a"], 3, False),
        (["x", "not", "=", "a"], 3, True),
        (["x", "between", ["b", "d"]], "d", True),
        (["x", "in", [1, "a", True]], True, True),
        (["y", "not", "exists"], 3, True),
        (["x", "contains", ""], "a", True),
        (["x", "prefix", "ab"], "abc", True),
    ],
)
def test_corners(constraint: list[object], value: object, holds: bool) -> None:
    batch = MessageBatch.of([{"x": value}])
    assert len(batch.satisfying([batch.test(constraint)])) == holds
