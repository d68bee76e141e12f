"""Answers with a store that grows are those of one analysis of all files."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from tamis.analysis.job import Job, analyze
from tamis.analysis.page import report
from tamis.analysis.records import chapters, increments
from tamis.analysis.spark import parts
from tamis.router.records.converting import CLOSED, convert
from tests.analysis import stored
from tests.analysis.conftest import NOTICE_US, Simulated, Tables

STEPS = 3


def cuts_of(folder: Path, random: Random, late: str = "") -> dict[Path, list[bytes]]:
    """Return each file cut in random places, for each step what is added to it. The router `late` adds most of its
    records in the last."""
    found = {}
    for path in sorted(folder.glob("*/*.jsonl")):
        text = path.read_bytes()
        shares = sorted(random.uniform(0.2, 0.4) if path.parent.name == late else random.random() for _ in range(2))
        if path.parent.name != late:
            shares = [0.5 + share / 8 + number / 4 for number, share in enumerate(shares)]
        places = [0, *(int(share * len(text)) for share in shares), len(text)]
        found[path.relative_to(folder)] = [text[begin:end] for begin, end in pairwise(places)]
    return found


def cuts_in_time(folder: Path, shares: tuple[float, ...], late: str, after: float) -> dict[Path, list[bytes]]:
    """Return for each file what is added to it in each step, if all routers write at once. The router `late` adds its
    records behind a share of the time in the last."""
    lines = {path.relative_to(folder): path.read_bytes().splitlines(True) for path in folder.glob("*/*.jsonl")}
    times = {name: [json.loads(line)["t_us"] for line in each] for name, each in lines.items()}
    begin_us, end_us = (found(at for each in times.values() for at in each) for found in (min, max))
    found = {}
    for name, each in lines.items():
        passed = [(at - begin_us) / (end_us - begin_us) for at in times[name]]
        steps = [sum(share <= mine for share in shares) for mine in passed]
        if name.parts[0] == late:
            steps = [len(shares) if mine >= after else 0 for mine in passed]
        found[name] = [
            b"".join(line for line, mine in zip(each, steps, strict=True) if mine == step) for step in range(STEPS)
        ]
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


def committing(commit: Callable[[increments.RecordStore, increments.Manifest], None]) -> Callable[..., None]:
    """Return `commit`, but for chapters, which are not committed."""

    def act(store: increments.RecordStore, manifest: increments.Manifest) -> None:
        if manifest.chapters != store.manifest.chapters:
            raise KeyboardInterrupt
        commit(store, manifest)

    return act


def turned_back(cut: dict[Path, list[bytes]], router: str) -> dict[Path, list[bytes]]:
    """Let the clock of a router go back by two seconds before the last step."""

    def earlier(found: re.Match[bytes]) -> bytes:
        return b'"t_us":%d' % (int(found[1]) - 2_000_000)

    return {
        name: [*texts[:-1], re.sub(rb'"t_us": ?(\d+)', earlier, texts[-1])] if name.parts[0] == router else texts
        for name, texts in cut.items()
    }


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chapters of few messages, which end soon."""
    monkeypatch.setattr(chapters, "CHAPTER_ROWS", 60)
    monkeypatch.setattr(chapters, "QUIET_US", 8_000_000)
    monkeypatch.setattr(chapters, "HELD_US", 0)


@pytest.fixture(scope="session")
def with_stored(simulated: Simulated, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The simulated logs with durable subscriptions."""
    logs = tmp_path_factory.mktemp("stored") / "logs"
    shutil.copytree(simulated.folder, logs)
    stored.plant(logs, Random(1))
    return logs


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_answers_in_increments_are_those_of_a_whole_run(
    spark: SparkSession, with_stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a late file, and a run that is killed before it commits what it has summed up."""
    logs, store = tmp_path / "logs", tmp_path / "store"
    job, whole = (
        Job(tmp_path / "answers", notice_us=NOTICE_US, into=store),
        Job(tmp_path / "whole", notice_us=NOTICE_US),
    )
    cut = cuts_in_time(with_stored, (0.3, 0.6), late="r3", after=0.09)  # messages enter in the first fifth
    known = []
    for step in range(STEPS):
        grow(logs, cut, step)
        if step == 0:  # killed when all is summed up
            with monkeypatch.context() as patch:
                patch.setattr(increments.RecordStore, "commit", committing(increments.RecordStore.commit))
                with pytest.raises(KeyboardInterrupt):
                    analyze(spark, logs, job)
        analyze(spark, logs, job)
        with increments.opened(store, logs) as kept:
            known.append(kept.manifest)
    analyze(spark, with_stored, whole)
    tables, found = in_order(report.read(whole.out)), in_order(report.read(job.out))
    for name, rows in tables.items():
        assert found[name] == rows, name
    assert found.keys() == tables.keys()
    faults = {fault for row in report.read(whole.out)["durable/faults"] for fault in [row["fault"]]}
    assert {"missing", "twice", "stray", "stranger", "order", "untold"} <= faults
    for folder in increments.DIVIDED:
        first, second, last = ({each.number for each in manifest.divisions[folder].chapters} for manifest in known)
        assert first <= second, "a chapter was judged again without need"
        assert second - last, "late records changed no chapter"
        assert second & last, "late records changed every chapter"


@pytest.mark.long
@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("seed", range(14))
def test_twenty_cuts_change_no_answer(spark: SparkSession, simulated: Simulated, tmp_path: Path, seed: int) -> None:
    """Routers crash and come again in these histories; with odd seeds the clock of one goes back. Most are small enough
    for this process; the records of seed 0 are in partitions."""
    random = Random(seed)
    cut = cuts_of(simulated.folder, random, late=random.choice(("", "r1", "r4")))
    if seed % 2:
        cut = turned_back(cut, "r2")
    job = Job(tmp_path / "answers", notice_us=NOTICE_US, into=tmp_path / "store")
    before = spark.conf.get(parts.SETTING)
    try:
        for step in range(STEPS):
            grow(tmp_path / "logs", cut, step)
            if step == STEPS - 1:
                close(tmp_path / "logs", sorted(CLOSED)[seed % len(CLOSED)])
            spark.conf.set(parts.SETTING, "1" if seed else str(before))
            analyze(spark, tmp_path / "logs", job)
            whole = Job(tmp_path / f"whole-{step}", notice_us=NOTICE_US)
            spark.conf.set(parts.SETTING, "1")
            analyze(spark, tmp_path / "logs", whole)
            assert in_order(report.read(job.out)) == in_order(report.read(whole.out)), (seed, step)
    finally:
        spark.conf.set(parts.SETTING, str(before))
