"""Chart 3 of paper 002: how long one broker matches."""

from __future__ import annotations

from typing import Final

from tamis.bench.matching import workloads
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
from tamis.papers.reproduce.judging import chosen, number, points, ruled, slope
from tamis.papers.reproduce.timed import timed

ENGINES: Final = ("pst", "counting", "tamis")
_PAPER_US: Final = 4_000.0
_PAPER_AT: Final = 25_000


def _measure(run: FigureRun) -> list[ResultRow]:
    rows: list[ResultRow] = []
    for filters in run.numbers("filters"):

        def one(filters: int = filters) -> list[ResultRow]:
            made = workloads.make("gryphon", filters, run.whole("messages"), 10, run.seed)
            return timed(run, "gryphon", made, filters, ENGINES)

        rows += run.cell(f"chart 3, {filters} subscriptions", one)
    return rows


def _sublinear(rows: ResultRows) -> Judgement:
    steps, us = (slope(points(chosen(rows, engine="pst"), "F", what)) for what in ("steps", "us"))
    ours = f"log-log slope {steps:.2f} of the steps, {us:.2f} of the time"
    return ruled(max(steps, us) < 0.9, ours, "the tree shares fewer prefixes than theirs")


def _four_ms(rows: ResultRows) -> Judgement:
    own = {str(row["engine"]): number(row, "us") for row in chosen(rows, F=_PAPER_AT)}
    told = ", ".join(f"{engine} {us:.1f} us" for engine, us in own.items())
    ours = f"{told}; pst takes 1/{_PAPER_US / own['pst']:,.0f} of 4 ms"
    return ruled(own["pst"] <= _PAPER_US, ours, "slower than a machine of 200 MHz")


CHART_3: Final = PaperFigure(
    paper="002",
    id="chart-3",
    title="Chart 3: the time to match at one broker",
    shows="the time of pure matching over the number of subscribers: about 4 ms for 25,000, on a machine of 200 MHz.",
    chosen="the subscriptions of chart 2, each of its own subscriber.",
    settings={
        Scale.SMALL: {"filters": (1_000, 5_000, 25_000), "messages": 200, "passes": 3},
        Scale.PAPER: {"filters": (1_000, 5_000, 25_000, 100_000, 250_000), "messages": 300, "passes": 7},
    },
    measure=_measure,
    criteria=(
        Criterion(
            "002-3-sublinear",
            "The cost of matching grows less than linearly with the subscriptions",
            "less than linearly",
            _sublinear,
        ),
        Criterion("002-3-time", "25,000 subscribers are matched in 4 ms", "4 ms at 200 MHz, in Java", _four_ms),
    ),
    plots=(
        PlotSpec(
            *("Time of a match at one broker", "F", "us", "engine"),
            *("number of subscriptions", "time per message (microseconds)"),
            log_x=True,
            log_y=True,
        ).of_paper("prototype", [(_PAPER_AT, _PAPER_US)]),
        PlotSpec(
            *("Steps of a match at one broker", "F", "steps", "engine", "number of subscriptions", "steps per message"),
            log_x=True,
            log_y=True,
        ),
    ),
    seconds={Scale.SMALL: 10, Scale.PAPER: 120},
)
