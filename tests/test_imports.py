"""The arrows of the architecture: who may import whom, and what stays out of the pure parts.

Imports for types alone count as well: what a file names it has to know.

Read from the syntax trees, not from `sys.modules`: a library loading asyncio for itself is not our arrow.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
IMPURE = {
    "asyncio",
    "socket",
    "ssl",
    "select",
    "selectors",
    "time",
    "random",
    "os",
    "threading",
    "subprocess",
    "pydantic",
}

# folder -> the parts of Tamis that it may import, itself included
ARROWS = {
    "protocol": {"protocol"},
    "native": {"native", "protocol"},
    "configs": {"configs", "native", "protocol"},
    "serving": {"serving", "protocol"},
    "router": {"router", "serving", "native", "protocol", "configs"},
    "gateway": {"gateway", "serving", "client", "native", "protocol", "configs"},
    "simulate": {"simulate", "router", "protocol", "configs"},
    "analysis": {"analysis", "protocol", "configs", "native"},
    "testing": {"testing", "protocol", "router"},
    "bench": {
        "bench",
        "testing",
        "analysis",
        "blocking",
        "client",
        "native",
        "protocol",
        "configs",
        "router",
        "serving",
        "simulate",
    },
    "tamis": {
        "blocking",
        "cli",
        "client",
        "protocol",
        "native",
        "configs",
        "serving",
        "router",
        "gateway",
        "simulate",
        "analysis",
        "bench",
    },
}
ARROWS["papers"] = {*ARROWS["bench"], "papers"}
ARROWS["tamis"] |= {"papers"}  # `tamis reproduce`
CHECKOUT = ("bench", "papers")  # not in a wheel


# room of router/ -> the rooms that it may import besides itself. A file stands in the room with the longest name that
# fits; `daemon` is the ground on which all others stand, but for `daemon/daemon.py`, which puts them together.
CORE = {"core", "core/core", "core/statements", "core/strategies", "core/ways"}
ROOMS = {
    "core": {"core/ways"},
    "core/ways": {"core"},
    "core/statements": {"core", "core/ways"},
    "core/core": {"core", "core/statements", "core/ways"},
    "core/strategies": CORE,
    "daemon": {"core", "core/ways"},
    "connections": {"daemon"},
    "access": {"daemon"},
    "clients": {"daemon", "connections", "access"},
    "links": {"daemon", "connections", *CORE},
    "records": {"daemon", "connections", "access", "clients", "core", "core/ways"},
    "durable": {"daemon", "connections", "access", "clients", "core"},
    "remote": {"daemon", "connections", "access", "clients", "durable"},
    "admin": {"daemon", "connections", "access", "clients", "links", "durable", *CORE},
    "supervisor": {"daemon"},
    "daemon/start": {"daemon", "connections", "access", "clients", "links", "admin"},
    "daemon/daemon": {
        "daemon",
        "daemon/start",
        "connections",
        "access",
        "clients",
        "links",
        "records",
        "admin",
        "durable",
        "remote",
    },
}


def _sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


@cache
def _import_nodes(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """Every import statement of the file, wherever it stands; each file is parsed once for all tests."""
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)]


def _imported(path: Path) -> Iterator[str]:
    for node in _import_nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            assert node.level == 0, f"{path}: relative imports hide the arrow"
            yield node.module or ""
            if node.module == "tamis":
                yield from (f"tamis.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("folder", ARROWS)
def test_arrows_point_one_way(folder: str) -> None:
    assert _sources(folder)
    for path in _sources(folder):
        for name in _imported(path):
            root, _, rest = name.partition(".")
            assert root not in ("tests", *ARROWS) or root == "tamis", f"{path}: import {name} as tamis.{name}"
            if root == "tamis" and rest:
                part = rest.partition(".")[0]
                assert part in ARROWS[folder], f"{path} imports tamis.{rest}"


def _room(module: str) -> str:
    """Of a module of the router, such as `tamis.router.core.routing.paths`; empty for the package itself."""
    path = module.removeprefix("tamis.router").strip(".").replace(".", "/")
    fitting = [room for room in ROOMS if path == room or path.startswith(f"{room}/")]
    return max(fitting, key=len, default="")


def test_rooms_of_the_router_know_only_those_below_them() -> None:
    for path in _sources("router"):
        room = _room(_name(path))
        assert room or path.parent == ROOT / "router", f"{path} stands in no room"
        for name in _imported(path):
            if name.startswith("tamis.router."):
                assert _room(name) in {room, *ROOMS.get(room, ())}, f"{path} of {room} imports {name} of {_room(name)}"


# room of simulate/ -> the rooms below it. Files of the folder itself may import all of them.
SIMULATED = {"twin": set(), "faults": set(), "oracle": {"faults"}, "nodes": {"twin", "faults", "oracle"}}
SIMULATED["account"] = {*SIMULATED}
SIMULATED["world"] = {*SIMULATED}


@pytest.mark.parametrize("room", SIMULATED)
def test_rooms_of_the_simulator_know_only_those_below_them(room: str) -> None:
    for path in _sources(f"simulate/{room}"):
        for name in _imported(path):
            if name.startswith("tamis.simulate."):
                assert name.split(".")[2] in {room, *SIMULATED[room]}, f"{path} imports {name}"


def _name(path: Path) -> str:
    """The name by which the module at `path` is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts if parts[0] == "tamis" else ("tamis", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_no_imports_go_in_circles() -> None:
    """Anywhere, however long the circle is."""
    modules = {_name(path): path for part in ARROWS for path in _sources(part)}
    graph: dict[str, set[str]] = {name: set() for name in modules}
    for name, path in modules.items():
        for node in _import_nodes(path):
            if isinstance(node, ast.Import):
                graph[name] |= {alias.name for alias in node.names}
            elif node.module:
                submodules = {f"{node.module}.{alias.name}" for alias in node.names}
                graph[name] |= submodules & modules.keys() or {node.module}
    try:
        TopologicalSorter({name: found - {name} for name, found in graph.items()}).prepare()
    except CycleError as error:
        pytest.fail(f"imports go in a circle: {' <- '.join(error.args[1])}")


def test_every_python_folder_has_its_arrow() -> None:
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    assert folders - {"tests"} == set(ARROWS)


def test_every_package_but_benchmarks_and_papers_is_in_the_wheel() -> None:
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    parts = {*ARROWS}.difference(CHECKOUT)
    folders = {file.parent.relative_to(ROOT) for part in parts for file in (ROOT / part).rglob("__init__.py")}
    names = {".".join(folder.parts if folder.parts[0] == "tamis" else ("tamis", *folder.parts)) for folder in folders}
    assert listed == names


def test_protocol_is_pure() -> None:
    for path in _sources("protocol"):
        for name in _imported(path):
            assert name.partition(".")[0] not in IMPURE, f"{path} imports {name}"


def test_what_decides_is_pure() -> None:
    for path in _sources("router/core"):
        for name in _imported(path):
            assert name.partition(".")[0] not in IMPURE, f"{path} imports {name}"
            assert not name.startswith("tamis.") or name.startswith(("tamis.protocol", "tamis.router.core")), (
                f"{path} imports {name}"
            )


# What the simulator writes records with: neither a clock nor a thread, and nothing else of the router.
SHARED_RECORDS = ("files", "lines", "reading")


def test_files_of_records_are_written_without_a_router() -> None:
    for name in SHARED_RECORDS:
        for imported in _imported(ROOT / "router" / "records" / f"{name}.py"):
            assert imported.partition(".")[0] not in IMPURE - {"os"}, f"{name} imports {imported}"
            shared = tuple(f"tamis.router.records.{other}" for other in SHARED_RECORDS)
            assert not imported.startswith("tamis.") or imported.startswith(("tamis.protocol", *shared)), (
                f"{name} imports {imported}"
            )


# room of tamis/client/ -> the rooms below it. On top stands what a program reads: the faces, which may import all, and
# values, which every room may import and which know each other alone.
CLIENT_ROOMS = {"messages": set(), "durable": {"messages"}, "connection": {"messages", "durable"}}
CLIENT_ROOMS["shells"] = {*CLIENT_ROOMS}
CLIENT_VALUES = {"confirming", "old_names", "errors", "gap", "durable_info", "message", "receipt", "trail"}
CLIENT_FACES = {"about", "client", "consumer", "durables", "responder", "subscription"}
CLIENT_ROOMS["blocking"] = {*CLIENT_ROOMS, *CLIENT_FACES}


def test_the_client_needs_no_router_and_its_core_is_pure() -> None:
    """Only faces and shells may know sockets, clocks and loops. Settings hold a TLS context, and use none."""
    impure = {*CLIENT_FACES, "shells", "blocking"}
    for path in _sources("tamis/client"):
        for name in _imported(path):
            assert not name.startswith("tamis.") or name.split(".")[1] in ("client", "native", "protocol"), (
                f"{path}: {name}"
            )
            may_touch = path.stem == "settings" or _client_part(_name(path)) in impure
            assert may_touch or name.partition(".")[0] not in IMPURE, f"{path} imports {name}"


def test_rooms_of_the_client_know_only_those_below_them() -> None:
    for path in _sources("tamis/client"):
        part = _client_part(_name(path))
        assert not part or part in {*CLIENT_ROOMS, *CLIENT_VALUES, *CLIENT_FACES}, f"{path} stands in no room"
        for name in _imported(path):
            if name.startswith("tamis.client.") and part not in CLIENT_FACES:
                known = {part, *CLIENT_ROOMS.get(part, ()), *CLIENT_VALUES}
                assert _client_part(name) in known, f"{path} imports {name}"


def _client_part(module: str) -> str:
    """The room of a module of the client, or its file on top; empty for the package itself."""
    return module.removeprefix("tamis.client").strip(".").partition(".")[0]


def test_the_stranger_and_the_attacks_know_only_the_pages() -> None:
    """They import nothing of the project, and of other tests only the pace of the machine: what the pages do not say
    they do not know."""
    known = {"msgpack", "pytest", *sys.stdlib_module_names}
    for folder in ("tests/stranger", "tests/attack"):
        assert _sources(folder)
        for path in _sources(folder):
            for name in _imported(path):
                ours = name.startswith(("tests.stranger", "tests.attack", "tests.slowdown"))
                assert ours or name.partition(".")[0] in known, f"{path} imports {name}"


def test_importing_tamis_is_light() -> None:
    absent = ["pydantic", "tamis.router", "tamis.protocol", "lark", "yaml", "asyncio"]
    code = f"import sys, tamis; print([m for m in {absent} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "[]"
