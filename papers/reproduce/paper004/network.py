"""Section 5.4 of paper 004: is a network of routers faster than one that has all filters?

Law: tables and times are those of `papers/measures/network_effect.py`, which holds all engines to equal answers.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from tamis.bench.matching import workloads
from tamis.bench.matching.contenders import contenders
from tamis.papers.measures.network_effect import ways
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
from tamis.papers.reproduce.judging import chosen, number, ruled, undecided

_ENGINES: Final = ("sff", "sff:circuit=each:counters=hash", "tamis")
_LEAST: Final = 200_000
"""Filters from which on the claim, which is about a million, is judged."""
_NAMES: Final = 1_000


def _measure(run: FigureRun) -> list[ResultRow]:
    filters = run.whole("filters")

    def one() -> list[ResultRow]:
        made = workloads.make("sigcomm03-even", filters, run.whole("messages"), _NAMES, run.seed)
        rows = ways(contenders(_ENGINES, (0,)), made, run.numbers("fans"), run.say)
        kept = ("engine", "fan", "hops", "way_us", "spread", "assumed_us", "central_ratio", "assumed_ratio")
        found: list[ResultRow] = []
        for row in rows:
            told = asdict(row)
            hops = " ".join(f"{us:.2f}" for us in row.hop_us)
            found.append({"F": filters, **{name: told[name] for name in kept}, "us by level": hops})
        return found

    rows: list[ResultRow] = run.cell(f"way F={filters}", one)
    return [{**row, "routers": "one" if row["fan"] == 0 else f"{row['fan']} interfaces each"} for row in rows]


def _tree_of_20(rows: ResultRows, engine: str) -> ResultRow:
    return next(row for row in chosen(rows, fan=20) if str(row["engine"]) == engine)


def _nine_times(rows: ResultRows) -> Judgement:
    told = [f"{row['engine']} {number(row, 'central_ratio'):.2f} times" for row in chosen(rows, fan=20)]
    own = _tree_of_20(rows, "sff r=0")
    ours = f"{'; '.join(told)} less than one router, on a way of {number(own, 'hops'):.0f} with 20 interfaces each"
    ours = f"{ours}; {int(number(own, 'F')):,} filters"
    if number(own, "F") < _LEAST:
        return undecided(ours, "the paper's centre has a million filters; with few the centre is fast itself")
    return ruled(
        number(own, "central_ratio") >= 2,
        ours,
        f"a lower router has nearly all filters behind one interface, so few matches end early: the levels from "
        f"the leaf "
        f"up take {own['us by level']} us, and several of them what the centre takes. The paper reckons with "
        f"tables that "
        f"are dealt out evenly at every hop, for which we find {number(own, 'assumed_ratio'):.1f} times",
    )


def _as_assumed(rows: ResultRows) -> Judgement:
    own = _tree_of_20(rows, "sff r=0")
    ratio = number(own, "assumed_ratio")
    ours = f"{ratio:.2f} times less than one router, if every table on the way were dealt out evenly"
    ours = f"{ours}; {int(number(own, 'F')):,} filters"
    if number(own, "F") < _LEAST:
        return undecided(ours, "the paper's centre has a million filters; with few the centre is fast itself")
    return ruled(ratio >= 2, ours, "the time of a central match is far less than theirs against one of 20 interfaces")


NETWORK: Final = PaperFigure(
    paper="004",
    id="network",
    title="A network against one router (section 5.4)",
    shows="one central router takes 350 ms for a message; a network of routers with 20 interfaces spans as many "
    "filters in "
    "at most 12 hops, which at the time of figure 9 makes about 40 ms.",
    chosen="filters are dealt to destinations evenly; the longest way of a tree, with all filters at each router.",
    settings={
        Scale.SMALL: {"filters": 20_000, "fans": (20,), "messages": 60},
        Scale.PAPER: {"filters": 200_000, "fans": (100, 20, 10), "messages": 200},
    },
    measure=_measure,
    criteria=(
        Criterion(
            "004-network",
            "A way through a network takes a ninth of one central match",
            "350 against 40 ms",
            _nine_times,
        ),
        Criterion(
            "004-network-assumed",
            "It would, if tables on the way were dealt out as figure 9 has them",
            "12 times the 3 ms of I = 20",
            _as_assumed,
        ),
    ),
    plots=(
        PlotSpec(
            *("The whole way through a network, or one router", "routers", "way_us", "engine"),
            *("routers", "time per message, in all routers (microseconds)"),
            log_y=True,
            kind="bars",
        ),
    ),
    seconds={Scale.SMALL: 15, Scale.PAPER: 200},
)
