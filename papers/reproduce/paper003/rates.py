"""Events a second of paper 003's brokers, by the cost model and by routers: the runs that its figures share.

    by the model     events for each unit of work of the busiest broker, where receiving, filtering, sending on and
                     notifying a profile are one unit each, or cost what they cost routers of ours (`load.py`)
    by routers       events a second of the emulated fleet, which stands beside it with a claim of its own

Law: a run of routers is a cell by itself, and figures that show the same points share it. A claim about orders is
judged by what is counted, and one about RN by every price of the pieces, as the text gives none; one about times holds
or differs only where the effect is more than twice the spread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from tamis.papers.reproduce.figure import FigureRun, Judgement, PlotSpec, Reading, ResultRow, ResultRows, Settings
from tamis.papers.reproduce.judging import Judge, listed, read, ruled, undecided, widest_spread
from tamis.papers.reproduce.paper003.brokers import BrokersAsked
from tamis.papers.reproduce.paper003.load import BrokerNetwork
from tamis.papers.reproduce.paper003.points import MODEL, clocked_rows, rate_row, values

FORWARDING: Final = ("EF", "PF")
ALL: Final = ("EF", "RN", "PF")
ORDER: Final = "the work that is counted is ordered otherwise"
UNITS: Final = (
    "model: an event that comes in, its filtering, each copy to another broker and each profile notified are one unit "
    "of work; every broker has a machine of its own. Routers: the emulated fleet, engine "
    "`interval`; with 50,000 profiles at a broker, which are more than it has room for, the default engine."
)
BUS: Final[Settings] = {"profiles": 500, "events": 12_000, "timed_tenths": (0, 1, 5, 9, 10), "timed_sigmas": (1, 5, 20)}
BUS_PAPER: Final[Settings] = {
    "profiles": 50_000,
    "engine": "tamis",
    "events": 40_000,
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


def rates_shown(names: Sequence[str], lines: Sequence[Sequence[float]]) -> str:
    """`shown` for rates of any unit: events a second are large numbers, and those a unit of work small ones."""
    return shown(names, lines, 0 if max(map(max, lines)) > 1_000 else 2)


def shares_of(rows: ResultRows) -> list[float]:
    """The shares of events that match, of the model's rows."""
    return sorted({float(str(row["pe"])) for row in rows if row["by"] == MODEL})


def per_second(rows: ResultRows, strategy: str, x: str, **where: float | None) -> list[float]:
    return values(rows, strategy, x, "events_per_s", **where)


def shows_it(rows: ResultRows, effect: float, is_so: bool, ours: str, why: str) -> Judgement:
    """What is said of a claim that routers show by their times; nothing if the effect, a share, is lost in their
    spread."""
    spread = widest_spread(rows)
    if abs(effect) < 2 * spread:
        return undecided(f"{ours}; spread {spread:.0%}", "the effect is not larger than twice the spread")
    return ruled(is_so, ours, why)


# --- readings --------------------------------------------------------------------------------------------------------

_PRICES: Final = {"each piece of work costs one unit": "rate", "a piece costs what it costs our routers": "rate_ours"}
_MEASURED: Final = {"events a second of our routers": "events_per_s"}


class Priced(NamedTuple):
    """What is said of a claim with one price of the pieces of work. `effect` is the least difference, as a share, that
    it needs."""

    is_so: bool
    effect: float
    ours: str
    why: str = ORDER


def priced(judge: Callable[[ResultRows, str], Priced], is_measured: bool = True) -> Judge:
    """Judge a claim by each column of rates; `is_measured`: by the events a second of routers, too."""

    def judged(rows: ResultRows) -> Judgement:
        readings = [Reading(name, _ruled(judge(rows, what))) for name, what in _PRICES.items()]
        for name, what in _MEASURED.items() if is_measured else ():
            found = judge(rows, what)
            readings.append(Reading(name, shows_it(rows, found.effect, found.is_so, found.ours, found.why)))
        return read(*readings)

    return judged


def _ruled(found: Priced) -> Judgement:
    return ruled(found.is_so, found.ours, found.why)


# --- plots -----------------------------------------------------------------------------------------------------------

_NAMES: Final = {"EF": "event forwarding", "PF": "profile forwarding", "RN": "rendezvous nodes"}


def family(x: str, x_label: str, by: str, by_label: str) -> tuple[PlotSpec, ...]:
    """The three pictures of a figure that has one for each algorithm, with a line for each value of `by`."""
    return tuple(
        PlotSpec(
            *(f"Events per unit of work, {_NAMES[name]}", x, "rate", by, x_label, "events per unit of work"),
            where={"by": MODEL, "strategy": name},
            by_label=by_label,
        )
        for name in ("PF", "EF", "RN")
    )
