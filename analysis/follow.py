"""Answer the questions repeatedly, as routers close their files.

Law: a structured stream reads each closed (compressed) file once, whenever it arrives, and stores its records; every
answer is made from all records stored so far, so a file that is late changes earlier answers. A file that a router has
not closed yet is not read: `rotate` in the topology file sets how long that takes.
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
"""The folder beside the answers for the records that were read, and the progress."""
EVERY: Final = "30 seconds"
_FILES: Final = "path string, modificationTime timestamp, length long, content binary"


def follow(spark: SparkSession, folder: Path, job: Job, told: Told, once: bool = False) -> StreamingQuery:
    """Start the stream that answers whenever routers close files, and return it. With `once` it reads the existing
    files and ends."""
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
        logs.keep(spark, paths, store / f"batch={number}")  # a repeated batch replaces its output
        answer(spark, logs.kept(spark, sorted(store.glob("batch=*")), job.since_us), job, told)

    writer = files.writeStream.foreachBatch(take).option("checkpointLocation", str(store / "checkpoint"))
    return (writer.trigger(availableNow=True) if once else writer.trigger(processingTime=EVERY)).start()
