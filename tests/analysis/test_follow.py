"""Followed files are read once, whenever they come and whichever form they take, and late ones change the answers."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from tamis.analysis.follow import follow
from tamis.analysis.job import Job
from tamis.analysis.page import report
from tamis.router.records.converting import CLOSED, convert_folder
from tests.analysis.conftest import Simulated

pytestmark = pytest.mark.long


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_late_file_changes_what_was_said_before(
    spark: SparkSession, simulated: Simulated, tmp_path: Path, form: str
) -> None:
    logs, job = tmp_path / "logs", Job(tmp_path / "answers", ("traffic",))
    published = []
    for is_late in (False, True):
        for path in simulated.folder.glob("*/*.jsonl"):
            if (path.parent.name == "r3") is is_late:
                closed = logs / path.parent.name / f"{path.name}.gz"
                closed.parent.mkdir(parents=True, exist_ok=True)
                closed.write_bytes(gzip.compress(path.read_bytes()))
        if is_late and form == "parquet":  # files that were read come again in their new form
            assert {outcome.what for outcome in convert_folder(logs, None, CLOSED[form])} == {"converted"}
        follow(spark, logs, job, lambda _: None, rounds=1)
        rows = report.read(job.out)["traffic/by_source"]
        published.append(sum(row["published"] for row in rows))
    assert published[0] < published[1] == len(simulated.truth["messages"]["published"])
