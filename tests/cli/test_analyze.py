from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tamis.cli.main import main


def test_an_unknown_question_is_refused_with_the_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyspark")
    assert main(["analyze", str(tmp_path), "--out", str(tmp_path / "out"), "--only", "weather"]) == 2
    assert "no question 'weather'; choose logs, traffic" in capsys.readouterr().err


def test_without_spark_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("tamis.analysis")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("pyspark", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["analyze", str(tmp_path), "--out", str(tmp_path / "out")]) == 1
    assert "analyses need pyspark: pip install 'tamis[analysis]'" in capsys.readouterr().err


def test_records_go_into_an_empty_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "here").touch()
    assert main(["simulate", "--topology", "ring:3", "--ops", "0", "--records", str(tmp_path)]) == 2
    assert "is not empty" in capsys.readouterr().err
