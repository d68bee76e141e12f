"""Lines of logs as typed records: parsed once into Parquet, and read from there by every question.

Law: messages are kept with all their columns; events with what every record has and as the line they were, until a
question asks for their kind. A line that is no record is kept in the column `corrupt`, counted by `health.py` and left
out here. A record of a newer version is read as far as this version knows its fields; one that lacks what every record
has is no record.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.sql.types import StringType, StructField, StructType

from tamis.analysis import schemas
from tamis.analysis.files import family_of, held, log_files
from tamis.protocol.records import COMMON

_SCHEMAS = {
    "messages": StructType([*schemas.of_kind("message"), schemas.CORRUPT_FIELD]),
    "events": StructType([StructField("value", StringType()), *schemas.of_head()]),
}
_CORRUPT = {"columnNameOfCorruptRecord": schemas.CORRUPT}


@dataclass(frozen=True)
class Logs:
    """The records kept: messages with all columns, and of each other line what every record has."""

    message_heads: DataFrame
    events: DataFrame
    """What every record has, of each line, with the line itself as `value`."""
    messages: DataFrame
    kept_bytes: int

    def kind(self, kind: str) -> DataFrame:
        """Return the events of one kind, with the columns of that kind."""
        lines = self.events.where(F.col("kind") == kind)
        records = lines.select(F.from_json("value", schemas.of_kind(kind)).alias("record")).select("record.*")
        return records.where(_is_whole(kind))


def read(spark: SparkSession, folder: Path, store: Path, since_us: int | None = None) -> Logs:
    """Read all files of `folder` into `store`, which must stay as long as the logs are used."""
    shutil.rmtree(store, ignore_errors=True)
    found = (path for family in _SCHEMAS for path in log_files(folder, family))
    keep(spark, held(found, store / "held"), store)
    return kept(spark, [store], since_us)


def keep(spark: SparkSession, paths: Iterable[Path], store: Path) -> None:
    """Parse those of `paths` that still exist into `store`, in place of what it had."""
    found = [path for path in paths if path.exists()]
    for family, parse in (("messages", _messages), ("events", _events)):
        mine = [str(path) for path in found if family_of(path) == family]
        parsed = parse(spark, mine) if mine else spark.createDataFrame([], _SCHEMAS[family])
        parsed.write.mode("overwrite").parquet(str(store / family))


def kept(spark: SparkSession, stores: Sequence[Path], since_us: int | None = None) -> Logs:
    """Return the logs kept in `stores`. `since_us` leaves out earlier messages; events are all kept, since what was so
    before counts."""
    messages, events = (
        spark.read.schema(schema).parquet(*(str(store / family) for store in stores))
        for family, schema in _SCHEMAS.items()
    )
    is_asked = _is_whole("message") if since_us is None else _is_whole("message") & (F.col("t_us") >= since_us)
    heads = messages.select(*schemas.of_head().names)
    kept_bytes = sum(path.stat().st_size for store in stores for path in store.rglob("*.parquet"))
    return Logs(heads, events, messages.where(is_asked).drop(schemas.CORRUPT), kept_bytes)


def _messages(spark: SparkSession, paths: list[str]) -> DataFrame:
    return spark.read.schema(_SCHEMAS["messages"]).options(**_CORRUPT).json(paths)


def _events(spark: SparkSession, paths: list[str]) -> DataFrame:
    head = F.from_json("value", schemas.of_head(), _CORRUPT).alias("head")
    return spark.read.text(paths).select("value", head).select("value", "head.*")


def _is_whole(kind: str) -> Column:
    whole = F.col("kind") == kind
    for field in COMMON:
        whole &= F.col(field.name).isNotNull()
    return whole
