"""How many jobs Spark runs for a whole report of few records: each costs its planning, whatever it computes."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from tamis.analysis.job import Job, analyze
from tamis.analysis.records import parts
from tests.analysis.conftest import NOTICE_US, Simulated

pytestmark = pytest.mark.slow
JOBS_MAX = 8


def test_a_report_of_few_records_takes_few_jobs(spark: SparkSession, simulated: Simulated, tmp_path: Path) -> None:
    before = spark.conf.get(parts.SETTING)
    spark.conf.set(parts.SETTING, "1")
    tracker = spark.sparkContext.statusTracker()
    earlier = set(tracker.getJobIdsForGroup(None))
    try:
        analyze(spark, simulated.folder, Job(tmp_path, notice_us=NOTICE_US))
    finally:
        spark.conf.set(parts.SETTING, str(before))
    jobs = set(tracker.getJobIdsForGroup(None)) - earlier
    assert 0 < len(jobs) <= JOBS_MAX
