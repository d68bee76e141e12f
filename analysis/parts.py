"""In how many parts records are sent around, and what lies together in one.

Law: a part is small enough for its core's share of the memory, whatever the size of the logs.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, SparkSession

SETTING: Final = "spark.sql.shuffle.partitions"
PART_BYTES: Final = 8 * 1024 * 1024
"""Of records in Parquet: a few hundred thousand."""


def fit(spark: SparkSession, kept_bytes: int) -> None:
    """As many parts as so many records need; few are quicker where records are few."""
    spark.conf.set(SETTING, str(max(int(spark.conf.get(SETTING) or 1), -(-kept_bytes // PART_BYTES))))


def gathered(records: DataFrame, *by: str) -> DataFrame:
    """All that have this in common in one part: what is grouped or joined by it, or by more, stays there. For groups so
    many that Spark would gain nothing, and sort everything, if it began to group before it sends."""
    return records.repartition(int(records.sparkSession.conf.get(SETTING) or 1), *by)
