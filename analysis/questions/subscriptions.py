"""The subscriptions of clients, and when they were in force, by the routers' records.

Law: a subscription is in force at its router from the record that adds it to the one that removes it, or to the last
record of that life: later it is unknown. Filters are distinguished by their text; within one analysis each has a
number.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.records import parts

FILTERS: Final = pa.schema([("filter", pa.int32()), ("form", pa.string())])


def forms(subscription: DataFrame, durable: DataFrame) -> list[str]:
    """Return each filter of any client or durable subscription, once; its position in the list is its number."""
    asked = subscription.select(F.explode("filters").alias("form"))
    asked = asked.union(durable.select(F.explode("filters").alias("form"))).distinct()
    return sorted(row.form for row in asked.collect())


def numbered(spark: SparkSession, texts: list[str]) -> DataFrame:
    return parts.of_rows(spark, enumerate(texts), FILTERS)


def in_force(subscription: DataFrame, lives: DataFrame, filters: DataFrame) -> DataFrame:
    """Return a row for each filter of each subscription: router, epoch, connection, client, group, own, filter,
    since_us and until_us by the router's clock. `group` is null for a subscription without a group, and in records of
    routers that did not record groups."""
    one = Window.partitionBy("router", "epoch", "connection", "subscription").orderBy("n")
    last = parts.sent(lives.select("router", "epoch", "last_us"))
    spans = (
        subscription.withColumn("next_us", F.lead("t_us").over(one))
        .where(F.col("what") == "added")
        .join(last, ["router", "epoch"])
        .select(
            *("router", "epoch", "connection", "client", "group", F.coalesce("own", F.lit(True)).alias("own")),
            F.explode("filters").alias("form"),
            F.col("t_us").alias("since_us"),
            F.coalesce("next_us", "last_us").alias("until_us"),
        )
    )
    return spans.join(parts.sent(filters), "form").drop("form")
