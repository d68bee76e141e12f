"""What pieces of work cost routers of ours: the prices of the cost model beside the time that routers take.

    row       one router at one point: how often it does each piece of work for an event, by the model; the time that
              it takes, by its own thread's clock; and what the prices of `load.py` make of the pieces
    fit       the prices that come nearest to all rows, by least squares of the relative errors

Law: prices are a time, and one machine is faster than another; what is judged is that one factor makes all rows right.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from statistics import median
from typing import Final

import numpy as np

from tamis.papers.reproduce.clocked import ClockedPass
from tamis.papers.reproduce.figure import (
    Criterion,
    FigureRun,
    Judgement,
    PaperFigure,
    PlotSpec,
    ResultRow,
    ResultRows,
    Ruling,
    Scale,
)
from tamis.papers.reproduce.judging import number, ruled, undecided, under
from tamis.papers.reproduce.paper003.brokers import BrokersAsked, events_of, fleet_of
from tamis.papers.reproduce.paper003.load import OURS_S, Pieces, network, pieces
from tamis.papers.reproduce.paper003.rates import ALL, tenths

FITTED: Final = ("name", "filter", "others", "send", "deliver", "notify")
"""The pieces of work that have a price: an event that comes in is filtered, so that both are one price."""
_WITHIN: Final = 0.25


def _measure(run: FigureRun) -> list[ResultRow]:
    rows: list[ResultRow] = []
    for name in ALL:
        for sigma in run.numbers("sigmas"):
            points = [BrokersAsked(network("bus4"), name, pe, sigma) for pe in tenths(run.numbers("tenths"))]
            rows += run.cell(f"work of routers, {name}, sigma {sigma}", partial(_worked, run, points))
    return rows


def _worked(run: FigureRun, points: list[BrokersAsked]) -> list[ResultRow]:
    """The time of each router for an event, in the best of all passes, for points that differ in events alone."""
    profiles, rows = run.whole("profiles"), list[ResultRow]()
    fleet, _, _ = fleet_of(points[0], profiles)
    for point in points:
        fleet.publish(events_of(point, profiles, run.whole("events")))
        passes = [ClockedPass(fleet).run().worked_ns for _ in range(run.whole("passes"))]
        done, events = pieces(point.algorithm, point.setting), len(fleet.events)
        for place, broker in enumerate(point.network.tree.brokers):
            best, second = sorted(each[place] for each in passes)[:2]
            rows.append(
                {
                    "strategy": point.strategy,
                    "pe": float(point.pe),
                    "sigma": point.sigma,
                    "broker": broker,
                    "ns": best / events,
                    "spread": second / best - 1,
                    "model_ns": _priced_ns(done[broker]),
                    **{name: float(done[broker].get(name, 0)) for name in FITTED},
                }
            )
    return rows


def _priced_ns(done: Pieces) -> float:
    return 1e9 * sum(float(getattr(OURS_S, name) * count) for name, count in done.items())


def _fit(rows: ResultRows) -> dict[str, float]:
    """Nanoseconds of each piece of work."""
    took = np.array([number(row, "ns") for row in rows])
    done = np.array([[number(row, name) for name in FITTED] for row in rows])
    found, *_ = np.linalg.lstsq(done / took[:, None], np.ones(len(rows)), rcond=None)
    return dict(zip(FITTED, map(float, found), strict=True))


def _errors(rows: ResultRows) -> Iterator[float]:
    """How far the model is from each router, where the machine is as fast as the median says."""
    ratios = [number(row, "ns") / number(row, "model_ns") for row in rows]
    usual = median(ratios)
    return (ratio / usual - 1 for ratio in ratios)


def _prices_hold(rows: ResultRows) -> Judgement:
    errors = list(map(abs, _errors(rows)))
    spread = median(number(row, "spread") for row in rows)
    fit = ", ".join(f"{name} {ns:.0f}" for name, ns in _fit(rows).items())
    ours = (
        f"{len(rows)} routers: the model is off by {median(errors):.0%} in the middle, {max(errors):.0%} at most; "
        f"nanoseconds by this run: {fit}"
    )
    ruling = under(1 + sorted(errors)[len(errors) * 9 // 10], 1 + _WITHIN, spread)
    if ruling is Ruling.OPEN:
        return undecided(ours, "the errors are not larger than twice the spread")
    return ruled(ruling is Ruling.HOLDS, ours, "a piece of work costs different routers different times")


def _second_table(rows: ResultRows) -> Judgement:
    fit = _fit(rows)
    share = fit["others"] / fit["filter"]
    ours = (
        f"filtering for clients takes {fit['filter']:.0f} ns, for other brokers {fit['others']:.0f} more, and writing "
        f"the root {fit['name']:.0f} where an event enters; a copy that flooding sends costs {fit['send']:.0f}"
    )
    return ruled(share > 0.1 and fit["others"] > 2 * fit["send"], ours, "a copy costs more than a second table")


PRICES: Final = PaperFigure(
    paper="003",
    id="prices",
    title="What pieces of work cost our routers",
    shows="nothing: the paper has no prices. It is why rendezvous nodes are slower than flooding on our routers.",
    chosen="a line of four brokers, with EF, PF and RN, and the time of each router for an event.",
    settings={
        Scale.SMALL: {"profiles": 500, "events": 4_000, "passes": 9, "tenths": (0, 5, 10), "sigmas": (1, 5)},
        Scale.PAPER: {"profiles": 500, "events": 20_000, "passes": 25, "tenths": (0, 3, 6, 10), "sigmas": (1, 5)},
    },
    measure=_measure,
    criteria=(
        Criterion(
            "003-prices-fit",
            "One price for each piece of work gives the time of nine routers in ten to within a quarter",
            "ours, not the paper's",
            _prices_hold,
        ),
        Criterion(
            "003-prices-tables",
            "Asking a second table costs a router of ours more than a copy that this spares",
            "ours, not the paper's",
            _second_table,
        ),
    ),
    plots=(
        PlotSpec(
            *("Time of a router, by the model and measured", "model_ns", "ns", "strategy"),
            *("nanoseconds for an event, by the model", "nanoseconds for an event, as measured"),
        ),
    ),
    seconds={Scale.SMALL: 12, Scale.PAPER: 90},
)
