"""Counters that simulated routers do not have: what waited, and what was dropped for clients. Counted one by one."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from tamis.analysis.questions import traffic
from tamis.analysis.records.schemas import of_kind

pytestmark = pytest.mark.long
BUCKET_US = 10_000_000


def test_queues_and_drops(spark: SparkSession) -> None:
    random = Random(3)
    records: list[dict[str, Any]] = []
    dropped = Counter[tuple[str, str, str]]()
    for _ in range(200):
        behind = random.choice(({"neighbour": "x"}, {"neighbour": "y"}, {"client": "x"}, {}))
        record = {"router": random.choice("ab"), "t_us": random.randrange(5 * BUCKET_US), **behind}
        record |= random.choice(({"queued_bytes": random.randrange(10**6)}, {}))
        if random.random() < 0.3:
            reason, messages = random.choice(("slow", "no_link")), random.randrange(1, 9)
            record["dropped"] = {reason: messages}
            dropped[record["router"], str(behind), reason] += messages
        records.append(record)
    interface = spark.createDataFrame(records, of_kind("interface"))
    found = traffic.counted(interface, BUCKET_US).toArrow()
    links = {(row["router"], row["neighbour"]): row["queued_bytes_max"] for row in traffic.by_link(found).to_pylist()}
    assert links == {(a, b): most(records, router=a, neighbour=b) for a in "ab" for b in "xy"}
    routers = {row["router"]: row["queued_bytes_max"] for row in traffic.by_router(found).to_pylist()}
    assert routers == {router: most(records, router=router) for router in "ab"}
    for row in traffic.over_time(found, BUCKET_US).to_pylist():
        then = [each for each in records if each["t_us"] // BUCKET_US * BUCKET_US == row["from_us"]]
        assert row["queued_bytes_max"] == most(then, router=row["router"])
    for row in traffic.drops(interface).collect():
        behind = {name: row[name] for name in ("neighbour", "client") if row[name] is not None}
        assert row.messages == dropped.pop((row.router, str(behind), row.reason))
    assert not dropped


def most(records: list[dict[str, Any]], **where: str) -> int | None:
    mine = [record for record in records if where.items() <= record.items()]
    return max((record["queued_bytes"] for record in mine if "queued_bytes" in record), default=None)
