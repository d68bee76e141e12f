"""Rows of a table: in this process where all records fit into one partition, and with Spark otherwise.

Law: functions over batches are the same for both. Rows that lie here are computed when they are made, those of Spark
when they are read; `kept` makes sure that Spark computes them once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema

from tamis.analysis.records import parts
from tamis.analysis.records.session import ROWS_PER_BATCH

Map = Callable[[Any, pa.RecordBatch], pa.RecordBatch]
"""A function from a batch and what it has to know to another batch."""


@dataclass(frozen=True)
class RecordRows:
    """Rows of `source`. A table is here; a frame is Spark's."""

    spark: SparkSession
    source: pa.Table | DataFrame

    @classmethod
    def of(cls, frame: DataFrame) -> RecordRows:
        """Return the rows of `frame`, which are fetched if there is one partition."""
        spark = frame.sparkSession
        return cls(spark, frame.toArrow() if parts.is_one(spark) else frame)

    def mapped(self, function: Map, known: object, schema: pa.Schema) -> RecordRows:
        """Return the batches of `function`, to which `known` is sent once."""
        if isinstance(self.source, pa.Table):
            batches = self.source.to_batches(max_chunksize=ROWS_PER_BATCH)
            return RecordRows(self.spark, pa.Table.from_batches((function(known, each) for each in batches), schema))
        shared = self.spark.sparkContext.broadcast(known)

        def each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            yield from map(partial(function, shared.value), batches)

        return RecordRows(self.spark, self.source.mapInArrow(each, from_arrow_schema(schema)))

    def present(self, name: str) -> RecordRows:
        """Return the rows that have a value in column `name`."""
        if isinstance(self.source, pa.Table):
            return RecordRows(self.spark, self.source.filter(self.source.column(name).is_valid()))
        return RecordRows(self.spark, self.source.where(F.col(name).isNotNull()))

    def totals(self, by: Iterable[str], sums: Iterable[str]) -> pa.Table:
        """Return a row for each group of `by` with the sums of some columns."""
        found = self.summed(by, sums)
        return found if isinstance(found, pa.Table) else found.toArrow()

    def distinct(self, name: str) -> pa.Table | DataFrame:
        """Return each value of a column once, as a table of this column."""
        if isinstance(self.source, pa.Table):
            return self.source.group_by(name, use_threads=False).aggregate([])
        return self.source.select(name).distinct()

    def summed(self, by: Iterable[str], sums: Iterable[str]) -> pa.Table | DataFrame:
        """Return what `totals` does, or what Spark has to compute for it."""
        by, sums = list(by), list(sums)
        if isinstance(self.source, pa.Table):
            found = self.source.group_by(by, use_threads=False).aggregate([(name, "sum") for name in sums])
            return found.select([*by, *(f"{name}_sum" for name in sums)]).rename_columns([*by, *sums])
        return self.source.groupBy(*by).agg(*(F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in sums))

    def select(self, names: Iterable[str]) -> RecordRows:
        return RecordRows(self.spark, self.source.select(list(names)))

    def ordered(self, *by: str) -> pa.Table | DataFrame:
        """Return the rows in order, nulls first, in one file. Spark would sort many files in two jobs, and compute the
        rows for each."""
        here = isinstance(self.source, pa.Table)
        return parts.ordered(self.source, *by) if here else self.source.repartition(1).sortWithinPartitions(*by)

    def kept(self, keep: Callable[[DataFrame], DataFrame]) -> RecordRows:
        return self if isinstance(self.source, pa.Table) else RecordRows(self.spark, keep(self.source))

    @cached_property
    def frame(self) -> DataFrame:
        """The rows as a table of Spark's."""
        return parts.of_table(self.spark, self.source) if isinstance(self.source, pa.Table) else self.source


def persisted(frame: DataFrame) -> DataFrame:
    return frame.persist(StorageLevel.MEMORY_AND_DISK)
