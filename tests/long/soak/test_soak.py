"""The judge and the schedule of a soak, and a soak of half a minute.

An hour of it: `python -m tests.long.soak --minutes 60`.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.long.soak.judge import Verdict, facts_of, judged
from tests.long.soak.schedule import IN_AN_HOUR, schedule
from tests.long.soak.soak import SoakPlan, soaked

Lines = Iterable[list[Any]]
SENT: Lines = [
    [float(n), what, "p", n, *more] for n in range(3) for what, more in (("sent", ()), ("confirmed", ("e", False)))
]
LOST: Lines = [[10.0, "disk-lost", "e"], [11.0, "gap", "h", "ENTRY_LOST", None, "(1, 1)"]]


def got(*numbers: int, id_: str = "", home: str = "h") -> Lines:
    return [[20.0, "got", home, "p", n, id_ or f"p-{n}", 100 + n] for n in numbers]


def full(count: int) -> Lines:
    return [[15.0, "gap", "h", "CUSTODY_FULL", count, "(5, 5)"]] * 2


def changed(at_s: float, positions: str) -> Lines:
    return [[at_s, "gap", "h", "ROUTE_CHANGED", None, positions]]


def verdict(*lines: Lines) -> Verdict:
    return judged(facts_of([*SENT, *(line for some in lines for line in some)]), ["h"])


@pytest.mark.parametrize(
    "lines",
    [
        [got(0, 1, 2)],
        [got(0, 1, 2), got(1)],
        [got(0), LOST],
        [got(0, 2), full(1)],
        [got(0, 2), [[1.0, "sent", "p", 7]], full(2)],
        [got(0, 1, 2), LOST, changed(12.0, "(1, 9)")],
    ],
)
def test_the_judge_finds_nothing_where_all_is_there_or_told(lines: list[Lines]) -> None:
    assert verdict(*lines).wrong == []


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        ([got(0, 2)], "1 are missing"),
        ([got(0), LOST[:1]], "2 are missing"),
        ([got(0, 2), LOST], "1 are missing"),
        ([got(0, 1, 2), changed(12.0, "(1, 9)")], "ROUTE_CHANGED (1, 9) without a reason"),
        ([got(0, 1, 2), LOST, changed(9.0, "(1, 9)")], "ROUTE_CHANGED (1, 9) without a reason"),
        ([got(0, 1, 2), LOST, changed(12.0, "(2, 9)")], "ROUTE_CHANGED (2, 9) without a reason"),
        ([got(0), [[10.0, "disk-lost", "other"], *LOST[1:]]], "2 are missing"),
        ([got(0), [*LOST, [30.0, "sent", "p", 9], [31.0, "confirmed", "p", 9, "e", False]]], "1 are missing"),
        ([got(0), full(1)], "2 are missing"),
        ([got(0, 2), full(2)], "Gaps count 2, and at most 1"),
        ([got(0, 1, 2), got(1, id_="other")], "1 doubled"),
        ([got(0, 1, 2, 8)], "1 that no publisher sent"),
        ([got(0, 1, 2), [[1.0, "gap", "h", "LOG_DAMAGED", None, "(1, 2)"]]], "told a Gap for LOG_DAMAGED"),
    ],
)
def test_the_judge_finds_what_is_wrong(lines: list[Lines], wrong: str) -> None:
    (found,) = verdict(*lines).wrong
    assert wrong in found


def test_a_schedule_has_the_faults_of_an_hour_in_their_order_and_is_that_of_its_seed() -> None:
    faults = schedule(3, 60)
    assert Counter(each.kind for each in faults) == IN_AN_HOUR
    assert faults == sorted(faults, key=lambda each: each.at_s) == schedule(3, 60) != schedule(4, 60)
    assert all(0 <= each.at_s < 3_600 for each in faults)
    assert {each.kind for each in schedule(1, 0.1)} == {*IN_AN_HOUR}


@pytest.mark.long
@pytest.mark.skipif(shutil.which("gcc") is None, reason="the faulty disk needs a C compiler")
async def test_a_soak_of_half_a_minute_loses_nothing_untold(tmp_path: Path) -> None:
    found = await soaked(tmp_path / "soak", SoakPlan(minutes=0.5, seed=1), print)
    print(found)
    assert found.wrong == []
    assert found.faults == Counter(each.kind for each in schedule(1, 0.5))
    assert found.confirmed > 300
    assert found.got > 2 * found.confirmed
