"""Lines of logs as typed records: parsed once into Parquet (`reading.py`), and read from there by every question.

Law: messages are stored with all their columns; events with the columns of every record, and by kind with all columns
of that kind. An invalid line is stored in the column `corrupt`, counted by `health.py` and left out here. Of a record
of a newer version the known fields are read; one without the fields of every record is invalid. The files are read by
Spark's cores: by threads here, or by the workers of a cluster.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyarrow import dataset
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.sql.types import StructType

from tamis.analysis.records import reading, remote, schemas
from tamis.analysis.records.by_message import PieceDivision, RecordChoice
from tamis.analysis.records.files import FAMILIES, FEW_BYTES, family_of, held, log_files, text_bytes_in
from tamis.analysis.records.lines import CORRUPT
from tamis.analysis.spark import cluster, parts
from tamis.protocol.records import COMMON

HELD: Final = "held-"
"""The begin of the names of folders in a store that last as long as an analysis."""
PIECE_TEXT_BYTES: Final = 200 * 1024 * 1024
"""Bytes of lines for a piece, about: half a million records of messages."""
_MESSAGES = StructType([*schemas.of_kind("message"), schemas.CORRUPT_FIELD])


class Logs:
    """The stored records: of one kind as a table of Spark's, or, where they are few or a network's own, read here."""

    def __init__(self, spark: SparkSession, stores: Sequence[Path], since_us: int | None, pieces: int = 0) -> None:
        """`pieces`: how many there are in files of pieces; 0 without such files."""
        self.spark = spark
        self.pieces = pieces
        self._stores = stores
        self.stored_bytes = _bytes_in(stores)
        # Records of messages lie in pieces, and are moved only to join them with those of durable subscriptions.
        moved = stores if self.has_durables else [place / "kinds" for place in stores]
        parts.fit(spark, self.stored_bytes, _bytes_in(moved))
        self.since_us = since_us
        self._kinds: dict[str, DataFrame] = {}

    @property
    def store(self) -> Path:
        """The folder of the newest records, which all processes that compute see."""
        return self._stores[-1]

    @property
    def stores(self) -> Sequence[Path]:
        return self._stores

    @property
    def has_durables(self) -> bool:
        """Whether a router has recorded a durable subscription."""
        return any(any(path.glob("*.parquet")) for kind in ("keep", reading.STORED) for path in self._at(kind))

    @cached_property
    def messages(self) -> DataFrame:
        return self.messages_in([store / "messages" for store in self._stores])

    def messages_in(self, places: Sequence[Path], with_file: bool = False) -> DataFrame:
        """Return the messages in some of the folders or files of the stores; `with_file`: and the file of each."""
        found = self._lines_in(places, _MESSAGES)
        if with_file:
            found = found.withColumn("file", F.regexp_extract(F.input_file_name(), "([^/]+/messages/[^/]+)$", 1))
        is_whole = _is_whole("message")
        is_asked = is_whole if self.since_us is None else is_whole & (F.col("t_us") >= self.since_us)
        return parts.together(found.where(is_asked).drop(CORRUPT))

    def stored_in(self, places: Sequence[Path], with_file: bool = False) -> DataFrame:
        """Return the records of stored messages in some of the folders or files of the stores, as `kind` does;
        `with_file`: and the file of each."""
        schema = schemas.of_kind(reading.STORED)
        found = self._lines_in([place for place in places if place.is_file() or any(place.glob("*.parquet"))], schema)
        if with_file:
            found = found.withColumn("file", F.regexp_extract(F.input_file_name(), "([^/]+/kinds/[^/]+/[^/]+)$", 1))
        return parts.together(found.withColumnRenamed("keep", "durable"))

    def pieces_at(self) -> list[str]:
        """Return the files of pieces."""
        return [str(path) for store in self._stores for path in sorted((store / reading.PIECES).glob("*.arrow"))]

    def lines(self, family: str) -> DataFrame:
        """Return the columns of every record, for each line, with CORRUPT."""
        schema = _MESSAGES if family == "messages" else schemas.of_head()
        found = self._lines_in([store / family for store in self._stores], schema)
        return parts.together(found.select(*schemas.of_head().names))

    def kind(self, kind: str) -> DataFrame:
        """Return the records of one kind, with the columns of that kind."""
        if kind not in self._kinds:
            found = parts.read(self.spark, self._at(kind), schemas.of_kind(kind))
            self._kinds[kind] = found.withColumnRenamed("keep", "durable")
        return self._kinds[kind]

    def tallies(self) -> pa.Table:
        """Return what the lines come to, by family, router, life and version (`reading.TALLIED`)."""
        return parts.rows_of([store / "tallies" for store in self._stores], schemas.of_tallies()).to_table()

    def highest(self) -> pa.Table:
        """Return the rows of `reading.HIGHEST` of all blocks."""
        files = [path for store in self._stores for path in sorted((store / "highest").glob("*.parquet"))]
        return dataset.dataset(list(map(str, files)), reading.HIGHEST, "parquet").to_table()

    def here(self, kind: str) -> pa.Table:
        """Return the records of one kind, read by this process: of kinds that tell the state of the network."""
        found = self.scanned(kind).to_table()
        return found.rename_columns(["durable" if name == "keep" else name for name in found.schema.names])

    def scanned(self, kind: str) -> dataset.Dataset:
        return parts.rows_of(self._at(kind), schemas.of_kind(kind))

    def _at(self, kind: str) -> list[Path]:
        return [store / "kinds" / kind for store in self._stores]

    def _lines_in(self, places: Sequence[Path], schema: StructType) -> DataFrame:
        found = self.spark.read.schema(schema)
        return found.parquet(*map(str, places)) if places else self.spark.createDataFrame([], schema)


def read(
    spark: SparkSession, folder: Path | str, store: Path, since_us: int | None = None, is_divided: bool = False
) -> Logs:
    """Read all files of `folder`, which may be the address of one elsewhere, into `store`, which must stay as long as
    the logs are used. `is_divided`: records of messages may be read in pieces only."""
    shutil.rmtree(store, ignore_errors=True)
    text_bytes = text_bytes_in(folder) if is_divided and isinstance(folder, Path) else 0
    count = -(-text_bytes // PIECE_TEXT_BYTES) if text_bytes > FEW_BYTES and not parts.is_one(spark) else 0
    division = PieceDivision(RecordChoice(since_us), count) if count else None
    keep(spark, _found(folder, store / "held"), store, division)
    return Logs(spark, [store], since_us, count)


def _found(folder: Path | str, place: Path) -> Iterable[Path | str]:
    if isinstance(folder, str):
        return remote.log_files(folder)
    return held((path for family in FAMILIES for path in log_files(folder, family)), place)


def keep(spark: SparkSession, paths: Iterable[Path | str], store: Path, division: PieceDivision | None = None) -> None:
    """Parse those of `paths` that still exist into `store`, in place of its content."""
    files = list(paths)  # before the folders are cleared: what is held lies beside them
    for folder in reading.FOLDERS:
        shutil.rmtree(store / folder, ignore_errors=True)
        (store / folder).mkdir(parents=True)
    tasks = [(str(path), family_of(path), str(store), f"{number:06}") for number, path in enumerate(files)]
    cluster.each(spark, lambda task: reading.parse(*task, division), tasks)


def kept(spark: SparkSession, stores: Sequence[Path], since_us: int | None = None) -> Logs:
    """Return the logs stored in `stores`. `since_us` leaves out earlier messages; events are all included, since
    earlier state still matters."""
    return Logs(spark, stores, since_us)


def _bytes_in(places: Iterable[Path]) -> int:
    endings = "*.parquet", "*.arrow"
    return sum(path.stat().st_size for place in places for ending in endings for path in place.rglob(ending))


def _is_whole(kind: str) -> Column:
    whole = F.col("kind") == kind
    for field in COMMON:
        whole &= F.col(field.name).isNotNull()
    return whole
