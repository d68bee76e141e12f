"""The tutorial of durable subscriptions shows what its commands print: each is run, and its routers are killed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.sandbox import Sandbox

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial-durable.md").read_text()
STEPS = [block.partition("\n") for block in re.findall(r"^```console\n\$ (.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)]
[(FILE, TOPOLOGY)] = re.findall(r"^```yaml (\S+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
PROCESSES = {"a": "4711", "b": "4712", "c": "4713"}
"""The processes on the page."""


def test_the_page_has_steps() -> None:
    assert len(STEPS) > 10
    assert {f"kill -9 {process}" for process in PROCESSES.values()} < {command for command, *_ in STEPS}


@pytest.mark.slow
def test_each_command_prints_what_is_shown(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    (tmp_path / FILE).write_text(sandbox.here(TOPOLOGY))
    processes: dict[str, str] = {}
    try:
        for command, _, shown in STEPS:
            killed = re.fullmatch(r"kill -9 (\d+)", command)
            name = next((each for each, shown_as in PROCESSES.items() if killed and killed[1] == shown_as), "")
            code, out = sandbox.run(f"kill -9 {processes[name]}" if name else command)
            assert code == 0, f"{command}\n{out}"
            processes |= dict(re.findall(r"^(\w): ready, process (\d+)", out, re.MULTILINE))
            lines = as_shown(sandbox.shown(out)).splitlines(), shown.splitlines()
            if command.startswith("tamis up"):  # routers are ready in any order
                lines[0].sort()
                lines[1].sort()
            assert lines[0] == lines[1], f"{command}\n{out}"
    finally:
        sandbox.run(f"tamis down {FILE}")


def as_process(line: re.Match[str]) -> str:
    return f"{line[1]}{line[2]}, process {PROCESSES[line[1]]}"


def as_shown(printed: str) -> str:
    """What differs each time, as the page has it."""
    printed = re.sub(r"^(\w)(.*), process \d+", as_process, printed, flags=re.MULTILINE)
    printed = re.sub(r"/durable-[0-9a-f]+/logs", "/durable-5d41402a/logs", printed)
    return re.sub(r"in \d+\.\d\d s", "in 0.01 s", printed)
