"""How many jobs Spark runs for a whole report of few records: each costs its planning, whatever it computes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from tamis.analysis.job import Job, analyze
from tamis.analysis.page import report
from tamis.analysis.records import parts
from tests.analysis.conftest import NOTICE_US, Simulated

pytestmark = pytest.mark.slow
JOBS_MAX = 8
PARTED_MAX = 12
"""Of records in several partitions, without adaptive execution, which makes a job of each exchange. The number depends
on the questions and not on the records."""
USUAL = 3
"""Traffic, latency and needless frames; the records of each message; control frames and contents."""


def jobs_of(spark: SparkSession, logs: Path, out: Path, partitions: int = 1) -> int:
    before = spark.conf.get(parts.SETTING)
    spark.conf.set(parts.SETTING, str(partitions))
    tracker = spark.sparkContext.statusTracker()
    earlier = set(tracker.getJobIdsForGroup(None))
    try:
        analyze(spark, logs, Job(out, notice_us=NOTICE_US))
    finally:
        spark.conf.set(parts.SETTING, str(before))
    return len(set(tracker.getJobIdsForGroup(None)) - earlier)


def test_a_report_of_few_records_takes_few_jobs(spark: SparkSession, simulated: Simulated, tmp_path: Path) -> None:
    assert jobs_of(spark, simulated.folder, tmp_path) == USUAL


def test_a_report_of_records_in_partitions_takes_few_more(
    spark: SparkSession, simulated: Simulated, tmp_path: Path
) -> None:
    assert USUAL < jobs_of(spark, simulated.folder, tmp_path, partitions=2) <= PARTED_MAX


def test_so_does_one_with_holes_and_durable_subscriptions(
    spark: SparkSession, simulated: Simulated, tmp_path: Path
) -> None:
    logs = tmp_path / "logs"
    shutil.copytree(simulated.folder, logs)
    for family, more in (
        ("events", {"kind": "keep", "keep": 1, "what": "made", "name": "jobs", "filters": []}),
        ("messages", {"kind": "kept", "keep": 1, "what": "kept", "position": 1, "origin": "0f", "number": 1}),
    ):
        file = min(logs.glob(f"*/{family}-*.jsonl"))
        last = json.loads(file.read_text().splitlines()[-1])
        head = {name: last[name] for name in ("v", "t_us", "router", "epoch")} | {"n": last["n"] + 9}
        file.write_text(file.read_text() + json.dumps(head | more) + "\n")
    jobs = jobs_of(spark, logs, tmp_path / "out")
    tables = report.read(tmp_path / "out")
    assert len(tables["logs/holes"]) == 2
    assert sum(row["messages"] for row in tables["durable/fates"]) == 1
    assert USUAL < jobs <= JOBS_MAX
