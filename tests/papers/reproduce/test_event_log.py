"""The event log of paper 002: verdicts follow what the log gives back, also where a log is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tamis.bench.cells import CellFile
from tamis.native.log import Log, LogRecord
from tamis.papers.reproduce.figure import FigureRun, ResultRow, Ruling, Scale
from tamis.papers.reproduce.paper002 import eventlog, returning
from tamis.papers.reproduce.paper002.eventlog import EVENT_LOG

MESSAGES = 6_000  # with 200 bytes each they fill more segments than may stay
Fault = Callable[[list[LogRecord]], list[LogRecord]]


def absences(times: int, of_client: int = 0) -> list[ResultRow]:
    settings = {"times": times, "messages": MESSAGES, "absences": of_client, "waiting": 20}
    return EVENT_LOG.measure(FigureRun("002", Scale.SMALL, 1, settings, CellFile(None, {}), lambda _what: None))


def rulings(rows: list[ResultRow]) -> dict[str, Ruling]:
    return {each.name: each.judge(rows).ruling for each in EVENT_LOG.criteria}


@pytest.mark.slow
def test_a_client_that_was_away_twice_gets_all_and_the_log_is_cleaned() -> None:
    rows = absences(2, of_client=2)
    assert [(row["cycle"], row["messages"]) for row in rows if "cycle" in row] == [(0, MESSAGES), (1, MESSAGES)]
    assert [(row["killed"], row["due"]) for row in rows if "absence" in row] == [(False, 20), (True, 20)]
    assert rulings(rows) == {
        "002-log-delivered": Ruling.HOLDS,
        "002-log-cleaned": Ruling.HOLDS,
        "002-event-log": Ruling.HOLDS,
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(lambda got: got[:-1], id="loses"),
        pytest.param(lambda got: [*got, *got[-1:]], id="repeats"),
        pytest.param(lambda got: [*got[:1], *got[2:3], *got[1:2], *got[3:]], id="disorders"),
    ],
)
def test_a_log_that_is_wrong_differs(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    class FaultyLog(Log):
        def read(self, durable: int) -> Iterator[LogRecord]:  # type: ignore[override]
            return iter(fault(list(super().read(durable))))

    monkeypatch.setattr(eventlog, "Log", FaultyLog)
    assert rulings(absences(1))["002-log-delivered"] is Ruling.DIFFERS


@pytest.mark.slow
def test_a_log_that_cleans_nothing_up_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Log, "ack", lambda *_asked: 0)  # nothing is done with
    monkeypatch.setattr(eventlog, "_CLEANED_S", 0.5)
    assert rulings(absences(1))["002-log-cleaned"] is Ruling.DIFFERS


@pytest.mark.slow
def test_a_broker_that_loses_and_repeats_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(returning, "_taken", lambda *_asked: ([0, 1, 3, 4, 4], 0))
    [row] = returning.absences(1, 5)
    assert (row["missing"], row["twice"], row["foreign"]) == (1, 1, 0)
    assert eventlog._client_gets_all([{"of": "client", **row}]).ruling is Ruling.DIFFERS
