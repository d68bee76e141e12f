"""Section 4 of paper 001: reuse on general graphs (4.1), and where covered subscriptions are not forwarded (4.2).

Law: an event reaches whom it reaches without reuse; where it does not, the missing ones are counted and printed.
"""

from __future__ import annotations

import random
from typing import Final

from tamis.papers.models import lookups
from tamis.papers.models.covered_lookups import CoveredTree, Interval
from tamis.papers.models.lookups import Boxes, Tree, Work
from tamis.papers.reproduce.figure import (
    Criterion,
    FigureRun,
    Judgement,
    PaperFigure,
    PlotSpec,
    Reading,
    ResultRow,
    ResultRows,
    Scale,
)
from tamis.papers.reproduce.judging import chosen, number, read, ruled
from tamis.simulate.faults import topologies

_THRESHOLDS: Final = (60, 240)


# --- 4.1 -------------------------------------------------------------------------------------------------------------


def _on_graphs(run: FigureRun) -> list[ResultRow]:
    network = topologies.make("random", run.whole("routers"), run.seed)
    neighbours = _neighbours(len(network.names), [(one, other) for one, other, _cost in network.links])
    rows: list[ResultRow] = []
    for density in run.shares("densities"):

        def one(density: float = density) -> list[ResultRow]:
            return _of_density(neighbours, density, run.whole("subscriptions"), run.whole("events"), run.seed)

        rows += run.cell(f"a graph of {len(neighbours)} routers at {density:.1%}", one)
    return rows


def _neighbours(count: int, links: list[tuple[int, int]]) -> dict[int, list[int]]:
    neighbours: dict[int, list[int]] = {router: [] for router in range(count)}
    for one, other in links:
        neighbours[one].append(other)
        neighbours[other].append(one)
    return neighbours


def _source_tree(neighbours: dict[int, list[int]], source: int) -> dict[int, list[int]]:
    """The shortest ways from a source."""
    tree: dict[int, list[int]] = {source: []}
    waiting = [source]
    while waiting:
        at = waiting.pop(0)
        for other in neighbours[at]:
            if other not in tree:
                tree[other] = [at]
                tree[at].append(other)
                waiting.append(other)
    return tree


def _of_density(
    neighbours: dict[int, list[int]], density: float, subscriptions: int, events: int, seed: int
) -> list[ResultRow]:
    rng = random.Random(f"graph {density} {seed}")
    drawn = Boxes(neighbours, subscriptions, density, rng)
    sums: dict[str, Work] = {}
    missing = dict.fromkeys(("never", "always", *(f"partial {limit}" for limit in _THRESHOLDS)), 0)
    for _ in range(events):
        matching, entry = drawn.matching(), rng.choice(sorted(neighbours))
        tree = Tree(_source_tree(neighbours, entry), drawn.held)
        for name, work in lookups.of_each(tree, matching, entry, _THRESHOLDS).items():
            if name in missing:
                missing[name] += len(matching ^ work.delivered)
                lookups.add(sums.setdefault(name, Work()), work)
    return [
        {
            "density": 100 * density,
            "strategy": name,
            "visits": work.visits / events,
            "matches": work.matches / events,
            "lookups": work.lookups / events,
            "missing": missing[name],
        }
        for name, work in sums.items()
    ]


def _works_the_same(rows: ResultRows) -> Judgement:
    missing = sum(number(row, "missing") for row in rows)
    pairs = [
        (
            row["density"],
            number(chosen(rows, strategy="partial 60", density=row["density"])[0], "matches"),
            number(row, "matches"),
        )
        for row in chosen(rows, strategy="never")
    ]
    told = ", ".join(f"{partial:.0f} instead of {never:.0f} at {density:g} %" for density, partial, never in pairs)
    falls = all(partial < never for _, partial, never in pairs)
    return ruled(
        falls and not missing, f"matches an event: {told}; {missing:.0f} deliveries differ", "keys went astray"
    )


GENERAL_GRAPHS: Final = PaperFigure(
    paper="001",
    id="graphs",
    title="General graphs (section 4.1)",
    shows="with cycles, each source has a tree of its own, and reuse works as before. No measurement.",
    chosen="a random graph, shortest ways from each source.",
    settings={
        Scale.SMALL: {"routers": 40, "subscriptions": 2_000, "events": 30, "densities": (0.002, 0.05)},
        Scale.PAPER: {"routers": 100, "subscriptions": 10_000, "events": 100, "densities": (0.002, 0.01, 0.05, 0.2)},
    },
    measure=_on_graphs,
    criteria=(
        Criterion(
            "001-graphs",
            "On a graph with cycles reuse spares matches and delivers the same",
            "works the same way as before",
            _works_the_same,
        ),
    ),
    plots=(
        PlotSpec(
            *("Matches per event on a graph", "density", "matches", "strategy"),
            *("matching density (percent of the subscriptions)", "matches per event"),
            kind="bars",
        ),
    ),
    seconds={Scale.SMALL: 2, Scale.PAPER: 40},
    is_exact=True,
)


