"""`pip install 'tamis[router]'` on each Python that it says it runs on, as far as that Python is on this machine: the
package is built by it, installed into an environment of its own, started, and held to the tests of client and protocol.

Law: nothing of the checkout is imported: sources and tests are copied, and run from elsewhere. The sdist goes the same
way on the Python of the checkout, so that it has all that a build needs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHONS = ("3.12", "3.13")
TOOLS = ("pytest", "pytest-asyncio", "hypothesis")
SOURCES = ("*.egg-info", "build", "dist", "wheels", ".*", "__pycache__", "*.so", "_tm.c")
SUITES = ("tests/client", "tests/protocol")
FILE = "routers: {a: {clients: 'unix:a.sock', admin: 'unix:admin.sock'}}\n"

pytestmark = pytest.mark.long


def python_of(version: str) -> str | None:
    """The path of a Python of this version: on the path, or one of pyenv's."""
    found = shutil.which(f"python{version}")
    kept = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(f"versions/{version}.*/bin/python"))
    for each in [*([found] if found else []), *map(str, kept)]:
        said = subprocess.run([each, "--version"], check=False, capture_output=True, text=True)  # noqa: S603
        if said.stdout.startswith(f"Python {version}."):
            return each
    return None


def run(*command: str | Path, cwd: Path, timeout_s: float = 900) -> str:
    """What a command says on stdout; it runs outside of the checkout, and with nothing of the environment's Python."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TAMIS_"))}
    done = subprocess.run(  # noqa: S603
        [*map(str, command)],
        check=False,
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=timeout_s,
        env=kept | {"XDG_STATE_HOME": str(cwd / "state"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-2_000:]}\n{done.stderr[-4_000:]}"
    return done.stdout


def environment(python: str, folder: Path) -> Path:
    """The folder of the programs of a new environment."""
    run(python, "-m", "venv", folder / "environment", cwd=folder)
    return folder / "environment" / "bin"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The files of the checkout, without what was built from them."""
    shutil.copytree(ROOT, tmp_path / "source", ignore=shutil.ignore_patterns(*SOURCES), symlinks=True)
    return tmp_path / "source"


def check_started(programs: Path, folder: Path) -> None:
    """A router starts, what is published reaches who asked for it, and the router ends."""
    (folder / "network.yaml").write_text(FILE)
    address = f"tamis+unix:{folder / 'a.sock'}"
    run(programs / "tamis", "up", "--detach", "network.yaml", cwd=folder)
    try:
        receiver = subprocess.Popen(  # noqa: S603
            [programs / "tamis", "sub", address, "severity > 2", "--count", "1", "--json", "--timeout", "60"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            text=True,
        )
        with receiver:
            assert receiver.stderr
            assert receiver.stderr.readline().startswith("subscribed as ")
            run(programs / "tamis", "pub", address, "severity=6", "--payload", "disk full", "--confirm", cwd=folder)
            out, _ = receiver.communicate(timeout=60)
        assert '"disk full"' in out
        engine = run(programs / "python", "-c", "import tamis.native; print(tamis.native.__file__)", cwd=folder)
        assert str(programs.parent) in engine
    finally:
        run(programs / "tamis", "down", "network.yaml", cwd=folder)


@pytest.mark.parametrize("version", PYTHONS)
def test_it_is_built_installed_started_and_tested(tmp_path: Path, source: Path, version: str) -> None:
    python = python_of(version)
    if python is None:
        pytest.skip(f"there is no Python {version} on this machine")
    programs = environment(python, tmp_path)
    run(programs / "pip", "install", "-q", f"{source}[router]", *TOOLS, cwd=tmp_path)
    check_started(programs, tmp_path)
    bare = tmp_path / "bare"  # tests without the packages that they are about
    (bare / "native").mkdir(parents=True)
    for name in ("tests", "docs", "configs", "native/tm_api.h", "README.md", "pyproject.toml"):
        (bare / name).symlink_to(source / name)
    command = ("-m", "pytest", "-m", "not slow and not long", "-p", "no:cacheprovider", *SUITES)
    said = run(programs / "python", *command, cwd=bare)
    print(f"Python {version}: {said.splitlines()[-1]}")


def test_the_sdist_builds_and_installs(tmp_path: Path, source: Path) -> None:
    programs = environment(sys.executable, tmp_path)
    run(programs / "pip", "install", "-q", "setuptools>=77", "cffi", cwd=tmp_path)
    build = "from setuptools.build_meta import build_sdist; build_sdist('dist')"
    run(programs / "python", "-c", build, cwd=source)
    [sdist] = (source / "dist").glob("tamis-*.tar.gz")
    run(programs / "pip", "install", "-q", f"{sdist}[router]", cwd=tmp_path)
    check_started(programs, tmp_path)
