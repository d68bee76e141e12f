"""Lines of logs as typed records.

Law: a line is read once and kept as text until a question asks for its kind; a line that is no record is counted by
`health.py` and left out here. A record of a newer version is read as far as this version knows its fields; one that
lacks what every record has is no record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.sql.types import StringType, StructField, StructType

from tamis.analysis import schemas
from tamis.analysis.files import log_files
from tamis.protocol.records import COMMON

LINES = StructType([StructField("value", StringType())])


@dataclass(frozen=True)
class Logs:
    """All that was read: records of messages, and heads and lines of all events."""

    message_lines: DataFrame
    events: DataFrame
    """The head of each line, with the line as `value`."""
    messages: DataFrame

    def kind(self, kind: str) -> DataFrame:
        """The events of one kind."""
        return typed(self.events.where(F.col("kind") == kind).select("value"), kind)

    def unpersist(self) -> None:
        self.events.unpersist()
        self.messages.unpersist()


def read(spark: SparkSession, folder: Path, since_us: int | None = None) -> Logs:
    lines = {family: _lines(spark, log_files(folder, family)) for family in ("messages", "events")}
    return of_lines(lines["messages"], lines["events"], since_us)


def of_lines(message_lines: DataFrame, event_lines: DataFrame, since_us: int | None = None) -> Logs:
    """`since_us` leaves out earlier messages; of events all are kept: what was so before counts."""
    events = event_lines.select("value", F.from_json("value", schemas.of_head(), _CORRUPT).alias("head"))
    events = events.select("value", "head.*").persist(StorageLevel.MEMORY_AND_DISK)
    messages = typed(message_lines, "message")
    if since_us is not None:
        messages = messages.where(F.col("t_us") >= since_us)
    return Logs(message_lines, events, messages.persist(StorageLevel.MEMORY_AND_DISK))


def typed(lines: DataFrame, kind: str) -> DataFrame:
    """The records of one kind, with its columns."""
    records = lines.select(F.from_json("value", schemas.of_kind(kind)).alias("record")).select("record.*")
    whole = F.col("kind") == kind
    for field in COMMON:
        whole &= F.col(field.name).isNotNull()
    return records.where(whole)


def _lines(spark: SparkSession, paths: Sequence[Path]) -> DataFrame:
    if not paths:
        return spark.createDataFrame([], LINES)
    return spark.read.text([str(path) for path in paths])


_CORRUPT = {"columnNameOfCorruptRecord": schemas.CORRUPT}
