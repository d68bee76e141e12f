"""The pages about the code name files and links that are there."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.docs import native_files

ROOT = native_files.NATIVE.parent
C_FILES = ROOT / "docs" / "design" / "files.md"
HISTORY = {"CHANGELOG.md"}
"""Pages that say how things were when they were written."""
FOLDERS = "analysis|bench|configs|docs|native|papers|protocol|router|serving|simulate|tamis|testing|tests"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").rglob("*.md")])
CELL_MAX = 300
"""Characters of a table cell; what takes more is text below the table."""
by_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def _anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = (heading.replace("`", "").lower() for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE))
    return {re.sub(r"[^\w -]", "", heading).replace(" ", "-") for heading in headings}


def test_the_page_of_c_files_is_fresh() -> None:
    assert C_FILES.read_text() == native_files.page(), "run python -m tests.docs.native_files > docs/design/files.md"


def test_every_c_file_says_what_it_is_for() -> None:
    """A file may leave it to its header of the same name."""
    for path in native_files.sources():
        header = path.with_suffix(".h")
        assert native_files.purpose(path) or (header != path and header.exists()), f"{path}: /* {path.name} - what for"


@by_page
def test_links_lead_to_pages_and_headings(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if not re.match(r"[a-z]+:", link):
            name, _, anchor = link.partition("#")
            target = (page.parent / name) if name else page
            assert target.exists(), link
            assert not anchor or target.suffix != ".md" or anchor in _anchors(target), link


@by_page
def test_files_that_a_page_names_are_there(page: Path) -> None:
    """Sources by any end of their path, and what stands below a folder of the top by its whole path."""
    if page.name in HISTORY:
        return
    text = page.read_text()
    sources = set(re.findall(r"`((?:[\w-]+/)*[\w-]+\.(?:c|h|py))`", text)) - EXAMPLES
    assert not {name for name in sources if not any(file.endswith(f"/{name}") for file in _tree())}
    paths = set(re.findall(rf"`((?:{FOLDERS})/[\w./-]*)`", text)) - EXAMPLES
    assert not {name for name in paths - sources if not (ROOT / name).exists()}


@by_page
def test_cells_of_tables_are_short(page: Path) -> None:
    rows = [line for line in page.read_text().splitlines() if line.startswith("|")]
    assert not [cell for row in rows for cell in re.split(r"(?<!\\)\|", row) if len(cell) > CELL_MAX]


ROOM_PAGES = ("architecture", "durable", "engines", "glossary", "matcher", "simulator", "switch")
WORDS_MAX = 3_000
"""Words of a page about one room, without what is printed from code."""


@pytest.mark.parametrize("name", ROOM_PAGES)
def test_a_page_about_a_room_is_short(name: str) -> None:
    text = (ROOT / "docs" / "design" / f"{name}.md").read_text()
    by_hand = re.sub(r"<!-- made by .*?<!-- end of ", "", text, flags=re.DOTALL)
    assert len(by_hand.split()) <= WORDS_MAX


EXAMPLES = {
    *("hello.py", "deals.py", "native/engines/toy.c", "router/core/strategies/toy.py"),
    "native/tests/seeds/TARGET/",
}
"""Files that a page tells its reader to write, or whose place it names."""


@cache
def _tree() -> list[str]:
    """Return the sources below each folder, as `/native/tm.h`."""
    folders = (path for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith("."))
    sources = (path for folder in folders for path in folder.rglob("*.*") if path.suffix in (".c", ".h", ".py"))
    return [f"/{path.relative_to(ROOT)}" for path in (*sources, *ROOT.glob("*.py"))]
