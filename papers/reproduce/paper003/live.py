"""Single points of paper 003 over TCP. Law: frames of daemons are those of the fleet and of the paper's cost model."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Final

from tamis.papers.reproduce.figure import FigureRun, ResultRow
from tamis.papers.reproduce.live import LivePoint, compared, live_figure
from tamis.papers.reproduce.paper003.brokers import ENGINE, STRATEGIES, BrokersAsked, classes_of, plan_of, wants_of
from tamis.papers.reproduce.paper003.load import network

_PROFILES: Final = 8


def _measure(run: FigureRun) -> list[ResultRow]:
    points = [BrokersAsked(network("bus4"), name, Fraction(3, 10), 2) for name in STRATEGIES]
    points += [BrokersAsked(network("bus4"), name, Fraction(7, 10), 1, Fraction(1, 2)) for name in ("PF", "RN")]
    points.append(BrokersAsked(network("das9"), "PF", Fraction(3, 10)))
    points.append(BrokersAsked(network("das9"), "RN", Fraction(3, 10), kinds=2))
    return [run.cell(f"live {point}", partial(_one, point)) for point in points]


def _one(point: BrokersAsked) -> ResultRow:
    live, frames = live_point(point, _PROFILES)
    return compared(live, frames)


def live_point(point: BrokersAsked, profiles: int) -> tuple[LivePoint, int]:
    """The point for daemons, and the frames of its events by the cost model."""
    wants = wants_of(point, profiles)
    frames = point.model().frames * len(wants.events)
    strategy = STRATEGIES[point.strategy]
    return LivePoint(str(point), plan_of(point), strategy, ENGINE, wants, classes_of(point)), int(frames)


LIVE: Final = live_figure(
    "003", "nothing: it is our check that figures of a fleet are those of a network.", _measure, seconds=90
)
