"""Messages that routers stored for the durable subscriptions of others: what the records of both ends say of each.

    entry    entered, given_up ──┐
                                 ├── by id, and by place in the chain ──> a verdict for each message and home
    home     kept, passed, missed ┘

Law: a chain is taken in the order of its numbers, so a home whose records have a later number is past all before it. A
message behind which a home is, and that it neither stored, passed over nor reported as lost, is a fault; it is unknown
where missing records of either router may explain that. Times are compared by the clock of the home.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.durable.catalog import DurableCatalog, Span
from tamis.analysis.questions.clocks import RouterClock
from tamis.analysis.questions.health import RecordedLife
from tamis.analysis.questions.matches import ID
from tamis.analysis.spark import parts

CHAIN: Final = ("entry", "home")
LACKS: Final = ("given_up", "missed")
"""Records of what does not come, as spans of a chain."""
_NEVER: Final = 1 << 62
_SPANS: Final = pa.list_(pa.struct([("from_us", pa.int64()), ("to_us", pa.int64())]))
HOMES: Final = pa.schema(
    [
        *(("home", pa.string()), ("home_offset_us", pa.int64()), ("samplings", pa.list_(pa.string()))),
        *(("dark", _SPANS), ("dark_before", _SPANS)),
    ]
)
"""`dark`: when records of the router may be missing, or a durable subscription was removed; `dark_before`: without the
time since its last record."""
ENTRIES: Final = pa.schema(
    [
        *(("entry", pa.string()), ("epoch", pa.int64()), ("offset_us", pa.int64()), ("sampling", pa.string())),
        *(("sure_us", pa.int64()), ("holes", _SPANS)),
    ]
)
"""A life of a router; what it stored after `sure_us` may not have been on disk when it broke off."""


def entered(stored: DataFrame) -> DataFrame:
    """Return a row for each message and home, with what the home has recorded of it (`how`, `taken_us`). `stored`:
    records of stored messages, with their chapters."""
    asked = stored.where(F.col("what") == "entered").withColumnRenamed("t_us", "at_us")
    of_homes = stored.where(F.col("what").isin("kept", "passed")).groupBy(F.col("router").alias("peer"), *ID)
    taken = of_homes.agg(F.min("what").alias("how"), F.min("t_us").alias("taken_us"))  # `kept` is the lesser word
    return asked.join(taken, ["peer", *ID], "left")


def lacks(stored: DataFrame) -> DataFrame:
    """Return, by chain, the spans that are given up or reported as lost. `stored`: records of stored messages."""
    is_of_home = F.col("what") == "missed"
    found = stored.where(F.col("what").isin(*LACKS)).select(
        F.when(is_of_home, F.col("peer")).otherwise(F.col("router")).alias("entry"),
        F.when(is_of_home, F.col("router")).otherwise(F.col("peer")).alias("home"),
        F.struct("what", "first", F.col("position").alias("last"), "total", "t_us").alias("lack"),
    )
    return found.groupBy(*CHAIN).agg(F.collect_list("lack").alias("lacks"))


def homes(
    spark: SparkSession, catalog: DurableCatalog, lives: Iterable[RecordedLife], clocks: Mapping[str, RouterClock]
) -> DataFrame:
    """Return the rows of HOMES."""
    samplings: dict[str, set[str | None]] = {}
    for life in lives:
        samplings.setdefault(life.router, set()).add(life.sampling)
    removed: dict[str, list[Span]] = {}
    for (router, _), durable in catalog.durables.items():
        if durable.forgotten_us is not None:
            removed.setdefault(router, []).append(Span(durable.forgotten_us, durable.forgotten_us))
    rows = []
    for router, each in samplings.items():
        dark = [*catalog.holes.get(router, ()), *catalog.breaks.get(router, ()), *removed.get(router, ())]
        before = [span for span in dark if span.to_us < _NEVER or span in catalog.holes.get(router, ())]
        known = [name or "" for name in each]
        rows.append((router, _offset_us(clocks, router), known, _as_rows(dark), _as_rows(before)))
    return parts.of_rows(spark, rows, HOMES)


def entries(
    spark: SparkSession, catalog: DurableCatalog, lives: Iterable[RecordedLife], clocks: Mapping[str, RouterClock]
) -> DataFrame:
    """Return the rows of ENTRIES."""
    rows = []
    for life in lives:
        known = catalog.lives[life.router, life.epoch]
        may_end = known.is_broken and life.end == "broke off"
        sure_us = known.last_us - catalog.settle_us if may_end else _NEVER
        holes = _as_rows(catalog.holes.get(life.router, ()))
        offset_us = _offset_us(clocks, life.router)
        rows.append((life.router, life.epoch, offset_us, life.sampling or "", sure_us, holes))
    return parts.of_rows(spark, rows, ENTRIES)


def _offset_us(clocks: Mapping[str, RouterClock], router: str) -> int:
    return clocks[router].offset_us if router in clocks else 0


def _as_rows(spans: Iterable[Span]) -> list[dict[str, int]]:
    return [span._asdict() for span in spans]


def judged(asked: DataFrame, lacking: DataFrame, at_entry: DataFrame, at_home: DataFrame, settle_us: int) -> DataFrame:
    """Return (entry, home, position, origin, number, at_us, verdict). `asked`: rows of `entered`, with `entry` and
    `home`; `lacking`: those of `lacks`."""
    lacking = parts.beside(lacking)
    columns = (*CHAIN, "epoch", "position", *ID, "at_us", "how", "taken_us")
    told = lacking.select(*CHAIN, F.explode("lacks").alias("lack")).where(F.col("lack.what") == "missed")
    passed = told.select(
        *CHAIN,
        *(F.lit(None).cast("long").alias("epoch"), F.col("lack.last").alias("position")),
        *(F.lit(None).cast("string").alias("origin"), F.lit(None).cast("long").alias("number")),
        *(F.lit(None).cast("long").alias("at_us"), F.lit(None).cast("string").alias("how")),
        F.col("lack.t_us").alias("taken_us"),
    )
    behind = Window.partitionBy(*CHAIN).orderBy(F.desc("position")).rowsBetween(Window.unboundedPreceding, -1)
    rows = asked.select(*columns).unionByName(passed).withColumn("next_us", F.min("taken_us").over(behind))
    rows = rows.where(F.col("at_us").isNotNull()).join(lacking, list(CHAIN), "left")
    rows = rows.join(parts.beside(at_entry), ["entry", "epoch"], "left").join(parts.beside(at_home), "home", "left")
    return rows.select(*CHAIN, "position", *ID, "at_us", _verdict(settle_us).alias("verdict"))


def _verdict(settle_us: int) -> Column:
    at_us = F.col("at_us") + F.coalesce("offset_us", F.lit(0)) - F.coalesce("home_offset_us", F.lit(0))
    from_us, until_us = at_us - settle_us, F.col("next_us") + settle_us
    is_unsure = F.col("at_us") > F.coalesce("sure_us", F.lit(_NEVER))
    has_hole = _meets("holes", F.col("at_us") - settle_us, F.lit(_NEVER))
    is_sampled = F.array_distinct("samplings") == F.array("sampling")
    of_next = (
        (F.col("next_us").isNotNull() & (is_unsure | _meets("dark", from_us, until_us)), "unknown"),
        (F.col("next_us").isNotNull(), "missing"),
    )
    steps = (
        (F.col("how") == "kept", "stored"),
        (F.col("how") == "passed", "passed"),
        (_lacks("missed", is_counted=True), "given up"),
        (_lacks("missed"), "lost"),
        (~F.coalesce(is_sampled, F.lit(False)), "unknown"),  # as of a router without records
        *of_next,
        (_lacks("given_up"), "given up"),
        (is_unsure | has_hole | _meets("dark_before", from_us, F.lit(_NEVER)), "unknown"),
    )
    found = F.lit("pending")
    for condition, verdict in reversed(steps):
        found = F.when(condition, F.lit(verdict)).otherwise(found)
    return found


def _lacks(what: str, is_counted: bool = False) -> Column:
    """Return whether a span of this kind has the message; `is_counted`: one of which the messages are known."""
    return F.exists(
        F.coalesce("lacks", F.array()),
        lambda lack: (
            (lack["what"] == what)
            & (lack["first"] <= F.col("position"))
            & (F.col("position") <= lack["last"])
            & (lack["total"].isNotNull() | F.lit(not is_counted))
        ),
    )


def _meets(spans: str, from_us: Column, to_us: Column) -> Column:
    return F.exists(F.coalesce(spans, F.array()), lambda span: (span["from_us"] <= to_us) & (from_us <= span["to_us"]))


def counts(found: DataFrame) -> DataFrame:
    """Return how many messages of each chain have each verdict."""
    return found.groupBy(*CHAIN, "verdict").agg(F.count("*").alias("messages"))


def missing_at_home(found: DataFrame) -> DataFrame:
    """Return the messages that are missing, with `router` and `durable` as other faults have them."""
    gone = found.where(F.col("verdict") == "missing")
    return gone.withColumn("router", F.col("home")).withColumn("durable", F.lit(None).cast("long"))
