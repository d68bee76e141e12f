"""The event log of paper 002, of one router: what reached it while a client was away, and what is cleaned up.

    away       messages come that are kept for the client, and go to disk
    back       the client reads what is open for it, in order, and acknowledges
    cleaned    segments of which nothing is open go away by themselves

Law: the log is the one that routers get (`native/log/`), on a real disk; what is delivered is compared with what was
appended, by number and by body. A client that comes back over TCP is `returning.py`'s.
"""

from __future__ import annotations

import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Final

from tamis.native.log import Log
from tamis.papers.reproduce.figure import (
    Criterion,
    FigureRun,
    Judgement,
    PaperFigure,
    PlotSpec,
    ResultRow,
    ResultRows,
    Scale,
)
from tamis.papers.reproduce.judging import chosen, number, ruled
from tamis.papers.reproduce.paper002.returning import absences

_LOG: Final = "log"
_TCP: Final = "client"
_CLIENT: Final = 1
_BODY_BYTES: Final = 200
_SEGMENT_BYTES: Final = 256 << 10
_BYTES_MAX: Final = 256 << 20
_CLEANED_S: Final = 30.0
"""How long the log may take to clean up; it does so every CHECKPOINT_MS."""
_CHECKPOINT_MS: Final = 50
_SEGMENTS_LEFT: Final = 3
"""The one that is written, the last one, and one that a checkpoint has not looked at."""


def _measure(run: FigureRun) -> list[ResultRow]:
    times, messages = run.whole("times"), run.whole("messages")
    of_log: list[ResultRow] = run.cell(f"{times} times away, {messages} messages", partial(_cycles, times, messages))
    away, waiting = run.whole("absences"), run.whole("waiting")
    of_client: list[ResultRow] = run.cell(f"{away} absences, {waiting} waiting", partial(absences, away, waiting))
    return [*({"of": _LOG, **row} for row in of_log), *({"of": _TCP, **row} for row in of_client)]


def _cycles(times: int, messages: int) -> list[ResultRow]:
    with tempfile.TemporaryDirectory(prefix="tamis-event-log-") as folder:
        rows = []
        for cycle in range(times):
            # A log of its own for each absence: the broker was down as well.
            with _opened(Path(folder)) as log:
                rows.append(_one(log, cycle, messages))
        return rows


def _opened(folder: Path) -> Log:
    return Log(folder, bytes_max=_BYTES_MAX, segment_bytes=_SEGMENT_BYTES, checkpoint_ms=_CHECKPOINT_MS)


def _one(log: Log, cycle: int, messages: int) -> ResultRow:
    bodies = [f"{cycle} {place}".ljust(_BODY_BYTES).encode() for place in range(messages)]
    log.wait(log.append_messages(bodies, [_CLIENT]))
    most = log.state()["segments"]
    began_s = time.perf_counter()
    read = list(log.read(_CLIENT))
    took_s = time.perf_counter() - began_s
    numbers = [record.n for record in read]
    due, got = dict.fromkeys(bodies, 0), [record.body for record in read]
    for body in got:
        due[body] = due.get(body, 0) + 1
    log.wait(log.ack(_CLIENT, numbers[0], numbers[-1]))
    again = sum(1 for _ in log.read(_CLIENT))
    return {
        "cycle": cycle,
        "messages": messages,
        "missing": sum(count == 0 for count in due.values()),
        "twice": sum(count > 1 for count in due.values()),
        "foreign": len(due) - messages,
        "in_order": got == bodies and numbers == sorted(numbers),
        "left_after_acks": again,
        "segments_most": most,
        "segments_left": _cleaned(log),
        "read_per_s": round(messages / took_s),
    }


def _cleaned(log: Log) -> int:
    """Segments when the log has cleaned up, or when it has had its time."""
    end_s = time.monotonic() + _CLEANED_S
    while (segments := log.state()["segments"]) > _SEGMENTS_LEFT and time.monotonic() < end_s:
        time.sleep(_CHECKPOINT_MS / 1_000)
    return segments


def _total(rows: ResultRows, name: str) -> int:
    return int(sum(number(row, name) for row in rows))


def _all_is_delivered(rows: ResultRows) -> Judgement:
    rows = chosen(rows, of=_LOG)
    counts = {name: _total(rows, name) for name in ("missing", "twice", "foreign")}
    ours = (
        f"{_total(rows, 'messages'):,} messages in {len(rows)} absences: {counts['missing']} missing, "
        f"{counts['twice']} twice, {counts['foreign']} of others; in order: {all(row['in_order'] for row in rows)}"
    )
    return ruled(not any(counts.values()) and all(row["in_order"] for row in rows), ours, "the log loses or repeats")


def _client_gets_all(rows: ResultRows) -> Judgement:
    rows = chosen(rows, of=_TCP)
    counts = {name: _total(rows, name) for name in ("missing", "twice", "foreign")}
    is_in_order = all(row["in order"] for row in rows)
    ours = (
        f"{_total(rows, 'due'):,} messages in {len(rows)} absences, in {_total(rows, 'killed')} of which the broker "
        f"was killed: {counts['missing']} missing, {counts['twice']} twice, {counts['foreign']} of others; in order: "
        f"{is_in_order}"
    )
    return ruled(not any(counts.values()) and is_in_order, ours, "a broker loses or repeats what it has confirmed")


def _all_is_cleaned(rows: ResultRows) -> Judgement:
    rows = chosen(rows, of=_LOG)
    left, most = (max(int(number(row, name)) for row in rows) for name in ("segments_left", "segments_most"))
    ours = (
        f"{_total(rows, 'left_after_acks')} open after the acks; at most {most} segments of {_SEGMENT_BYTES >> 10} KiB "
        f"while the client was away, {left} afterwards"
    )
    return ruled(_total(rows, "left_after_acks") == 0 and left <= _SEGMENTS_LEFT < most, ours, "segments stay")


EVENT_LOG: Final = PaperFigure(
    paper="002",
    id="event-log",
    title="The event log of each client, at its broker",
    shows="a broker keeps what comes while a client is away, delivers it when the client is back, and cleans up.",
    chosen="the log of one router, opened again for each absence, 200 bytes a message; and one daemon, whose client is "
    "away while messages are published, over TCP. It is killed in every other absence. The log keeps what reaches this "
    "router; no other router keeps a copy.",
    settings={
        Scale.SMALL: {"times": 10, "messages": 5_000, "absences": 4, "waiting": 500},
        Scale.PAPER: {"times": 100, "messages": 10_000, "absences": 20, "waiting": 2_000},
    },
    measure=_measure,
    criteria=(
        Criterion(
            "002-log-delivered",
            "The log of one router gives back what reached it while a client was away, each once and in order",
            "section IV.B",
            _all_is_delivered,
        ),
        Criterion("002-log-cleaned", "A collector cleans the log of one router up", "periodically", _all_is_cleaned),
        Criterion(
            "002-event-log",
            "A client that comes back to its broker is sent what this broker stored meanwhile",
            "section IV.B",
            _client_gets_all,
        ),
    ),
    plots=(
        PlotSpec(
            *("Messages read after an absence", "cycle", "read_per_s", "none"),
            *("number of the absence", "messages read per second"),
            where={"of": _LOG},
        ),
    ),
    seconds={Scale.SMALL: 12, Scale.PAPER: 120},
)
