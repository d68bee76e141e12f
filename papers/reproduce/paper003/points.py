"""Rows of paper 003: a point of a figure, as routers did it, or as the cost model says.

Law: what routers count equals the model, or the run ends; a row says which of the two it is of.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from tamis.bench.networks.strategies.fleet import ENTRY, LEAF, TRANSIT, Fleet
from tamis.papers.reproduce.clocked import rate as clocked_rate
from tamis.papers.reproduce.figure import Disagreement, FigureRun, ResultRow, ResultRows
from tamis.papers.reproduce.judging import chosen, listed, points
from tamis.papers.reproduce.paper003.brokers import ENGINE, BrokersAsked, events_of, fleet_of, measured
from tamis.papers.reproduce.paper003.load import EVEN, OURS_S, rate

PROFILES: Final = 40
"""Profiles of each broker where frames are counted."""
ROUTERS: Final = "routers"
MODEL: Final = "model"


def described(point: BrokersAsked) -> dict[str, str | int | float | None]:
    return {
        "strategy": point.strategy,
        "brokers": len(point.network.tree.brokers),
        "pe": float(point.pe),
        "pp": float(point.pe * point.sigma),
        "sigma": point.sigma,
        "types": point.kinds,
        "locality": None if point.locality is None else float(point.locality),
    }


def load_row(run: FigureRun, point: BrokersAsked) -> ResultRow:
    """Frames of an event, stored profiles for one of a client, and the share of events at the busiest broker."""

    def one() -> ResultRow:
        found, size = measured(point, PROFILES)
        return {
            **described(point),
            "by": ROUTERS,
            "frames": float(found.frames),
            "bytes": size,
            "duplication": float(found.duplication),
            "busiest": float(found.busiest_visits),
        }

    row: ResultRow = run.cell(f"load {point}", one)
    return row


def rate_row(point: BrokersAsked) -> ResultRow:
    """Events for each unit of work of the busiest broker, by the cost model; `rate_ours`: events a second, if pieces of
    work cost what they cost routers of ours."""
    rates = (float(rate(point.algorithm, point.setting, costs)) for costs in (EVEN, OURS_S))
    return {**described(point), "by": MODEL} | dict(zip(("rate", "rate_ours"), rates, strict=True))


def clocked_rows(run: FigureRun, points: Sequence[BrokersAsked], profiles: int) -> list[ResultRow]:
    """Events a second of the emulated fleet, with `profiles` of each broker. The points differ in their events alone,
    so that routers are built once."""

    def all_points() -> list[ResultRow]:
        fleet, _, _ = fleet_of(points[0], profiles, str(run.settings.get("engine", ENGINE)))
        return [_clocked(fleet, point, profiles, run.whole("events")) for point in points]

    told = "; ".join([str(points[0]), *map(_events_told, points[1:])])
    rows: list[ResultRow] = run.cell(f"fleet of {profiles} profiles: {told}", all_points)
    return rows


def _events_told(point: BrokersAsked) -> str:
    return f"{float(point.pe):g}" if point.locality is None else f"{float(point.pe):g} at {float(point.locality):g}"


def _clocked(fleet: Fleet, point: BrokersAsked, profiles: int, events: int) -> ResultRow:
    fleet.publish(events_of(point, profiles, events))
    if Fraction(fleet.first.frames, len(fleet.events)) != point.model().frames:
        raise Disagreement(f"{point}: {fleet.first.frames} frames of {len(fleet.events)} events are not the model's")
    found, first = clocked_rate(fleet), fleet.run()
    onward = first.visits[TRANSIT] + first.visits[LEAF]
    return {
        **described(point),
        "by": ROUTERS,
        "events": len(fleet.events),
        "events_per_s": round(found.events_per_s),
        "spread": round(found.spread, 4),
        "busiest_share": round(found.busiest_share, 4),
        "entry_ns": round(first.ns[ENTRY] / first.visits[ENTRY], 1),
        "onward_ns": round((first.ns[TRANSIT] + first.ns[LEAF]) / onward, 1) if onward else None,
    }


def line(rows: ResultRows, strategy: str, x: str, y: str, **where: float | str | None) -> list[tuple[float, float]]:
    """(x, y) of the rows of a strategy that have `y`."""
    return points([row for row in chosen(rows, strategy=strategy, **where) if row.get(y) is not None], x, y)


def values(rows: ResultRows, strategy: str, x: str, y: str, **where: float | str | None) -> list[float]:
    return [value for _, value in line(rows, strategy, x, y, **where)]


def told(rows: ResultRows, strategy: str, x: str, y: str, **where: float | str | None) -> str:
    return listed(values(rows, strategy, x, y, **where))
