"""Answers are the same whether records lie in one partition, where joins move nothing, or in several."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from tamis.analysis import parts, report
from tamis.analysis.job import Job, analyze
from tests.analysis.conftest import NOTICE_US, Simulated, Tables

pytestmark = pytest.mark.slow


def test_one_partition_and_two_give_the_same_tables(
    spark: SparkSession, simulated: Simulated, tables: Tables, tmp_path: Path
) -> None:
    before = spark.conf.get(parts.SETTING)
    assert before is not None
    assert int(before) > 1
    spark.conf.set(parts.SETTING, "1")
    try:
        analyze(spark, simulated.folder, Job(tmp_path, notice_us=NOTICE_US))
    finally:
        spark.conf.set(parts.SETTING, before)
    found = report.read(tmp_path)
    assert found.keys() >= {"delivery/faults", "logs/holes", "latency/by_link"}
    assert _sorted(found) == _sorted(tables)


def _sorted(tables: Tables) -> dict[str, list[str]]:
    """Return rows as texts, in an order of their own: where a table is not ordered, and in lists made of sets."""
    return {
        name: sorted(
            repr({key: sorted(map(repr, value)) if isinstance(value, list) else value for key, value in row.items()})
            for row in rows
        )
        for name, rows in tables.items()
        if not name.startswith("advice/")
    }
