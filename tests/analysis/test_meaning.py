"""The audit's own reading of filters against the product's, over everything that the strategies can say."""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("numpy")

from tamis.analysis.page.formatting import predicate
from tamis.analysis.questions.meaning import MessageBatch, ParsedFilters, match_lists
from tamis.analysis.questions.programs import index_part, with_program
from tamis.protocol import limits
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import Filter
from tamis.protocol.json_form import decode_filter, decode_message, encode_filter
from tamis.protocol.language import parse
from tamis.protocol.residual import ResidualVerdict, run
from tamis.protocol.values import canonical
from tests.native import residual_draw as draw
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


def test_programs_decide_with_filters_as_the_twin_does() -> None:
    random = Random(5)
    for _ in range(30):
        programs = [draw.program(random) for _ in range(8)]
        wanted = [parse(text).filters[0] for text in random.choices(("true", "a > 0", "exists ab"), k=8)]
        said = [{name: canonical(value) for name, value in draw.message(random).items()} for _ in range(20)]
        forms = [
            with_program(json.dumps(encode_filter(filter_)), program.pack().hex())
            for filter_, program in zip(wanted, programs, strict=True)
        ]
        numbers, starts = match_lists(ParsedFilters.of(forms), MessageBatch.of(said))
        for row, message in enumerate(said):
            expected = [
                number
                for number, (filter_, program) in enumerate(zip(wanted, programs, strict=True))
                if filter_matches(filter_, message)
                and run(program, message, limits.MATCH_STEPS // 64).verdict is ResidualVerdict.TRUE
            ]
            assert list(numbers[starts[row] : starts[row + 1]]) == expected


def test_the_form_of_a_filter_with_a_program() -> None:
    for form in ("[]", '[["price","<",500]]'):
        assert with_program(form, None) == form
        joined = with_program(form, "0102")
        assert index_part(joined) == json.loads(form)
        assert json.loads(joined)[-1] == ["program", "residual", "0102"]
    assert predicate(with_program('[["price","<",500]]', "0102")) == "price < 500, and a residual program"


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
