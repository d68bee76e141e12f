"""What the prototype of paper 002 delivers, section IV.B: one broker over TCP, with the subscribers of chart 3.

Law: the broker is a daemon, and what it spends is the CPU that the system counts for its process; each event that a
subscription matches is delivered once, which another engine counts. Matching is timed alone, on the same subscriptions
and events, by the broker's engine.
"""

from __future__ import annotations

import os
import tempfile
import time
from array import array
from functools import partial
from pathlib import Path
from typing import Final

from tamis.bench.matching import workloads
from tamis.bench.matching.workloads import Workload
from tamis.blocking import connect
from tamis.native import Table
from tamis.papers.reproduce.figure import (
    Criterion,
    FigureRun,
    Judgement,
    PaperFigure,
    ResultRow,
    ResultRows,
    Scale,
)
from tamis.papers.reproduce.judging import number, ruled
from tamis.protocol.filters import Predicate
from tamis.protocol.wire.attributes import decode_attributes
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.testing import blocking, free_port

ENGINE: Final = "tamis"
_OTHER_ENGINE: Final = "counting"
_PAPER_PER_S: Final = 14_000
_PASSES: Final = 5
_OF_ONE: Final = 64
"""Filters of one subscription."""
_LIMITS: Final = "limits: {filters_per_client: 100000}"
_KEYS: Final = f"engine: {ENGINE}\n{_LIMITS}"
_PATIENCE_S: Final = 60.0


def _measure(run: FigureRun) -> list[ResultRow]:
    filters, times = run.whole("filters"), run.whole("times")
    made = workloads.make("gryphon", filters, run.whole("messages"), 10, run.seed)
    return [run.cell(f"prototype, {filters} subscriptions", partial(_delivered, made, times))]


def _delivered(made: Workload, times: int) -> ResultRow:
    events = [decode_attributes(made.messages[place]) for place in range(len(made.messages))]
    due, _ = _matched(_OTHER_ENGINE, made)
    with tempfile.TemporaryDirectory(prefix="tamis-prototype-") as folder:
        file = Path(folder) / "broker.yaml"
        file.write_text(f'{_KEYS}\nrouters: {{broker: {{clients: "127.0.0.1:{free_port()}"}}}}\n')
        with (
            blocking.started(file, "broker") as broker,
            connect(broker.address, name="subscriber", patience_s=_PATIENCE_S) as client,
            connect(broker.address, name="publisher", patience_s=_PATIENCE_S) as publisher,
            client.subscribe(*_predicates(made)) as subscription,
        ):
            began_s, spent_s = time.perf_counter(), _cpu_s(broker.pid)
            for _ in range(times):
                publisher.publish_many(events, confirm=True)
                for _ in range(due):
                    subscription.receive(_PATIENCE_S)
            took_s, cpu_s = time.perf_counter() - began_s, _cpu_s(broker.pid) - spent_s
    published = times * len(events)
    return {
        "subscriptions": len(made.filters),
        "events": published,
        "delivered": times * due,
        "delivered_per_s": times * due / took_s,
        "broker_us": 1e6 * cpu_s / published,
        "matching_us": _matched(ENGINE, made)[1],
    }


def _predicates(made: Workload) -> list[Predicate]:
    """One subscription for a part of the filters, so that a delivery names few of them."""
    filters = [decode_filter(made.filters[place]) for place in range(len(made.filters))]
    return [Predicate(tuple(filters[first : first + _OF_ONE])) for first in range(0, len(filters), _OF_ONE)]


def _matched(engine: str, made: Workload) -> tuple[int, float]:
    """How many of the events some subscription matches, and the microseconds of a match in the best of some passes."""
    with Table(engine, hash_seed=1) as table:
        table.add_many(made.filters, array("I", [0]) * len(made.filters))
        best_s, found = float("inf"), 0
        for _ in range(_PASSES):
            began_s = time.perf_counter()
            found = sum(map(bool, table.match_batch(made.messages)))
            best_s = min(best_s, time.perf_counter() - began_s)
    return found, 1e6 * best_s / len(made.messages)


def _cpu_s(pid: int) -> float:
    """The CPU that a process has spent, its own and that of the system for it."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# --- what the paper claims -------------------------------------------------------------------------------------------


def _delivers(rows: ResultRows) -> Judgement:
    per_s = 1e6 / number(rows[0], "broker_us")
    ours = (
        f"{per_s:,.0f} a second by the CPU that the broker spends, {number(rows[0], 'broker_us'):.1f} us on an event; "
        f"{number(rows[0], 'delivered_per_s'):,.0f} a second arrive at a client in Python"
    )
    return ruled(per_s >= _PAPER_PER_S, ours, "our broker spends more on an event than theirs")


def _transport_outweighs(rows: ResultRows) -> Judgement:
    matching, broker = number(rows[0], "matching_us"), number(rows[0], "broker_us")
    ours = f"of {broker:.1f} us a broker spends on an event, matching takes {matching:.1f}, with {ENGINE}"
    why = "our transport moves many events with one call of the system"
    return ruled(matching < broker / 2, ours, why)


PROTOTYPE: Final = PaperFigure(
    paper="002",
    id="prototype",
    title="What one broker delivers",
    shows="a broker delivers up to 14,000 events a second on a machine of 200 MHz, and transport and network cost it "
    "more than matching.",
    chosen="a daemon with the subscriptions of chart 3, all of one client, and a publisher, over TCP on loopback; each "
    "event that matches is delivered once.",
    settings={
        Scale.SMALL: {"filters": 1_000, "messages": 200, "times": 50},
        Scale.PAPER: {"filters": 25_000, "messages": 200, "times": 50},
    },
    measure=_measure,
    criteria=(
        Criterion(
            "002-prototype-rate",
            "A broker delivers 14,000 events a second",
            "up to 14,000 a second, at 200 MHz",
            _delivers,
        ),
        Criterion(
            "002-prototype-transport",
            "Transport and network cost a broker more than matching",
            "outweigh",
            _transport_outweighs,
        ),
    ),
    seconds={Scale.SMALL: 5, Scale.PAPER: 20},
)
