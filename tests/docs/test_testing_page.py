"""docs/how-to/test-your-program.md: its programs run as they stand there, and its names are those of the package."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tamis import testing
from tamis.testing import blocking

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "test-your-program.md").read_text()
PROGRAMS = dict(re.findall(r"^```python (\S+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
TABLE = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")]


def ran(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)  # noqa: S603
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_tests_of_the_page_pass(tmp_path) -> None:
    (tmp_path / "test_orders.py").write_text(PROGRAMS["test_orders.py"])
    said = ran(tmp_path, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_orders.py")
    assert "2 passed" in said


@pytest.mark.slow
def test_the_program_of_the_page_gets_its_message(tmp_path) -> None:
    (tmp_path / "with_asyncio.py").write_text(PROGRAMS["with_asyncio.py"])
    assert "n" in ran(tmp_path, sys.executable, "with_asyncio.py")


def test_every_name_of_the_table_is_there_for_both() -> None:
    names = {name for cell in TABLE for name in re.findall(r"`(?:network\.|router\.)?(\w+)", cell)}
    assert len(names) > 12
    of_both = set(dir(testing)) | set(dir(blocking))
    for network, router in (
        (testing.RouterNetwork, testing.RouterProcess),
        (blocking.BlockingNetwork, blocking.BlockingRouter),
    ):
        known = of_both | set(dir(network)) | set(dir(router)) | {"log"}
        assert names - known == set()
    assert "log" in testing.RouterProcess("a", Path("a.yaml")).__dict__


def test_every_error_is_told() -> None:
    errors = {name for name, made in vars(testing).items() if isinstance(made, type) and issubclass(made, Exception)}
    assert len(errors) == 4
    assert {name for name in errors if f"{name}`" not in PAGE} == set()
