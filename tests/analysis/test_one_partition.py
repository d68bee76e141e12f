"""Answers are the same whether records lie in one partition, where joins move nothing, or in several."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

import pyarrow as pa
from pyspark.sql import SparkSession

from tamis.analysis.job import Job, analyze
from tamis.analysis.page import report
from tamis.analysis.records import parts
from tests.analysis.conftest import NOTICE_US, Simulated, Tables

pytestmark = pytest.mark.slow


def test_one_partition_and_two_give_the_same_tables(spark: SparkSession, simulated: Simulated, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    shutil.copytree(simulated.folder, logs)
    _damage(logs)
    one, two = (_answers(spark, logs, tmp_path / str(count), count) for count in (1, 2))
    assert {row["family"] for row in one["logs/holes"]} == {"messages", "events"}
    assert [row["broken"] for row in one["logs/lines"] if row["family"] == "events"] == [1]
    assert _sorted(one) == _sorted(two)


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


def _answers(spark: SparkSession, logs: Path, out: Path, partitions: int) -> Tables:
    before = spark.conf.get(parts.SETTING)
    spark.conf.set(parts.SETTING, str(partitions))
    try:
        analyze(spark, logs, Job(out, notice_us=NOTICE_US))
    finally:
        spark.conf.set(parts.SETTING, str(before))
    return report.read(out)


def _sorted(tables: Tables) -> dict[str, list[str]]:
    """Return each table's rows as texts in an order of their own; so are lists, some of which are made of sets."""
    return {
        name: sorted(repr({column: _text(value) for column, value in row.items()}) for row in rows)
        for name, rows in tables.items()
    }


def _text(value: object) -> str:
    return repr(sorted(map(repr, value)) if isinstance(value, list) else value)
