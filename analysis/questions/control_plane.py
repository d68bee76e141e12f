"""Control frames between routers: how many, why, how fast they spread, and when there were too many.

Law: a change of the topology is one span of unrest in which a link or a router changed, and has spread when the last
router made a new topology of it. A storm is a second in which a router received far more than usual.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.questions.unrest import NetworkChange, UnrestSpan
from tamis.analysis.spark import parts

CONVERGENCE: Final = pa.schema(
    [(name, pa.int64()) for name in ("from_us", "to_us", "changed_us", "settled_us", "changes", "routers", "took_us")]
)

SECOND_US = 1_000_000
STORM_FRAMES = 50
"""Frames in a second below which no second is a storm, however quiet other seconds are."""
STORM_TIMES = 10
"""The factor over the usual second of a router that makes a storm."""


def frames(control: DataFrame) -> DataFrame:
    """Return rows (way, what, cause, frames, bytes, filters) of control frames."""
    return control.groupBy("router", "way", "what", "cause").agg(
        F.count("*").alias("frames"),
        *(F.sum(F.coalesce(name, F.lit(0))).alias(name) for name in ("bytes", "added", "removed")),
    )


def statements(control: DataFrame) -> DataFrame:
    """Return a row for each statement of a router: its cost for the network and how long it took to spread. `control`
    is on one clock. Filters are those of the change, even if some neighbours received the whole."""
    said = control.where(F.col("what").isin("LSA", "RA") & F.col("issuer").isNotNull())
    out = F.col("way") == "out"
    return said.groupBy("what", "issuer", "issuer_epoch", "seq").agg(
        F.sum(F.when(out, 1).otherwise(0)).alias("frames"),
        F.sum(F.when(out, F.col("bytes")).otherwise(0)).alias("bytes"),
        F.coalesce(F.max(F.when(~F.col("full"), F.col("added"))), F.max("added"), F.lit(0)).alias("added"),
        F.max(F.coalesce("removed", F.lit(0))).alias("removed"),
        F.size(F.collect_set(F.when(~out, F.col("router")))).cast("long").alias("heard_by"),
        F.min("at_us").alias("from_us"),
        (F.max(F.when(~out, F.col("at_us"))) - F.min("at_us")).alias("spread_us"),
    )


def convergence(spans: Sequence[UnrestSpan], changes: Sequence[NetworkChange]) -> pa.Table:
    """Return a row for each span of unrest: its first change of a link or router, and when the last router made a
    topology of it."""
    begins = [span.from_us for span in spans]
    inside: list[list[NetworkChange]] = [[] for _ in spans]
    for change in changes:
        inside[bisect_right(begins, change.at_us) - 1].append(change)
    rows = []
    for span, mine in zip(spans, inside, strict=True):
        topologies = [change for change in mine if change.what == "topology"]
        changed_us = min((change.at_us for change in mine if change.what != "topology"), default=None)
        settled_us = max((change.at_us for change in topologies), default=None)
        took_us = 0 if changed_us is None or settled_us is None else max(settled_us - changed_us, 0)
        routers = len({change.router for change in topologies})
        counts = len(mine) - len(topologies), routers
        rows.append((span.from_us, span.to_us, changed_us, settled_us, *counts, took_us))
    return parts.table_of(rows, CONVERGENCE)


def storms(control: DataFrame) -> DataFrame:
    heard = control.where(F.col("way") == "in").groupBy("router", F.floor(F.col("t_us") / SECOND_US).alias("second"))
    seconds = heard.agg(F.count("*").alias("frames"), F.sum("bytes").alias("bytes"))
    usual = F.percentile_approx("frames", 0.5).over(Window.partitionBy("router"))
    worse = (F.col("frames") >= STORM_FRAMES) & (F.col("frames") > STORM_TIMES * F.col("usual"))
    return seconds.withColumn("usual", usual).where(worse)
