"""Answer the same questions again and again, as routers close their files.

Law: a structured stream takes each closed (compressed) file once, whenever it comes, and keeps its records; every
answer is made of all records kept so far, so a file that is late changes earlier answers. A file that a router has not
closed yet is not read: `rotate` in the topology file says how long that takes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tamis.analysis.job import Job, Told, answer
from tamis.analysis.records import logs

STORE: Final = ".followed"
"""Folder beside the answers that keeps what was read, and how far."""
EVERY: Final = "30 seconds"
_FILES: Final = "path string, modificationTime timestamp, length long, content binary"


def follow(spark: SparkSession, folder: Path, job: Job, told: Told, once: bool = False) -> StreamingQuery:
    """Start the stream that answers again whenever routers close files, and return it. With `once` it takes what is
    there and ends."""
    store = job.out / STORE
    files = (
        spark.readStream.format("binaryFile")
        .schema(_FILES)
        .option("recursiveFileLookup", "true")
        .option("pathGlobFilter", "*-*.jsonl.gz")
        .load(str(folder))
        .select("path")
    )

    def take(batch: DataFrame, number: int) -> None:
        paths = [Path(unquote(urlparse(row.path).path)) for row in batch.collect()]
        logs.keep(spark, paths, store / f"batch={number}")  # taken again after a crash, it replaces what it left
        answer(spark, logs.kept(spark, sorted(store.glob("batch=*")), job.since_us), job, told)

    writer = files.writeStream.foreachBatch(take).option("checkpointLocation", str(store / "checkpoint"))
    return (writer.trigger(availableNow=True) if once else writer.trigger(processingTime=EVERY)).start()
