"""What the audit says of messages that a router stored for others: by whole records, and by records that lack
something."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from tamis.analysis.job import Job, analyze
from tamis.analysis.page import report
from tamis.analysis.questions.verdict_counts import durable_counts
from tamis.analysis.records import chapters
from tamis.analysis.spark import parts

SECOND_US: Final = 1_000_000
BEGAN_US: Final = 1_000 * SECOND_US
SETTLE_US: Final = 500_000
FORM: Final = '[["n",">=",0]]'


class Written:
    """The records of a router, in the order in which they are added."""

    def __init__(self, name: str, sampling: str = "all") -> None:
        self.name, self.sampling, self.epoch = name, sampling, 0
        self.records: list[dict[str, Any]] = []
        self.live(BEGAN_US)

    def live(self, at_us: int) -> None:
        """A life begins."""
        self.epoch += 1
        self.add("life", at_us, what="started", sampling=self.sampling)

    def add(self, kind: str, at_us: int, **fields: Any) -> None:
        head = {"v": 1, "kind": kind, "t_us": at_us, "router": self.name, "epoch": self.epoch}
        self.records.append(head | fields)

    def chain(self, what: str, n: int, peer: str, late_us: int = 0, **fields: Any) -> None:
        """Message `n` of a chain, which is published at second `n`."""
        named = {} if "first" in fields else {"origin": "00000000000000aa", "number": n}
        at_us = BEGAN_US + n * SECOND_US + late_us
        self.add("kept", at_us, what=what, peer=peer, position=n, **named, **fields)

    def kept(self, n: int, late_us: int = 100) -> None:
        named = {"position": 100 + n, "origin": "00000000000000aa", "number": n}
        self.add("kept", BEGAN_US + n * SECOND_US + late_us, keep=1, what="kept", source="publisher", **named)

    def stop(self, at_s: int = 60) -> None:
        self.add("life", BEGAN_US + at_s * SECOND_US, what="stopped")

    def write(self, logs: Path, without: int | None = None) -> None:
        """Write all, but for the record at a place, in place of what was written before."""
        counts: Counter[tuple[str, int]] = Counter()
        (logs / self.name).mkdir(parents=True, exist_ok=True)
        for file in (logs / self.name).iterdir():
            file.unlink()
        for place, record in enumerate(self.records):
            family = "messages" if record["kind"] == "kept" else "events"
            epoch = record["epoch"]
            numbered = record | {"n": counts[family, epoch]}
            counts[family, epoch] += 1
            if place != without:
                with (logs / self.name / f"{family}-{epoch}-000000.jsonl").open("a") as file:
                    file.write(json.dumps(numbered) + "\n")


def home(name: str, sampling: str = "all") -> Written:
    made = Written(name, sampling)
    policy = {"terms": {"for_ms": 0}, "overflow": "drop-oldest"}
    made.add("keep", BEGAN_US, keep=1, what="made", name="orders", client="c", filters=[FORM], **policy)
    return made


def audited(spark: SparkSession, logs: Path, out: Path, partitions: int = 1) -> dict[str, list[dict[str, Any]]]:
    before = spark.conf.get(parts.SETTING)
    spark.conf.set(parts.SETTING, str(partitions))
    try:
        analyze(spark, logs, Job(out, ("durable",), settle_us=SETTLE_US))
    finally:
        spark.conf.set(parts.SETTING, str(before))
    return report.read(out)


def verdicts(tables: Mapping[str, list[dict[str, Any]]]) -> dict[tuple[str, str], dict[str, int]]:
    found: dict[tuple[str, str], dict[str, int]] = {}
    for row in tables["durable/custody"]:
        found.setdefault((row["entry"], row["home"]), {})[row["verdict"]] = row["messages"]
    return found


def faults(tables: Mapping[str, list[dict[str, Any]]]) -> list[tuple[str, str, int, int]]:
    return [(row["fault"], row["router"], row["position"], row["number"]) for row in tables["durable/faults"]]


@pytest.mark.parametrize("partitions", [1, 2])
def test_each_message_has_the_verdict_of_both_ends(spark: SparkSession, tmp_path: Path, partitions: int) -> None:
    a, b = Written("a"), home("b")
    for n in range(1, 11):
        a.chain("entered", n, "b")
    b.kept(1)
    b.chain("passed", 2, "a")
    a.chain("given_up", 4, "b", 10, first=3, total=2)
    b.chain("missed", 4, "a", 20, first=3, total=2)
    b.chain("missed", 5, "a", 20, first=5)  # how many is not known
    b.kept(7)  # and not 6
    a.chain("given_up", 9, "b", 10, first=8, total=2)
    a.stop()
    b.stop()
    for each in (a, b):
        each.write(tmp_path / "logs")
    tables = audited(spark, tmp_path / "logs", tmp_path / "out", partitions)
    expected = {"stored": 2, "passed": 1, "given up": 4, "lost": 1, "missing": 1, "pending": 1}
    assert verdicts(tables) == {("a", "b"): expected}
    assert faults(tables) == [("missing at home", "b", 6, 6)]
    assert {row["fate"]: row["messages"] for row in tables["durable/fates"]} == {"waiting": 2}
    counts = durable_counts(tmp_path / "out")
    assert counts is not None
    assert counts["faults"]["missing at home"] == 1  # so that --fail-on finds it
    assert "1 missing at their home" in (tmp_path / "out" / "report.html").read_text()


def test_a_message_is_unknown_where_records_of_an_end_are_missing(spark: SparkSession, tmp_path: Path) -> None:
    """Each home has the first message and the third, and lacks the second: whole records show it."""
    names = ("none", "hole", "killed", "sampled", "removed", "whole", "before")
    a = Written("a")
    for name in names:
        for n in range(1, 4):
            a.chain("entered", n, name)
    a.stop()
    a.write(tmp_path / "logs")
    homes = {name: home(name, "0.5" if name == "sampled" else "all") for name in names[1:]}
    for name, each in homes.items():
        if name == "before":
            each.live(BEGAN_US + SECOND_US // 2)  # it was killed long before
        each.kept(1)
        if name == "killed":
            each.live(BEGAN_US + 2 * SECOND_US + 200)
        if name == "removed":
            each.add("keep", BEGAN_US + 2 * SECOND_US + 200, keep=1, what="forgotten", name="orders", cause="asked")
        if name == "hole":
            each.kept(2)
        each.kept(3)
        each.stop()
        each.write(tmp_path / "logs", without=len(each.records) - 3 if name == "hole" else None)
    tables = audited(spark, tmp_path / "logs", tmp_path / "out")
    found = verdicts(tables)
    assert found.pop(("a", "none")) == {"unknown": 3}
    for name in ("whole", "before"):
        assert found.pop(("a", name)) == {"stored": 2, "missing": 1}
    assert found == {("a", name): {"stored": 2, "unknown": 1} for name in names[1:5]}
    assert [fault[:3] for fault in faults(tables) if fault[0] == "missing at home"] == [
        ("missing at home", name, 2) for name in ("before", "whole")
    ]


def test_what_an_entry_may_not_have_had_on_disk_is_unknown_and_what_waits_is_pending(
    spark: SparkSession, tmp_path: Path
) -> None:
    a, b, c = Written("a"), home("b"), home("c")
    for n in (1, 2):
        a.chain("entered", n, "b")
    a.live(BEGAN_US + 10 * SECOND_US)  # it was killed behind the second, and has written nothing else
    a.chain("entered", 11, "b")
    a.chain("entered", 12, "c")
    a.stop()
    b.kept(1)
    b.kept(11)
    b.add("depth", BEGAN_US + 12 * SECOND_US, keep=1, open=2)  # it is still running
    c.add("depth", BEGAN_US + 11 * SECOND_US, keep=1, open=0)  # it was killed, and has not come back
    for each in (a, b, c):
        each.write(tmp_path / "logs")
    tables = audited(spark, tmp_path / "logs", tmp_path / "out")
    assert verdicts(tables) == {("a", "b"): {"stored": 2, "unknown": 1}, ("a", "c"): {"pending": 1}}
    assert not [fault for fault in faults(tables) if fault[0] == "missing at home"]


def test_a_late_record_of_a_home_changes_the_verdict_of_an_earlier_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chapters, "CHAPTER_ROWS", 10)
    a, b = Written("a"), home("b")
    for n in range(1, 41):
        a.chain("entered", n, "b")
    for n in (*range(1, 6), *range(7, 21)):
        b.kept(n)
    for each in (a, b):
        each.add("depth", BEGAN_US + 60 * SECOND_US, keep=1, open=0)
    found = []
    for run in range(2):
        for each in (a, b):
            each.write(tmp_path / "logs")
        analyze(
            spark, tmp_path / "logs", Job(tmp_path / "out", ("durable",), settle_us=SETTLE_US, into=tmp_path / "to")
        )
        found.append(verdicts(report.read(tmp_path / "out"))["a", "b"])
        if run == 0:
            assert [*(tmp_path / "to").rglob("chapter-*")]  # so that something is not looked at again
            b.kept(6, late_us=61 * SECOND_US)
            for n in range(21, 41):
                b.kept(n, late_us=62 * SECOND_US)
    assert found == [{"stored": 19, "missing": 1, "pending": 20}, {"stored": 40}]


def test_records_of_a_home_alone_say_nothing_of_a_chain(spark: SparkSession, tmp_path: Path) -> None:
    b = home("b")
    b.kept(1)
    b.chain("passed", 2, "a")
    b.chain("missed", 4, "a", first=3, total=2)
    b.stop()
    b.write(tmp_path / "logs")
    tables = audited(spark, tmp_path / "logs", tmp_path / "out")
    assert not tables["durable/custody"]
    assert not tables["durable/faults"]
    assert sum(row["messages"] for row in tables["durable/fates"]) == 1
