"""Figure 7 of paper 003: filter time over the number of attributes, for shares of matching events.

Law: an event that matches no profile fails at the k-th attribute for each k in turn, as the paper takes the mean.
"""

from __future__ import annotations

import random
from typing import Final

from tamis.bench.matching.workloads import Workload
from tamis.bench.matching.workloads.pieces import condition, conjunction, map_header, pack, packed
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
from tamis.papers.reproduce.judging import chosen, is_rising, listed, points, ruled
from tamis.papers.reproduce.timed import timed
from tamis.protocol.filters import Op

_ENGINE: Final = "interval:reorder=off"
_SHARES: Final = (0.0, 0.5, 1.0)


def _profiles(count: int, attributes: int, share: float, messages: int, seed: int) -> Workload:
    """Unique profiles: profile i wants i of every attribute. Events that leave it at some attribute match none."""
    rng = random.Random(f"figure 7 {attributes} {share} {seed}")
    names = [f"a{k}" for k in range(attributes)]
    filters = packed(conjunction(*(condition(name, Op.EQ, i) for name in names)) for i in range(count))
    events = []
    for number_ in range(messages):
        at = rng.randrange(count)
        fails = attributes if rng.random() < share else number_ % attributes
        values = [at if k < fails else count + at for k in range(attributes)]
        pairs = (pack(name) + pack(value) for name, value in zip(names, values, strict=True))
        events.append(map_header(attributes) + b"".join(pairs))
    return Workload(filters, packed(events), count * attributes)


def _measure(run: FigureRun) -> list[ResultRow]:
    rows: list[ResultRow] = []
    for attributes in run.numbers("attributes"):

        def one(attributes: int = attributes) -> list[ResultRow]:
            found: list[ResultRow] = []
            for share in _SHARES:
                made = _profiles(run.whole("profiles"), attributes, share, run.whole("messages"), run.seed)
                timings = timed(run, "sigcomm03-even", made, len(made.filters), (_ENGINE, "tamis"))
                found += [{"attributes": attributes, "pe": share, **row} for row in timings]
            return found

        rows += run.cell(f"figure 7, {attributes} attributes", one)
    return [{**row, "line": f"{str(row['engine']).split()[0]}, pe = {row['pe']:g}"} for row in rows]


def _line(rows: ResultRows, share: float, what: str) -> list[float]:
    own = [row for row in chosen(rows, pe=share) if str(row["engine"]).startswith("interval")]
    return [value for _, value in points(own, "attributes", what)]


def _grows(rows: ResultRows) -> Judgement:
    steps, us = _line(rows, 1.0, "steps"), _line(rows, 1.0, "us")
    ours = f"steps {listed(steps, 0)}, us {listed(us)} at pe = 1"
    return ruled(is_rising(steps) and us[-1] > us[0], ours, "one attribute decides")


def _more_with_pe(rows: ResultRows) -> Judgement:
    last = [_line(rows, share, "steps")[-1] for share in _SHARES]
    us = [_line(rows, share, "us")[-1] for share in _SHARES]
    ours = f"steps {listed(last, 1)}, us {listed(us)} at pe = 0, 0.5, 1, with the most attributes"
    return ruled(
        is_rising(last) and last[-1] > last[0], ours, "an event that fails late costs what one that matches does"
    )


FIGURE_7: Final = PaperFigure(
    paper="003",
    id="7",
    title="filter time over the number of attributes",
    shows="the time to filter 100,000 events against 10,000 profiles with 1 to 10 attributes, for shares pe of "
    "matching "
    "events from 0 to 1: it grows with attributes, and with pe.",
    chosen="events that match nothing fail at each attribute in turn; attributes are not reordered, as in the figure.",
    settings={
        Scale.SMALL: {"profiles": 10_000, "attributes": (1, 4, 10), "messages": 100, "passes": 3},
        Scale.PAPER: {"profiles": 10_000, "attributes": (1, 2, 4, 6, 8, 10), "messages": 1_000, "passes": 7},
    },
    measure=_measure,
    criteria=(
        Criterion("003-7-attributes", "Filter time grows with the number of attributes", "grows", _grows),
        Criterion("003-7-pe", "Filter time grows with the share of matching events", "more with pe", _more_with_pe),
    ),
    plots=(
        PlotSpec(
            *("Time of an event", "attributes", "us", "line", "number of attributes", "time per event (microseconds)"),
            log_y=True,
        ),
        PlotSpec(
            *("Steps of an event", "attributes", "steps", "line", "number of attributes", "steps per event"),
            log_y=True,
        ),
    ),
    seconds={Scale.SMALL: 20, Scale.PAPER: 90},
)
