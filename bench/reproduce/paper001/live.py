"""Single points of paper 001 over TCP: five routers in a ring, that reuse what was matched where a message entered.

Law: frames of daemons are those of the fleet, and of the arithmetic that knows trees and who wants what.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from tamis.bench.networks.strategies.control import layout
from tamis.bench.networks.strategies.wants import make_wants
from tamis.bench.reproduce.figure import FigureRun, ResultRow
from tamis.bench.reproduce.live import LivePoint, compared, live_figure

_STRATEGIES: Final = ("link-matching", "link-matching-destinations", "match-first")
"""Reuse never, where tables are equal, and always."""
_SUBSCRIPTIONS: Final = 200
_COVERED_PERCENT: Final = 50
_EVENTS: Final = 60


def _measure(run: FigureRun) -> list[ResultRow]:
    plan = layout("ring5")
    wants = make_wants(len(plan.names), _SUBSCRIPTIONS, _COVERED_PERCENT, _EVENTS)
    return [
        run.cell(
            f"live ring5 {name}", partial(compared, LivePoint("five routers in a ring", plan, name, "kdtree", wants))
        )
        for name in _STRATEGIES
    ]


LIVE: Final = live_figure(
    "001", "nothing: it is our check that reuse changes no way of a message.", _measure, seconds=40
)
