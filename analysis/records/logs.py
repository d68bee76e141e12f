"""Lines of logs as typed records: parsed once into Parquet (`reading.py`), and read from there by every question.

Law: messages are stored with all their columns; events with the columns of every record, and by kind with all columns
of that kind. An invalid line is stored in the column `corrupt`, counted by `health.py` and left out here. Of a record
of a newer version the known fields are read; one without the fields of every record is invalid. The files are read by
Spark's cores: by threads here, or by the workers of a cluster.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.sql.types import StructType

from tamis.analysis.records import parts, reading, schemas
from tamis.analysis.records.files import family_of, held, log_files
from tamis.protocol.records import COMMON

_FAMILIES = ("messages", "events")
_MESSAGES = StructType([*schemas.of_kind("message"), schemas.CORRUPT_FIELD])


@dataclass(frozen=True)
class Logs:
    """The stored records."""

    tallies: DataFrame
    """What the lines come to, by family, router, life and version (`reading.TALLIED`)."""
    heads: Mapping[str, DataFrame]
    """By family: the columns of every record, for each line, with CORRUPT."""
    messages: DataFrame
    kinds: Mapping[str, DataFrame]
    stored_bytes: int
    has_durables: bool
    """Whether a router has recorded a durable subscription."""

    def kind(self, kind: str) -> DataFrame:
        """Return the records of one kind, with the columns of that kind."""
        return self.kinds[kind]


def read(spark: SparkSession, folder: Path, store: Path, since_us: int | None = None) -> Logs:
    """Read all files of `folder` into `store`, which must stay as long as the logs are used."""
    shutil.rmtree(store, ignore_errors=True)
    found = (path for family in _FAMILIES for path in log_files(folder, family))
    keep(spark, held(found, store / "held"), store)
    return kept(spark, [store], since_us)


def keep(spark: SparkSession, paths: Iterable[Path], store: Path) -> None:
    """Parse those of `paths` that still exist into `store`, in place of its content."""
    files = list(paths)  # before the folders are cleared: what is held lies beside them
    for folder in reading.FOLDERS:
        shutil.rmtree(store / folder, ignore_errors=True)
        (store / folder).mkdir(parents=True)
    tasks = [(str(path), family_of(path), str(store), f"{number:06}") for number, path in enumerate(files)]
    if str(spark.sparkContext.master).startswith("local"):
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(lambda task: reading.parse(*task), tasks))
    elif tasks:
        spark.sparkContext.parallelize(tasks, len(tasks)).foreach(lambda task: reading.parse(*task))


def kept(spark: SparkSession, stores: Sequence[Path], since_us: int | None = None) -> Logs:
    """Return the logs stored in `stores`. `since_us` leaves out earlier messages; events are all included, since
    earlier state still matters."""

    stored_bytes = sum(path.stat().st_size for store in stores for path in store.rglob("*.parquet"))
    parts.fit(spark, stored_bytes)

    def rows(folder: str, schema: StructType) -> DataFrame:
        return parts.together(spark.read.schema(schema).parquet(*(str(store / folder) for store in stores)))

    def few(folder: str, schema: StructType) -> DataFrame:
        return parts.read(spark, [store / folder for store in stores], schema)

    messages = rows("messages", _MESSAGES)
    is_asked = _is_whole("message") if since_us is None else _is_whole("message") & (F.col("t_us") >= since_us)
    kinds = {
        kind: few(f"kinds/{kind}", schemas.of_kind(kind)).withColumnRenamed("keep", "durable")
        for kind in reading.KINDS_APART
    }
    return Logs(
        few("tallies", schemas.of_tallies()),
        {"messages": messages.select(*schemas.of_head().names), "events": rows("events", schemas.of_head())},
        messages.where(is_asked).drop(reading.CORRUPT),
        kinds,
        stored_bytes,
        any(any((store / "kinds" / kind).glob("*.parquet")) for store in stores for kind in ("keep", reading.STORED)),
    )


def _is_whole(kind: str) -> Column:
    whole = F.col("kind") == kind
    for field in COMMON:
        whole &= F.col(field.name).isNotNull()
    return whole
