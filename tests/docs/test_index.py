"""The index by reader leads to every page, and decisions say when they were made."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INDEX = (ROOT / "docs" / "README.md").read_text()
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))
LINES_MAX = 29
PARTS = ["Context", "Decision", "Rejected", "Consequences"]
CITED_IN = (
    "analysis",
    "bench",
    "configs",
    "docs",
    "native",
    "papers",
    "protocol",
    "router",
    "serving",
    "simulate",
    "tamis",
    "tests",
)


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


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_a_decision_is_short_and_says_what_was_rejected(page: Path) -> None:
    text = page.read_text()
    assert re.findall(r"^\*\*(\w+)\.\*\*", text, re.MULTILINE) == PARTS
    assert text.count("\n") <= LINES_MAX


def test_decisions_that_code_and_pages_cite_are_there() -> None:
    files = (
        path
        for folder in CITED_IN
        for path in (ROOT / folder).rglob("*.*")
        if path.suffix in (".py", ".c", ".h", ".md")
    )
    cited = {path: _decisions_cited_in(path.read_text()) for path in (*files, *ROOT.glob("*.md"))}
    there = {int(page.stem[:4]) for page in DECISIONS}
    assert sum(map(len, cited.values())) > len(there)
    assert not {str(path.relative_to(ROOT)): gone for path, numbers in cited.items() if (gone := numbers - there)}


def _decisions_cited_in(text: str) -> set[int]:
    """Return the numbers that stand as in `decision 9` and `docs/decisions/0009`."""
    return {int(number) for number in re.findall(r"(?:\b[Dd]ecision\s|decisions/)(\d+)", text)}
