"""The index by reader leads to every page, and decisions say when they were made."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INDEX = (ROOT / "docs" / "README.md").read_text()
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))


def _links(page: Path) -> set[Path]:
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text())
    return {(page.parent / link).resolve() for link in links if not re.match(r"[a-z]+:", link)}


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    pages = {path for path in (ROOT / "docs").rglob("*.md") if path != index}
    assert not {str(page.relative_to(ROOT)) for page in pages - _links(index)}


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_a_decision_has_a_number_a_date_and_a_row(page: Path) -> None:
    number, title, date = re.match(r"# (\d+)\. (.*)\n\n\*Decided (\d{4}-\d\d-\d\d)\.\*\n", page.read_text()).groups()
    assert int(number) == int(page.stem[:4])
    assert f"| {number} | {date} | [{title}](decisions/{page.name}) |\n" in INDEX


def test_numbers_of_decisions_are_given_once() -> None:
    numbers = [page.stem[:4] for page in DECISIONS]
    assert len(numbers) == len(set(numbers)) > 0
