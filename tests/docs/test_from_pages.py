"""Pages for people who come from other systems: predicates on them parse, and a message published there matches the
predicate that asks for it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tamis.protocol import dialects
from tamis.protocol.dialects.verdict import verdict
from tamis.protocol.evaluate import predicate_matches
from tamis.protocol.language import parse
from tamis.protocol.message_text import parse_message

PAGES = sorted((Path(__file__).parents[2] / "docs" / "from").glob("*.md"))
DIALECT = "--dialect="


def words(page: Path, command: str) -> list[tuple[str, list[str]]]:
    """The dialect, and the words that are no options, of each line with the command."""
    lines = re.findall(rf"^    tamis {command} (.*)$", page.read_text(), re.MULTILINE)
    split = [shlex.split(line) for line in lines]
    return [
        (
            next((word.removeprefix(DIALECT) for word in line if word.startswith(DIALECT)), ""),
            [word for word in line if not word.startswith("--")],
        )
        for line in split
    ]


def wants(dialect: str, text: str, attributes: dict[str, object]) -> bool | None:
    if dialect:
        return verdict(dialects.get(dialect).translate(text), attributes)
    return predicate_matches(parse(text), attributes)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_predicates_parse(page: Path) -> None:
    asked = words(page, "sub")
    assert asked
    for dialect, [text] in asked:
        found = dialects.get(dialect).translate(text).predicate if dialect else parse(text)
        assert found.filters


@pytest.mark.parametrize("page", [page for page in PAGES if words(page, "pub")], ids=lambda page: page.stem)
def test_what_is_published_is_what_is_asked_for(page: Path) -> None:
    [(dialect, published)] = words(page, "pub")
    attributes = dialects.get(dialect).attributes(json.loads(published[0])) if dialect else parse_message(published)
    for asked, [text] in words(page, "sub"):
        assert wants(asked, text, attributes), text


def test_pages_of_dialects_show_filters_of_their_own() -> None:
    shown = {page.stem: {dialect for dialect, _ in words(page, "sub")} for page in PAGES}
    assert {name: shown[name] - {""} for name in dialects.names() if name in shown} == {
        "cloudevents": {"cloudevents", "cesql"},
        "eventbridge": {"eventbridge"},
        "jms": {"jms"},
        "mqtt": set(),
        "nats": set(),
    }
