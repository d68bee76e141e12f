"""Messages as they are written on a command line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.protocol import limits
from tamis.protocol.errors import MessageTextError
from tamis.protocol.message_text import format_attributes, parse_attributes, parse_message, parse_message_text
from tamis.protocol.values import Value
from tests.strategies import wide_names, wide_values


def typed(attributes: dict[str, Value]) -> list[tuple[str, type, Value]]:
    return [(name, type(value), value) for name, value in attributes.items()]


# What stands for the value, and what it is, in one word and in a text alike.
VALUES: dict[str, Value] = {
    "alert": "alert",
    "6": 6,
    "-6": -6,
    "0x1F": 31,
    "-0x1f": -31,
    "0.5": 0.5,
    "1e3": 1000.0,
    "-0.0": -0.0,
    "true": True,
    "False": False,
    '"6"': "6",
    "'true'": "true",
    '"two words"': "two words",
    '"a=1 b=2"': "a=1 b=2",
    r'"\n\x41\u00e9\U0001F600\""': '\nAé\U0001f600"',
    "''": "",
    "": "",
    "007": "007",
    "+4912": "+4912",
    "1_000": "1_000",
    "1.2.3": "1.2.3",
    "0x": "0x",
    "nan": "nan",
    "-": "-",
    "it's": "it's",
    'say"hi"': 'say"hi"',
    "a=b": "a=b",
    "{1,2}": "{1,2}",
    r"C:\new": r"C:\new",
    "größe": "größe",
}


@pytest.mark.parametrize("written", VALUES)
def test_values(written: str) -> None:
    expected = typed({"x": VALUES[written]})
    assert typed(parse_attributes([f"x={written}"])) == expected
    assert typed(parse_message_text(f"x={written}")) == expected
    assert typed(parse_message_text(f" x={written}\t\n")) == expected


@pytest.mark.parametrize("name", ["class", "alert-type", "a.b:c/d@e", "in", "true", "größe", "_"])
def test_bare_names(name: str) -> None:
    assert parse_attributes([f"{name}=1"]) == parse_message_text(f"{name}=1") == {name: 1}


def test_the_example_of_the_module() -> None:
    words = ["class=alert", "severity=6", 'note="two words"', "ok=true", "ratio=0.5", "`odd name`=0x1F"]
    expected = {"class": "alert", "severity": 6, "note": "two words", "ok": True, "ratio": 0.5, "odd name": 31}
    assert parse_attributes(words) == expected
    assert parse_message_text(" ".join(words)) == expected
    assert parse_message(words) == parse_message(" ".join(words)) == expected


def test_a_shell_has_taken_the_quotes_away() -> None:
    assert parse_attributes(["note=two words", "x="]) == {"note": "two words", "x": ""}


def test_no_attributes_at_all() -> None:
    assert parse_attributes([]) == parse_message_text("") == parse_message_text(" \n") == parse_message([]) == {}


def test_json_is_accepted_where_a_message_is() -> None:
    expected = {"price": 300, "dest": "MXP"}
    assert parse_message(' {"price": 300, "dest": "MXP"}') == expected
    assert parse_message(['{"price": 300, "dest": "MXP"}']) == expected
    assert parse_message(['{"price":', "300,", '"dest":', '"MXP"}']) == expected


def test_json_that_is_wrong_is_a_mistake_in_the_text() -> None:
    with pytest.raises(MessageTextError) as caught:
        parse_message('{"a": 1,\n b}')
    assert (caught.value.line, caught.value.column) == (2, 2)
    for text in ('{"a": NaN}', '{"a": 1, "a": 2}', '{"a": [1]}', '{"a": "\\ud800"}'):
        with pytest.raises(MessageTextError) as caught:
            parse_message(text)
        assert (caught.value.line, caught.value.column, caught.value.text) == (1, 1, text)


@given(st.dictionaries(wide_names(), wide_values(), max_size=8))
def test_attributes_are_written_and_read_back(attributes: dict[str, Value]) -> None:
    text = format_attributes(attributes)
    assert typed(parse_message_text(text)) == typed(attributes)
    assert text.isprintable()


@given(wide_names(), wide_values())
def test_a_written_attribute_is_one_word(name: str, value: Value) -> None:
    assert typed(parse_attributes([format_attributes({name: value})])) == typed({name: value})


# the words, the column in the words joined by blanks, part of the problem, part of the hint
MISTAKES = [
    (["a"], 2, "expected `=` directly after the name", "name=value"),
    (["a", "=", "1"], 2, "expected `=`", "without blanks"),
    (["a=1", "b"], 6, "expected `=`", ""),
    (["=1"], 1, "expected the name of an attribute", "backticks"),
    (["3x=1"], 1, "expected the name of an attribute", "backticks"),
    ([""], 1, "expected the name of an attribute", ""),
    (["--json"], 1, "expected the name of an attribute", ""),
    (["a b=1"], 2, "expected `=`", ""),
    (["`a=1"], 1, "this name is not closed by `", ""),
    (["`a`b=1"], 4, "expected `=`", ""),
    (["``=1"], 1, "this one is empty", ""),
    (["n" * 257 + "=1"], 1, "name has at most 256 bytes", ""),
    (["a=" + "x" * 65_537], 3, "string has at most 65536 bytes", ""),
    (["a=1", "b=2", "a=3"], 9, "the name a appears twice", ""),
    (["class=alert severity=6"], 13, "a second attribute in the same word", "one attribute in a word"),
    (['a="x', 'y"'], 3, "this string is not closed", ""),
    (['a="x"y'], 6, "a word ends where its string ends", ""),
    (['a="x" b="y"'], 6, "a word ends where its string ends", ""),
    (['a="x\ty"'], 5, "a control character", "write \\t"),
    (['a="\\q"'], 4, "there is no escape \\q", ""),
    (["a=9223372036854775808"], 3, "outside 64 bits", '"9223372036854775808"'),
    (["a=-1e999"], 3, "beyond the largest float", '"-1e999"'),
    (["a=1", "b=\udcff"], 7, "not valid UTF-8", ""),
    ([f"a{n:02}=1" for n in range(65)], 64 * 6 + 1, "at most 64 attributes", ""),
]


@pytest.mark.parametrize(("words", "column", "problem", "hint"), MISTAKES, ids=lambda part: ascii(part)[:30])
def test_mistakes_in_words(words: list[str], column: int, problem: str, hint: str) -> None:
    with pytest.raises(MessageTextError) as caught:
        parse_attributes(words)
    error = caught.value
    assert (error.line, error.column, error.text) == (1, column, " ".join(words))
    assert problem in error.problem
    assert hint in error.hint


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("a=1 b", 1, 6, "expected `=`"),
        ("a = 1", 1, 2, "expected `=`"),
        ("a=1\n b=2 a=3", 2, 6, "the name a appears twice"),
        ("note=two words", 1, 15, "expected `=`"),
        ('a="x"b=1', 1, 6, "a blank is missing"),
        ('a="x', 1, 3, "not closed"),
        ("a=1 \udcff=1", 1, 5, "not valid UTF-8"),
        ("[1]", 1, 1, "expected the name"),
    ],
)
def test_mistakes_in_a_text(text: str, line: int, column: int, problem: str) -> None:
    with pytest.raises(MessageTextError) as caught:
        parse_message_text(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert problem in caught.value.problem


def test_as_many_attributes_as_allowed() -> None:
    words = [f"a{n}={n}" for n in range(limits.ATTRIBUTES_MAX)]
    assert len(parse_attributes(words)) == limits.ATTRIBUTES_MAX
