"""Rows of paper 003: a point of a figure, as routers did it or, where none can yet, as the cost model says.

Law: a claim about a strategy that no router follows yet is never a pass: `of_routers` makes it "cannot be judged", with
the model's numbers and what the model alone would say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

from tamis.bench.networks.strategies.fleet import ENTRY, LEAF, TRANSIT, Fleet
from tamis.bench.reproduce.clocked import rate as clocked_rate
from tamis.bench.reproduce.figure import Disagreement, FigureRun, Judgement, ResultRow, ResultRows
from tamis.bench.reproduce.judging import Judge, chosen, listed, points, undecided
from tamis.bench.reproduce.paper003.brokers import STRATEGIES, BrokersAsked, events_of, fleet_of, is_live, measured
from tamis.bench.reproduce.paper003.load import rate

PROFILES: Final = 40
"""Profiles of each broker where frames are counted."""
ROUTERS: Final = "routers"
MODEL: Final = "model"


def of_routers(*names: str) -> Callable[[Judge], Judge]:
    """Only routers that follow these strategies make the claim hold or differ."""

    def decorate(judge: Judge) -> Judge:
        def judged(rows: ResultRows) -> Judgement:
            told, waits = judge(rows), [STRATEGIES[name] for name in names if not _was_followed(rows, name)]
            if not waits:
                return told
            why = f"no router follows strategy `{', '.join(waits)}` yet; by the cost model alone: {told.ruling}"
            return undecided(f"by the cost model: {told.ours}", f"{why}{', as ' + told.why if told.why else ''}")

        return judged

    return decorate


def _was_followed(rows: ResultRows, name: str) -> bool:
    """Whether routers follow the strategy, and did so wherever frames were counted."""
    return is_live(name) and not any("frames" in row and row["by"] == MODEL for row in chosen(rows, strategy=name))


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
        found, size = measured(point, PROFILES) if point.is_live else (point.model(), None)
        return {
            **described(point),
            "by": ROUTERS if point.is_live else MODEL,
            "frames": float(found.frames),
            "bytes": size,
            "duplication": float(found.duplication),
            "busiest": float(found.busiest_visits),
        }

    row: ResultRow = run.cell(f"load {point}", one)
    return row


def rate_row(point: BrokersAsked) -> ResultRow:
    """Events for each unit of work of the busiest broker, by the cost model."""
    return {**described(point), "by": MODEL, "rate": float(rate(point.algorithm, point.setting))}


def clocked_rows(run: FigureRun, points: Sequence[BrokersAsked], profiles: int) -> list[ResultRow]:
    """Events a second of the emulated fleet, with `profiles` of each broker. The points differ in their events alone,
    so that routers are built once."""

    def all_points() -> list[ResultRow]:
        fleet, _, _ = fleet_of(points[0], profiles)
        return [_clocked(fleet, point, profiles, run.whole("events")) for point in points]

    rows: list[ResultRow] = run.cell(
        f"fleet of {points[0]} and {len(points) - 1} more, {profiles} profiles", all_points
    )
    return rows


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


def line(rows: ResultRows, strategy: str, x: str, y: str, **where: float | None) -> list[tuple[float, float]]:
    """(x, y) of the rows of a strategy that have `y`."""
    return points([row for row in chosen(rows, strategy=strategy, **where) if row.get(y) is not None], x, y)


def values(rows: ResultRows, strategy: str, x: str, y: str, **where: float | None) -> list[float]:
    return [value for _, value in line(rows, strategy, x, y, **where)]


def told(rows: ResultRows, strategy: str, x: str, y: str, **where: float | None) -> str:
    return listed(values(rows, strategy, x, y, **where))
