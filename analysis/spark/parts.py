"""The partitions of records: their number, and which records share one.

Law: a partition is small enough for its core's share of the memory, whatever the size of the logs. Where all records
fit into one partition, nothing is moved between partitions, so a table is one task of Spark and not ten: such a task
takes longer to start than to run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import dataset
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

SETTING: Final = "spark.sql.shuffle.partitions"
PART_BYTES: Final = 4 * 1024 * 1024
"""Bytes of records, in Parquet, for one partition: a few hundred thousand records."""


def fit(spark: SparkSession, stored_bytes: int, shuffled_bytes: int) -> None:
    """Set the number of Spark's partitions by the bytes that are moved between them; few partitions are quicker for few
    records. All records are in one only if all that is stored fits."""
    least = max(int(spark.conf.get(SETTING) or 1), 1 if are_few(stored_bytes) else 2)
    spark.conf.set(SETTING, str(max(least, -(-shuffled_bytes // PART_BYTES))))


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
    found = rows_of(folders, schema).to_table().combine_chunks()  # as in `of_table`
    if not found.num_rows:
        found = found.schema.empty_table()  # a column without any array in it is none to Spark, if it holds maps
    return together(spark.createDataFrame(found, schema))


def rows_of(folders: Sequence[Path], schema: StructType) -> dataset.Dataset:
    """Return the rows of Parquet files, to be read by this process."""
    files = sorted(str(path) for folder in folders for path in folder.glob("*.parquet"))
    return dataset.dataset(files, to_arrow_schema(schema), "parquet")


def collected(found: Mapping[str, DataFrame | pa.Table]) -> dict[str, pa.Table]:
    """Return tables of few rows. All that Spark has to compute are one query: each is a column of it, and each row has
    one of them."""
    here = {name: rows for name, rows in found.items() if isinstance(rows, pa.Table)}
    tables = {name: rows for name, rows in found.items() if isinstance(rows, DataFrame)}
    if not tables:
        return here
    types = {
        name: StructType([StructField(field.name, field.dataType) for field in rows.schema.fields])
        for name, rows in tables.items()
    }
    union = reduce(
        DataFrame.union,
        (
            rows.select(
                *(
                    (F.struct("*") if other == name else F.lit(None)).cast(type_).alias(other)
                    for other, type_ in types.items()
                )
            )
            for name, rows in tables.items()
        ),
    )
    rows = union.toArrow()
    return here | {name: _own(rows.column(name), type_) for name, type_ in types.items()}


def _own(rows: pa.ChunkedArray, type_: StructType) -> pa.Table:
    """Return the rows of `rows` that are there, as a table."""
    mine = rows.drop_null().combine_chunks()
    return pa.Table.from_arrays(mine.flatten(), schema=to_arrow_schema(type_))


def of_table(spark: SparkSession, rows: pa.Table) -> DataFrame:
    """Return rows that were computed here as a table of Spark's, which needs no task to read."""
    # Spark reads up to the first empty batch, and takes no column without any array in it that holds lists or maps.
    return together(spark.createDataFrame(rows.combine_chunks() if rows.num_rows else rows.schema.empty_table()))


def ordered(rows: pa.Table, *by: str) -> pa.Table:
    """Return `rows` in order, nulls first; a name after `-` counts down."""
    keyed, keys = rows, []
    for place, (name, is_down) in enumerate((each.removeprefix("-"), each.startswith("-")) for each in by):
        keyed = keyed.append_column(f"-{place}", rows.column(name).is_valid())
        keys += [(f"-{place}", "ascending"), (name, "descending" if is_down else "ascending")]
    return rows.take(pc.sort_indices(keyed, keys))


def summed(rows: pa.Table, *by: str) -> pa.Table:
    """Return a row for each group of `by` with the sums of the other columns."""
    names = [name for name in rows.column_names if name not in by]
    found = rows.group_by(list(by), use_threads=False).aggregate([(name, "sum") for name in names])
    return found.select([*by, *(f"{name}_sum" for name in names)]).rename_columns([*by, *names])


def of_rows(spark: SparkSession, rows: Iterable[Sequence[object]], schema: pa.Schema) -> DataFrame:
    return of_table(spark, table_of(rows, schema))


def table_of(rows: Iterable[Sequence[object]], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema)


def sent(rows: DataFrame) -> DataFrame:
    """Return `rows` marked as the lookup side of a join with many rows: it is sent whole to the partitions of the other
    side, by a job of its own, or shares the single partition."""
    return beside(rows) if _count(rows.sparkSession) == 1 else F.broadcast(rows)


def beside(rows: DataFrame) -> DataFrame:
    """Return `rows` marked as the lookup side of a join with rows that are few, or that lie by these keys anyway: both
    are moved, by no job of its own."""
    return rows.hint("shuffle_hash")


def gathered(records: DataFrame, *by: str) -> DataFrame:
    """Return `records` with equal keys in one partition, where grouping or joining by these columns, or by more, moves
    nothing. It is for a number of groups at which Spark gains nothing by grouping before it sends."""
    count = _count(records.sparkSession)
    return records if count == 1 else records.repartition(count, *by)


def is_one(spark: SparkSession) -> bool:
    """Return whether all records lie in one partition."""
    return _count(spark) == 1


def _count(spark: SparkSession) -> int:
    return int(spark.conf.get(SETTING) or 1)
