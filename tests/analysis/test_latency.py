"""Match times by the size of the table, which simulated routers cannot tell: counted one by one."""

from __future__ import annotations

from collections import defaultdict
from random import Random

import pytest

pytest.importorskip("pyspark")

import pyarrow as pa
from pyspark.sql import SparkSession

from tamis.analysis.questions import latency
from tamis.analysis.questions.clocks import RouterClock
from tamis.analysis.records.by_message import CHAPTER, RECORD
from tamis.analysis.records.schemas import of_kind

pytestmark = pytest.mark.long
SECOND_US = 1_000_000
MESSAGES = 300


def test_match_time_goes_with_the_table_of_its_second(spark: SparkSession) -> None:
    random = Random(5)
    tables, messages, expected = [], [], defaultdict[int, list[int]](list)
    sizes: dict[str, list[tuple[int, int]]] = {"a": [], "b": []}
    for router, known in sizes.items():
        for second in sorted(random.sample(range(60), 12)):
            for _ in range(random.randint(1, 2)):
                local, remote = random.choice(((0, 0), (1, 0), (3, 4), (0, 8), (700, 323)))
                known.append((second, local + remote))
                head = {"router": router, "epoch": 1, "n": len(known), "t_us": second * SECOND_US + len(known)}
                tables.append(head | {"filters": local, "remote_filters": remote})
    for _ in range(MESSAGES):
        router, second, took_ns = random.choice("ab"), random.randrange(60), random.randrange(100, 9_000)
        before = [size for at, size in sizes[router] if at <= second]
        at_us = second * SECOND_US + random.randrange(SECOND_US)
        messages.append({"router": router, "epoch": 1, "t_us": at_us, "match_ns": took_ns})
        if before:
            expected[power_of_two(before[-1])].append(took_ns)
    for message in messages:
        message[CHAPTER] = message["t_us"] % 3 or None
    looked = pa.table(latency.matched(None, pa.RecordBatch.from_pylist(messages, RECORD)))
    sizes_of = latency.sizes(spark.createDataFrame(tables, of_kind("table")))
    found = latency.matching(looked, sizes_of.toArrow()).to_pylist()
    assert [row["filters_from"] for row in found] == sorted(expected)
    for row in found:
        times_ns = expected[row["filters_from"]]
        assert (row["messages"], row["match_ns_max"]) == (len(times_ns), max(times_ns))
        assert row["match_ns_mean"] == pytest.approx(sum(times_ns) / len(times_ns))


@pytest.mark.parametrize("exact_max", [5, 10_000])
def test_many_times_are_counted_in_buckets_that_are_narrow(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, exact_max: int
) -> None:
    """Clocks are hours apart; times are microseconds to minutes."""
    monkeypatch.setattr(latency, "EXACT_MAX", exact_max)
    random = Random(exact_max)
    ahead_us = {"a": 0, "b": 7_200_000_000, "c": -3_000_000}
    messages, took_us = [], defaultdict[str, list[int]](list)
    for number in range(3_000):
        head = {"source": "a", "source_epoch": 1, "transit": number}
        messages.append(head | {"router": "a", "hop": 0, "t_us": number * SECOND_US})
        for router in "bc":
            us = random.randrange(int(10 ** random.uniform(1, 8))) + 1
            took_us[router].append(us)
            t_us = number * SECOND_US + us + ahead_us[router]
            messages.append(head | {"router": router, "hop": 1, "t_us": t_us, "from_neighbour": "a"})
    records = pa.RecordBatch.from_pylist([message | {"is_refused": False} for message in messages], RECORD)
    counted = spark.createDataFrame(pa.table(latency.times(None, records)))
    found = latency.in_buckets(counted).drop(CHAPTER).toArrow()
    clocks = {router: RouterClock(router, "a", -us, 0) for router, us in ahead_us.items()}
    assert [row["hop"] for row in latency.by_length(found, clocks).to_pylist()] == [1]
    for row in latency.by_link(found, clocks).to_pylist():
        times_us = sorted(took_us[row["to_router"]])
        assert (row["messages"], row["max_us"]) == (len(times_us), times_us[-1])
        for percent in latency.PERCENTS:
            least_us = times_us[-(-len(times_us) * percent // 100) - 1]
            error_us = row[f"p{percent}_us"] - least_us
            assert 0 <= error_us <= (0 if exact_max > len(times_us) else least_us / 1_024), (row, percent)
    distinct = len({*took_us["b"]}) + len({*took_us["c"]})
    assert (len(found) == 2 * distinct) == (exact_max > 3_000)


def power_of_two(size: int) -> int:
    return 1 << (max(size, 1).bit_length() - 1)
