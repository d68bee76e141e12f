"""Traffic against the simulator's account: every counter of every interface, every second."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tamis.analysis.questions.traffic import COUNTERS
from tests.analysis.accounts.told import Counted, bucket_s, counted
from tests.analysis.conftest import Simulated, Tables

pytestmark = pytest.mark.long


def summed(each: Iterator[tuple[tuple[Any, ...], Counted]]) -> dict[tuple[Any, ...], dict[str, int]]:
    sums: dict[tuple[Any, ...], dict[str, int]] = defaultdict(lambda: dict.fromkeys(COUNTERS, 0))
    for key, one in each:
        if one.what in COUNTERS:
            sums[key][one.what] += one.count
    return sums


def found(rows: list[dict[str, Any]], *by: str) -> dict[tuple[Any, ...], dict[str, int]]:
    assert {row["queued_bytes_max"] for row in rows} == {None}, "nobody looks at simulated queues"
    return {tuple(row[name] for name in by): {name: row[name] for name in COUNTERS} for row in rows}


def test_traffic_is_what_was_counted(tables: Tables, simulated: Simulated) -> None:
    routers = set(simulated.truth["changes"]["ahead_us"])
    by_link = summed(((one.router, one.behind), one) for one in counted(simulated) if one.behind in routers)
    assert found(tables["traffic/by_link"], "router", "neighbour") == by_link
    by_router = summed(((one.router,), one) for one in counted(simulated))
    assert found(tables["traffic/by_router"], "router") == by_router


def test_traffic_over_time(tables: Tables, simulated: Simulated) -> None:
    bucket = bucket_s(simulated)
    over_time = summed(((one.router, one.second // bucket * bucket * 1_000_000), one) for one in counted(simulated))
    assert found(tables["traffic/over_time"], "router", "from_us") == over_time
    assert {row["to_us"] - row["from_us"] for row in tables["traffic/over_time"]} == {bucket * 1_000_000}


def test_counters_are_those_of_the_messages_but_for_the_last_second_of_the_crashed(simulated: Simulated) -> None:
    messages, by_link = simulated.truth["messages"], Counter[str]()
    for one in counted(simulated):
        by_link[f"{one.router} {one.behind}"] += one.count if one.what == "messages_out" else 0
    crashed = {life["router"] for life in simulated.truth["changes"]["lives"] if life["ended_us"] is not None}
    for link, count in messages["per_link"].items():
        assert by_link[link] <= count, link
        assert by_link[link] == count or link.split()[0] in crashed, link


def test_sources(tables: Tables, simulated: Simulated) -> None:
    names = ("published", "bytes", "hops", "deliveries")
    rows = {row["source"]: {name: row[name] for name in names} for row in tables["traffic/by_source"]}
    sources = simulated.truth["messages"]["sources"]
    assert rows == {source: {name: counts.get(name, 0) for name in names} for source, counts in sources.items()}
    assert sum(row["published"] for row in rows.values()) == len(simulated.truth["messages"]["published"])
    assert sum(row["published"] + row["hops"] for row in rows.values()) == simulated.outcome.counts["hops"]


def test_drops(tables: Tables, simulated: Simulated) -> None:
    rows, expected = Counter[tuple[str, str, str]](), Counter[tuple[str, str, str]]()
    for row in tables["traffic/drops"]:
        assert row["client"] is None
        rows[row["router"], row["neighbour"], f"{row['what']}:{row['reason']}"] += row["messages"]
    for one in counted(simulated):
        if ":" in one.what:
            expected[one.router, one.behind, one.what] += one.count
    assert {what.partition(":")[0] for _, _, what in expected} == {"dropped", "refused"}
    assert rows == expected
