"""A single point of paper 004 over TCP: five routers in a ring that advertise what their clients want.

Law: frames of daemons are those of the fleet, and of the arithmetic that knows trees and who wants what.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from tamis.bench.networks.strategies.control import layout
from tamis.bench.networks.strategies.wants import make_wants
from tamis.bench.reproduce.figure import FigureRun, ResultRow
from tamis.bench.reproduce.live import LivePoint, compared, live_figure

_SUBSCRIPTIONS: Final = 200
_COVERED_PERCENT: Final = 50
_EVENTS: Final = 60


def _measure(run: FigureRun) -> list[ResultRow]:
    plan = layout("ring5")
    wants = make_wants(len(plan.names), _SUBSCRIPTIONS, _COVERED_PERCENT, _EVENTS)
    return [
        run.cell("live ring5", partial(compared, LivePoint("five routers in a ring", plan, "advertise", "sff", wants)))
    ]


LIVE: Final = live_figure(
    "004", "nothing: it is our check that messages go by the ways of the paper's broadcast.", _measure, seconds=15
)