# --- 4.2 -------------------------------------------------------------------------------------------------------------

_PARTIAL: Final = 60
_DIMENSIONS: Final = 2


def _under_covering(run: FigureRun) -> list[ResultRow]:
    return [
        row
        for covering in (False, True)
        for row in run.cell(f"covering {covering}", lambda covering=covering: _covered(run, covering))  # type: ignore[misc]
    ]


def _covered(run: FigureRun, covering: bool) -> list[ResultRow]:
    rng = random.Random(f"covering {run.seed}")
    neighbours = _neighbours(15, [(router, (router - 1) // 2) for router in range(1, 15)])
    boxes = [[_interval(rng) for _ in range(_DIMENSIONS)] for _ in range(run.whole("subscriptions"))]
    homes = [rng.randrange(15) for _ in boxes]
    tree = CoveredTree(neighbours, boxes, homes, covering)
    names = ("never", "always", f"partial {_PARTIAL}, lists believed", f"partial {_PARTIAL}, no list is complete")
    missing, matches = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    wanted = 0
    for _ in range(run.whole("events")):
        event, entry = [rng.random() for _ in range(_DIMENSIONS)], rng.randrange(15)
        reached = (
            *(tree.never(event, entry), tree.always(event, entry)),
            *(tree.partial(event, entry, _PARTIAL, complete_lists=believed) for believed in (True, False)),
        )
        wants = tree.wanted(event)
        wanted += len(wants)
        for name, each in zip(names, reached, strict=True):
            missing[name] += len(wants - each.delivered)
            matches[name] += each.matches
    return [
        {
            "forwarding": "covering" if covering else "plain",
            "strategy": name,
            "wanted": wanted,
            "missing": missing[name],
            "matches": matches[name] / run.whole("events"),
        }
        for name in names
    ]


def _interval(rng: random.Random) -> Interval:
    length = rng.uniform(0.05, 0.5)
    low = rng.random() * (1 - length)
    return low, low + length


def _missing(rows: ResultRows, forwarding: str, strategy: str) -> int:
    return int(number(chosen(rows, forwarding=forwarding, strategy=strategy)[0], "missing"))


def _always_misses(rows: ResultRows) -> Judgement:
    plain, covering = (_missing(rows, forwarding, "always") for forwarding in ("plain", "covering"))
    wanted = int(number(rows[0], "wanted"))
    ours = f"always misses {covering:,} of {wanted:,} deliveries, and {plain} where all are forwarded"
    return ruled(covering > 0 == plain, ours, "no subscription covers another one")


def _partial_does_not(rows: ResultRows) -> Judgement:
    believed = _missing(rows, "covering", f"partial {_PARTIAL}, lists believed")
    never_complete = _missing(rows, "covering", f"partial {_PARTIAL}, no list is complete")
    why = (
        "A list is complete with respect to the table in which it was found. That table lacks what is covered, so a "
        "router that believes the list misses it"
    )
    return read(
        Reading(
            "a list with fewer keys than the threshold is complete",
            ruled(believed == 0, f"{believed:,} missing", why),
        ),
        Reading(
            "no list is complete, and every router checks its clients",
            ruled(never_complete == 0, f"{never_complete:,} missing", why),
        ),
    )


COVERING: Final = PaperFigure(
    paper="001",
    id="covering",
    title="Subscription covering (section 4.2)",
    shows="where routers forward only subscriptions that no other covers, always can miss deliveries, and "
    "partial is not "
    "affected. No measurement.",
    chosen="15 routers as a heap, rectangles of different sizes, threshold 60.",
    settings={
        Scale.SMALL: {"subscriptions": 300, "events": 200},
        Scale.PAPER: {"subscriptions": 1_000, "events": 1_000},
    },
    measure=_under_covering,
    criteria=(
        Criterion(
            "001-covering-always",
            "Always misses deliveries where covered subscriptions are not forwarded",
            "can be erroneous",
            _always_misses,
        ),
        Criterion(
            "001-covering-partial",
            "Partial reuse misses none, covered or not",
            "will not be impacted",
            _partial_does_not,
        ),
    ),
    plots=(
        PlotSpec(
            *("Missing deliveries", "strategy", "missing", "forwarding", "strategy", "number of missing deliveries"),
            kind="bars",
        ),
    ),
    seconds={Scale.SMALL: 2, Scale.PAPER: 30},
    is_exact=True,
)
