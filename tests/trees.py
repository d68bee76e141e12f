"""Other builds of Tamis beside the installed one: with sanitizers, or of an earlier commit.

Law: the normal build is not touched. A tree is a folder of links in which `tamis` is imported as from an installed one,
with an extension of its own in its place: PYTHONPATH chooses. It is built again when a source is newer.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FLAGS = "-g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined"


def tree(source: Path, into: Path, flags: str = "") -> Path:
    """Where PYTHONPATH has to point, for the packages in `source` with their extension built with `flags`."""
    native = into / "tamis" / "native"
    native.mkdir(parents=True, exist_ok=True)
    inner = [entry for entry in (source / "tamis").iterdir() if not entry.name.startswith("_tm")]
    outer = [entry for entry in source.iterdir() if (entry / "__init__.py").exists() and entry.name != "tests"]
    for entry in [*inner, *(each for each in outer if each.name not in ("tamis", "native"))]:
        _link(into / "tamis" / entry.name, entry)
    for entry in (source / "native").glob("*.py"):
        _link(native / entry.name, entry)
    built = native / "_tm.abi3.so"
    if not built.exists() or built.stat().st_mtime < max(each.stat().st_mtime for each in sources(source / "native")):
        _build(source, into, flags)
    return into


def sanitized() -> Path:
    return tree(ROOT, ROOT / "build" / "sanitized", FLAGS)


def is_in_history(commit: str) -> bool:
    """A shallow clone has no history, and an archive no git."""
    command = ["git", "cat-file", "-e", f"{commit}^{{commit}}"]
    return (
        shutil.which("git") is not None
        and subprocess.run(command, cwd=ROOT, check=False, capture_output=True).returncode == 0  # noqa: S603
    )


def tree_of(commit: str, folder: Path) -> Path:
    """Of an earlier commit, whose sources are put into `folder`."""
    source = folder / "source"
    source.mkdir()
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True)  # noqa: S603, S607
    subprocess.run(["tar", "-x", "-C", str(source)], input=archive.stdout, check=True)  # noqa: S603, S607
    return tree(source, folder / "tree")


def sources(native: Path) -> list[Path]:
    """What the extension is built from, in every folder of `native`."""
    found = [each for suffix in ("c", "h") for each in native.rglob(f"*.{suffix}") if each.name != "_tm.c"]
    return [each for each in found if "tests" not in each.relative_to(native).parts] + [native / "build.py"]


def _link(link: Path, target: Path) -> None:
    if not link.is_symlink():
        link.symlink_to(target)


def _build(source: Path, into: Path, flags: str) -> None:
    places = ("--build-lib", str(into), "--build-temp", str(into / "temp"))
    command = [sys.executable, "setup.py", "-q", "build_ext", *places]
    done = subprocess.run(  # noqa: S603 - our own
        command, cwd=source, env=os.environ | {"TAMIS_CFLAGS": flags}, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-4_000:]
