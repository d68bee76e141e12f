"""The table of rooms on the page of the architecture: how large each folder is, by which file it is used from outside,
and how many files of ours its widest file reaches.

    python -m tests.docs.rooms        writes the table into docs/design/architecture.md
    python -m tests.docs.rooms LINES  prints the lines of the product, without tests, benches, papers and their engines

Law: Python is read by its imports, C by its includes. Lines that are generated are not counted.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "design" / "architecture.md"
BEGIN, END = "<!-- made by python -m tests.docs.rooms -->\n", "<!-- end of the rooms -->\n"
PYTHON = ("protocol", "native", "configs", "router", "simulate", "analysis", "testing", "bench", "papers", "tamis")
PAPERS_ENGINES = ("native/engines/papers", "native/engines/interval", "native/engines/pst")
NOT_PRODUCT = ("bench", "papers", *PAPERS_ENGINES)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


class Room(NamedTuple):
    folder: str
    files: int
    lines: int
    door: str
    """The file that other rooms import or include most."""
    reach: int
    """Files of ours that one file of the room reaches at most, itself included."""


def rooms() -> list[Room]:
    """Every folder with code of the product, the papers and the benchmarks."""
    files = _files()
    wanted: dict[str, Counter[str]] = {}
    for file in files:
        for other in sorted(_arrows(file)):
            if other.parent != file.parent:
                wanted.setdefault(_folder(other), Counter())[other.name] += 1
    found = []
    for folder in sorted({_folder(file) for file in files}):
        own = [file for file in files if _folder(file) == folder]
        door = wanted.get(folder, Counter[str]()).most_common(1)
        lines = sum(len(file.read_text().splitlines()) for file in own if not _is_generated(file))
        reach = max(len(reached(file)) for file in own)
        found.append(Room(folder, len(own), lines, door[0][0] if door else "", reach))
    return found


def reached(file: Path) -> set[Path]:
    """Return the files of ours that `file` reaches: itself, those that it imports or includes, and so on. What is
    imported for types alone counts, as a reader has to know it."""
    found, ahead = {file}, [file]
    while ahead:
        new = _arrows(ahead.pop()) - found
        found |= new
        ahead += new
    return found


def product_lines() -> int:
    """The lines of the product, without tests, benches, `papers/` and the papers' engines."""
    return sum(room.lines for room in rooms() if not room.folder.startswith(NOT_PRODUCT))


def table() -> str:
    """The table as text, with lines to the next hundred: a page need not change with every line of code."""
    head = "| room | files | lines | door | reach |\n|---|---|---|---|---|\n"
    rows = (f"| `{r.folder}/` | {r.files} | {-(-r.lines // 100) * 100:,} | `{r.door}` | {r.reach} |\n" for r in rooms())
    return head + "".join(rows).replace("``", "")


def _is_generated(file: Path) -> bool:
    """Whether the first line of the file says so."""
    with file.open() as text:
        return text.readline().startswith('"""Generated ')


def _folder(file: Path) -> str:
    return file.parent.relative_to(ROOT).as_posix()


def _python_files() -> Iterator[Path]:
    for top in PYTHON:
        yield from (path for path in (ROOT / top).rglob("*.py") if "tests" not in path.relative_to(ROOT).parts)


def _c_files() -> Iterator[Path]:
    for path in (ROOT / "native").rglob("*.[ch]"):
        if path.name != "_tm.c" and "tests" not in path.relative_to(ROOT).parts:
            yield path


@cache
def _files() -> tuple[Path, ...]:
    return *sorted(_python_files()), *sorted(_c_files())


@cache
def _modules() -> dict[str, Path]:
    return {_module(file): file for file in _files() if file.suffix == ".py"}


@cache
def _arrows(file: Path) -> set[Path]:
    """Return the files of ours that `file` imports or includes."""
    if file.suffix == ".py":
        return {_modules()[name] for name in _imported(file) if name in _modules()}
    named = (ROOT / "native" / name for name in INCLUDE.findall(file.read_text()))
    return {path for path in named if path in _files()}


def _module(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    parts = parts if parts[0] == "tamis" else ("tamis", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from [name for name in names if name in _modules()] or [node.module]


def renewed(page: str) -> str:
    """The page with the table of now."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + "\n" + table() + "\n" + END + rest.partition(END)[2]


if __name__ == "__main__":
    if sys.argv[1:]:
        print(product_lines())
    else:
        PAGE.write_text(renewed(PAGE.read_text()))
