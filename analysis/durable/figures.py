"""Tables of durable subscriptions: the outcomes of their messages, their durations, and their depths.

Law: figures of messages are those of the recorded ones; depths and counts are the router's own, independent of
sampling.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.durable.audit import PLACE
from tamis.analysis.durable.catalog import DurableCatalog
from tamis.analysis.spark import parts

PERCENTS: Final = (50, 90, 99)
ACCURACY: Final = 100_000
NAMES: Final = pa.schema([("router", pa.string()), ("durable", pa.int64()), ("name", pa.string())])
ORDERED: Final = pa.schema([("router", pa.string()), ("durable", pa.int64())])


def names(spark: SparkSession, catalog: DurableCatalog) -> DataFrame:
    return parts.of_rows(spark, ((*place, durable.name) for place, durable in sorted(catalog.durables.items())), NAMES)


def in_order(spark: SparkSession, catalog: DurableCatalog) -> DataFrame:
    """Return the durable subscriptions that deliver messages in the order in which they stored them."""
    rows = (place for place, durable in sorted(catalog.durables.items()) if durable.lives and not durable.order_by)
    return parts.of_rows(spark, rows, ORDERED)


def fates(found: DataFrame, named: DataFrame) -> DataFrame:
    """Return how many messages of each durable subscription had each outcome."""
    counted = found.groupBy(*PLACE, "fate").agg(F.count("*").alias("messages"))
    joined = counted.join(parts.beside(named), list(PLACE), "left")
    return joined.select("router", "name", "durable", "fate", "messages")


def durables(found: DataFrame, depth: DataFrame, named: DataFrame) -> DataFrame:
    """Return a row for each durable subscription: the time until acknowledgement, the number of deliveries, and its
    greatest and latest depth."""
    lag = F.when(F.col("fate") == "acked", F.col("left_us") - F.col("stored_us"))
    percentiles = F.percentile_approx(lag, F.array(*(F.lit(each / 100) for each in PERCENTS)), F.lit(ACCURACY))
    of_messages = found.groupBy(*PLACE).agg(
        F.count("*").alias("recorded"),
        F.sum("tries").alias("given"),
        F.sum(F.greatest(F.col("tries") - 1, F.lit(0))).alias("again"),
        percentiles.alias("lags"),
    )
    of_depth = depth.groupBy(*PLACE).agg(
        F.max("open").alias("depth_max"),
        F.max("oldest_us").alias("oldest_us_max"),
        F.max("members").alias("members_max"),
        *(F.max_by(name, F.struct("epoch", "n")).alias(name) for name in ("open", "acked", "refused")),
    )
    rows = named.join(of_messages, list(PLACE), "left").join(of_depth, list(PLACE), "left")
    lags = (F.col("lags")[place].alias(f"lag_p{percent}_us") for place, percent in enumerate(PERCENTS))
    columns = ("recorded", "given", "again", "depth_max", "oldest_us_max", "open", "acked", "refused", "members_max")
    return rows.select("router", "name", "durable", *columns, *lags)


def over_time(depth: DataFrame, named: DataFrame, bucket_us: int) -> DataFrame:
    """Return rows (router, name, durable, from_us, to_us): the greatest depth of the durable subscription in each span,
    the age of its oldest message, and the redeliveries until then."""
    spans = depth.withColumn("from_us", F.floor(F.col("t_us") / bucket_us) * bucket_us)
    counted = spans.groupBy(*PLACE, "from_us").agg(
        F.max("open").alias("depth"),
        F.max("oldest_us").alias("oldest_us"),
        F.max_by("redelivered", F.struct("epoch", "n")).alias("again"),
    )
    joined = counted.withColumn("to_us", F.col("from_us") + bucket_us).join(parts.beside(named), list(PLACE), "left")
    columns = ("router", "name", "durable", "from_us", "to_us", "depth", "oldest_us", "again")
    return joined.select(*columns)


def faults(found: DataFrame, named: DataFrame, published: DataFrame) -> DataFrame:
    """Return each fault with the name of its durable subscription and the content of the message."""
    said = published.select("origin", "number", "attributes")
    joined = found.join(parts.beside(named), list(PLACE), "left").join(said, ["origin", "number"], "left")
    columns = ("fault", "at_us", "name", "router", "attributes", "messages", "durable", "position", "origin", "number")
    return joined.select(*columns)
