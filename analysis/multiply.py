"""Logs of any size from those of a small calm network: its traffic repeated, inside Spark.

Law: copy k of a record is the record with its times k periods later and its numbers beyond those of all copies before,
so that no two messages are one and no router's records have a gap; every message has one more attribute, the number of
its copy. Events are not copied: subscriptions stay in force, so the copies are correct if no client unsubscribes or
subscribes to that attribute.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.records.files import log_files
from tamis.analysis.records.reading import lines_in

SECOND_US: Final = 1_000_000
MOVED: Final[tuple[str, ...]] = ("n", "number", "transit", "t_us", "published_us")
COPY: Final = "copy"
"""The attribute with the number of the copy of a message."""
_MARK: Final = 9_000_000_000_000_000_000
"""Marks that stand for the moved numbers while a line is cut begin here; no number of a record is as large."""


def write(spark: SparkSession, folder: Path, into: Path, records: int, files: int) -> int:
    """Write the folder's logs with at least `records` copied records of messages, in `files` files in the form of a
    router's. Return how many records there are."""
    made = into / ".made"
    texts = b"".join(text for path in log_files(folder, "messages") for text in lines_in(str(path)))
    messages = [json.loads(line) for line in texts.split(b"\n") if line]
    copies = -(-records // len(messages))
    lines = _lines(spark.createDataFrame(_templates(messages)), spark.range(0, copies, numPartitions=files))
    lines.write.option("zlib.compress.level", "BEST_SPEED").text(str(made), compression="gzip")
    for number, path in enumerate(sorted(made.glob("part-*.gz"))):
        path.rename(into / f"messages-0-{number:06}.jsonl.gz")
    shutil.rmtree(made)
    for path in log_files(folder, "events"):
        target = into / path.parent.name / path.name
        target.parent.mkdir(exist_ok=True)
        shutil.copy(path, target)
    return copies * len(messages)


def _templates(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield each line as the text between numbers, with the start of each number and its growth from one copy to the
    next."""
    period_us = _extent(message["t_us"] for message in messages) + SECOND_US
    grows = dict.fromkeys(("t_us", "published_us"), period_us) | {COPY: 1}
    grows |= {name: _extent(message[name] for message in messages) for name in ("number", "transit")}
    lives = Counter((message["router"], message["epoch"]) for message in messages)
    for message in messages:
        mine = grows | {"n": lives[message["router"], message["epoch"]]}
        starts = {name: message[name] for name in MOVED if name in message}
        marks = {name: _MARK + place for place, name in enumerate((*MOVED, COPY))}
        marked = message | {name: marks[name] for name in starts}
        if "attributes" in message:
            marked["attributes"] = _compact(json.loads(message["attributes"]) | {COPY: marks[COPY]})
            starts[COPY] = 0
        texts, names = _cut(_compact(marked), {name: str(marks[name]) for name in starts})
        yield {"texts": texts, "starts": [starts[name] for name in names], "grows": [mine[name] for name in names]}


def _extent(numbers: Iterable[int]) -> int:
    """Return how many integers there are from the least to the largest of `numbers`."""
    found = list(numbers)
    return max(found) - min(found) + 1


def _cut(line: str, marks: dict[str, str]) -> tuple[list[str], list[str]]:
    """Return the text before, between and behind the marks, and the name of each mark in the order of the line."""
    names = sorted(marks, key=lambda name: line.index(marks[name]))
    texts = []
    for name in names:
        before, _, line = line.partition(marks[name])
        texts.append(before)
    return [*texts, line], names


def _lines(templates: DataFrame, copies: DataFrame) -> DataFrame:
    """Return the lines copy by copy, each copy whole, so that the lines of a router are in their order."""
    longest = templates.agg(F.max(F.size("starts"))).collect()[0][0]
    return copies.crossJoin(F.broadcast(templates)).select(F.concat(*_pieces(longest)).alias("value"))


def _pieces(longest: int) -> Iterator[Column]:
    yield F.col("texts")[0]
    for place in range(longest):
        moved = F.col("starts")[place] + F.col("id") * F.col("grows")[place]
        both = F.concat(moved.cast("string"), F.col("texts")[place + 1])
        yield F.when(F.size("starts") > place, both).otherwise("")


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
