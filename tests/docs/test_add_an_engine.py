"""The guide to a new engine is followed step by step, in a copy of the C sources: its engine passes the tests in C."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "contributing" / "add-an-engine.md"
COMPILER = shutil.which("gcc") or shutil.which("clang")
FLAGS = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-I."]
TESTED = ("test_engines", "test_allocation")


def block(file: str) -> str:
    """The code that the guide has for `file`, its blocks one after the other."""
    found = re.findall(rf"```c {re.escape(file)}\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert found, f"the guide has no code for {file}"
    return "".join(found)


def compiled(folder: Path) -> list[Path]:
    rooms = ("base", "model", "table", "engines")
    return [path for room in rooms for path in sorted((folder / room).rglob("*.c"))]


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert done.returncode == 0, done.stdout[-1_000:] + done.stderr[-2_000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(COMPILER is None, reason="a C compiler is not installed")
def test_the_engine_of_the_guide_passes(tmp_path: Path) -> None:
    folder = tmp_path / "native"
    shutil.copytree(ROOT / "native", folder, ignore=shutil.ignore_patterns("*.so", "*.py", "build", "__pycache__"))
    (folder / "engines" / "toy.c").write_text(block("toy.c"))
    header, registry = folder / "engines" / "registry.h", folder / "engines" / "registry.c"
    header.write_text(header.read_text().replace("#endif\n", block("registry.h") + "\n#endif\n"))
    listed = registry.read_text()
    registry.write_text(listed.replace("\n};", "\n" + block("registry.c") + "};", 1))
    number = listed.count("&tm_engine_")
    sources = [str(path.relative_to(folder)) for path in compiled(folder)]
    for name in TESTED:
        built = (str(COMPILER), *FLAGS, *sources, "tests/support.c", f"tests/{name}.c", "-lm", "-o", name)
        run(folder, *built)
        assert "engine toy seed 1\n" in run(folder, f"./{name}", str(number))


def test_the_guide_speaks_of_files_that_are_there() -> None:
    for path in re.findall(r"`((?:native|tests)/[\w/.]+\.(?:[ch]|py|sh))`", GUIDE.read_text()):
        assert (ROOT / path).exists() or path == "native/engines/toy.c"
