"""Logs of any size from those of a small calm network: the same traffic again and again, made inside Spark.

Law: copy k of a record is the record with its times k periods later and its numbers beyond those of all copies before,
so that no two messages are one and no router's records have a gap. Events are not copied: what was asked for stays
asked for, so the copies are right where nobody takes a subscription back.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis import logs
from tamis.analysis.files import log_files

SECOND_US = 1_000_000


def multiplied(messages: DataFrame, copies: int) -> DataFrame:
    """`copies` times as many records of messages."""
    whole = messages.agg(
        F.max("number").alias("number_step"),
        F.max("transit").alias("transit_step"),
        (F.max("t_us") - F.min("t_us") + SECOND_US).alias("period_us"),
    )
    lives = messages.groupBy("router", "epoch").agg((F.max("n") + 1).alias("n_step"))
    sized = messages.crossJoin(F.broadcast(whole)).join(F.broadcast(lives), ["router", "epoch"])
    copied = sized.crossJoin(messages.sparkSession.range(copies).withColumnRenamed("id", "copy"))
    steps = {"number": "number_step", "transit": "transit_step", "n": "n_step"}
    steps |= dict.fromkeys(("t_us", "published_us"), "period_us")
    moved = {name: F.col(name) + F.col("copy") * F.col(step) for name, step in steps.items()}
    return copied.withColumns(moved).select(messages.columns)


def write(spark: SparkSession, folder: Path, into: Path, copies: int, files: int) -> None:
    """The folder's logs with `copies` times its messages, in so many files, as a router would have left them."""
    messages = logs.read(spark, folder).messages
    made = into / ".made"
    lines = (
        multiplied(messages, copies).repartition(files).select(F.to_json(F.struct(*messages.columns)).alias("value"))
    )
    lines.write.text(str(made), compression="gzip")
    for number, path in enumerate(sorted(made.glob("part-*.gz"))):
        path.rename(into / f"messages-0-{number:06}.jsonl.gz")
    shutil.rmtree(made)
    for path in log_files(folder, "events"):
        target = into / path.parent.name / path.name
        target.parent.mkdir(exist_ok=True)
        shutil.copy(path, target)
