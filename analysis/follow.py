"""The same answers again and again, as routers close their files.

Law: a structured stream takes each closed (compressed) file once, whenever it comes, and keeps its lines in Parquet;
every answer is made of all lines kept so far, so a file that is late changes what was said before. What a router has
not closed yet is not seen: `rotate` in the topology file says how long that is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery

from tamis.analysis import logs
from tamis.analysis.files import FAMILIES
from tamis.analysis.job import Job, Told, answer

LINES: Final = ".lines"
"""Beside the answers: what was read, and how far."""
EVERY: Final = "30 seconds"


def follow(spark: SparkSession, folder: Path, job: Job, told: Told, once: bool = False) -> StreamingQuery:
    """The running stream. `once`: it takes what is there and ends."""
    kept = job.out / LINES
    lines = (
        spark.readStream.option("recursiveFileLookup", "true")
        .option("pathGlobFilter", "*-*.jsonl.gz")
        .text(str(folder))
        .select("value", F.regexp_extract("_metadata.file_name", "^([a-z]+)-", 1).alias("family"))
    )

    def take(batch: DataFrame, number: int) -> None:
        batch.write.mode("overwrite").partitionBy("family").parquet(str(kept / f"batch={number}"))
        answer(spark, _read(spark, kept, job), job, told)

    writer = lines.writeStream.foreachBatch(take).option("checkpointLocation", str(kept / "checkpoint"))
    return (writer.trigger(availableNow=True) if once else writer.trigger(processingTime=EVERY)).start()


def _read(spark: SparkSession, kept: Path, job: Job) -> logs.Logs:
    """A batch that is taken again after a crash replaces what it left."""
    paths = {family: [str(path) for path in kept.glob(f"batch=*/family={family}")] for family in FAMILIES}
    lines = {
        family: spark.read.schema(logs.LINES).parquet(*found) if found else spark.createDataFrame([], logs.LINES)
        for family, found in paths.items()
    }
    return logs.of_lines(lines["messages"], lines["events"], job.since_us)
