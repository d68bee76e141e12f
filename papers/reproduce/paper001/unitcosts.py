"""Table 1 of paper 001: a lookup beside a match, by k-d tree and by counting.

Law: engines are asked whether one subscription matches: all stand behind one interface, so that a match ends at the
first. Which constraints are satisfied is counted by an oracle that no engine shares code with.
"""

from __future__ import annotations

import time
from collections import deque
from statistics import mean
from typing import Final

from tamis.papers.reproduce.figure import (
    Criterion,
    FigureRun,
    Judgement,
    PaperFigure,
    PlotSpec,
    Reading,
    ResultRow,
    ResultRows,
    Scale,
)
from tamis.papers.reproduce.judging import (
    chosen,
    every,
    exceeds,
    is_falling,
    listed,
    number,
    points,
    read,
    ruled,
    ruled_by_time,
    under,
    widest_spread,
)
from tamis.papers.reproduce.paper001.boxes import boxes
from tamis.papers.reproduce.paper001.costs import SUBSCRIPTIONS, TABLE, violated
from tamis.papers.reproduce.paper001.marking import COUNTS, MARKS, marking_rows
from tamis.papers.reproduce.timed import timed

_ENGINES: Final = ("kdtree", "counting", "tamis")
_LOOKUPS: Final = 20_000
_TURNS: Final = 15
LOOKUP: Final = "lookup"
_PAPER: Final = {LOOKUP: 0, "kdtree": 1, "counting": 2, MARKS: 2}
"""Columns of the paper's table."""


def _measure(run: FigureRun) -> list[ResultRow]:
    rows: list[ResultRow] = []
    for density in TABLE:

        def one(density: float = density) -> list[ResultRow]:
            made = boxes(SUBSCRIPTIONS, run.whole("messages"), density, run.seed)
            lookup: ResultRow = {"engine": LOOKUP, "us": _lookup_us(), "spread": 0.0}
            return [lookup, *timed(run, "boxes", made, 1, _ENGINES), *marking_rows(made, run.whole("passes"))]

        for row in run.cell(f"table 1 at {density:.0%}", one):
            column = _PAPER.get(row["engine"])
            theirs = {"paper us": None if column is None else TABLE[density][column]}
            rows.append({"density": 100 * density, "violated": violated(density)} | row | theirs)
    return rows


def _lookup_us() -> float:
    """The least time of a lookup in a table of 10,000 keys: Python's, called from C, so that it is an upper bound."""
    keys = [hash(f"key {number}") & 0xFFFF_FFFF for number in range(SUBSCRIPTIONS)]
    table, asked = set(keys), keys * (_LOOKUPS // SUBSCRIPTIONS)
    least = float("inf")
    for _ in range(_TURNS):
        began_ns = time.perf_counter_ns()
        deque(map(table.__contains__, asked), maxlen=0)
        least = min(least, (time.perf_counter_ns() - began_ns) / 1e3 / len(asked))
    return least


def _line(rows: ResultRows, engine: str, what: str = "us") -> list[float]:
    return [value for _, value in points(chosen(rows, engine=engine), "density", what)]


def _orders(rows: ResultRows) -> Judgement:
    ratios = {
        engine: mean(us / lookup for us, lookup in zip(_line(rows, engine), _line(rows, LOOKUP), strict=True))
        for engine in ("kdtree", "counting")
    }
    told = f"k-d tree {ratios['kdtree']:,.0f}, counting {ratios['counting']:,.0f}"
    ours = f"{told} times a lookup of {_line(rows, LOOKUP)[0]:.3f} us"
    spread = widest_spread(rows)
    return ruled_by_time(
        every(exceeds(min(ratios.values()), 100, spread), under(max(ratios.values()), 2_000, spread)),
        spread,
        ours,
        "Our k-d tree ends at the first box that matches, and finds one soon. A lookup in a small table stays in the "
        "cache. Our counting updates a counter for each satisfied constraint, of which these intervals have many",
    )


def _kd_below_counting(rows: ResultRows) -> Judgement:
    pairs = list(zip(_line(rows, "kdtree"), _line(rows, "counting"), strict=True))
    told = ", ".join(f"{kd:.2f} / {counting:.1f} us" for kd, counting in pairs)
    spread = widest_spread([row for row in rows if row["engine"] in ("kdtree", "counting")])
    is_so = every(*(under(kd, counting, spread) for kd, counting in pairs))
    return ruled_by_time(is_so, spread, f"{told} at 5, 10, 20 %", "A tree of boxes costs more")


def _falls(rows: ResultRows) -> Judgement:
    us = _line(rows, "counting")
    satisfied, marked = (_line(rows, name, "updates") for name in ("counting", MARKS))
    lines = {
        "theirs": [each for _, _, each in TABLE.values()],
        "ours": us,
        "ours in updates of counters": _line(rows, "counting", "updates"),
        "arrays that count what is satisfied": _line(rows, COUNTS),
        "arrays that mark what is violated": _line(rows, MARKS),
        "ours in elements marked": marked,
        "violated constraints": [number(row, "violated") for row in chosen(rows, engine="counting")],
    }
    ours = "; ".join(f"{name} {listed([each / line[0] for each in line])}" for name, line in lines.items())
    ours = f"relative to 5 %: {ours}"
    why = "The number of satisfied constraints rises with the density. Table 1 falls as that of violated ones does"
    return read(
        Reading("it marks violated constraints, by counted marks", ruled(is_falling(marked), ours, why), True),
        Reading("it counts satisfied constraints, by counted updates", ruled(is_falling(satisfied), ours, why)),
    )


def _stated(column: int) -> list[tuple[float, float]]:
    """Return what the paper's table states, over the density in percent."""
    return [(100 * density, row[column]) for density, row in TABLE.items()]


TABLE_1: Final = PaperFigure(
    paper="001",
    id="table-1",
    title="Table 1: a lookup and a match",
    shows="microseconds with 10,000 subscriptions at 5, 10 and 20 % density: a lookup 0.85, 0.82, 0.73; the k-d tree "
    "81.29, 74.59, 90.84; counting 489.42, 385.93, 252.69.",
    chosen="five intervals of one length; engines with their standard options, all subscriptions in one index. Two "
    "ways on sorted arrays, numpy's, show what counting and marking make of the density.",
    settings={Scale.SMALL: {"messages": 60, "passes": 3}, Scale.PAPER: {"messages": 300, "passes": 7}},
    measure=_measure,
    criteria=(
        Criterion("001-table-1-orders", "A match takes two to three orders longer than a lookup", "2 to 3", _orders),
        Criterion(
            "001-table-1-kd",
            "The k-d tree is faster than counting at every density",
            "3 to 6 times",
            _kd_below_counting,
        ),
        Criterion("001-table-1-falls", "The time of counting falls as the density rises", "489, 386, 253 us", _falls),
    ),
    plots=(
        PlotSpec(
            *("Does one subscription match? 10,000 subscriptions", "density", "us", "engine"),
            *("matching density (percent of the subscriptions)", "time per question (microseconds)"),
            log_y=True,
            kind="bars",
        )
        .of_paper("lookup", _stated(0))
        .of_paper("kdtree", _stated(1))
        .of_paper("counting", _stated(2)),
    ),
    seconds={Scale.SMALL: 8, Scale.PAPER: 40},
)
