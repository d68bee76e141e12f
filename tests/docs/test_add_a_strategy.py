"""The guide to a new strategy is followed step by step, in a copy of the Python sources: its strategy is clean."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "contributing" / "add-a-strategy.md"
ROOMS = ("protocol", "native", "configs", "serving", "router", "simulate", "analysis", "testing")
IGNORED = shutil.ignore_patterns("__pycache__", "*.c", "*.h", "tests", "build")


def block(file: str) -> str:
    """The code that the guide has for `file`."""
    [found] = re.findall(rf"```python {re.escape(file)}\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    return str(found)


def with_entry(path: Path, entry: str, before: str, line: str = "") -> None:
    """Put `entry` into a file before `before`, and `line` among its imports."""
    text = path.read_text()
    assert text.count(before) == 1, (path, before)
    text = text.replace(before, f"\n{entry.rstrip()}{before}")
    path.write_text(text.replace("\nfrom tamis.", f"\n{line}\nfrom tamis.", 1) if line else text)


class Copy:
    """The packages, copied into a folder, with what the guide adds."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        package = folder / "tamis"
        shutil.copytree(ROOT / "tamis", package, ignore=IGNORED)
        for room in ROOMS:
            shutil.copytree(ROOT / room, package / room, ignore=IGNORED)
        with_entry(package / "protocol" / "strategies.py", block("strategies.py"), "\n)\nBY_NAME")
        strategies = package / "router" / "core" / "strategies"
        (strategies / "toy.py").write_text(block("toy.py"))
        line = "from tamis.router.core.strategies.toy import Uncovered"
        with_entry(strategies / "registry.py", block("registry.py"), "\n    )\n}", line)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, *arguments]
        return subprocess.run(  # noqa: S603 - our own command
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=120
        )

    def tamis(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run("-m", "tamis.cli.main", *arguments)


@pytest.fixture(name="copy", scope="module")
def _copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return Copy(tmp_path_factory.mktemp("guide"))


@pytest.mark.slow
def test_its_own_test_passes(copy: Copy) -> None:
    (copy.folder / "test_toy.py").write_text(block("test_toy.py"))
    done = copy.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_toy.py")
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout[-2_000:] + done.stderr[-1_000:]


@pytest.mark.slow
def test_the_simulator_finds_nothing_and_a_missing_rule(copy: Copy) -> None:
    simulate = ("simulate", "--strategy", "toy")
    clean = copy.tamis(*simulate, "--topology", "random:6", "--ops", "80", "--faults", "all", "--seed", "2")
    assert clean.returncode == 0, clean.stdout[-1_000:] + clean.stderr[-1_000:]
    every = ",".join(map(str, range(100)))  # a run of chosen operations is not shrunk
    broken = copy.tamis(*simulate, "--break", "R3", "--only", every)
    assert broken.returncode == 1
    assert "invariant" in broken.stderr


@pytest.mark.slow
def test_a_topology_file_may_choose_it(copy: Copy) -> None:
    file = copy.folder / "net.yaml"
    file.write_text("routers: {a: {clients: 127.0.0.1:7400}}\nstrategy: toy\n")
    assert "strategy toy" in copy.tamis("check", str(file)).stdout
    file.write_text("routers: {a: {clients: 127.0.0.1:7400}}\nstrategy: {name: toy, prune: true}\n")
    assert "is a setting of strategy flood, not of toy" in copy.tamis("check", str(file)).stderr


def test_the_guide_speaks_of_files_that_are_there() -> None:
    for path in re.findall(r"`((?:native|tests|protocol|router|simulate|configs)/[\w/.]+\.\w+)`", GUIDE.read_text()):
        assert (ROOT / path).exists() or path == "router/core/strategies/toy.py", path
