from __future__ import annotations

import json
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


@pytest.mark.parametrize(
    ("text", "words", "code"),
    [
        (None, "does not exist", 2),
        ("routers: {b: {clients: 127.0.0.1:7400}}", "names no router a, of which there are logs", 1),
        ("routers: {a: {clients: 127.0.0.1:7400}}\nengine: sfg", "net.yaml:2:9: engine", 1),
    ],
)
def test_a_topology_that_cannot_be_advised_about_is_refused_before_anything_starts(
    text: str | None, words: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyspark")
    (tmp_path / "logs" / "a").mkdir(parents=True)
    (tmp_path / "logs" / "a" / "events-1-000000.jsonl").touch()
    file = tmp_path / "net.yaml"
    if text is not None:
        file.write_text(text)
    arguments = ["analyze", str(tmp_path / "logs"), "--out", str(tmp_path / "out"), "--advise", str(file)]
    assert main(arguments) == code
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_advice_is_not_followed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyspark")
    (tmp_path / "net.yaml").touch()
    arguments = ["analyze", str(tmp_path), "--out", str(tmp_path / "out"), "--follow"]
    assert main([*arguments, "--advise", str(tmp_path / "net.yaml")]) == 2
    assert "not for --follow" in capsys.readouterr().err


def test_advice_is_printed_a_line_each_or_as_one_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyspark")
    from tamis.analysis.advice.job import Wanted
    from tamis.analysis.advice.say import Advice
    from tamis.analysis.job import Job
    from tamis.cli.analyze import _tell
    from tamis.configs import parse_topology

    topology = parse_topology("routers: {a: {clients: 127.0.0.1:7400}}")
    job = Job(tmp_path, advise=Wanted(tmp_path / "net.yaml", "", topology))
    found = [
        Advice(
            "engine", "engine", "change", "sff", "it is slow", "tamis", "3 -> 2 us", edits={("engine", "name"): "tamis"}
        ),
        Advice("queues", "limits", "nothing to change", "8 MiB", "no queue was full"),
    ]
    _tell(job, found, as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "engine: sff -> tamis: it is slow; promised: 3 -> 2 us",
        "limits: nothing to change (8 MiB): no queue was full",
        *(str(tmp_path / name) for name in ("report.html", "topology.advised.yaml", "advice.patch")),
    ]
    _tell(job, found, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["patch"] == str(tmp_path / "advice.patch")
    assert [(each["verdict"], each["edits"]) for each in told["advice"]] == [
        ("change", {"engine.name": "tamis"}),
        ("nothing to change", {}),
    ]
