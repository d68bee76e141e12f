"""Spark's types for the records of an event log.

Law: they are made of the table in `protocol/records.py` and nothing else, so that a new field there is a new column
here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from tamis.analysis.records.lines import CORRUPT
from tamis.analysis.records.reading import TALLIED
from tamis.protocol.records import COMMON, KINDS, FieldType

TYPES: Final[Mapping[FieldType, DataType]] = {
    "integer": LongType(),
    "number": DoubleType(),
    "boolean": BooleanType(),
    "text": StringType(),
    "texts": ArrayType(StringType()),
    "integers": ArrayType(LongType()),
    "counts": MapType(StringType(), LongType()),
}
CORRUPT_FIELD: Final = StructField(CORRUPT, StringType())


def of_tallies() -> StructType:
    names = {pa.string(): StringType(), pa.int64(): LongType()}
    return StructType([StructField(name, names[type_]) for name, type_ in TALLIED.items()])


def of_kind(kind: str) -> StructType:
    fields = (*COMMON, *KINDS[kind].fields)
    return StructType([StructField(field.name, TYPES[field.type]) for field in fields])


def of_head() -> StructType:
    """Return the columns that all records have, and CORRUPT for a line that is no record."""
    fields = [StructField(field.name, TYPES[field.type]) for field in COMMON]
    return StructType([*fields, CORRUPT_FIELD])
