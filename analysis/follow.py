"""Answer the questions repeatedly, as routers close their files.

Law: a structured stream reads each closed file once, whenever it arrives and whichever form it has or takes later, and
stores its records; every answer is made from all records stored so far, so a file that is late changes earlier answers.
A file that a router has not closed yet is not read: `rotate` in the topology file sets how long that takes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tamis.analysis.job import Job, Told, answer
from tamis.analysis.records import logs
from tamis.analysis.records.files import stem_of

STORE: Final = ".followed"
"""The folder beside the answers for the records that were read, and the progress."""
EVERY: Final = "30 seconds"
TAKEN: Final = "taken"
"""The file in the folder of a batch that names the files in it, without the endings of their forms."""
_FILES: Final = "path string, modificationTime timestamp, length long, content binary"


def follow(spark: SparkSession, folder: Path, job: Job, told: Told, once: bool = False) -> StreamingQuery:
    """Start the stream that answers whenever routers close files, and return it. With `once` it reads the existing
    files and ends."""
    store = job.out / STORE
    files = (
        spark.readStream.format("binaryFile")
        .schema(_FILES)
        .option("recursiveFileLookup", "true")
        .option("pathGlobFilter", "{messages,events}-*.{jsonl.gz,parquet}")
        .load(str(folder))
        .select("path")
    )

    def take(batch: DataFrame, number: int) -> None:
        paths = sorted(unquote(urlparse(row.path).path) for row in batch.collect())
        place = store / f"batch={number}"
        others = (names for names in store.glob(f"batch=*/{TAKEN}") if names.parent != place)
        taken = {name for names in others for name in names.read_text().splitlines()}
        found = {str(stem_of(Path(path))): Path(path) for path in paths}  # one form of each file
        logs.keep(spark, [path for name, path in found.items() if name not in taken], place)  # in place of its output
        (place / TAKEN).write_text("".join(f"{name}\n" for name in found))
        answer(spark, logs.kept(spark, sorted(store.glob("batch=*")), job.since_us), job, told)

    writer = files.writeStream.foreachBatch(take).option("checkpointLocation", str(store / "checkpoint"))
    return (writer.trigger(availableNow=True) if once else writer.trigger(processingTime=EVERY)).start()
