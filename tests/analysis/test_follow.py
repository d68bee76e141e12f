"""Followed files are read once, whenever they come and whichever form they take, and late ones change the answers."""

from __future__ import annotations

import gzip
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from tamis.analysis.follow import STORE, follow
from tamis.analysis.job import Job, analyze
from tamis.analysis.page import report
from tamis.router.records.converting import CLOSED, convert_folder
from tests.analysis.conftest import Simulated

pytestmark = pytest.mark.long


def close(simulated: Simulated, logs: Path, routers: str) -> None:
    for path in simulated.folder.glob("*/*.jsonl"):
        if path.parent.name[1:] in routers:
            closed = logs / path.parent.name / f"{path.name}.gz"
            closed.parent.mkdir(parents=True, exist_ok=True)
            closed.write_bytes(gzip.compress(path.read_bytes()))


def published(out: Path) -> int:
    return sum(row["published"] for row in report.read(out)["traffic/by_source"])


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_late_file_changes_what_was_said_before(
    spark: SparkSession, simulated: Simulated, tmp_path: Path, form: str
) -> None:
    logs, job = tmp_path / "logs", Job(tmp_path / "answers", ("traffic",))
    found = []
    for routers in ("01245", "3"):
        close(simulated, logs, routers)
        if routers == "3" and form == "parquet":  # files that were read come again in their new form
            assert {outcome.what for outcome in convert_folder(logs, None, CLOSED[form])} == {"converted"}
        follow(spark, logs, job, lambda _: None, rounds=1)
        found.append(published(job.out))
    assert found[0] < found[1] == len(simulated.truth["messages"]["published"])


def test_a_process_that_is_killed_counts_nothing_twice(
    spark: SparkSession, simulated: Simulated, tmp_path: Path
) -> None:
    logs, out = tmp_path / "logs", tmp_path / "answers"
    random = Random(1)
    logs.mkdir()
    command = [sys.executable, "-m", "tamis.cli.main", "analyze", str(logs), "--out", str(out), "--follow"]
    for routers in ("0", "1", "2", "345"):
        close(simulated, logs, routers)
        with suppress(subprocess.TimeoutExpired):  # it is killed then, wherever it is
            subprocess.run([*command, "--only", "traffic"], timeout=random.uniform(5, 60), check=True)  # noqa: S603
    analyze(spark, logs, Job(out, ("traffic",), into=out / STORE))
    assert published(out) == len(simulated.truth["messages"]["published"])
