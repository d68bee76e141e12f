"""How an error in a text is shown: the line, cut where it is long, and a caret below the column."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tamis.protocol.errors import CARET_LINE_CHARACTERS_MAX, MessageTextError, PredicateError, SyntaxRefused
from tamis.protocol.language import parse
from tamis.protocol.message_text import parse_message_text


def caret_of(line: str, column: int) -> tuple[str, str]:
    shown, caret = SyntaxRefused("wrong", line, 1, column).caret.split("\n")
    return shown, caret


def test_a_line_that_fits_is_shown_whole() -> None:
    line = "x" * CARET_LINE_CHARACTERS_MAX
    assert caret_of(line, 1) == (line, "^")
    assert caret_of(line, len(line) + 1) == (line, " " * len(line) + "^")


@pytest.mark.parametrize(
    ("at", "start"), [(0, 0), (59, 0), (61, 1), (500, 440), (939, 879), (940, 880), (999, 880), (1000, 880)]
)
def test_a_long_line_is_cut_around_the_caret(at: int, start: int) -> None:
    line = "".join(chr(0x4E00 + n) for n in range(1000))  # every character tells its place
    shown, caret = caret_of(line, at + 1)
    end = start + CARET_LINE_CHARACTERS_MAX
    assert shown == "..." * (start > 0) + line[start:end] + "..." * (end < 1000)
    assert shown[len(caret) - 1 : len(caret)] == line[at : at + 1]


@given(st.text("a\t\u4e00", max_size=400), st.data())
@example("\t" * 400, None)
def test_the_caret_stands_below_its_character(line: str, data: st.DataObject | None) -> None:
    at = data.draw(st.integers(0, len(line))) if data else 200
    shown, caret = caret_of(line, at + 1)
    lead = caret.removesuffix("^")
    assert [c == "\t" for c in lead] == [c == "\t" for c in shown[: len(lead)]]
    assert shown[len(lead) : len(lead) + 1] == line[at : at + 1]
    assert len(shown) <= CARET_LINE_CHARACTERS_MAX + len("......")


def test_errors_stay_short_whatever_the_text() -> None:
    with pytest.raises(PredicateError) as refused:
        parse(" or ".join(f"attribute{n} = {n}" for n in range(30)) + " => " + "x" * 60_000)
    assert len(str(refused.value)) < 600
    with pytest.raises(MessageTextError) as refused_message:
        parse_message_text('x="' + "a" * 60_000)
    assert len(str(refused_message.value)) < 400


def test_the_line_is_the_one_of_the_mistake() -> None:
    with pytest.raises(PredicateError) as refused:
        parse("x = 1\nand\ty => 2")
    assert refused.value.caret == "and\ty => 2\n   \t  ^"
