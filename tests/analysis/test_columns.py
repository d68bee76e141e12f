"""Records as columns: all answers are those of lines, and Spark reads the files without us."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.job import Job, analyze
from tamis.analysis.page import report
from tamis.analysis.records import logs
from tamis.router.records.converting import COLUMNS, convert_folder
from tests.analysis.conftest import NOTICE_US, Simulated, Tables
from tests.analysis.test_increments import rows_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def columns(simulated: Simulated, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("columns") / "logs"
    assert {outcome.what for outcome in convert_folder(simulated.folder, folder, COLUMNS)} == {"converted"}
    return folder


def test_what_is_read_is_what_lines_have(
    spark: SparkSession, columns: Path, simulated: Simulated, tmp_path: Path
) -> None:
    logs.read(spark, columns, tmp_path / "columns")
    logs.read(spark, simulated.folder, tmp_path / "lines")
    found = rows_of([tmp_path / "columns"])
    assert found == rows_of([tmp_path / "lines"])
    assert {"messages", "events", "kinds/control", "kinds/interface"} <= found.keys()


@pytest.mark.long
def test_all_answers_are_those_of_lines(spark: SparkSession, columns: Path, tables: Tables, tmp_path: Path) -> None:
    analyze(spark, columns, Job(tmp_path, notice_us=NOTICE_US))
    found = report.read(tmp_path)
    assert found.keys() == tables.keys()
    for name, rows in tables.items():
        assert sorted(map(repr, found[name])) == sorted(map(repr, rows)), name


def test_spark_reads_the_files_by_themselves(spark: SparkSession, columns: Path, simulated: Simulated) -> None:
    files = [str(path) for path in columns.glob(f"*/messages-*{COLUMNS}")]
    asked = (F.count("*"), F.sum("message.number"), F.count("message.to_connections"), F.max("message.bytes"))
    (found,) = spark.read.parquet(*files).agg(*asked).collect()
    wanted = simulated.records("message")
    queued = [record for record in wanted if "to_connections" in record]
    numbers, sizes = ([record[name] for record in wanted] for name in ("number", "bytes"))
    assert tuple(found) == (len(wanted), sum(numbers), len(queued), max(sizes))
