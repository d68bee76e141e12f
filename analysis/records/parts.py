"""The partitions of records: their number, and which records share one.

Law: a partition is small enough for its core's share of the memory, whatever the size of the logs. Where all records
fit into one partition, nothing is moved between partitions, so a table is one task of Spark and not ten: such a task
takes longer to start than to run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyarrow import dataset
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

SETTING: Final = "spark.sql.shuffle.partitions"
PART_BYTES: Final = 4 * 1024 * 1024
"""Bytes of records, in Parquet, for one partition: a few hundred thousand records."""


def fit(spark: SparkSession, stored_bytes: int) -> None:
    """Set the number of Spark's partitions by the stored bytes; few partitions are quicker for few records."""
    spark.conf.set(SETTING, str(max(int(spark.conf.get(SETTING) or 1), -(-stored_bytes // PART_BYTES))))


def are_few(stored_bytes: int) -> bool:
    """Return whether all records fit into one partition. Then planning takes longer than computing."""
    return stored_bytes <= PART_BYTES


def together(rows: DataFrame) -> DataFrame:
    """Return `rows` in one partition if that is all there is, and unchanged otherwise."""
    return rows.coalesce(1) if _count(rows.sparkSession) == 1 else rows


def read(spark: SparkSession, folders: Sequence[Path], schema: StructType) -> DataFrame:
    """Return the rows of Parquet files. Where there is one partition they are read here: Spark looks at each file once
    for a plan and again for a task."""
    if _count(spark) > 1:
        return spark.read.schema(schema).parquet(*map(str, folders))
    files = sorted(str(path) for folder in folders for path in folder.glob("*.parquet"))
    wanted = to_arrow_schema(schema)
    found = dataset.dataset(files, wanted, "parquet").to_table()
    if not found.num_rows:
        found = wanted.empty_table()  # a column without any array in it is none to Spark, if it holds maps
    return together(spark.createDataFrame(found, schema))


def of_rows(spark: SparkSession, rows: Iterable[Sequence[object]], schema: pa.Schema) -> DataFrame:
    """Return rows that were computed here as a table of Spark's, which needs no task to read."""
    named = [dict(zip(schema.names, row, strict=True)) for row in rows]
    return together(spark.createDataFrame(pa.Table.from_pylist(named, schema)))


def sent(rows: DataFrame) -> DataFrame:
    """Return `rows` marked as the lookup side of a join: it is sent whole to the partitions of the other side, or
    shares the single partition."""
    return rows.hint("shuffle_hash") if _count(rows.sparkSession) == 1 else F.broadcast(rows)


def gathered(records: DataFrame, *by: str) -> DataFrame:
    """Return `records` with equal keys in one partition, where grouping or joining by these columns, or by more, moves
    nothing. It is for a number of groups at which Spark gains nothing by grouping before it sends."""
    count = _count(records.sparkSession)
    return records if count == 1 else records.repartition(count, *by)


def _count(spark: SparkSession) -> int:
    return int(spark.conf.get(SETTING) or 1)
