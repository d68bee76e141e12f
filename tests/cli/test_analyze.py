from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tamis.cli.main import main
from tamis.testing import free_port


def records_in(folder: Path) -> str:
    """The path of a folder of records, of one router that has written nothing yet."""
    (folder / "logs" / "a").mkdir(parents=True)
    (folder / "logs" / "a" / "events-1-000000.jsonl").touch()
    return str(folder / "logs")


def test_an_unknown_question_is_refused_with_the_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyspark")
    assert main(["analyze", str(tmp_path), "--out", str(tmp_path / "out"), "--only", "weather"]) == 2
    assert "no question 'weather'; use one of logs, traffic" in capsys.readouterr().err


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
    logs = records_in(tmp_path)
    file = tmp_path / "net.yaml"
    if text is not None:
        file.write_text(text)
    arguments = ["analyze", logs, "--out", str(tmp_path / "out"), "--advise", str(file)]
    assert main(arguments) == code
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_advice_is_not_followed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyspark")
    (tmp_path / "net.yaml").touch()
    arguments = ["analyze", str(tmp_path), "--out", str(tmp_path / "out"), "--follow"]
    assert main([*arguments, "--advise", str(tmp_path / "net.yaml")]) == 2
    assert "cannot be used with --follow" in capsys.readouterr().err
    assert main(["analyze", str(tmp_path), "--out", str(tmp_path / "out"), "--planned"]) == 2
    assert "--planned needs --advise" in capsys.readouterr().err


