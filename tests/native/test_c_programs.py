"""The C tests of native/tests, built with the address and undefined-behaviour sanitizers and run, and what the fuzzers
once found, tried again."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "native" / "tests"
COMPILER = shutil.which("clang") or shutil.which("gcc")
"""As run.sh chooses it."""


def has_sanitizers(folder: Path, names: str = "address,undefined") -> bool:
    """Return whether a C compiler with these sanitizers is installed."""
    if COMPILER is None:
        return False
    source = folder / "empty.c"
    source.write_text("int main(void) { return 0; }\n")
    built = [COMPILER, f"-fsanitize={names}", str(source), "-o", str(folder / "empty")]
    return subprocess.run(built, capture_output=True, check=False).returncode == 0  # noqa: S603 - fixed arguments


def ran(*programs: str) -> str:
    """Return what `run.sh` prints. Two of its runs would build the same objects, so one waits for the other."""
    with (FOLDER / "run.sh").open() as script:
        fcntl.flock(script, fcntl.LOCK_EX)
        command = [str(FOLDER / "run.sh"), *programs]
        run = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - no input
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
    return run.stdout


@pytest.mark.slow
def test_a_network_of_switches_does_what_its_model_does(tmp_path: Path) -> None:
    if not has_sanitizers(tmp_path):
        pytest.skip("a C compiler with its sanitizers is not installed")
    assert "== test_net\n" in ran("test_net")


@pytest.mark.slow
def test_c_programs(tmp_path: Path) -> None:
    if not has_sanitizers(tmp_path):
        pytest.skip("a C compiler with its sanitizers is not installed")
    said = ran()
    for program in FOLDER.glob("test_*.c"):
        assert f"== {program.stem}\n" in said
    for seed in FOLDER.glob("seeds/*/*"):
        assert f"{seed.relative_to(FOLDER)}: {seed.stat().st_size} bytes\n" in said


@pytest.mark.long
def test_the_threads_of_the_log_race_nowhere(tmp_path: Path) -> None:
    if not has_sanitizers(tmp_path, "thread"):
        pytest.skip("a C compiler with its sanitizer of threads is not installed")
    command = [str(FOLDER / "run.sh"), "test_log", "test_durables"]
    run = subprocess.run(  # noqa: S603 - no input
        command, capture_output=True, text=True, check=False, env=os.environ | {"SANITIZE": "thread"}
    )
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
