"""The language of Tamis with computed conditions: what the index has of them, what the program, and what is refused."""

from __future__ import annotations

import pytest

from tamis.protocol.dialects.tamis.tamis import translate
from tamis.protocol.dialects.verdict import verdict
from tamis.protocol.dialects.widen import TOO_LARGE
from tamis.protocol.errors import PredicateError
from tamis.protocol.language import compile_text, format_predicate
from tamis.protocol.residual import in_words


def program(text: str) -> str:
    found = translate(text).residual
    assert found is not None
    return in_words(found)


@pytest.mark.parametrize(
    "text",
    ["x = 1", "not (x = 1 or y < 2)", "x = 1 or y = 1 and y = 2", "x like 'a%a'", "x not in {1}", "5 < x and true"],
)
def test_without_computed_conditions_a_text_means_what_it_means_elsewhere(text: str) -> None:
    found, known = translate(text), compile_text(text)
    assert (found.predicate, found.warnings, found.exact) == (known.predicate, known.warnings, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('sym = "A" and price * qty > 1000', "price * qty > 1000"),
        ('sym = "A" and (n > 2 or a < b) and c < d', "(n > 2 or a < b) and c < d"),
        ('sym = "A" or price * (qty + 1) > 1000', 'sym = "A" or price * (qty + 1) > 1000'),
        ("not (a < b)", "not a < b or unknown"),
        ("x not like 'a%b%'", 'not (exists x and x like "a%b%")'),
        ("a between b and c", "a >= b and a <= c"),
    ],
)
def test_a_program_has_what_the_predicate_leaves_undecided(text: str, said: str) -> None:
    assert program(text) == said


def test_an_index_by_folded_values_narrows_what_ignores_case() -> None:
    text = 'kind = "a" and (name ~= "Bob" or name ~^= "É" or lower(name) = "y") and not (name ~$= "X")'
    found = translate(text)
    assert found.indexed is not None
    assert format_predicate(found.indexed) == (
        'kind = "a" and `name~` = "bob" or kind = "a" and `name~` prefix "é" or kind = "a" and `name~` = "y"'
    )
    assert program(text).startswith('kind = "a" and '), "it decides alone"
    assert translate('not (name ~= "Bob")').indexed is None


def test_beyond_the_limits_of_a_predicate_one_with_a_program_is_widened() -> None:
    text = " and ".join(f"(a{number} = 1 or b{number} = 2)" for number in range(9))
    with pytest.raises(PredicateError, match="more than 64 filters"):
        translate(text)
    found = translate(f"{text} and x < y")
    assert TOO_LARGE in found.needs
    message = {f"a{number}": 1 for number in range(9)} | {"x": 1, "y": 2}
    assert verdict(found, message) is True
    assert verdict(found, message | {"a8": 2}) is False
    assert verdict(found, message | {"y": 1}) is False


@pytest.mark.parametrize(
    ("text", "column", "sentence"),
    [
        ("true and " + " or ".join(f"a{number} < b{number}" for number in range(60)), 10, "program of this predicate"),
        ("x = 1 and y ~= '" + "a" * 1_025 + "'", 11, "texts of 1024 bytes"),
        ("x < 1 and x > 2 and a < b", 11, "this can never match"),
        ("a = b" + " + a" * 65, 263, "an expression nests at most 64 deep"),
    ],
)
def test_what_is_too_large_or_contradicts_itself_is_refused_at_its_place(text: str, column: int, sentence: str) -> None:
    with pytest.raises(PredicateError) as caught:
        translate(text)
    assert sentence in caught.value.problem
    assert caught.value.column == column


def test_a_string_without_quotes_may_be_meant() -> None:
    assert translate("class = alert").warnings == ("`alert` is an attribute here; a string stands in quotes",)
    assert translate("a < b").warnings == ()
