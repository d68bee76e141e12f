"""The reference page of the dialects says what the code does: every row of its tables is run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tamis.cli.main import main
from tamis.protocol import dialects
from tamis.protocol.errors import DialectError
from tamis.protocol.language import format_predicate

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "dialects.md").read_text()
SECTIONS = dict(part.partition("\n")[::2] for part in PAGE.split("\n## ")[1:])


def rows(section: str, head: str) -> list[list[str]]:
    """The cells of the rows of a table whose first column is `head`."""
    below = section.partition(f"\n| {head} |")[2]
    found = re.match(r".*\n\|---.*\n((?:\|.*\n?)+)", below)
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in (found[1] if found else "").splitlines()]
    return [[cell.strip().replace("\\|", "|") for cell in row] for row in cells]


def code(cell: str) -> str:
    """The first code of a cell; one with backticks in it stands between two, and blanks."""
    found = re.search(r"``\s?(.*?)\s?``|`([^`]*)`", cell)
    return found[1] or found[2]


TRANSLATED = [(name, row) for name in dialects.names() for row in rows(SECTIONS[name], "filter")]
REFUSED = [(name, row) for name in dialects.names() for row in rows(SECTIONS[name], "refused")]


def test_each_dialect_has_its_tables() -> None:
    assert {name for name, _ in TRANSLATED} == set(dialects.names())
    assert REFUSED


PRINTED = [block.splitlines() for block in re.findall(r"(?:^    .*\n)+", PAGE, re.MULTILINE)]


@pytest.mark.parametrize("block", PRINTED, ids=lambda block: block[0].strip())
def test_a_command_prints_what_is_shown(block: list[str], capsys) -> None:
    command, *said = (line[4:] for line in block)
    words = shlex.split(command)
    assert words[:2] == ["$", "tamis"]
    assert main(words[2:]) == 0
    assert capsys.readouterr().out.splitlines() == said


@pytest.mark.parametrize(("name", "row"), TRANSLATED, ids=[f"{name}: {row[0]}" for name, row in TRANSLATED])
def test_a_filter_becomes_its_predicate(name: str, row: list[str]) -> None:
    text, predicate, needs = row
    found = dialects.get(name).translate(code(text))
    assert format_predicate(found.predicate) == code(predicate)
    assert "; ".join(found.needs) == needs


@pytest.mark.parametrize(("name", "row"), REFUSED, ids=[f"{name}: {row[0]}" for name, row in REFUSED])
def test_a_refused_filter_has_another_that_is_taken(name: str, row: list[str]) -> None:
    with pytest.raises(DialectError):
        dialects.get(name).translate(code(row[0]))
    dialects.get(name).translate(code(row[1]))
