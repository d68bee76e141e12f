"""The tutorial of durable subscriptions shows what its commands print: each is run, and its router is killed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.sandbox import Sandbox

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial-durable.md").read_text()
STEPS = [block.partition("\n") for block in re.findall(r"^```console\n\$ (.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)]
[(FILE, TOPOLOGY)] = re.findall(r"^```yaml (\S+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
PROCESS = "4711"
"""The process on the page."""


def test_the_page_has_steps() -> None:
    assert len(STEPS) > 10
    assert any(command == f"kill -9 {PROCESS}" for command, *_ in STEPS)


@pytest.mark.slow
def test_each_command_prints_what_is_shown(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    (tmp_path / FILE).write_text(sandbox.here(TOPOLOGY))
    process = PROCESS
    try:
        for command, _, shown in STEPS:
            code, out = sandbox.run(command.replace(PROCESS, process))
            assert code == 0, f"{command}\n{out}"
            found = re.search(r"ready, process (\d+)", out)
            process = found[1] if found else process
            assert as_shown(sandbox.shown(out)) == shown, f"{command}\n{out}"
    finally:
        sandbox.run(f"tamis down {FILE}")


def as_shown(printed: str) -> str:
    """What differs each time, as the page has it."""
    printed = re.sub(r"process \d+", f"process {PROCESS}", printed)
    printed = re.sub(r"/durable-[0-9a-f]+/logs", "/durable-5d41402a/logs", printed)
    return re.sub(r"in \d+\.\d\d s", "in 0.01 s", printed)
