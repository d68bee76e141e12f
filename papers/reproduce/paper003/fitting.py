"""What pieces of work cost routers of ours: the prices of the cost model beside the time that routers take.

    row       one router at one point: how often it does each piece of work for an event, by the model; the time that
              it takes, by its own thread's clock; and what the prices of `load.py` make of the pieces
    fit       the prices that come nearest to all rows, by least squares of the relative errors

Law: prices are a time, and one machine is faster than another; what is judged is that one factor makes all rows right.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    Scale,
)
from tamis.papers.reproduce.judging import number, ruled, undecided
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


def _errors(rows: ResultRows, modelled_ns: Sequence[float]) -> list[float]:
    """How far the model is from each router, the least first, where the machine is as fast as the median says."""
    ratios = [number(row, "ns") / ns for row, ns in zip(rows, modelled_ns, strict=True)]
    usual = median(ratios)
    return sorted(abs(ratio / usual - 1) for ratio in ratios)


def _of_nine_in_ten(errors: Sequence[float]) -> float:
    return errors[len(errors) * 9 // 10]


def _prices_hold(rows: ResultRows) -> Judgement:
    fit = _fit(rows)
    fitted = _errors(rows, [sum(ns * number(row, name) for name, ns in fit.items()) for row in rows])
    errors = _errors(rows, [number(row, "model_ns") for row in rows])
    told = ", ".join(f"{name} {ns:.0f}" for name, ns in fit.items())
    ours = (
        f"{len(rows)} routers: the prices are off by {median(errors):.0%} in the middle, {_of_nine_in_ten(errors):.0%} "
        f"for nine in ten, those of this run by {_of_nine_in_ten(fitted):.0%}: {told} ns"
    )
    if _of_nine_in_ten(fitted) > _WITHIN:
        return undecided(ours, "no prices give the times of this run, which other work on the machine moves")
    why = "a piece of work costs other times on this machine"
    return ruled(_of_nine_in_ten(errors) <= _WITHIN, ours, why)


def _second_table(rows: ResultRows) -> Judgement:
    fit = _fit(rows)
    share = fit["others"] / fit["filter"]
    ours = (
        f"filtering for clients takes {fit['filter']:.0f} ns, for other brokers {fit['others']:.0f} more, and writing "
        f"the root {fit['name']:.0f} where an event enters; a copy that flooding sends costs {fit['send']:.0f}"
    )
    why = (
        "A second table has to cost over twice a copy, and in this run it does not. The prices are fitted to times "
        "that other work on the machine moves. They are a comparison of parts, and no measurement of one"
    )
    return ruled(share > 0.1 and fit["others"] > 2 * fit["send"], ours, why)


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
            *("Time of the broker in the middle", "pe", "ns", "strategy"),
            *("share of the events that some profile matches (pe)", "nanoseconds for an event"),
            where={"broker": "b2", "sigma": 1},
        ),
    ),
    seconds={Scale.SMALL: 12, Scale.PAPER: 90},
)
