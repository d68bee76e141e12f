"""Rows of a table: in this process where all records fit into one partition, and with Spark otherwise.

Law: functions over batches are the same for both. Rows that lie here are computed when they are made, those of Spark
when they are read. Rows in pieces are made by one function in one task for each piece, however many functions they
went through, so nothing but what is summed up of them crosses from Python to Java.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final, NamedTuple
from uuid import uuid4

import pyarrow as pa
from pyspark import Broadcast, StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema

from tamis.analysis.records.by_message import one_batch
from tamis.analysis.spark import parts
from tamis.analysis.spark.session import ROWS_PER_BATCH

SUMMED_PIECES: Final = 8
"""Pieces that one task sums up."""
BatchMap = Callable[[pa.RecordBatch], pa.RecordBatch]
Map = Callable[[Any, pa.RecordBatch], pa.RecordBatch]
"""A function from a batch and what it has to know to another batch."""


@dataclass(frozen=True)
class Pieces:
    """Rows that tasks make, piece by piece. `make` returns the batches of a piece."""

    count: int
    make: Callable[[int], Iterator[pa.RecordBatch]]
    schema: pa.Schema

    def mapped(self, function: BatchMap, schema: pa.Schema) -> Pieces:
        inner = self.make
        return Pieces(self.count, lambda piece: map(function, inner(piece)), schema)

    def parted(self, each: Mapping[str, tuple[BatchMap, pa.Schema]], folder: Path) -> dict[str, Pieces]:
        """Return the rows of several functions. A task that makes a piece of one writes those of all to files in
        `folder`, which others read."""
        folder.mkdir(parents=True)
        write = partial(self._write, each, folder)
        return {name: Pieces(self.count, partial(_read, write, folder, name), of[1]) for name, of in each.items()}

    def _write(self, each: Mapping[str, tuple[BatchMap, pa.Schema]], folder: Path, piece: int) -> None:
        mark = uuid4().hex
        with ExitStack() as files:
            sinks = {name: _opened(folder / f"{mark}-{name}", schema, files) for name, (_, schema) in each.items()}
            for batch in self.make(piece):
                for name, (function, _) in each.items():
                    sinks[name].write_batch(function(batch))
        for name in each:
            (folder / f"{mark}-{name}").replace(_place(folder, piece, name))


class Filing(NamedTuple):
    """How rows that Spark computes are computed once."""

    persisted: Callable[[DataFrame], DataFrame]
    folder: Callable[[], Path]
    """Return a folder, not made yet, that all processes which compute see."""


class SummedPart(NamedTuple):
    """A function over all rows of a table or of a piece, what it has to know, and the columns of what it returns."""

    function: Map
    known: object
    schema: pa.Schema


class Grouping(NamedTuple):
    """A row for each group of `by` with the sums of some columns and the maxima of others."""

    by: Sequence[str]
    sums: Sequence[str]
    greatest: Sequence[str] = ()

    @property
    def names(self) -> list[str]:
        return [*self.by, *self.sums, *self.greatest]

    def of(self, rows: pa.Table) -> pa.Table:
        asked = [*((name, "sum") for name in self.sums), *((name, "max") for name in self.greatest)]
        found = rows.group_by(list(self.by), use_threads=False).aggregate(asked)
        return found.select([*self.by, *map("_".join, asked)]).rename_columns(self.names)

    def of_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        schema = pa.schema([batch.schema.field(name) for name in self.names])
        return one_batch(self.of(pa.Table.from_batches([batch])).cast(schema))


@dataclass(frozen=True)
class RecordRows:
    """Rows of `source`. A table is here; a frame and pieces are Spark's."""

    spark: SparkSession
    source: pa.Table | DataFrame | Pieces

    @classmethod
    def of(cls, frame: DataFrame) -> RecordRows:
        """Return the rows of `frame`, which are fetched if there is one partition."""
        spark = frame.sparkSession
        return cls(spark, frame.toArrow() if parts.is_one(spark) else frame)

    def mapped(self, function: Map, known: object, schema: pa.Schema, whole: bool = False) -> RecordRows:
        """Return the batches of `function`, to which `known` is sent once. `whole`: it needs all rows of a table or of
        a piece in one batch."""
        if isinstance(self.source, pa.Table):
            size = max(len(self.source), 1) if whole else ROWS_PER_BATCH
            batches = self.source.combine_chunks().to_batches(max_chunksize=size)
            return RecordRows(self.spark, pa.Table.from_batches((function(known, each) for each in batches), schema))
        shared = self.spark.sparkContext.broadcast(known)
        if isinstance(self.source, Pieces):
            return RecordRows(self.spark, self.source.mapped(lambda batch: function(shared.value, batch), schema))

        def each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            yield from map(partial(function, shared.value), batches)

        return RecordRows(self.spark, self.source.mapInArrow(each, from_arrow_schema(schema)))

    def parted(self, each: Mapping[str, SummedPart], filed: Filing) -> dict[str, RecordRows]:
        """Return the rows of several functions, of which each needs all rows of a table or of a piece in one batch.
        Those of a piece are all computed when those of one are needed."""
        if not isinstance(self.source, Pieces):
            return {name: self.mapped(*part, whole=True).kept(filed) for name, part in each.items()}
        shared = self.spark.sparkContext.broadcast({name: part.known for name, part in each.items()})
        functions = {name: (_knowing(shared, name, part.function), part.schema) for name, part in each.items()}
        found = self.source.parted(functions, filed.folder())
        return {name: RecordRows(self.spark, rows) for name, rows in found.items()}

    def present(self, name: str) -> RecordRows:
        """Return the rows that have a value in column `name`."""
        if isinstance(self.source, DataFrame):
            return RecordRows(self.spark, self.source.where(F.col(name).isNotNull()))
        if isinstance(self.source, Pieces):
            schema = self.source.schema
            return RecordRows(self.spark, self.source.mapped(partial(_present, name), schema))
        return RecordRows(self.spark, self.source.filter(self.source.column(name).is_valid()))

    def totals(self, by: Iterable[str], sums: Iterable[str]) -> pa.Table:
        """Return a row for each group of `by` with the sums of some columns."""
        found = self.summed(by, sums)
        return found if isinstance(found, pa.Table) else found.toArrow()

    def distinct(self, name: str) -> pa.Table | DataFrame:
        """Return each value of a column once, as a table of this column."""
        return self.summed([name], [])

    def summed(self, by: Iterable[str], sums: Iterable[str], greatest: Iterable[str] = ()) -> pa.Table | DataFrame:
        """Return what `totals` does, or what Spark has to compute for it; with the maxima of the columns `greatest`."""
        by, sums, greatest = list(by), list(sums), list(greatest)
        wanted = Grouping(by, sums, greatest)
        if isinstance(self.source, pa.Table):
            return wanted.of(self.source)
        frame = self.source
        if isinstance(frame, Pieces):
            frame = RecordRows(self.spark, _summed(frame, wanted)).frame
        totals = [F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in sums]
        most = [F.max(name).alias(name) for name in greatest]
        return frame.groupBy(*by).agg(*totals, *most) if totals or most else frame.select(*by).distinct()

    def select(self, names: Iterable[str]) -> RecordRows:
        names = list(names)
        if isinstance(self.source, Pieces):
            schema = pa.schema([self.source.schema.field(name) for name in names])
            return RecordRows(self.spark, self.source.mapped(lambda batch: batch.select(names), schema))
        return RecordRows(self.spark, self.source.select(names))

    def ordered(self, *by: str) -> pa.Table | DataFrame:
        """Return the rows in order, nulls first, in one file. Spark would sort many files in two jobs, and compute the
        rows for each."""
        if isinstance(self.source, pa.Table):
            return parts.ordered(self.source, *by)
        return self.frame.repartition(1).sortWithinPartitions(*by)

    def kept(self, filed: Filing) -> RecordRows:
        """Return the same rows, which Spark computes once."""
        if isinstance(self.source, pa.Table):
            return self
        if isinstance(self.source, DataFrame):
            return RecordRows(self.spark, filed.persisted(self.source))
        parted = self.source.parted({"rows": (_same, self.source.schema)}, filed.folder())
        return RecordRows(self.spark, parted["rows"])

    @cached_property
    def frame(self) -> DataFrame:
        """The rows as a table of Spark's."""
        if isinstance(self.source, DataFrame):
            return self.source
        if isinstance(self.source, pa.Table):
            return parts.of_table(self.spark, self.source)
        make, count = self.source.make, self.source.count

        def each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for piece in batch.column("id").to_pylist():
                    yield from make(piece)

        pieces = self.spark.range(0, count, 1, count)
        return pieces.mapInArrow(each, from_arrow_schema(self.source.schema))


