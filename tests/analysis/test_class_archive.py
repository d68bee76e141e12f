"""When Spark starts from an archive of its classes, and when it writes one."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from tamis.analysis.spark import class_archive


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.delenv(class_archive.SWITCH)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(class_archive, "runtime", lambda: "17.0.9")
    return tmp_path / "tamis"


def _archive(option: str) -> Path:
    name, _, path = class_archive.java_options().split()[0].partition("=")
    assert name == option
    return Path(path)


def test_the_first_start_writes_it_and_the_next_one_uses_it(cache: Path) -> None:
    archive = _archive("-XX:ArchiveClassesAtExit")
    assert archive.parent == cache
    archive.write_bytes(b"\xa8\xab\x0b\xf0")
    assert _archive("-XX:SharedArchiveFile") == archive


def test_one_that_is_being_written_is_left_alone_and_one_that_was_cut_off_is_written_anew() -> None:
    archive = _archive("-XX:ArchiveClassesAtExit")
    archive.write_bytes(bytes(4096))
    assert class_archive.java_options() == ""
    long_ago = time.time() - class_archive.WRITING_S - 1
    os.utime(archive, (long_ago, long_ago))
    assert _archive("-XX:ArchiveClassesAtExit") == archive


def test_another_java_has_another_one_and_the_oldest_goes(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    for version in range(4):
        monkeypatch.setattr(class_archive, "runtime", lambda version=version: f"17.0.{version}")
        archive = _archive("-XX:ArchiveClassesAtExit")
        archive.write_bytes(b"\xa8")
        os.utime(archive, (version, version))
    assert len(list(cache.iterdir())) == class_archive.KEPT
    assert archive.exists()


@pytest.mark.parametrize("folder", ["with space", "quo'te"])
def test_there_is_none_where_its_path_cannot_be_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / folder))
    assert class_archive.java_options() == ""


def test_there_is_none_where_nothing_can_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert class_archive.java_options() == ""


def test_a_variable_switches_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(class_archive.SWITCH, "no")
    assert class_archive.java_options() == ""


def test_one_that_java_does_not_start_from_is_removed() -> None:
    archive = _archive("-XX:ArchiveClassesAtExit")
    assert not class_archive.forget(class_archive.java_options())
    archive.write_bytes(b"\xa8\xab\x0b\xf0")
    assert class_archive.forget(class_archive.java_options())
    assert not archive.exists()
    assert _archive("-XX:ArchiveClassesAtExit") == archive
