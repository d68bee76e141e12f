"""One Spark session for all tests of a process, and one set of simulated logs with their truth."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from tamis.analysis.job import Job, analyze
from tamis.analysis.page import report
from tamis.analysis.spark import parts, session
from tamis.simulate.run import TRUTH, Outcome, Scenario, run

NOTICE_US = 1_000_000
"""A simulated router notices that a neighbour is silent within this."""
SCENARIO = Scenario("ring:5", 40, "cut,crash,reset,flood", 3)


Tables = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True, eq=False)
class Simulated:
    """The one run; what is worked out of it can be kept by it."""

    folder: Path
    outcome: Outcome
    truth: dict[str, Any]
    """As simulate/account/ tells it."""

    def records(self, kind: str) -> list[dict[str, Any]]:
        texts = (path.read_text() for path in sorted(self.folder.glob("*/*.jsonl")))
        records = (json.loads(line) for text in texts for line in text.splitlines())
        return [record for record in records if record["kind"] == kind]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    started = session.start("local[2]", partitions=2, brief=True)
    yield started
    started.stop()


@pytest.fixture(scope="session", params=["advertise", pytest.param("flood", marks=pytest.mark.long)])
def simulated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Simulated:
    folder = tmp_path_factory.mktemp("simulated")
    outcome = run(replace(SCENARIO, strategy=request.param), records=folder)
    assert not outcome.violations
    return Simulated(folder, outcome, json.loads((folder / TRUTH).read_text()))


def jobs_of(spark: SparkSession, logs: Path, job: Job, partitions: int = 1) -> int:
    """Analyze logs whose records lie in `partitions` partitions; return the number of Spark's jobs."""
    before = spark.conf.get(parts.SETTING)
    spark.conf.set(parts.SETTING, str(partitions))
    tracker = spark.sparkContext.statusTracker()
    earlier = set(tracker.getJobIdsForGroup(None))
    try:
        analyze(spark, logs, job)
    finally:
        spark.conf.set(parts.SETTING, str(before))
    return len(set(tracker.getJobIdsForGroup(None)) - earlier)


@dataclass(frozen=True)
class Whole:
    """One report of all questions."""

    out: Path
    jobs: int


@pytest.fixture(scope="session")
def whole(spark: SparkSession, simulated: Simulated, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """The report of the simulated logs."""
    out = tmp_path_factory.mktemp("answers")
    return Whole(out, jobs_of(spark, simulated.folder, Job(out, notice_us=NOTICE_US)))


@pytest.fixture(scope="session")
def answered(whole: Whole) -> Path:
    """The folder of all answers about the simulated logs."""
    return whole.out


@pytest.fixture(scope="session")
def tables(answered: Path) -> Tables:
    return report.read(answered)
