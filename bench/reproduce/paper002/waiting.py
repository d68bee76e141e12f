"""What of paper 002 cannot be run yet: chart 1, and its event log. Law: it is listed, and never a pass."""

from __future__ import annotations

from typing import Final

from tamis.bench.reproduce.figure import Criterion, FigureRun, PaperFigure, ResultRow, Scale
from tamis.bench.reproduce.judging import missing


def _nothing(_run: FigureRun) -> list[ResultRow]:
    return []


EVENT_LOG: Final = PaperFigure(
    paper="002",
    id="event-log",
    title="The event log of each client",
    shows="a broker keeps what comes while a client is away, delivers it when the client is back, and cleans up.",
    chosen="",
    settings={Scale.SMALL: {}, Scale.PAPER: {}},
    measure=_nothing,
    criteria=(
        Criterion(
            "002-event-log",
            "What came while a client was away is delivered when it is back",
            "section IV.B",
            missing("kept subscriptions are not there yet"),
        ),
    ),
    seconds={Scale.SMALL: 0.1, Scale.PAPER: 0.1},
    is_exact=True,
)
