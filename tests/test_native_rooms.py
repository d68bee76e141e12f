"""The arrows inside native/: which room may include which, read from the #include lines.

A file is included by its path from native/, so that the line itself says which room it reaches into.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests import trees

NATIVE = Path(__file__).parent.parent / "native"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)

# room -> the rooms that its files may include, itself left out; "." is native/ itself: tm.h and tm_*api.h
ARROWS = {
    ".": set(),
    "base": {"."},
    "model": {".", "base"},
    "table": {".", "base", "model"},
    "engines/boxes": {".", "base", "model"},
    "engines/papers": {".", "base", "model", "table", "engines", "engines/boxes"},
    "engines/onepath": {".", "base", "model", "table", "engines", "engines/boxes"},
    "engines/interval": {".", "base", "model", "table", "engines", "engines/papers"},
    "engines/pst": {".", "base", "model", "table", "engines", "engines/papers"},
    "engines": {".", "base", "model", "table"},
    "covering": {".", "base", "model"},
    "network": {".", "base", "table"},
    "records": {".", "base", "model"},
    "log": {".", "base", "model"},
    "keeps": {".", "base", "model"},
    "switch": {".", "base", "model", "table", "network", "records", "keeps"},
}


def _sources() -> list[Path]:
    """Every C file that is compiled into the extension."""
    found = [path for path in NATIVE.rglob("*.[ch]") if path.name != "_tm.c"]
    return sorted(path for path in found if path.relative_to(NATIVE).parts[0] != "tests")


def _room(path: Path) -> str:
    """The folder, or the one of ARROWS that it is a part of."""
    folder = path.relative_to(NATIVE).parent
    return next(each.as_posix() for each in (folder, *folder.parents) if each.as_posix() in ARROWS)


def _included(path: Path) -> Iterator[Path]:
    yield from (NATIVE / name for name in INCLUDE.findall(path.read_text()))


def test_every_c_file_stands_in_a_room() -> None:
    assert {_room(path) for path in _sources()} == set(ARROWS)


@pytest.mark.parametrize("room", ARROWS)
def test_rooms_include_one_way(room: str) -> None:
    for path in _sources():
        for included in _included(path) if _room(path) == room else ():
            assert included.exists(), f"{path}: no {included.relative_to(NATIVE)}; includes are paths from native/"
            assert _room(included) in ARROWS[room] | {room}, f"{path} includes {included.relative_to(NATIVE)}"


def test_no_two_rooms_include_each_other() -> None:
    done: set[str] = set()
    while ready := {room for room, others in ARROWS.items() if room not in done and others <= done}:
        done |= ready
    assert done == set(ARROWS), f"in a circle: {set(ARROWS) - done}"


def test_no_header_includes_itself() -> None:
    headers = {path: set(_included(path)) for path in _sources() if path.suffix == ".h"}
    try:
        TopologicalSorter(headers).prepare()
    except CycleError as error:
        pytest.fail(f"headers include each other in a circle: {error.args[1]}")


def test_clocks_are_asked_in_one_place() -> None:
    assert [_room(path) + "/" + path.name for path in _sources() if "clock_gettime" in path.read_text()] == [
        "base/clock.c"
    ]


def test_rulers_are_short() -> None:
    """A ruler that fills the line is broken in two by clang-format as soon as its text grows."""
    for path in _sources():
        for line in path.read_text().splitlines():
            assert not line.startswith("/* ----") or re.fullmatch(r"/\* ---- .*[^-] ---- \*/", line), f"{path}: {line}"


def test_other_builds_look_at_every_room() -> None:
    """A build with sanitizers is made again after a change of any of these."""
    assert set(_sources()) < set(trees.sources(NATIVE))
