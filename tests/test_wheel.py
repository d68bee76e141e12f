"""What a wheel has: everything that programs import, neither benchmarks nor papers. An editable install has both."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from tamis.cli.main import root

ROOT = Path(__file__).parents[1]
NO_SOURCES = shutil.ignore_patterns(
    *(".*", "build", "dist", "wheels", "*.so", "__pycache__", "tests", "results", "*.egg-info")
)


@pytest.mark.slow
def test_a_wheel_has_the_client_and_testing_and_neither_benchmarks_nor_papers(tmp_path) -> None:
    """The part of `pip wheel` that copies Python files, without the C build."""
    source, built = tmp_path / "source", tmp_path / "built"
    shutil.copytree(ROOT, source, ignore=NO_SOURCES)
    command = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(built)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)  # noqa: S603 - our own
    folders = {path.name for path in (built / "tamis").iterdir() if path.is_dir()}
    assert {"client", "cli", "protocol", "native", "router", "testing"} <= folders
    assert not folders & {"bench", "papers"}
    assert (built / "tamis" / "testing" / "proxy.py").exists()
    assert (built / "tamis" / "cli" / "lab" / "loads.py").exists()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_wheels_loads_the_library_of_the_wheel_and_not_that_of_the_checkout(tmp_path) -> None:
    """Its last command is run where a checkout and an unpacked wheel lie, with a whole library and an empty one."""
    shutil.copytree(ROOT, tmp_path, ignore=NO_SOURCES, dirs_exist_ok=True)
    loaded = tmp_path / "build" / "loaded"
    build = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(loaded)]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True)  # noqa: S603 - our own
    asked = ["make", "--no-print-directory", "-n", "wheels", f"BIN={Path(sys.executable).parent}"]
    said = subprocess.run(asked, cwd=tmp_path, check=True, capture_output=True, text=True)  # noqa: S603 - our own
    load = said.stdout.splitlines()[-1]
    [library] = (ROOT / "native").glob("_tm.abi3.so")
    for data, is_loaded in ((library.read_bytes(), True), (b"", False)):
        (loaded / "tamis" / "native" / library.name).write_bytes(data)
        done = subprocess.run(load, shell=True, cwd=tmp_path, check=False, capture_output=True, text=True)  # noqa: S602 - our own
        assert (done.returncode == 0) is is_loaded, done.stderr


def test_a_wheel_has_every_grammar() -> None:
    """An editable install reads a grammar that is not declared from the checkout."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    packages = {f"tamis.{'.'.join(path.relative_to(ROOT).parts[:-1])}" for path in ROOT.glob("protocol/**/*.lark")}
    assert len(packages) > 3
    assert [package for package in packages if "*.lark" not in declared.get(package, ())] == []


def test_without_benchmarks_the_command_says_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("tamis.bench")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tamis.bench", None)  # as where there is none
    found = CliRunner().invoke(root, ["bench", "match"])
    assert found.exit_code == 1
    assert "the engines are measured in a checkout" in found.output
    assert CliRunner().invoke(root, ["bench", "pub", "--help"]).exit_code == 0


@pytest.mark.slow
def test_an_interrupted_build_leaves_no_library_that_looks_whole(tmp_path) -> None:
    """A compiler that ends like a killed one when it links leaves half a file, and no library under its name."""
    source = tmp_path / "source"
    source.mkdir()
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "native", source / "native", ignore=shutil.ignore_patterns("tests", "*.so", "__pycache__"))
    (tmp_path / "cc").write_text(HALF_A_LINKER)
    (tmp_path / "cc").chmod(0o755)
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace", "--build-lib", "built"]
    environment = os.environ | {"CC": str(tmp_path / "cc"), "TAMIS_CFLAGS": "-O0", "TAMIS_NATIVE": "required"}
    done = subprocess.run(command, cwd=source, env=environment, check=False, capture_output=True, text=True)  # noqa: S603
    assert done.returncode != 0
    assert [path.name for path in source.rglob("_tm*.so*")] == ["_tm.abi3.so.new"], done.stderr


HALF_A_LINKER = """\
#!/bin/sh
# Compiles to an empty object; killed while it links.
for word in "$@"; do [ "$word" != -shared ] || linked=yes; done
while [ "$1" != -o ]; do shift; done
echo half > "$2"
[ -z "$linked" ] || kill -9 $$
"""
