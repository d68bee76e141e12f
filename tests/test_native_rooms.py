"""The arrows inside native/: which room may include and call which, and how the files of one may call each other.

A file is included by its path from native/, so that the line itself says which room it reaches into. Calls are read
from object files (tests/native_calls.py), as a function of another room can be declared and called without an include.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests import trees
from tests.native_calls import Function, between, calls, circles

NATIVE = Path(__file__).parent.parent / "native"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)

# room -> the rooms that its files may include and call, itself left out; "." is native/ itself: tm.h and tm_*api.h.
# A new room is a row here.
LOW = {".", "base", "model"}
ENGINE = LOW | {"table", "engines", "engines/boxes"}
PATHS = ENGINE | {"engines/onepath/values"}
CONNECTIONS = LOW | {"switch/connections"}
SUBSCRIBERS = CONNECTIONS | {"table", "residual", "switch/subscribers"}
OBSERVE = SUBSCRIBERS | {"records", "switch/observe"}
MATCHING = OBSERVE | {"network", "switch/matching"}
FORWARDING = MATCHING | {"switch/forwarding"}
ACCESS = {"switch/access"}
DURABLE = FORWARDING | ACCESS | {"log", "switch", "durable/tables", "durable/core", "durable/custody"}
ARROWS = {
    ".": set(),
    "base": {"."},
    "model": {".", "base"},
    "table": {".", "base", "model"},
    "engines/boxes": {".", "base", "model"},
    "engines/papers": {".", "base", "model", "table", "engines", "engines/boxes"},
    "engines/onepath/values": ENGINE,
    "engines/onepath/paths": PATHS,
    "engines/onepath/cost": PATHS | {"engines/onepath/paths"},
    "engines/onepath/placing": PATHS | {"engines/onepath/paths", "engines/onepath/cost"},
    "engines/onepath/covering": PATHS | {"engines/onepath/paths"},
    "engines/onepath/matching": PATHS | {"engines/onepath/paths", "engines/onepath/cost"},
    "engines/onepath": PATHS | {f"engines/onepath/{room}" for room in ("paths", "placing", "covering", "matching")},
    "engines/interval": {".", "base", "model", "table", "engines", "engines/papers"},
    "engines/pst": {".", "base", "model", "table", "engines", "engines/papers"},
    "engines": {".", "base", "model", "table"},
    "covering": {".", "base", "model", "table", "engines"},
    "network": {".", "base", "table"},
    "records": {".", "base", "model"},
    "residual": LOW,
    "relay/codecs": LOW,
    "log": {".", "base", "model", "residual", "table"},
    "switch/connections": LOW,
    "switch/subscribers": CONNECTIONS | {"table", "residual"},
    "switch/observe": SUBSCRIBERS | {"records"},
    "switch/matching": OBSERVE | {"network"},
    "switch/forwarding": MATCHING | ACCESS,
    "switch/access": MATCHING,
    "switch": FORWARDING | ACCESS | {"durable/tables"},  # an ACK or a CREDIT for a home elsewhere is read
    "durable/tables": LOW | {"log"},
    "durable/core": FORWARDING | {"log", "switch", "durable/tables"},
    "durable/custody": FORWARDING | {"log", "switch", "durable/tables", "durable/core"},
    "durable/messages": DURABLE,
    "durable/consumers": DURABLE | {"durable/messages"},
    "durable/start": DURABLE | {"durable/messages"},
    "durable": DURABLE | {"durable/messages", "durable/consumers", "durable/start"},
}

# Rooms of one struct, which is made of types of all of them: they include each other's headers, and call by the table.
STATES = ("switch", "durable", "engines/onepath")


def _sources() -> list[Path]:
    """Every C file that is compiled into the extension."""
    found = [path for path in NATIVE.rglob("*.[ch]") if path.name != "_tm.c"]
    return sorted(path for path in found if path.relative_to(NATIVE).parts[0] != "tests")


def _room(path: Path) -> str:
    return path.relative_to(NATIVE).parent.as_posix()


def _included(path: Path) -> Iterator[Path]:
    yield from (NATIVE / name for name in INCLUDE.findall(path.read_text()))


def _is_one_state(room: str, other: str) -> bool:
    return any(f"{room}/".startswith(f"{state}/") and f"{other}/".startswith(f"{state}/") for state in STATES)


def test_every_c_file_stands_in_a_room() -> None:
    assert {_room(path) for path in _sources()} == set(ARROWS)


@pytest.mark.parametrize("room", ARROWS)
def test_rooms_include_one_way(room: str) -> None:
    for path in _sources():
        for included in _included(path) if _room(path) == room else ():
            assert included.exists(), f"{path}: no {included.relative_to(NATIVE)}; includes are paths from native/"
            is_allowed = _room(included) in ARROWS[room] | {room} or _is_one_state(room, _room(included))
            assert is_allowed, f"{path} includes {included.relative_to(NATIVE)}"


def test_no_two_rooms_include_each_other() -> None:
    done: set[str] = set()
    while ready := {room for room, others in ARROWS.items() if room not in done and others <= done}:
        done |= ready
    assert done == set(ARROWS), f"in a circle: {set(ARROWS) - done}"


def _room_of(function: Function) -> str:
    return Path(function.file).parent.as_posix()


@pytest.mark.slow
def test_rooms_call_one_way() -> None:
    for caller, called in calls().of.items():
        for function in called:
            is_allowed = _room_of(function) in ARROWS[_room_of(caller)] | {_room_of(caller)}
            assert is_allowed, f"{caller.file}: {caller.name} calls {function.name} of {function.file}"


@pytest.mark.slow
def test_no_files_call_each_other_in_a_circle() -> None:
    """As no two rooms call each other, a circle would be inside one."""
    assert circles(between(calls().of, lambda function: function.file)) == set()


@pytest.mark.slow
def test_no_functions_of_several_files_call_each_other_in_a_circle() -> None:
    """A file of a recursion cannot be understood without the others."""
    found = [sorted(circle) for circle in circles(calls().of)]
    assert [circle for circle in found if len({function.file for function in circle}) > 1] == []


@pytest.mark.slow
def test_a_header_declares_at_most_two_files() -> None:
    """The doors to Python are cut by reader instead."""
    defined = calls().defined
    wide = set[str]()
    for path in _sources():
        name = path.relative_to(NATIVE).as_posix()
        declared = {defined[word] for word in _declared(path.read_text()) if word in defined}
        if path.suffix == ".h" and _room(path) != "." and len(declared) > 2:
            wide.add(name)
    assert wide == set()


def _declared(text: str) -> list[str]:
    """Words in front of a parenthesis, outside of comments, macros and bodies."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    text = re.sub(r"^\s*#(.*\\\n)*.*$", "", text, flags=re.MULTILINE)
    while (outer := re.sub(r"\{[^{}]*\}", ";", text)) != text:
        text = outer
    return re.findall(r"(\w+)\s*\(", text)


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
