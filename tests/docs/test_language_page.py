"""The reference page of the language says what the code does: its examples are run, its tables compared."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tamis.protocol import limits
from tamis.protocol.dialects.tamis.tamis import translate
from tamis.protocol.dialects.verdict import verdict
from tamis.protocol.errors import MessageTextError, PredicateError, SyntaxRefused
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import Op
from tamis.protocol.json_form import decode_filter
from tamis.protocol.language import compile_text, format_predicate, literals, parse
from tamis.protocol.language.kinds import FUNCTIONS
from tamis.protocol.language.tree import FOLDED
from tamis.protocol.message_text import parse_message
from tamis.protocol.normal import normalize

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "language.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)\n```$", PAGE, re.DOTALL | re.MULTILINE)


def with_what_follows(language: str) -> list[tuple[str, list[str]]]:
    """Each line at the margin with the indented lines below it."""
    lines = [line for block in blocks(language) for line in block.splitlines() if line]
    starts = [number for number, line in enumerate(lines) if not line.startswith(" ")]
    pieces = zip(starts, [*starts[1:], len(lines)], strict=True)
    return [(lines[start], [line.strip() for line in lines[start + 1 : end]]) for start, end in pieces]


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
    assert verdict(translate(predicate), attributes) is (answer == "yes")


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
    assert {Op(name) for (name,) in (code(row[0]) for row in rows)} == set(Op)
    for spelled, same in ((code(row[0]), code(row[1])) for row in rows):
        [name] = spelled
        for synonym in same:
            assert parse(f"x {synonym} 'a'") == parse(f"x {name} 'a'")


@pytest.mark.parametrize("row", table("When a condition holds"), ids=lambda row: row[0])
def test_the_kinds_an_operator_takes(row: list[str]) -> None:
    [name], takes = code(row[0]), row[2]
    texts = {"boolean": "true", "number": "1", "string": "'a'"}
    for kind, operand in texts.items():
        allowed = kind in takes or "any" in takes
        written = {"in": f"{{{operand}}}", "between": f"{operand} and {operand}"}.get(name, operand)
        if name == "exists":
            assert takes.startswith("none")
        elif allowed:
            parse(f"x {name} {written}")
        else:
            with pytest.raises(PredicateError, match=f"operator {name} takes"):
                parse(f"x {name} {written}")


def test_every_function_and_folding_operator_is_listed() -> None:
    listed = " ".join(cell for row in table("Computed conditions") for cell in row)
    assert set(re.findall(r"`(\w+)\(", listed)) == set(FUNCTIONS)
    assert {f"x {operator} " for operator in FOLDED} == set(re.findall(r"x ~\S+ ", listed))


@pytest.mark.parametrize("row", table("Computed conditions"), ids=lambda row: row[0])
def test_what_is_computed_is_refused_where_a_predicate_is_exact(row: list[str]) -> None:
    text = next(each for each in code(row[0]) if re.search(r"[<=>]| in ", each) or "(" in each)
    text = text if re.search(r"[<=>]| in ", text) else f'{text} = "a"'
    assert translate(text).residual is not None
    with pytest.raises(PredicateError, match="a predicate must be exact here"):
        parse(text)


def test_every_word_that_joins_and_how_it_is_also_read() -> None:
    for word, signs in table("Predicates"):
        before = "" if word == "`not`" else "a = 1"
        for sign in code(signs):
            assert parse(f"{before} {sign} b = 2") == parse(f"{before} {word.strip('`')} b = 2")


def test_the_reserved_words_are_listed() -> None:
    [listed] = re.findall(r"reserved in any case:\n(.*)\.", PAGE)
    assert set(code(listed)) == literals.RESERVED


@pytest.mark.parametrize("row", table("Strings"), ids=lambda row: row[0])
def test_an_escape(row: list[str]) -> None:
    names = {
        "a line feed": "\n",
        "a tabulator": "\t",
        "a carriage return": "\r",
        "the character 0": "\0",
        "a backslash": "\\",
        "a double quote": '"',
        "a single quote": "'",
        "a backtick": "`",
        "A, by two hexadecimal digits": "A",
        "é, by four": "é",
        "\U0001f600, by eight": "\U0001f600",
    }
    escape = row[0].strip("`").strip()
    assert literals.read_quoted(f'"{escape}"', 0) == names[row[1]]


def test_every_limit_of_the_language_is_listed_with_its_number() -> None:
    rows = table("Limits")
    for _, most, name in rows:
        assert int(re.sub(r"[^-0-9]", "", most)) == getattr(limits, name.strip("`"))
    language = Path(limits.__file__).read_text().partition("# --- the wire")[0]
    assert {name.strip("`") for *_, name in rows} >= set(re.findall(r"^([A-Z_]+) =", language, re.MULTILINE))


def test_every_link_leads_to_a_heading() -> None:
    headings = re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]*)\)", PAGE)) <= anchors
