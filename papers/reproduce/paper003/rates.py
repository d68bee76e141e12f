"""Events a second of paper 003's brokers, by the cost model and by routers: the runs that its figures share.

    by the model     events for each unit of work of the busiest broker, where receiving, filtering, sending on and
                     notifying a profile are one unit each: counted, so that claims are judged by it
    by routers       events a second of the emulated fleet, which stands beside it with a claim of its own

Law: a run of routers is a cell by itself, and figures that show the same points share it. A claim about orders is
judged by what is counted; one about times holds or differs only where the effect is more than twice the spread.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final

from tamis.papers.reproduce.figure import FigureRun, Judgement, ResultRow, ResultRows, Settings
from tamis.papers.reproduce.judging import listed, number, ruled, undecided
from tamis.papers.reproduce.paper003.brokers import BrokersAsked
from tamis.papers.reproduce.paper003.load import BrokerNetwork
from tamis.papers.reproduce.paper003.points import MODEL, ROUTERS, clocked_rows, rate_row, values

FORWARDING: Final = ("EF", "PF")
ALL: Final = ("EF", "RN", "PF")
ORDER: Final = "the work that is counted is ordered otherwise"
UNITS: Final = (
    "model: an event that comes in, its filtering, each copy to another broker and each profile notified are one unit "
    "of work; every broker has a machine of its own. Routers: the emulated fleet, engine `interval`."
)
BUS: Final[Settings] = {"profiles": 500, "events": 12_000, "timed_tenths": (0, 1, 5, 9, 10), "timed_sigmas": (1, 5, 20)}
BUS_PAPER: Final[Settings] = {
    "profiles": 10_000,
    "events": 100_000,
    "timed_tenths": (0, 1, 3, 5, 7, 9, 10),
    "timed_sigmas": (1, 5, 20),
}


def tenths(numbers: Sequence[int]) -> list[Fraction]:
    return [Fraction(each, 10) for each in numbers]


def by_model(
    broker_network: BrokerNetwork, points: Iterable[tuple[Fraction, int]], names: Sequence[str] = ALL
) -> list[ResultRow]:
    """Rows of the cost model for (pe, sigma), each once."""
    once = dict.fromkeys(points)
    return [rate_row(BrokersAsked(broker_network, name, pe, sigma)) for name in names for pe, sigma in once]


def by_routers(run: FigureRun, broker_network: BrokerNetwork) -> list[ResultRow]:
    """Rows of routers over pe (and pp = 1) for each sigma: one run for the figures that show some of them."""
    rows: list[ResultRow] = []
    for sigma in run.numbers("timed_sigmas"):
        shares = dict.fromkeys([*tenths(run.numbers("timed_tenths")), Fraction(1, sigma)])
        for name in ALL:
            points = [BrokersAsked(broker_network, name, pe, sigma) for pe in shares]
            rows += clocked_rows(run, points, run.whole("profiles"))
    return rows


def gain(line: Sequence[float]) -> float:
    """The last in multiples of the first."""
    return line[-1] / line[0]


def shown(names: Sequence[str], lines: Sequence[Sequence[float]], digits: int = 2) -> str:
    return "; ".join(f"{name} {listed(line, digits)}" for name, line in zip(names, lines, strict=True))


def shares_of(rows: ResultRows) -> list[float]:
    """The shares of events that match, of the model's rows."""
    return sorted({float(str(row["pe"])) for row in rows if row["by"] == MODEL})


def per_second(rows: ResultRows, strategy: str, x: str, **where: float | None) -> list[float]:
    return values(rows, strategy, x, "events_per_s", **where)


def shows_it(rows: ResultRows, effect: float, is_so: bool, ours: str, why: str) -> Judgement:
    """What is said of a claim that routers show by their times; nothing if the effect, a share, is lost in their
    spread."""
    spread = max(number(row, "spread") for row in rows if row["by"] == ROUTERS)
    if abs(effect) < 2 * spread:
        return undecided(f"{ours}; spread {spread:.0%}", "the effect is not larger than twice the spread")
    return ruled(is_so, ours, why)
