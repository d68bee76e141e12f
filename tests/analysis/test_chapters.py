"""Chapters divide the messages of each publisher, and what they sum up gives exact percentiles on one clock."""

from __future__ import annotations

from collections import Counter
from math import ceil
from random import Random

import pytest

pytest.importorskip("pyspark")

import pyarrow as pa

from tamis.analysis.questions import latency
from tamis.analysis.questions.clocks import RouterClock
from tamis.analysis.records import chapters
from tamis.analysis.records.schemas import of_tallies


@pytest.mark.parametrize("seed", range(20))
def test_each_message_up_to_the_end_is_in_one_chapter(seed: int) -> None:
    random = Random(seed)
    ends = chapters._ends(chapters._RANGES.empty_table())
    ranges: list[dict[str, int]] = []
    for _ in range(5):
        tops = {origin: random.randrange(-50, 50) for origin in "abc" if random.random() < 0.7}
        found = pa.table({"origin": pa.array([*tops], pa.string()), "to": pa.array(tops.values(), pa.int64())})
        mine = chapters._next(found, ends)
        ranges += mine.to_pylist()
        ends = chapters._ends(pa.concat_tables([mine.select(["origin", "to"]), chapters._as_tops(ends)]))
    known = {row["origin"]: row["end"] for row in ends.to_pylist()}
    for origin in "abc":
        for number in range(-60, 60):
            of = [row for row in ranges if row["origin"] == origin and row["above"] < number <= row["to"]]
            assert len(of) == (number <= known.get(origin, -61))


def test_a_chapter_ends_before_what_a_router_may_still_write() -> None:
    def until(*last_us: int) -> tuple[int, int] | None:
        rows = [{"router": f"r{place}", "first_us": 5, "last_us": each} for place, each in enumerate(last_us)]
        schema = chapters.parts.to_arrow_schema(of_tallies())
        return chapters._quiet(pa.Table.from_pylist([*rows, {"router": None, "last_us": 0}], schema))

    far = chapters.HELD_US * 9
    assert until(far, far - 7) == (5, far - 7 - chapters.QUIET_US)
    assert until(far, 8) == (5, far - chapters.HELD_US - chapters.QUIET_US)
    assert until(7) is until() is None


@pytest.mark.parametrize("seed", range(10))
def test_percentiles_are_those_of_all_times_on_one_clock(seed: int) -> None:
    random = Random(seed)
    clocks = {router: RouterClock(router, "a", random.randrange(-50, 50), 0) for router in "abc"}
    counted = Counter(
        (random.choice("abc"), random.choice("abc"), random.choice((-1, 1, 2)), random.randrange(20))
        for _ in range(random.randrange(200))
    )
    rows = [dict(zip(("from_router", "to_router", "hop", "us"), key, strict=True)) for key in counted]
    types = pa.schema(
        [("from_router", pa.string()), ("to_router", pa.string()), ("hop", pa.int64()), ("us", pa.int64())]
    )
    found = pa.Table.from_pylist(rows, types).append_column("messages", pa.array([*counted.values()], pa.int64()))
    found = pa.concat_tables([found, found.slice(0, 3)])  # of another chapter
    times: dict[object, list[int]] = {}
    for row in found.to_pylist():
        us = row["us"] + clocks[row["to_router"]].offset_us - clocks[row["from_router"]].offset_us
        key = (row["from_router"], row["to_router"]) if row["hop"] == -1 else row["hop"]
        times.setdefault(key, []).extend([us] * row["messages"])
    seen = {row["hop"]: row for row in latency.by_length(found, clocks).to_pylist()}
    seen |= {(row["from_router"], row["to_router"]): row for row in latency.by_link(found, clocks).to_pylist()}
    assert seen.keys() == times.keys()
    for key, row in seen.items():
        each = sorted(times[key])
        wanted = [each[ceil(len(each) * percent / 100) - 1] for percent in latency.PERCENTS]
        assert [row[f"p{percent}_us"] for percent in latency.PERCENTS] == wanted
        assert (row["messages"], row["max_us"]) == (len(each), each[-1])
