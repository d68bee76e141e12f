"""Answer the questions repeatedly, as routers close their files.

Law: every answer is that of a whole run over the files that are closed by then, so a file that is late changes earlier
answers. A file that a router has not closed yet is not read: `rotate` in the topology file sets how long that takes.
What was read is in a store (`records/increments.py`), with which a process that was killed goes on.
"""

from __future__ import annotations

import time
from itertools import count
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from tamis.analysis.job import Job, Told, answer_increment
from tamis.analysis.records import increments

STORE: Final = ".followed"
"""The store beside the answers, if the job names none."""
EVERY_S: Final = 30.0


def follow(
    spark: SparkSession,
    folder: Path,
    job: Job,
    told: Told,
    answered: Told = lambda _: None,
    rounds: int | None = None,
) -> None:
    """Answer now, and then each EVERY_S seconds if a router has closed a file; without `rounds`, until interrupted."""
    began_s = time.monotonic()
    with increments.opened(job.into or job.out / STORE, folder) as kept:
        for number in count() if rounds is None else range(rounds):
            if number:
                told("waiting")
                time.sleep(max(0.0, began_s + EVERY_S - time.monotonic()))
            began_s = time.monotonic()
            told("reading")
            is_new = kept.take(spark, has_open=False) or number == 0
            if is_new and kept.manifest.generations:
                answer_increment(spark, kept, job, told, answered)
