"""Answers are the same whether records lie in one partition, where joins move nothing, or in several; and so many jobs
of Spark are enough for all of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

import pyarrow as pa
from pyspark.sql import SparkSession

from tamis.analysis.answers import QUESTIONS
from tamis.analysis.job import Job
from tamis.analysis.page import report
from tamis.analysis.records import logs as records
from tamis.analysis.spark import parts
from tests.analysis.conftest import NOTICE_US, Simulated, Tables, jobs_of

pytestmark = pytest.mark.slow
JOBS_MAX = 8
"""Of any report, without adaptive execution, which makes a job of each exchange."""


def test_one_partition_and_two_give_the_same_tables(
    spark: SparkSession, simulated: Simulated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So do records that are divided by message when they are read, as those of large logs."""
    logs = tmp_path / "logs"
    shutil.copytree(simulated.folder, logs)
    _plant(logs, simulated)
    _damage(logs)
    jobs = [
        jobs_of(spark, logs, Job(tmp_path / f"{count}", notice_us=NOTICE_US, audits=(logs,)), count) for count in (1, 2)
    ]
    one, two = (report.read(tmp_path / f"{count}") for count in (1, 2))
    monkeypatch.setattr(records, "FEW_BYTES", 0)
    monkeypatch.setattr(records, "PIECE_TEXT_BYTES", 100_000)
    jobs.append(jobs_of(spark, logs, Job(tmp_path / "3", notice_us=NOTICE_US, audits=(logs,)), 2))
    assert {row["family"] for row in one["logs/holes"]} == {"messages", "events"}
    assert [row["broken"] for row in one["logs/lines"] if row["family"] == "events"] == [1]
    assert _sorted(one) == _sorted(two) == _sorted(report.read(tmp_path / "3"))
    assert {name.partition("/")[0] for name in one} == QUESTIONS.keys()
    assert one["delivery/faults"]
    assert sum(row["messages"] for row in one["durable/fates"]) == 1
    assert max(jobs) <= JOBS_MAX, jobs


@pytest.mark.parametrize("partitions", [1, 2])
def test_logs_without_a_subscription_are_analyzed(
    spark: SparkSession, simulated: Simulated, tmp_path: Path, partitions: int
) -> None:
    logs = tmp_path / "logs"
    shutil.copytree(simulated.folder, logs)
    for file in logs.glob("*/events-*.jsonl"):
        lines = file.read_text().splitlines(keepends=True)
        file.write_text("".join(line for line in lines if '"kind":"subscription"' not in line))
    jobs_of(spark, logs, Job(tmp_path / "answers", notice_us=NOTICE_US), partitions)
    found = report.read(tmp_path / "answers")
    assert found["content/attributes"]
    assert not found["content/filters"]
    assert {row["verdict"] for row in found["delivery/counts"] if row["deliveries"]} == {"undecided"}


def test_rows_behind_an_empty_batch_are_read(spark: SparkSession) -> None:
    one, none = pa.table({"n": [1, 2]}), pa.table({"n": pa.array([], pa.int64())})
    assert parts.of_table(spark, pa.concat_tables([one, none, one])).count() == 4


def _damage(logs: Path) -> None:
    """Take a record out of the middle of one file, and leave another with half a line."""
    messages = max(logs.glob("*/messages-*.jsonl"), key=lambda path: path.stat().st_size)
    lines = messages.read_text().splitlines(keepends=True)
    del lines[len(lines) // 2]
    messages.write_text("".join(lines))
    events = max(logs.glob("*/events-*.jsonl"), key=lambda path: path.stat().st_size)
    events.write_text(events.read_text()[:-20])


def _plant(logs: Path, simulated: Simulated) -> None:
    """Add what a simulated run has not: a durable subscription with a message, a message that came twice, and an audit
    log."""
    keep = {"kind": "keep", "keep": 1, "what": "made", "name": "jobs", "filters": ['[["n","exists"]]']}
    kept = {"kind": "kept", "keep": 1, "what": "kept", "position": 1, "origin": "0f", "number": 1}
    twice = next(record for record in simulated.records("message") if record.get("to_connections"))
    for family, more in (("events", keep), ("messages", kept), ("messages", twice)):
        _add(logs, family, more)
    audit = logs / "r0" / "audit"
    audit.mkdir(parents=True)
    (audit / "audit-000000000001.jsonl").write_text('{"n": 1, "before": "", "at": 1.0, "kind": "admitted"}\n')


def _add(logs: Path, family: str, more: dict[str, Any]) -> None:
    """Add a record behind a hole, to the router that `more` names, or else to the smallest file."""
    file = min(logs.glob(f"{more.get('router', '*')}/{family}-*.jsonl"), key=lambda path: path.stat().st_size)
    last = json.loads(file.read_text().splitlines()[-1])
    head = {name: last[name] for name in ("v", "t_us", "router", "epoch")} | {"n": last["n"] + 9}
    file.write_text(file.read_text() + json.dumps(more | head) + "\n")


def _sorted(tables: Tables) -> dict[str, list[str]]:
    """Return each table's rows as texts in an order of their own; so are lists, some of which are made of sets."""
    return {
        name: sorted(repr({column: _text(value) for column, value in row.items()}) for row in rows)
        for name, rows in tables.items()
    }


def _text(value: object) -> str:
    return repr(sorted(map(repr, value)) if isinstance(value, list) else value)
