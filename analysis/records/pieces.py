"""The records of messages in pieces, each small enough for a core's share of the memory.

Law: few records are one piece, which is read here. Many are divided by the task that reads their file: one of a router,
or one of a store, of which not all records are asked for again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from tamis.analysis.records.by_message import READ, RECORD, DividedFile, PieceDivision, RecordChoice, one_batch, piece
from tamis.analysis.records.rows import Pieces, RecordRows
from tamis.analysis.spark import cluster, parts

PIECE_ROWS: Final = 500_000
PIECE_BYTES: Final = 64 * 1024 * 1024
"""Records of a piece, about, and their bytes in Parquet before compression."""


class RecordPlaces(NamedTuple):
    """Files or folders of the store, and which of their records are asked for."""

    paths: Sequence[Path]
    choice: RecordChoice

    def files(self) -> list[str]:
        found = (sorted(path.glob("*.parquet")) if path.is_dir() else [path] for path in self.paths)
        return [str(path) for paths in found for path in paths]


def records(spark: SparkSession, places: RecordPlaces, folder: Callable[[], Path]) -> RecordRows:
    """Return the records of messages, of many by pieces in files that are made in `folder`."""
    files = places.files()
    if parts.is_one(spark):
        batches = (batch for file in files for batch in _batches(file))
        return RecordRows(spark, pa.concat_tables([RECORD.empty_table(), *map(places.choice.of, batches)]))
    division = PieceDivision(places.choice, _count(files))
    place = folder()
    place.mkdir(parents=True)
    tasks = [(file, str(place / f"{number:06}.arrow")) for number, file in enumerate(files)]
    cluster.each(spark, partial(_divide, division), tasks)
    return in_pieces(spark, [made for _, made in tasks], division.pieces)


def in_pieces(spark: SparkSession, files: Sequence[str], count: int) -> RecordRows:
    """Return the records in files of pieces."""

    def make(number: int) -> Iterator[pa.RecordBatch]:
        yield one_batch(piece(files, count, number))

    return RecordRows(spark, Pieces(count, make, RECORD))


def _count(files: Sequence[str]) -> int:
    rows = size = 0
    for file in files:
        known = pq.read_metadata(file)
        rows += known.num_rows
        size += sum(known.row_group(number).total_byte_size for number in range(known.num_row_groups))
    return max(1, -(-rows // PIECE_ROWS), -(-size // PIECE_BYTES))


def _batches(file: str) -> Iterator[pa.RecordBatch]:
    yield from pq.ParquetFile(file).iter_batches(columns=READ.names, use_threads=False)


def _divide(division: PieceDivision, task: tuple[str, str]) -> None:
    """Write a file of pieces for a file of the store."""
    file, made = task
    with closing(DividedFile(Path(made), division)) as sink:
        for batch in _batches(file):
            sink.write_table(pa.Table.from_batches([batch]))
