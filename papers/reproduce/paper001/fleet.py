"""Figures 1 to 4 of paper 001, timed: what the routers of the fleet take for an event, with and without reuse.

    never          `link-matching`: each router matches
    destinations   `reuse: destinations` of it: an event carries the routers that want it; those whose tables are equal
                   look them up and match for their own clients alone
    partial        `reuse: keys` of it: partial reuse with 60 keys, of subscriptions, whose routers have equal tables
    always         `match-first`: the first router finds all routers, and the others follow its list

Law: switches and tables are those of daemons, and each strategy delivers what an engine apart says is due. The list of
`always` names routers, and not subscriptions as in the paper, so that it has no threshold.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, cast

from tamis.bench.networks.strategies.control import Budget, Network, layout
from tamis.bench.networks.strategies.fleet import ENTRY, LEAF, TRANSIT, Fleet
from tamis.bench.networks.strategies.wants import Wants
from tamis.papers.reproduce.emulated import BUDGET_S
from tamis.papers.reproduce.figure import (
    Criterion,
    Disagreement,
    FigureRun,
    Judgement,
    PaperFigure,
    PlotSpec,
    Reading,
    ResultRow,
    ResultRows,
    Scalar,
    Scale,
)
from tamis.papers.reproduce.judging import chosen, every, exceeds, number, read, ruled_by_time, under, widest_spread
from tamis.papers.reproduce.paper001.boxes import boxes
from tamis.protocol.strategies import BY_NAME
from tamis.protocol.wire.attributes import decode_attributes

_STRATEGIES: Final = {
    "never": "link-matching",
    "destinations": "link-matching-destinations",
    "partial": "link-matching-keys",
    "always": "match-first",
}
_ENGINES: Final = ("counting", "kdtree")
_PASSES: Final = 3
_TIMES_OVER: Final = 3


def _measure(run: FigureRun) -> list[ResultRow]:
    rows: list[ResultRow] = []
    for density in run.shares("densities"):
        for name in _STRATEGIES:
            rows += run.cell(f"fleet at {density:.1%}, {name}", partial(_of_strategy, run, density, name))
    return rows


def _of_strategy(run: FigureRun, density: float, name: str) -> list[ResultRow]:
    """A row for each engine; the routers are built once."""
    plan, strategy = layout(f"tree{run.whole('routers')}"), _STRATEGIES[name]
    wants, budget = _wants(run, density, len(plan.names)), Budget(BUDGET_S)
    with budget:
        network = Network(plan, strategy, budget)
        network.come_up()
        network.subscribe(wants)
        fleets = {engine: Fleet(network.nodes, wants, BY_NAME[strategy], engine, budget) for engine in _ENGINES}
    due = {(event, router): 1 for event, routers in enumerate(wants.wanting) for router in routers}
    for engine, fleet in fleets.items():
        if fleet.first.delivered != due:
            raise Disagreement(f"{strategy} with {engine} does not deliver what is due at {density:.1%}")
    about: dict[str, Scalar] = {"density": 100 * density, "strategy": name, "delivered": len(due)}
    return [{**about, "engine": engine, **_times(fleet)} for engine, fleet in fleets.items()]


def _wants(run: FigureRun, density: float, routers: int) -> Wants:
    """The paper's subscriptions, dealt to the clients of all routers in turns."""
    made = boxes(run.whole("subscriptions"), run.whole("events"), density, run.seed)
    filters = [[made.filters[index] for index in range(at, len(made.filters), routers)] for at in range(routers)]
    events = [cast("dict[str, Any]", decode_attributes(made.messages[index])) for index in range(len(made.messages))]
    return Wants(filters, [], [], events)


def _times(fleet: Fleet) -> dict[str, float]:
    """Microseconds of an event in all routers, of the best pass, and how the best of three groups differ."""
    groups = [min((_us(fleet) for _ in range(_PASSES)), key=_total) for _ in range(_TIMES_OVER)]
    best, worst = min(groups, key=_total), max(groups, key=_total)
    total = _total(best)
    return {**best, "total us": total, "spread": _total(worst) / total - 1}