def test_advice_is_printed_a_line_each_or_as_one_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyspark")
    from tamis.analysis.advice.job import AdviceRequest
    from tamis.analysis.advice.wording import Advice
    from tamis.analysis.job import Job
    from tamis.cli.lab.analyze import _tell, _tell_first
    from tamis.configs import parse_topology

    topology = parse_topology("routers: {a: {clients: 127.0.0.1:7400}}")
    job = Job(tmp_path, advise=AdviceRequest(tmp_path / "net.yaml", "", topology))
    found = [
        Advice("engine", "engine", "change", "sff", "it is slow", "tamis", "3 -> 2 us", edits={("engine",): "tamis"}),
        Advice("queues", "limits", "nothing to change", "8 MiB", "no queue was full"),
    ]
    _tell(job, found, as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "engine: sff -> tamis: it is slow; promised: 3 -> 2 us",
        "limits: nothing to change (8 MiB): no queue was full",
        *(str(tmp_path / name) for name in ("report.html", "topology.advised.yaml", "advice.patch")),
    ]
    _tell_first("logs", {"routers": 1})
    _tell(job, found, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["logs"] == {"routers": 1}
    assert told["patch"] == str(tmp_path / "advice.patch")
    assert [(each["verdict"], each["edits"]) for each in told["advice"]] == [
        ("change", {"engine": "tamis"}),
        ("nothing to change", {}),
    ]


@pytest.mark.slow
def test_a_disk_that_takes_no_more_is_said_in_a_sentence(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    most_bytes = 4_000_000  # less than Spark's own libraries need, when it unpacks them, is no disk
    lines = "".join(f"{os.urandom(40).hex()}\n" for _ in range(most_bytes // 40))  # kept, too
    (tmp_path / "logs" / "a").mkdir(parents=True)
    (tmp_path / "logs" / "a" / "messages-1-000000.jsonl").write_text(lines)
    done = subprocess.run(
        [sys.executable, "-m", "tamis.cli.main", "analyze", "logs", "--out", "out", "--master", "local[1]"],
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "Error: File too large (spilled data goes to " in done.stderr
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    "master",
    [
        *("here", "local[0]", "local[]", "spark://127.0.0.1", "http://127.0.0.1:7077", "spark://a:1,b", "yarn://a"),
        *("k8s://", "k8s://127.0.0.1:6443", "k8s://https://"),
    ],
)
def test_what_is_no_master_is_refused_with_what_is(
    master: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", str(tmp_path), "--out", str(tmp_path / "out"), "--master", master]) == 2
    assert "use local[*], local[2], spark://HOST:PORT, k8s://https://HOST:PORT or yarn" in capsys.readouterr().err


def test_a_master_that_is_not_there_is_said_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyspark")
    master = f"127.0.0.1:{free_port()}"
    assert main(["analyze", records_in(tmp_path), "--out", str(tmp_path / "out"), "--master", f"spark://{master}"]) == 1
    assert f"Error: no Spark master at {master}: [Errno 111] Connection refused" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("spark.executor.memory", "use spark.NAME=VALUE"),
        ("executor.memory=8g", "use spark.NAME=VALUE"),
        ("spark.=8g", "use spark.NAME=VALUE"),
        ("spark.master=yarn", "the master is given by --master"),
    ],
)
def test_what_is_no_setting_of_sparks_is_refused(
    setting: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", str(tmp_path), "--out", str(tmp_path / "out"), "--conf", setting]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_wrong_address_is_refused_before_spark_starts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyspark")
    words = ["--out", str(tmp_path / "out")]
    assert main(["analyze", "s3a://bucket/logs", *words]) == 1
    assert "allowed: a folder, s3://BUCKET/FOLDER or hdfs://HOST:PORT/FOLDER" in capsys.readouterr().err
    assert main(["analyze", "s3://bucket/logs", *words, "--follow"]) == 2
    assert "--advise, --follow and --into need records in a folder of this machine" in capsys.readouterr().err


def test_audit_logs_that_are_not_there_are_said_before_spark_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyspark")
    words = ["--out", str(tmp_path / "out"), "--only", "access"]
    file = tmp_path / "net.yaml"
    file.write_text("routers: {a: {clients: 127.0.0.1:7400}}\ndata: data")
    for place in (tmp_path, file):
        assert main(["analyze", str(place), *words]) == 1
        assert f"{place}: there are no audit logs; a router with access rules and a `data`" in capsys.readouterr().err
    assert main(["analyze", "s3://bucket/logs", *words]) == 2
    assert "--only access needs audit logs in a folder of this machine" in capsys.readouterr().err
    assert main(["analyze", str(tmp_path), *words, "--follow"]) == 2
    assert "use them without --only access" in capsys.readouterr().err


@pytest.mark.parametrize("size", ["lots", "100m", "2", ""])
def test_memory_that_spark_cannot_start_with_is_refused(
    size: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.setenv("TAMIS_SPARK_MEMORY", size)
    assert main(["analyze", records_in(tmp_path), "--out", str(tmp_path / "out")]) == 1
    assert f"Error: TAMIS_SPARK_MEMORY is {size!r}; allowed: 512m or more, as in 2g" in capsys.readouterr().err


STOPPED = """
from tamis.analysis.spark import session
from tamis.analysis.spark.failure import SparkFailed, explained
spark = session.start("local[1]", brief=True)
spark.sparkContext._jsc.sc().stop()
try:
    with explained():
        spark.range(3).count()
except SparkFailed as error:
    print(error)
"""


@pytest.mark.slow
def test_a_spark_that_has_stopped_by_itself_is_a_sentence() -> None:
    """It does so if a thread of its own has no memory left, and what failed then is a null pointer of Spark's."""
    pytest.importorskip("pyspark")
    done = subprocess.run([sys.executable, "-c", STOPPED], capture_output=True, text=True, check=True)  # noqa: S603
    said = "Spark has stopped by itself; if memory was short: TAMIS_SPARK_MEMORY=8g gives Spark more than 2 GB\n"
    assert done.stdout == said


def test_an_empty_folder_is_said_before_spark_starts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyspark")
    assert main(["analyze", str(tmp_path), "--out", str(tmp_path / "out")]) == 1
    assert f"{tmp_path}: the folder has no records" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("routers: {a: {clients: 127.0.0.1:7400}}", "no router writes records"),
        ("routers: {a: {clients: 127.0.0.1:7400}}\nrecords: {folder: kept}", "kept: the folder has no records"),
        ("routers: {a: {clients: nowhere}}", "net.yaml:1:24: routers.a.clients"),
    ],
)
def test_a_topology_file_says_where_the_records_are(
    text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyspark")
    file = tmp_path / "net.yaml"
    file.write_text(text)
    assert main(["analyze", str(file), "--out", str(tmp_path / "out")]) == 1
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--fail-on", "missing,late"], "'late' is no fault; use one of missing, duplicate, stray, dropped"),
        (["--fail-on", "missing", "--only", "traffic"], "add --only delivery"),
        (["--fail-on", "missing", "--follow"], "cannot be used with --follow"),
    ],
)
def test_faults_to_fail_on_are_checked(
    options: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyspark")
    assert main(["analyze", str(tmp_path), "--out", str(tmp_path / "out"), *options]) == 2
    assert words in capsys.readouterr().err


def test_faults_that_are_not_to_be_end_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyspark")
    import pyarrow as pa
    import pyarrow.parquet as pq

    from tamis.analysis.job import Job
    from tamis.analysis.page.headlines import figures
    from tamis.cli.lab.analyze import _failed, _tell, _tell_first

    (tmp_path / "delivery" / "counts").mkdir(parents=True)
    rows = {"verdict": ["delivered", "missing", "missing"], "reason": [None, "x", "y"], "deliveries": [5, 2, 1]}
    pq.write_table(pa.table(rows), tmp_path / "delivery" / "counts" / "part.parquet")
    job = Job(tmp_path)
    assert _failed(job, ("stray", "duplicate")) == 0
    assert _failed(job, ("missing", "stray")) == 1
    assert capsys.readouterr().err == "deliveries: 3 missing\n"
    _tell_first("logs", {})
    _tell_first("delivery", figures("delivery", tmp_path))
    _tell(job, (), as_json=True)
    counts = json.loads(capsys.readouterr().out)["deliveries"]
    assert counts == {"delivered": 5, "missing": 3, "duplicate": 0, "stray": 0, "dropped": 0, "undecided": 0}


@pytest.mark.slow
def test_answers_are_printed_when_they_are_ready_and_are_one_object(tmp_path: Path) -> None:
    """The logs come first, then traffic, latency and deliveries, a line each; what is to come is named."""
    pytest.importorskip("pyspark")
    assert main(["simulate", "--topology", "ring:3", "--ops", "5", "--records", str(tmp_path / "logs")]) == 0
    command = [sys.executable, "-m", "tamis.cli.main", "analyze", "logs", "--out", "out", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)  # noqa: S603
    lines = done.stdout.splitlines()
    names = ["logs", "traffic", "latency", "deliveries", "control", "content"]
    assert [next(iter(json.loads("{" + line.lstrip("{").rstrip(",") + "}"))) for line in lines[:-1]] == names
    told = json.loads(done.stdout)
    assert list(told) == [*names, "report"]
    assert set(told["deliveries"]) == {"delivered", "missing", "duplicate", "stray", "dropped", "undecided"}
    assert told["deliveries"]["missing"] == 0 < told["deliveries"]["delivered"]
    assert told["traffic"]["deliveries"] >= told["deliveries"]["delivered"]
    shown = done.stderr
    assert shown.index("whether deliveries are missing") < shown.index("delivery: ") < shown.index("control: ")