def _summed(rows: Pieces, wanted: Grouping) -> Pieces:
    """Return the sums of SUMMED_PIECES pieces at a time: Java takes longer for a row than a worker."""
    make, count = rows.make, rows.count
    schema = pa.schema([rows.schema.field(name) for name in wanted.names])

    def summed(first: int) -> Iterator[pa.RecordBatch]:
        pieces = range(first * SUMMED_PIECES, min((first + 1) * SUMMED_PIECES, count))
        found = [wanted.of_batch(batch) for piece in pieces for batch in make(piece)]
        yield wanted.of_batch(one_batch(pa.Table.from_batches(found, schema)))

    return Pieces(-(-count // SUMMED_PIECES), summed, schema)


def persisted(frame: DataFrame) -> DataFrame:
    return frame.persist(StorageLevel.MEMORY_AND_DISK)


def _opened(place: Path, schema: pa.Schema, files: ExitStack) -> pa.ipc.RecordBatchWriter:
    """Open a file of Arrow's for writing, which `files` closes."""
    options = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
    file = files.enter_context(pa.OSFile(str(place), "wb"))
    return files.enter_context(pa.ipc.new_file(file, schema, options=options))


def _place(folder: Path, piece: int, name: str) -> Path:
    return folder / f"{piece}-{name}.arrow"


def _read(write: Callable[[int], None], folder: Path, name: str, piece: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows called `name` of a piece, which `write` writes if no task has done so."""
    place = _place(folder, piece, name)
    if not place.exists():
        write(piece)
    with pa.memory_map(str(place)) as file:
        reader = pa.ipc.open_file(file)
        yield from map(reader.get_batch, range(reader.num_record_batches))


def _knowing(shared: Broadcast[Any], name: str, function: Map) -> BatchMap:
    return lambda batch: function(shared.value[name], batch)


def _same(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch


def _present(name: str, batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.filter(batch.column(name).is_valid()) if batch.column(name).null_count else batch
