"""Into how many partitions records are divided, and which records lie together in one.

Law: a partition is small enough for its core's share of the memory, whatever the size of the logs.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, SparkSession

SETTING: Final = "spark.sql.shuffle.partitions"
PART_BYTES: Final = 4 * 1024 * 1024
"""Bytes of records, in Parquet, for one partition: a few hundred thousand records."""


def fit(spark: SparkSession, kept_bytes: int) -> None:
    """Set the number of Spark's partitions by the bytes kept; few partitions are quicker for few records."""
    spark.conf.set(SETTING, str(max(int(spark.conf.get(SETTING) or 1), -(-kept_bytes // PART_BYTES))))


def are_few(kept_bytes: int) -> bool:
    """Return whether all records fit into one partition. Then planning takes longer than computing."""
    return kept_bytes <= PART_BYTES


def gathered(records: DataFrame, *by: str) -> DataFrame:
    """Return `records` with equal keys in one partition, where grouping or joining by these columns, or by more, moves
    nothing. It is for so many groups that Spark would gain nothing by grouping before it sends."""
    return records.repartition(int(records.sparkSession.conf.get(SETTING) or 1), *by)
