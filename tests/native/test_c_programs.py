"""The C tests of native/tests, built with the address and undefined-behaviour sanitizers and run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "native" / "tests"


def _has_sanitizers(folder: Path) -> bool:
    if shutil.which("gcc") is None:
        return False
    source = folder / "empty.c"
    source.write_text("int main(void) { return 0; }\n")
    built = ["gcc", "-fsanitize=address,undefined", str(source), "-o", str(folder / "empty")]
    return subprocess.run(built, capture_output=True, check=False).returncode == 0  # noqa: S603 - fixed arguments


@pytest.mark.slow
def test_c_programs(tmp_path: Path) -> None:
    if not _has_sanitizers(tmp_path):
        pytest.skip("gcc with its sanitizers is not installed")
    run = subprocess.run([str(FOLDER / "run.sh")], capture_output=True, text=True, check=False)  # noqa: S603 - no input
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
    for program in FOLDER.glob("test_*.c"):
        assert f"== {program.stem}\n" in run.stdout
