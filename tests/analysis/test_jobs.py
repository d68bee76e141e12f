"""How many jobs Spark runs for a whole report: each costs its planning, whatever it computes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from tamis.analysis.job import Job, analyze
from tamis.analysis.page import report
from tamis.analysis.records import parts
from tests.analysis.conftest import NOTICE_US, Simulated

pytestmark = pytest.mark.slow
JOBS_MAX = 8
"""Of any report, however many partitions its records have: adaptive execution would make a job of each exchange."""
USUAL = 3
"""Traffic, latency and needless frames; the records of each message; control frames and contents."""


def jobs_of(spark: SparkSession, logs: Path, out: Path, partitions: int = 1) -> int:
    before = spark.conf.get(parts.SETTING)
    spark.conf.set(parts.SETTING, str(partitions))
    tracker = spark.sparkContext.statusTracker()
    earlier = set(tracker.getJobIdsForGroup(None))
    try:
        analyze(spark, logs, Job(out, notice_us=NOTICE_US, audits=(logs,)))
    finally:
        spark.conf.set(parts.SETTING, str(before))
    return len(set(tracker.getJobIdsForGroup(None)) - earlier)


def test_a_report_of_few_records_takes_few_jobs(spark: SparkSession, simulated: Simulated, tmp_path: Path) -> None:
    assert jobs_of(spark, simulated.folder, tmp_path) == USUAL


@pytest.mark.parametrize("partitions", [1, 2])
def test_so_does_one_of_every_question_with_holes_and_faults(
    spark: SparkSession, simulated: Simulated, tmp_path: Path, partitions: int
) -> None:
    logs = tmp_path / "logs"
    shutil.copytree(simulated.folder, logs)
    keep = {"keep": 1, "what": "made", "name": "jobs", "filters": ['[["n","exists"]]']}
    planted(logs, "events", {"kind": "keep"} | keep)
    planted(logs, "messages", {"kind": "kept", "keep": 1, "what": "kept", "position": 1, "origin": "0f", "number": 1})
    (twice,) = [record for record in simulated.records("message") if len(record.get("to_connections", ())) > 0][:1]
    planted(logs, "messages", twice)
    audit = logs / "a" / "audit"
    audit.mkdir(parents=True)
    (audit / "audit-000000000001.jsonl").write_text('{"n": 1, "before": "", "at": 1.0, "kind": "admitted"}\n')
    jobs = jobs_of(spark, logs, tmp_path / "out", partitions)
    tables = report.read(tmp_path / "out")
    assert tables["logs/holes"]
    assert tables["delivery/faults"]
    assert tables["access/lines"]
    assert sum(row["messages"] for row in tables["durable/fates"]) == 1
    assert USUAL < jobs <= JOBS_MAX


def planted(logs: Path, family: str, more: dict[str, Any]) -> None:
    """Add a record behind a hole, to the router that `more` names or the first one."""
    file = min(logs.glob(f"{more.get('router', '*')}/{family}-*.jsonl"))
    last = json.loads(file.read_text().splitlines()[-1])
    head = {name: last[name] for name in ("v", "t_us", "router", "epoch")} | {"n": last["n"] + 9}
    file.write_text(file.read_text() + json.dumps(more | head) + "\n")
