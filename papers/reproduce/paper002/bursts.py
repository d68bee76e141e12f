"""Chart 1 of paper 002 under bursts, which the paper leaves to its future work: how long events wait at brokers.

    steady    events come one by one, by Poisson
    bursts    this number of events comes at once, each to its own publisher; the bursts come by Poisson

Law: ways and costs of an event are those of chart 1 (`loading.py`), and all loads have equally many events a second, so
that brokers have equal work. What bursts change is how long an event waits, which queues in virtual time find.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from math import lcm
from typing import Final

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
from tamis.papers.reproduce.judging import chosen, listed, number, points, ruled
from tamis.papers.reproduce.paper002.loading import LINK_MATCHING, TO_BROKERS, TO_CLIENTS, USUAL, Loading, works_of
from tamis.simulate.nodes import served
from tamis.simulate.nodes.served import Visit, bound_per_s

PROTOCOLS: Final = (LINK_MATCHING, TO_BROKERS, TO_CLIENTS)
ALIKE: Final = "as many events for each protocol"
OWN: Final = "half of what each protocol can take"
_SHARE: Final = 0.5
_WORLD: Final = -1
"""Where a burst is before it comes to its publishers: it serves nothing there, so that nothing waits."""


def _measure(run: FigureRun) -> list[ResultRow]:
    rows: list[ResultRow] = run.cell("chart 1, bursts", lambda: _waits(run))
    return rows


def _waits(run: FigureRun) -> list[ResultRow]:
    loading = Loading(run.whole("subscribed"), run.seed)
    names = {name: place for place, name in enumerate(loading.network.names)}
    works = works_of(run, loading)
    journeys = {
        protocol: [each[protocol].visit(names, at, loading.network, USUAL) for at, each in works]
        for protocol in PROTOCOLS
    }
    least_per_s = min(map(bound_per_s, journeys.values()))
    rows: list[ResultRow] = []
    for protocol, alone in journeys.items():
        visits = sum(len(each.all()) for each in alone) / len(alone)
        for load, limit_per_s in ((ALIKE, least_per_s), (OWN, bound_per_s(alone))):
            rate_per_s = _SHARE * limit_per_s
            for size in run.numbers("bursts"):
                run.say(f"{protocol}, {load}, bursts of {size}")
                seconds = run.whole("visits") / visits / rate_per_s
                found = served.run(together(alone, size), rate_per_s / size, seconds, run.seed)
                wait_ms = found.mean_wait_us * (1 + 1 / (visits * size)) / 1_000  # not at _WORLD, too
                row: ResultRow = {"protocol": protocol, "load": load, "burst": size, "wait_ms": wait_ms}
                rows.append({**row, "events_per_s": rate_per_s})
    return rows


def together(journeys: Sequence[Visit], size: int) -> list[Visit]:
    """Bursts of `size` journeys, one journey after the other, until all are in equally many."""
    count = lcm(len(journeys), size) // size
    coming = cycle(journeys)
    return [Visit(_WORLD, 0.0, tuple((next(coming), 0.0) for _ in range(size))) for _ in range(count)]


# --- what we claim ---------------------------------------------------------------------------------------------------


def _line(rows: ResultRows, protocol: str, load: str) -> list[float]:
    return [wait for _, wait in points(chosen(rows, protocol=protocol, load=load), "burst", "wait_ms")]


def _bursts(rows: ResultRows) -> str:
    return ", ".join(f"{burst:.0f}" for burst in sorted({number(row, "burst") for row in rows}))


def _told(rows: ResultRows, load: str) -> str:
    each = "; ".join(f"{protocol} {listed(_line(rows, protocol, load), 3)}" for protocol in PROTOCOLS)
    return f"{each} ms at a broker, for bursts of {_bursts(rows)}"


def _waits_less(rows: ResultRows) -> Judgement:
    matched, _, clients = (_line(rows, protocol, ALIKE) for protocol in PROTOCOLS)
    holds = all(a < b for a, b in zip(matched, clients, strict=True))
    why = "some broker matches longer than it would send what was flooded"
    return ruled(holds, f"at {number(rows[0], 'events_per_s'):.0f} events/s {_told(rows, ALIKE)}", why)


def _at_its_own_limit(rows: ResultRows) -> Judgement:
    matched, _, clients = (_line(rows, protocol, OWN) for protocol in PROTOCOLS)
    holds = all(a < b for a, b in zip(matched, clients, strict=True))
    return ruled(holds, _told(rows, OWN), "at its own limit it takes more events, each of which waits longer")


BURSTS: Final = PaperFigure(
    paper="002",
    id="bursts",
    title="Chart 1 under bursts",
    shows="nothing yet: how link matching does with bursty loads is the paper's future work.",
    chosen="the network, subscriptions and costs of chart 1; a burst is so many events at once, each at a publisher of "
    "its own. Loads: half of what flooding to clients can take, for all; and half of what each protocol can.",
    settings={
        Scale.SMALL: {"subscribed": 2_000, "events": 156, "visits": 40_000, "bursts": (1, 10, 100)},
        Scale.PAPER: {"subscribed": 10_000, "events": 507, "visits": 500_000, "bursts": (1, 10, 100, 1_000)},
    },
    measure=_measure,
    criteria=(
        Criterion(
            "002-bursts-alike",
            "At one rate of events, each waits less with link matching than with flooding to clients, in bursts, too",
            "future work; the claim is ours",
            _waits_less,
        ),
        Criterion(
            "002-bursts-own",
            "So it is where each protocol is given half of what it can take",
            "future work; the claim is ours",
            _at_its_own_limit,
        ),
    ),
    plots=tuple(
        PlotSpec(
            *(f"How long an event waits: {load}", "burst", "wait_ms", "protocol"),
            *("events of a burst", "wait at a broker (milliseconds)"),
            where={"load": load},
            log_x=True,
            log_y=True,
        )
        for load in (ALIKE, OWN)
    ),
    seconds={Scale.SMALL: 12, Scale.PAPER: 90},
    is_exact=True,
)
