"""Every command that the pages name is there, every measurement has its question, and rooms stay apart."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest

from tamis.bench import __main__ as bench

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "bench").rglob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
COMMAND = re.compile(r"python -m (tamis\.bench[\w.]*)")
# Children of a measurement, and what makes a page of its results: run by a measurement, or after it.
HELPERS = {
    *("matching.libraries", "matching.instructions", "matching.build_child"),
    *("networks.growth.report", "router.brokers.chart", "reproduce.claims"),
}
DRIVERS = (
    *("tamis.bench.router.brokers", "tamis.bench.router.transit", "tamis.bench.router.switches"),
    *("tamis.bench.durable.daemons", "tamis.bench.durable.log"),
)
"""What starts brokers or a switch, and drives them, also where messages are kept."""
SHARED = {
    *(
        "tamis.bench.tables",
        "tamis.bench.cells",
        "tamis.bench.scratch",
        "tamis.bench.commands",
        "tamis.bench.callgrind",
        "tamis.bench.memory",
    ),
    "tamis.bench.matching.workloads",
}


def programs() -> set[str]:
    """All modules of bench/ that can be run, as `python -m tamis.bench.MODULE` names them."""
    files = [file for file in (ROOT / "bench").rglob("*.py") if '__name__ == "__main__"' in file.read_text()]
    parts = (file.relative_to(ROOT / "bench").with_suffix("").parts for file in files)
    return {".".join(part[:-1] if part[-1] == "__main__" else part) for part in parts} - {""}


def is_program(module: str) -> bool:
    found = importlib.util.find_spec(module)
    if found is not None and found.submodule_search_locations is not None:
        found = importlib.util.find_spec(f"{module}.__main__")
    return found is not None and '__name__ == "__main__"' in Path(found.origin or "").read_text()


def test_every_command_of_the_pages_is_a_program() -> None:
    named = {name.rstrip(".") for page in PAGES for name in COMMAND.findall(page.read_text())}
    assert len(named) > 10
    assert {name for name in named if not is_program(name)} == set()


def test_every_measurement_answers_a_question_and_stands_in_the_table() -> None:
    asked = {module for modules in bench.QUESTIONS.values() for module in modules}
    assert asked == programs() - HELPERS
    assert all(module.split(".")[0] == question for question, modules in bench.QUESTIONS.items() for module in modules)
    table = (ROOT / "bench" / "README.md").read_text()
    assert {module for module in asked if f"tamis.bench.{module}`" not in table.replace(" -", "` -")} == set()


@pytest.mark.parametrize("room", bench.QUESTIONS)
def test_rooms_share_workloads_tables_cells_and_drivers_alone(room: str) -> None:
    files = sorted((ROOT / "bench" / room).rglob("*.py"))
    assert files
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tamis.bench"):
                names = {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
                ours = (node.module or "").startswith(f"tamis.bench.{room}")
                shared = names & SHARED or (node.module or "").startswith(DRIVERS)
                assert ours or shared, f"{file.relative_to(ROOT)} imports {node.module}"


def test_without_a_question_it_is_the_table_of_all_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    monkeypatch.setattr(bench, "_run", lambda module: ran.append(module) or 0)
    assert bench.main([]) == 0
    assert ran == ["matching.table"]


def test_a_measurement_that_fails_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    monkeypatch.setattr(bench, "_run", lambda module: ran.append(module) or int(module == "networks.growth"))
    assert bench.main(["networks"]) == 1
    assert ran == list(bench.QUESTIONS["networks"])


@pytest.mark.parametrize("words", [["nothing"], ["--minutes", "1"], ["router", "--json"]])
def test_what_is_no_question_is_refused_with_those_there_are(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench.main(words) == 2
    assert "allowed: matching, router, gateway, networks, logs" in capsys.readouterr().err