def _us(fleet: Fleet) -> dict[str, float]:
    found, events = fleet.run(), len(fleet.events)
    onward = found.ns[TRANSIT] + found.ns[LEAF]
    return {"source us": found.ns[ENTRY] / 1e3 / events, "other us": onward / 1e3 / events}


def _total(us: Mapping[str, float]) -> float:
    return us["source us"] + us["other us"]


def _compared(rows: ResultRows, name: str, engine: str, at: int) -> float:
    """The time of a strategy in multiples of never's, at the lowest density (0) or the highest (-1)."""
    density = sorted({number(row, "density") for row in rows})[at]
    own, never = (chosen(rows, strategy=each, engine=engine, density=density)[0] for each in (name, "never"))
    return number(own, "total us") / number(never, "total us")


def _saves(rows: ResultRows) -> Judgement:
    """Whether reuse takes less time than never where few subscriptions match."""
    why = "Our routers take longer to read a message and send it on than to match it, so that a spared match saves less"
    return read(
        *(_reading(rows, name, engine, why) for engine in _ENGINES for name in ("always", "destinations", "partial"))
    )


def _reading(rows: ResultRows, name: str, engine: str, why: str) -> Reading:
    spread = widest_spread(chosen(rows, engine=engine))
    few, many = (_compared(rows, name, engine, at) for at in (0, -1))
    ours = f"{few:.2f} of never's time at the lowest density, {many:.2f} at the highest"
    return Reading(f"{name}, {engine}", ruled_by_time(under(few, 1, spread), spread, ours, why))


def _saves_more_with_counting(rows: ResultRows) -> Judgement:
    spread = widest_spread(rows)
    counting, tree = (_compared(rows, "always", engine, 0) for engine in _ENGINES)
    ours = f"always takes {counting:.2f} of never's time with counting, {tree:.2f} with the k-d tree"
    is_so = every(under(counting, 1, spread), exceeds(tree, counting, spread))
    return ruled_by_time(is_so, spread, ours, "A match by the k-d tree is not cheaper beside what else a router does")


FLEET: Final = PaperFigure(
    paper="001",
    id="fleet",
    title="Figures 1 to 4, timed in routers",
    shows="the event processing overhead of all routers together, by its parts: at the source and elsewhere. The paper "
    "prices counted work by Table 1; so do our figures 1 to 4.",
    chosen="a tree, of 15 routers at scale small and of 100 at scale paper; real switches and tables in one process. A "
    "list names the routers that want an event, not their subscriptions, so that always carries few numbers. Partial "
    "has the paper's keys of subscriptions, up to 60 for each link.",
    settings={
        Scale.SMALL: {"routers": 15, "subscriptions": 1_000, "events": 60, "densities": (0.002, 0.2)},
        Scale.PAPER: {"routers": 100, "subscriptions": 10_000, "events": 200, "densities": (0.001, 0.01, 0.05, 0.2)},
    },
    measure=_measure,
    criteria=(
        Criterion(
            "001-fleet-saves",
            "Reuse takes less time than never where few match, in real routers",
            "0.2 to 0.4 of never's, by figure 1",
            _saves,
        ),
        Criterion(
            "001-fleet-counting",
            "Reuse saves more with counting than with the k-d tree, in real routers",
            "55 and 40 %",
            _saves_more_with_counting,
        ),
    ),
    plots=tuple(
        PlotSpec(
            *(f"All routers, {engine}", "density", "total us", "strategy"),
            *("matching density (percent of the subscriptions)", "time per event (microseconds)"),
            kind="bars",
            log_y=True,
            where={"engine": engine},
        )
        for engine in _ENGINES
    ),
    seconds={Scale.SMALL: 40, Scale.PAPER: 600},
)
