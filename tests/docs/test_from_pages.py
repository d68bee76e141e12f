"""Pages for people who come from other systems: predicates on them parse, and a message published there matches the
predicate that asks for it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tamis.cli.main import main
from tamis.protocol.language import parse

PAGES = sorted((Path(__file__).parents[2] / "docs" / "from").glob("*.md"))


def words(page: Path, command: str) -> list[list[str]]:
    lines = re.findall(rf"^    tamis {command} (.*)$", page.read_text(), re.MULTILINE)
    return [[word for word in shlex.split(line) if not word.startswith("--")] for line in lines]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_predicates_parse(page: Path) -> None:
    asked = words(page, "sub")
    assert asked
    for [predicate] in asked:
        assert parse(predicate).filters


@pytest.mark.parametrize("page", [page for page in PAGES if words(page, "pub")], ids=lambda page: page.stem)
def test_what_is_published_is_what_is_asked_for(page: Path, capsys) -> None:
    [attributes], [[predicate]] = words(page, "pub"), words(page, "sub")
    assert main(["explain", predicate, *attributes]) == 0
    assert capsys.readouterr().out.startswith("match: yes")
