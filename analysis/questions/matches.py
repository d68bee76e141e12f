"""Published messages, and which filters each satisfies.

Law: a message is published once, with any number of attempts: where and when it first entered. `meaning.py` decides
which filters it satisfies, batch by batch where the messages are stored; filters are sent to the messages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, IntegerType, StructField, StructType

from tamis.analysis.questions.meaning import MessageBatch, match_lists


def published(messages: DataFrame) -> DataFrame:
    """Return published messages as rows (origin, number, source, source_epoch, at_us, error_us, connection,
    attributes). `messages` are on one clock."""
    entry = F.struct(
        *("at_us", "router", "epoch", "error_us", "from_connection", "attributes", "bytes"),
    )
    entered = messages.where(F.col("attributes").isNotNull() & F.col("refused").isNull())
    first = entered.groupBy("origin", "number").agg(F.min(entry).alias("entry"))
    return first.select(
        *("origin", "number", "entry.at_us", "entry.error_us", "entry.attributes", "entry.bytes"),
        F.col("entry.router").alias("source"),
        F.col("entry.epoch").alias("source_epoch"),
        F.col("entry.from_connection").alias("publisher"),
    )


def with_filters(messages: DataFrame, forms: list[str]) -> DataFrame:
    """Return `messages` with `filters`, the numbers of the filters that each satisfies; null if its attributes cannot
    be read."""
    schema = StructType([*messages.schema.fields, StructField("filters", ArrayType(IntegerType()))])
    wanted = messages.sparkSession.sparkContext.broadcast([json.loads(form) for form in forms])

    def matched(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch.append_column("filters", _lists(wanted.value, batch.column("attributes").to_pylist()))

    return messages.mapInArrow(matched, schema)


def _lists(filters: list[list[list[object]]], texts: list[str]) -> pa.Array:
    """Return the lists of filters for `texts`; equal texts are matched once."""
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    parsed = [_parsed(text) for text in places]
    numbers, starts = match_lists(filters, MessageBatch([each or {} for each in parsed]))
    lists = pa.ListArray.from_arrays(pa.array(starts, pa.int32()), pa.array(numbers, pa.int32()))
    chosen = np.array([places[text] for text in texts], np.int64)
    unread = np.array([each is None for each in parsed], np.bool_)[chosen]
    return lists.take(pa.array(chosen, mask=unread))


def _parsed(text: str) -> dict[str, object] | None:
    try:
        form = json.loads(text)
    except ValueError:
        return None
    return form if isinstance(form, dict) else None
