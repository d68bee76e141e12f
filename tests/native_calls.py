"""Who calls whom in the C, read from object files: the compiler knows what a macro or an inline function calls.

Law: every C file of the extension is compiled as it is, without optimisation, so that nothing is inlined, and with each
function in a section of its own, so that a relocation says which function calls. About ten seconds of CPU.
"""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
import tempfile
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import NamedTuple, TypeVar

from tests.trees import ROOT, sources

NATIVE = ROOT / "native"
_COMPILER = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()
_OBJECT = re.compile(r"^(\S+):\s+file format")
_SECTION = re.compile(r"^RELOCATION RECORDS FOR \[\.text\.(\w+)")
_RELOCATION = re.compile(r"^[0-9a-f]+ R_\S+\s+(?:\.text\.)?(\w+)")
_DEFINED = re.compile(r"^(\S+):[0-9a-f]+ ([tT]) (\w+)$")

Node = TypeVar("Node", bound=Hashable)
Group = TypeVar("Group", bound=Hashable)


class Function(NamedTuple):
    """A function of a file, by its path from native/. An inline function is one of each file that calls it."""

    file: str
    name: str


class Calls(NamedTuple):
    """What each function calls or takes the address of, and where each function with a prototype is defined."""

    of: Mapping[Function, set[Function]]
    defined: Mapping[str, str]


@cache
def calls() -> Calls:
    with tempfile.TemporaryDirectory() as folder:
        files = [path.relative_to(NATIVE).as_posix() for path in sources(NATIVE) if path.suffix == ".c"]
        objects = {f"{folder}/{number}.o": file for number, file in enumerate(files)}
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for done in pool.map(_compile, objects.values(), objects):
                assert done.returncode == 0, done.stderr
        names = _output("nm", "-A", *objects)
        relocations = _output("objdump", "-r", *objects)
    found = [match.groups() for match in map(_DEFINED.match, names) if match]
    defined = {name: objects[path] for path, kind, name in found if kind == "T"}
    own = {Function(objects[path], name) for path, _, name in found}
    return Calls(_calls(relocations, objects, own, defined), defined)


def between(graph: Mapping[Node, set[Node]], group: Callable[[Node], Group]) -> dict[Group, set[Group]]:
    """Which group of nodes has an arrow to which other."""
    arrows = defaultdict[Group, set[Group]](set)
    for node, others in graph.items():
        arrows[group(node)] |= {group(other) for other in others} - {group(node)}
    return dict(arrows)


def circles(graph: Mapping[Node, set[Node]]) -> set[frozenset[Node]]:
    """The sets of two or more nodes that reach each other."""
    reached = {node: _reached(graph, node) for node in graph}
    found = {frozenset(other for other in reached[node] if node in reached.get(other, ())) for node in graph}
    return {circle for circle in found if len(circle) > 1}


def _reached(graph: Mapping[Node, set[Node]], start: Node) -> set[Node]:
    found = set[Node]()
    ahead = set(graph[start])
    while ahead:
        found |= ahead
        ahead = {other for node in ahead for other in graph.get(node, ())} - found
    return found


def _compile(file: str, output: str) -> subprocess.CompletedProcess[str]:
    options = ("-std=c11", "-O0", "-w", "-ffunction-sections", f"-I{NATIVE}")
    command = [*_COMPILER, *options, "-c", str(NATIVE / file), "-o", output]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own files


def _output(*command: str) -> list[str]:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()  # noqa: S603


def _calls(
    relocations: list[str], objects: Mapping[str, str], own: set[Function], defined: Mapping[str, str]
) -> Mapping[Function, set[Function]]:
    found = defaultdict[Function, set[Function]](set)
    file, caller = "", None
    for line in relocations:
        if match := _OBJECT.match(line):
            file, caller = objects[match[1]], None
        elif line.startswith("RELOCATION"):
            section = _SECTION.match(line)
            caller = Function(file, section[1]) if section else None
        elif caller and (match := _RELOCATION.match(line)):
            name = match[1]
            called = Function(file, name) if Function(file, name) in own else Function(defined.get(name, ""), name)
            if called.file and called != caller:
                found[caller].add(called)
    return dict(found)
