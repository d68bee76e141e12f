"""One analysis from files to report: the code that reads and writes.

Law: a folder of answers is of one job; tables of questions that were not answered again stay unchanged. Answers are
made of all records, whether they were read now or in earlier runs.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

from tamis.analysis import answers
from tamis.analysis.advice.job import AdviceRequest, advise
from tamis.analysis.advice.wording import Advice
from tamis.analysis.page import report
from tamis.analysis.records import audit_logs, increments, logs
from tamis.analysis.records.chapters import Chapters, WholeLogs
from tamis.analysis.records.divided import OfPositions
from tamis.analysis.records.increments import RecordStore
from tamis.analysis.records.logs import Logs
from tamis.analysis.study import NOTICE_US, SETTLE_US, Findings

REPORT: Final = "report.html"
STORE: Final = ".records"
"""The folder beside the answers for records while answers are made; executors on other machines use it, too."""
Told = Callable[[str], Any]
"""Called with the next step, or with a question whose tables are written."""


@dataclass(frozen=True, slots=True)
class Job:
    out: Path
    only: tuple[str, ...] = ()
    since_us: int | None = None
    settle_us: int = SETTLE_US
    notice_us: int = NOTICE_US
    advise: AdviceRequest | None = None
    network: str = ""
    """The name of the network, for the head of the page."""
    into: Path | None = None
    """The store of records that were read before, for which only what is new is read."""
    audits: tuple[Path, ...] = ()
    """Folders in which the audit logs of routers are; they are read whole each time."""


def analyze(
    spark: SparkSession, folder: Path | str, job: Job, told: Told = lambda _: None, answered: Told = lambda _: None
) -> list[Advice]:
    """Answer the questions of `job` from all files of `folder`, or of the address of one (without `into`), in their
    current state. Return the advice if it was requested."""
    told("reading")
    if job.into is not None:
        with increments.opened(job.into, Path(folder)) as kept:
            kept.take(spark)
            return answer_increment(spark, kept, job, told, answered)
    store = job.out / STORE
    try:
        read = logs.read(spark, folder, store, job.since_us, is_divided=job.advise is None)
        return answer(spark, read, job, told, answered)
    finally:
        shutil.rmtree(store, ignore_errors=True)


def answer_increment(
    spark: SparkSession, kept: RecordStore, job: Job, told: Told, answered: Told = lambda _: None
) -> list[Advice]:
    """Answer from all records of a store."""
    read = kept.logs(spark, job.since_us)
    depends = repr((sorted(job.only), job.since_us, job.advise is not None, read.has_durables))
    divided = Chapters(kept, depends), Chapters(kept, depends, OfPositions())
    return answer(spark, read, job, told, answered, *divided)


def answer(
    spark: SparkSession,
    read: Logs,
    job: Job,
    told: Told,
    answered: Told = lambda _: None,
    summing: WholeLogs | None = None,
    storing: WholeLogs | None = None,
) -> list[Advice]:
    audits = audit_logs.folders_in(job.audits)
    study = Findings(spark, read, job.settle_us, job.notice_us, summing, audits, storing)
    try:
        answers.write(study, job.out, job.only, told, answered)
        found = [] if job.advise is None else advise(study, job.advise, job.out, told)
        study.commit()
    finally:
        study.close()
    told(REPORT)
    page = job.out / f"{REPORT}.part"
    page.write_text(report.page(report.read(job.out), job.network), encoding="utf-8")
    page.replace(job.out / REPORT)  # readers of the page before see it whole
    return found
