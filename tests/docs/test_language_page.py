"""The reference page of the language says what the code does: its examples are run, its tables compared."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tamis.protocol import limits
from tamis.protocol.errors import MessageTextError, PredicateError, SyntaxRefused
from tamis.protocol.evaluate import filter_matches, predicate_matches
from tamis.protocol.filters import Op
from tamis.protocol.json_form import decode_filter
from tamis.protocol.language import compile_text, format_predicate, literals, parse
from tamis.protocol.message_text import parse_message
from tamis.protocol.normal import normalize

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "language.md").read_text()
OPERAND_OF = {Op.BETWEEN: '"a" and "b"', Op.IN: '{"a"}', Op.EXISTS: ""}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)\n```$", PAGE, re.DOTALL | re.MULTILINE)


def with_what_follows(language: str) -> Iterator[tuple[str, list[str]]]:
    """Each line at the margin with the indented lines below it."""
    lines = [line for block in blocks(language) for line in block.splitlines() if line]
    starts = [number for number, line in enumerate(lines) if not line.startswith(" ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield lines[start], [line.strip() for line in lines[start + 1 : end]]


def table(title: str) -> list[list[str]]:
    """The cells of the first table below a heading."""
    below = PAGE.partition(f"\n## {title}\n")[2]
    rows = re.search(r"^\|---.*\n((?:\|.*\n)+)", below, re.MULTILINE)
    assert rows
    cells = (re.split(r"(?<!\\)\|", line)[1:-1] for line in rows[1].splitlines())
    return [[cell.strip().replace("\\|", "|") for cell in row] for row in cells]


def code(cell: str) -> list[str]:
    return re.findall(r"(?<!`)`([^`]+)`", cell)


MATCHES = [(predicate, line) for predicate, lines in with_what_follows("match") for line in lines]
REFUSALS: list[tuple[str, Callable[[str], object], type[SyntaxRefused]]] = [
    *((block, parse, PredicateError) for block in blocks("refused")),
    *((block, parse_message, MessageTextError) for block in blocks("refused-message")),
]


def test_every_block_is_of_a_kind_that_is_run() -> None:
    opened = PAGE.splitlines()[PAGE.splitlines().index("```match") :]
    kinds = {line for line in opened if line.startswith("```")}
    known = ("match", "normal", "json-filter", "refused", "refused-message", "dropped")
    assert kinds == {"```", *(f"```{kind}" for kind in known)}
    assert all(blocks(kind) for kind in known)


@pytest.mark.parametrize(("predicate", "line"), MATCHES, ids=[f"{text} | {line}" for text, line in MATCHES])
def test_a_predicate_matches_as_it_says(predicate: str, line: str) -> None:
    answer, message = line.split(maxsplit=1)
    attributes = parse_message(re.sub(r"\s+# .*", "", message))
    assert answer in ("yes", "no")
    assert predicate_matches(parse(predicate), attributes) is (answer == "yes")


@pytest.mark.parametrize(("text", "said"), with_what_follows("normal"))
def test_a_normal_form(text: str, said: list[str]) -> None:
    assert [format_predicate(parse(text))] == said


@pytest.mark.parametrize(("form", "said"), with_what_follows("json-filter"))
def test_a_filter_in_json(form: str, said: list[str]) -> None:
    [text] = said
    assert parse(text).filters == (normalize(decode_filter(json.loads(form))),)


@pytest.mark.parametrize(("block", "read", "error"), REFUSALS)
def test_a_refusal(block: str, read: Callable[[str], object], error: type[SyntaxRefused]) -> None:
    text, _, said = block.partition("\n\n")
    with pytest.raises(error) as refused:
        read(text)
    assert str(refused.value) == said


@pytest.mark.parametrize("block", blocks("dropped"))
def test_a_warning(block: str) -> None:
    text, _, said = block.partition("\n\n")
    assert compile_text(text).warnings == (said,)


def test_a_contradiction_in_a_file_matches_nothing() -> None:
    assert not filter_matches(decode_filter([["x", "=", 1], ["x", "=", 2]]), {"x": 1})


def test_every_operator_and_how_it_is_also_read() -> None:
    rows = table("When a condition holds")
    assert [code(row[0]) for row in rows] == [[op.value] for op in (*COMPARISONS, *OTHERS)]
    assert {op for op in Op} == {*COMPARISONS, *OTHERS}
    for (name,), synonyms in ((code(row[0]), code(row[1])) for row in rows):
        op = Op(name)
        for spelled in (name, *synonyms):
            text = "exists x" if op is Op.EXISTS else f"x {spelled} {OPERAND_OF.get(op, '"a"')}"
            assert parse(text) == parse(f"{text} and true")
