"""Random histories as files of lines and as columns: both have the verdicts of the oracle.

Law: the messages of many histories are read, and gathered, at once: the name of a publisher has the seed of
its history, so that no record meets one of another history. Each history is judged by itself.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

import pyarrow as pa
from pyspark.sql import SparkSession

from tamis.analysis.questions import matches
from tamis.analysis.records import logs, pieces
from tamis.analysis.records.chapters import WholeLogs
from tamis.analysis.records.rows import Pieces
from tamis.analysis.spark import parts
from tamis.protocol.records import VERSION
from tamis.router.records.converting import COLUMNS, convert_folder
from tests.analysis.test_judged import History, Oracle, Row, audited

BATCH = 500
MARKS = ("is_refused", "has_dropped")
VERDICTS = {"delivered", "missing", "duplicate", "stray", "dropped", "undecided"}


def records_of(history: History, seed: int) -> Iterator[Row]:
    """What routers would have recorded of the messages."""
    for message in history.messages:
        for visit in message["visits"]:
            said = {name: value for name, value in visit.items() if name not in MARKS and value is not None}
            said |= {"refused": "draining"} if visit["is_refused"] else {}
            said |= {"dropped": [1]} if visit["has_dropped"] else {}
            yield said | {"kind": "message", "origin": f"{seed} {message['origin']}", "number": message["number"]}


def write(folder: Path, seeds: range) -> None:
    lines = defaultdict[tuple[str, int], list[str]](list)
    for seed in seeds:
        for record in records_of(History(seed), seed):
            mine = lines[record["router"], record["epoch"]]
            mine.append(json.dumps({"v": VERSION} | record | {"n": len(mine)}))
    for (router, epoch), texts in lines.items():
        place = folder / router / f"messages-{epoch}-000000.jsonl"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("\n".join([*texts, ""]))


def visits(_: object, records: pa.RecordBatch) -> pa.RecordBatch:
    return matches.visits(records)


def gathered(spark: SparkSession, folder: Path, store: Path, partitions: int) -> dict[int, list[Row]]:
    """The messages of each history, as they were read: those of one partition together, and others in pieces."""
    before = spark.conf.get(parts.SETTING)
    spark.conf.set(parts.SETTING, f"{partitions}")
    try:
        places = WholeLogs().unsummed(logs.read(spark, folder, store), lambda _: "")
        records = pieces.records(spark, places, lambda: store / "divided")
        assert isinstance(records.source, Pieces) == (partitions > 1)
        messages = records.mapped(visits, None, matches.VISITS, whole=True).frame.toArrow()
    finally:
        spark.conf.set(parts.SETTING, before or "")
    found = defaultdict[int, list[Row]](list)
    for row in messages.to_pylist():
        seed, _, row["origin"] = row["origin"].partition(" ")
        found[int(seed)].append(row)
    return found


def judged(seed: int, messages: list[Row]) -> Counter[tuple[Any, ...]]:
    history = History(seed)
    history.messages = messages
    return audited(history)


@pytest.mark.parametrize(
    "histories", [pytest.param(40, marks=pytest.mark.slow), pytest.param(4_000, marks=pytest.mark.long)]
)
def test_lines_and_columns_have_the_verdicts_of_the_oracle(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, histories: int
) -> None:
    monkeypatch.setattr(pieces, "PIECE_ROWS", 300)
    seen = Counter[str]()
    for first in range(0, histories, BATCH):
        seeds = range(first, min(first + BATCH, histories))
        folders = [tmp_path / f"{first}" / form for form in ("lines", "columns")]
        write(folders[0], seeds)
        assert {outcome.what for outcome in convert_folder(*folders, COLUMNS)} == {"converted"}
        assert not list(folders[1].rglob("*.jsonl"))
        lines, columns = (
            gathered(spark, folder, folder.with_suffix(".store"), partitions)
            for partitions, folder in enumerate(folders, 1)
        )
        for seed in seeds:
            history = History(seed)
            oracle = Oracle(history)
            expected = Counter(row for message in history.messages for row in oracle.judged(message))
            assert judged(seed, lines[seed]) == expected, seed
            assert judged(seed, columns[seed]) == expected, seed
            for row, count in expected.items():
                seen[row[5]] += count
        said = f"{seeds.stop:,} histories, {sum(seen.values()):,} deliveries, equal in both formats: {dict(seen)}"
        print(said, flush=True)
    assert set(seen) == VERDICTS
