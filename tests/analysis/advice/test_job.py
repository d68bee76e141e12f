"""From a user's file and logs to a file that loads, keeps its comments, and differs by the patch alone."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from tamis.analysis.advice import job
from tamis.analysis.advice.wording import Advice
from tamis.analysis.job import REPORT, Job, analyze
from tamis.analysis.page import report
from tamis.configs import load_topology
from tamis.protocol.errors import ConfigError

ROUTER = {"v": 1, "router": "a", "epoch": 1}
TEXT = """\
# Ours.
limits:
  connection_queue_bytes: 1_048_576     # memory is dear
routers:
  a:   {clients: 127.0.0.1:7400}        # the only one
# end"""


def _logs(folder: Path, router: str = "a") -> Path:
    """One client was too slow once."""
    lost = {"interface": 1, "client": "slow", "messages_out": 10, "bytes_out": 10_000, "dropped": {"queue_full": 2_000}}
    told = [
        {"kind": "life", "what": "started", "engine": "tamis", "strategy": "advertise", "sampling": "none"},
        {"kind": "interface", "queued_bytes": 0, **lost},
    ]
    lines = [json.dumps(ROUTER | {"router": router, "t_us": 10 + n, "n": n} | record) for n, record in enumerate(told)]
    (folder / router).mkdir(parents=True)
    (folder / router / "events-1-000000.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return folder


CHANGED = TEXT.replace(
    "clients: 127.0.0.1:7400}", "clients: 127.0.0.1:7400, limits: {connection_queue_bytes: 4194304}}"
)


def _wanted(tmp_path: Path) -> job.AdviceRequest:
    file = tmp_path / "net.yaml"
    file.write_text(TEXT)
    return job.wanted(file, _logs(tmp_path / "logs"))


def test_the_changed_file_loads_keeps_its_comments_and_is_what_the_patch_makes(tmp_path: Path) -> None:
    asked = _wanted(tmp_path)
    edits = {("routers", "a", "limits", "connection_queue_bytes"): 4_194_304}
    job.write([Advice("queues", "limits", "change", "1 MiB", "it was full", "4 MiB", edits=edits)], asked, tmp_path)
    after = tmp_path / job.ADVISED
    assert after.read_text() == CHANGED
    assert load_topology(after).router("a").limits.connection_queue_bytes == 4_194_304
    assert asked.file.read_text() == TEXT
    if shutil.which("patch"):
        subprocess.run(["patch", "-s", asked.file, tmp_path / job.PATCH], check=True)  # noqa: S603, S607
        assert asked.file.read_text() == CHANGED


@pytest.mark.long
def test_from_logs_to_a_changed_file_and_a_section_of_the_report(spark: SparkSession, tmp_path: Path) -> None:
    out = tmp_path / "out"
    answers = Job(out, ("logs",), advise=_wanted(tmp_path))
    found = analyze(spark, tmp_path / "logs", answers)
    assert [each.rule for each in found if each.verdict == "change"] == ["queues"]
    assert (out / job.ADVISED).read_text() == CHANGED
    assert [row["verdict"] for row in report.read(out)["advice/advice"]].count("change") == 1
    assert "no drops at peaks of" in (out / REPORT).read_text()


def test_a_file_of_another_network_is_refused(tmp_path: Path) -> None:
    folder, file = _logs(tmp_path / "logs", "stranger"), tmp_path / "net.yaml"
    file.write_text(TEXT)
    with pytest.raises(job.OtherNetwork, match="names no router stranger, of which there are logs"):
        job.wanted(file, folder)
    file.write_text("routers: {}")
    with pytest.raises(ConfigError):
        job.wanted(file, folder)


def test_what_is_for_experiments_is_told_to_those_who_ask_for_it(tmp_path: Path) -> None:
    yet = Advice("reuse", "reuse", "for experiments", "never", "")
    now = Advice("queues", "limits", "nothing to change", "8 MiB", "")
    asked = _wanted(tmp_path)
    assert [asked.has_place_for(each) for each in (yet, now)] == [False, True]
    assert replace(asked, planned=True).has_place_for(yet)


def test_nothing_changed_is_an_empty_patch_and_a_last_line_may_lack_its_end() -> None:
    assert job.difference(TEXT, TEXT, "net.yaml") == ""
    told = job.difference("a\nb", "a\nc", "net.yaml")
    assert told.splitlines()[-4:] == ["-b", "\\ No newline at end of file", "+c", "\\ No newline at end of file"]
