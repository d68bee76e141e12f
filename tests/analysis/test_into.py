"""Answers with a store that grows are those of one analysis of all files."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from tamis.analysis.job import Job, analyze
from tamis.analysis.page import report
from tamis.router.records.converting import CLOSED, convert
from tests.analysis.conftest import NOTICE_US, Simulated, Tables


def parts_of(folder: Path, random: Random) -> dict[Path, list[bytes]]:
    """Return each file cut in a random place, as it is seen first and what is added later; some come late as a
    whole."""
    found = {}
    for path in sorted(folder.glob("*/*.jsonl")):
        text = path.read_bytes()
        cut = random.choice([0, len(text), random.randrange(len(text))])
        found[path.relative_to(folder)] = [text[:cut], text[cut:]]
    return found


def grow(logs: Path, cut: dict[Path, list[bytes]], step: int) -> None:
    for name, texts in cut.items():
        if texts[step]:
            (logs / name).parent.mkdir(parents=True, exist_ok=True)
            with (logs / name).open("ab") as file:
                file.write(texts[step])


def close(logs: Path, form: str) -> None:
    for path in logs.glob("*/*.jsonl"):
        convert(path, path.with_name(path.name.removesuffix(".jsonl") + CLOSED[form]), CLOSED[form])
        path.unlink()


def in_order(tables: Tables) -> dict[str, list[str]]:
    return {name: sorted(map(repr, rows)) for name, rows in tables.items()}


@pytest.mark.slow
def test_answers_in_increments_are_those_of_a_whole_run(
    spark: SparkSession, simulated: Simulated, tables: Tables, tmp_path: Path
) -> None:
    cut = parts_of(simulated.folder, Random(1))
    job = Job(tmp_path / "answers", notice_us=NOTICE_US, into=tmp_path / "store")
    for step in range(2):
        grow(tmp_path / "logs", cut, step)
        analyze(spark, tmp_path / "logs", job)
    assert in_order(report.read(job.out)) == in_order(tables)


@pytest.mark.long
@pytest.mark.parametrize("form", sorted(CLOSED))
def test_twenty_cuts_change_no_answer(spark: SparkSession, simulated: Simulated, tmp_path: Path, form: str) -> None:
    random = Random(form)
    for number in range(10):
        folder = tmp_path / str(number)
        cut = parts_of(simulated.folder, random)
        job = Job(folder / "answers", notice_us=NOTICE_US, into=folder / "store")
        for step in range(2):
            grow(folder / "logs", cut, step)
            if step:
                close(folder / "logs", form)
            analyze(spark, folder / "logs", job)
            whole = Job(folder / f"whole-{step}", notice_us=NOTICE_US)
            analyze(spark, folder / "logs", whole)
            assert in_order(report.read(job.out)) == in_order(report.read(whole.out)), (number, step)
        shutil.rmtree(folder)
