"""The C tests of native/tests, built with the address and undefined-behaviour sanitizers and run, and what the fuzzers
once found, tried again."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "native" / "tests"
COMPILER = shutil.which("clang") or shutil.which("gcc")
"""As run.sh chooses it."""


def _has_sanitizers(folder: Path) -> bool:
    if COMPILER is None:
        return False
    source = folder / "empty.c"
    source.write_text("int main(void) { return 0; }\n")
    built = [COMPILER, "-fsanitize=address,undefined", str(source), "-o", str(folder / "empty")]
    return subprocess.run(built, capture_output=True, check=False).returncode == 0  # noqa: S603 - fixed arguments


@pytest.mark.slow
def test_c_programs(tmp_path: Path) -> None:
    if not _has_sanitizers(tmp_path):
        pytest.skip("a C compiler with its sanitizers is not installed")
    run = subprocess.run([str(FOLDER / "run.sh")], capture_output=True, text=True, check=False)  # noqa: S603 - no input
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
    for program in FOLDER.glob("test_*.c"):
        assert f"== {program.stem}\n" in run.stdout
    for seed in FOLDER.glob("seeds/*/*"):
        assert f"{seed.relative_to(FOLDER)}: {seed.stat().st_size} bytes\n" in run.stdout
