"""One analysis from files to report: the code that reads and writes.

Law: a folder of answers is of one job; tables of questions that were not answered again stay unchanged.
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
from tamis.analysis.records import logs
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


def analyze(
    spark: SparkSession, folder: Path | str, job: Job, told: Told = lambda _: None, answered: Told = lambda _: None
) -> list[Advice]:
    """Answer the questions of `job` from all files of `folder`, or of the address of one, in their current state.
    Return the advice if it was requested."""
    store = job.out / STORE
    told("reading")
    try:
        return answer(spark, logs.read(spark, folder, store, job.since_us), job, told, answered)
    finally:
        shutil.rmtree(store, ignore_errors=True)


def answer(spark: SparkSession, read: Logs, job: Job, told: Told, answered: Told = lambda _: None) -> list[Advice]:
    study = Findings(spark, read, job.settle_us, job.notice_us)
    try:
        answers.write(study, job.out, job.only, told, answered)
        found = [] if job.advise is None else advise(study, job.advise, job.out, told)
    finally:
        study.close()
    told(REPORT)
    (job.out / REPORT).write_text(report.page(report.read(job.out), job.network), encoding="utf-8")
    return found
