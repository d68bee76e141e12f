"""Single points of paper 002 over TCP: the brokers of one region, by its two ways to match.

Law: frames of daemons are those of the fleet, and of the arithmetic that knows trees and who wants what.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from tamis.bench.networks.strategies.control import layout
from tamis.bench.networks.strategies.wants import make_wants
from tamis.papers.reproduce.figure import FigureRun, ResultRow
from tamis.papers.reproduce.live import LivePoint, compared, live_figure
from tamis.simulate.faults.topologies import NetworkPlan

_REGION: Final = "a"
_SUBSCRIPTIONS: Final = 130
_COVERED_PERCENT: Final = 30
_EVENTS: Final = 52


def _measure(run: FigureRun) -> list[ResultRow]:
    plan = region(layout("wan39"), _REGION)
    wants = make_wants(len(plan.names), _SUBSCRIPTIONS, _COVERED_PERCENT, _EVENTS)
    told = f"{len(plan.names)} brokers of one region"
    return [
        run.cell(f"live {name}", partial(compared, LivePoint(told, plan, name, "pst", wants)))
        for name in ("link-matching", "match-first")
    ]


def region(plan: NetworkPlan, first: str) -> NetworkPlan:
    """The routers whose names begin with `first`, and the links between them."""
    places = [place for place, name in enumerate(plan.names) if name.startswith(first)]
    new = {place: number for number, place in enumerate(places)}
    links = tuple((new[a], new[b], cost) for a, b, cost in plan.links if a in new and b in new)
    return NetworkPlan(tuple(plan.names[place] for place in places), links, plan.broadcast)


LIVE: Final = live_figure(
    "002", "nothing: it is our check that messages go by the paper's spanning trees.", _measure, seconds=40
)
