"""The traffic: by link, by source, over time; dropped and refused messages.

Law: figures of links and interfaces are those of the counters, which count every message, sampled or not; figures of
sources are those of the recorded messages. Spark sums the counters once, by router, neighbour and span of time; the
tables are sums of these.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.records.by_message import CHAPTER
from tamis.analysis.records.rows import Grouping
from tamis.analysis.spark.parts import ordered

SOURCES: Final = pa.schema(
    [
        *((CHAPTER, pa.int64()), ("source", pa.string())),
        *((name, pa.int64()) for name in ("published", "bytes", "hops", "deliveries")),
    ]
)
BY_SOURCE: Final = Grouping((CHAPTER, "source"), SOURCES.names[2:])
COUNTERS = ("messages_in", "messages_out", "bytes_in", "bytes_out")


def counted(interface: DataFrame, bucket_us: int) -> DataFrame:
    """Return the traffic of interfaces by (router, neighbour, from_us): clients have no neighbour."""
    sums = (F.sum(F.coalesce(name, F.lit(0))).alias(name) for name in COUNTERS)
    found = interface.groupBy("router", "neighbour", _bucket(bucket_us))
    return found.agg(*sums, F.max("queued_bytes").alias("queued_bytes_max"))


def by_link(found: pa.Table) -> pa.Table:
    """Return a row for each router and neighbour: the traffic of the interface."""
    links = found.filter(pc.is_valid(found.column("neighbour")))
    return ordered(_totals(links, "router", "neighbour"), "-bytes_out", "router", "neighbour")


def by_router(found: pa.Table) -> pa.Table:
    return ordered(_totals(found, "router"), "-messages_in", "router")


def over_time(found: pa.Table, bucket_us: int) -> pa.Table:
    """Return rows by (router, from_us, to_us): the traffic of its interfaces in each span of time, by its own clock."""
    sums = ordered(_totals(found, "router", "from_us"), "from_us", "router")
    return sums.add_column(2, "to_us", pc.add(sums.column("from_us"), bucket_us))


def by_source(_: object, records: pa.RecordBatch) -> pa.RecordBatch:
    """Return a row for each chapter and source: the messages that entered there, and the length of their routes."""
    took = records.filter(pc.invert(records.column("is_refused")))
    entered = pc.equal(took.column("hop"), 0)
    columns = {
        **{name: took.column(name) for name in (CHAPTER, "source")},
        "published": entered.cast(pa.int64()),
        "bytes": pc.if_else(pc.fill_null(entered, fill_value=False), took.column("bytes"), 0),
        "hops": pc.invert(entered).cast(pa.int64()),
        "deliveries": pc.fill_null(pc.list_value_length(took.column("to_connections")), 0).cast(pa.int64()),
    }
    return BY_SOURCE.of_batch(pa.RecordBatch.from_arrays(list(columns.values()), schema=SOURCES))


def drops(interface: DataFrame) -> DataFrame:
    """Return rows (router, what, reason, messages); `what` is dropped or refused."""
    lost = interface.where(F.col("dropped").isNotNull() | F.col("refused").isNotNull())
    whats = F.map_from_arrays(F.array(F.lit("dropped"), F.lit("refused")), F.array("dropped", "refused"))
    each = lost.select("router", "neighbour", "client", F.explode(whats).alias("what", "reasons"))
    each = each.select("router", "neighbour", "client", "what", F.explode("reasons").alias("reason", "messages"))
    together = each.groupBy("router", "neighbour", "client", "what", "reason")
    return together.agg(F.sum("messages").alias("messages"))


def _totals(found: pa.Table, *by: str) -> pa.Table:
    sums = [*((name, "sum") for name in COUNTERS), ("queued_bytes_max", "max")]
    totals = found.group_by(list(by), use_threads=False).aggregate(sums)
    return totals.select([*by, *("_".join(each) for each in sums)]).rename_columns([*by, *COUNTERS, "queued_bytes_max"])


def _bucket(bucket_us: int) -> Column:
    return (F.floor(F.col("t_us") / bucket_us) * bucket_us).alias("from_us")
