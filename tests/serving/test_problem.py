"""Problems as RFC 9457 has them."""

from __future__ import annotations

import json

import pytest

from tamis.protocol.errors import PredicateError
from tamis.protocol.language import parse
from tamis.serving.answers import Answer, problem_answer, written
from tamis.serving.problem import Problem, problem_of


def test_a_problem_says_what_it_has():
    answer = problem_answer(Problem("slow-down", 429, "too fast", headers=(("Retry-After", "2"),)))
    assert (answer.status, answer.content_type, answer.headers) == (
        429,
        "application/problem+json",
        (("Retry-After", "2"),),
    )
    assert json.loads(answer.body) == {
        "type": "urn:tamis:problem:slow-down",
        "title": "Too Many Requests",
        "status": 429,
        "detail": "too fast",
    }


def test_a_predicate_that_does_not_parse_is_shown_with_its_place():
    with pytest.raises(PredicateError) as caught:
        parse("price => 5")
    form = problem_of(caught.value, "predicate").form()
    assert (form["type"], form["status"], form["line"]) == ("urn:tamis:problem:predicate", 400, 1)
    assert form["column"] == caught.value.column
    assert form["detail"].startswith(f"line 1, column {caught.value.column}: ")
    assert form["caret"].splitlines()[0] == "price => 5"


def test_text_that_is_no_unicode_is_written_all_the_same():
    assert json.loads(problem_answer(Problem("x", 400, "a\ud800b")).body)["detail"] == "a?b"


def test_a_line_break_in_a_header_is_a_bug():
    with pytest.raises(ValueError, match="line break"):
        written(Answer(b"", headers=(("X", "a\r\nY: b"),)), False, False)
