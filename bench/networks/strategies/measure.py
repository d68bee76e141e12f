"""One group of the table: contenders on one layout, count of subscriptions and coverable share.

Law: each network is built once, and once for all contenders whose routers say the same. Before a time is taken, every
event must have reached the clients that want it, each once, and nobody else, by as many copies as the model counts;
otherwise the run ends without a figure of the group. A
strategy that is known to lose messages has the count of those that are missing in its row instead. Passes are
interleaved, a pass of each contender in turn; a time is the least of all passes, and its spread that of the least ones
of REPEATS parts of them.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import mean
from typing import Any, Final

from tamis.bench.networks.strategies.cells import Cells, Contender, Setup
from tamis.bench.networks.strategies.control import Budget, Network, OverBudget, Said, forest_of, layout, trees_of
from tamis.bench.networks.strategies.durable import bytes_kept
from tamis.bench.networks.strategies.fleet import ROLES, Fleet, Pass
from tamis.bench.networks.strategies.model import copies, masks
from tamis.bench.networks.strategies.wants import Wants, make_wants
from tamis.router.core.strategies.registry import STRATEGIES

REPEATS: Final = 3
CORES: Final = 10
"""Cores of which the bytes that they keep are counted, spread evenly over the routers."""
Progress = Callable[[str], None]
Figures = dict[str, Any]


class Disagrees(Exception):
    """A strategy delivered something else than it had to, or by other ways."""


@dataclass(slots=True)
class Built:
    contender: Contender
    fleet: Fleet
    budget: Budget
    figures: Figures
    passes: list[Pass] = field(default_factory=list)


def measure(
    setup: Setup, contenders: Sequence[Contender], cells: Cells, passes: int, budget_s: float, progress: Progress
) -> None:
    """Measure `contenders`, and put their cells; Disagrees if one of them does."""
    wants = make_wants(len(layout(setup.layout).names), setup.subscriptions, setup.coverable, setup.events)
    built: list[Built] = []
    for alike in _by_what_is_said(contenders):
        progress(f"{setup}: {', '.join(map(str, alike))}")
        built += _built(setup, alike, wants, cells, budget_s)
        gc.collect()
    progress(f"{setup}: {passes} passes")
    for _ in range(passes):
        for each in list(built):
            try:
                with each.budget:
                    each.passes.append(each.fleet.run())
            except OverBudget as error:
                built.remove(each)
                cells.put(setup, each.contender, {"skipped": str(error), "budget_s": budget_s})
    for each in built:
        cells.put(setup, each.contender, each.figures | _times(each.passes, setup.events))


def _by_what_is_said(contenders: Sequence[Contender]) -> list[list[Contender]]:
    """Return `contenders` by the cores of their routers, which say the same; they differ in how messages go."""
    found: list[list[Contender]] = []
    for contender in contenders:
        same = (alike for alike in found if STRATEGIES[alike[0].strategy].says_as(STRATEGIES[contender.strategy]))
        alike = next(same, None)
        if alike is None:
            found.append([contender])
        else:
            alike.append(contender)
    return found


def _built(setup: Setup, contenders: Sequence[Contender], wants: Wants, cells: Cells, budget_s: float) -> list[Built]:
    """Let one network come up for `contenders`, whose routers say the same, make a fleet of it for each, and cut links
    last; Disagrees if one does."""
    common = Budget(budget_s)
    built: list[Built] = []
    try:
        with common:
            said = _say(setup, contenders[0].strategy, wants, common)
        for contender in contenders:
            budget = Budget(budget_s, common.spent_s)
            try:
                with budget:
                    built.append(_build(setup, contender, wants, said, budget))
            except OverBudget as error:
                cells.put(setup, contender, {"skipped": str(error), "budget_s": budget_s})
        with common:
            cut = _cut(said.network)
    except OverBudget as error:
        for contender in contenders:
            cells.put(setup, contender, {"skipped": str(error), "budget_s": budget_s})
        return []
    for each in built:
        each.figures["cut"] = cut
    return built


@dataclass(frozen=True, slots=True)
class _SaidByCores:
    """A network at rest that has said all it had to, and what that cost."""

    network: Network
    figures: Figures
    cores: dict[str, float]
    """Bytes that a core keeps."""


def _say(setup: Setup, strategy: str, wants: Wants, budget: Budget) -> _SaidByCores:
    """Let a network come up, subscribe and change."""
    network = Network(layout(setup.layout), strategy, budget)
    network.come_up()
    said = network.subscribe(wants)
    stored = network.stored()
    came, gone = network.come(wants.changes), network.go(wants.changes)
    uncovered = network.go(wants.covering)
    network.come(wants.covering)
    cores = _cores(network)
    figures: Figures = {
        "control": asdict(said),
        "comes": _each(came, len(wants.changes)),
        "goes": _each(gone, len(wants.changes)),
        "uncovers": _each(uncovered, len(wants.covering)),
        "stored": (sum(map(len, wants.filters)) + stored) / sum(map(len, wants.filters)),
        "masks": max(masks(trees_of(node)) for node in network.nodes),
    }
    return _SaidByCores(network, figures, cores)


def _cut(network: Network) -> dict[str, float]:
    """Return what a cut costs: the worst time, and the mean of what is said."""
    cuts = list(network.cuts())
    return {
        "ms": max(cut.converged_us for cut in cuts) / 1_000,
        "frames": mean(cut.said.frames for cut in cuts),
        "bytes": mean(cut.said.bytes for cut in cuts),
    }


def _build(setup: Setup, contender: Contender, wants: Wants, said: _SaidByCores, budget: Budget) -> Built:
    """Make the fleet of a network, and let every event pass once; Disagrees if one goes where it must not."""
    nodes = said.network.nodes
    fleet = Fleet(nodes, wants, contender.facts, contender.engine, budget)
    native = [router.memory_bytes for router in fleet.routers]
    figures = said.figures | {
        "memory": {"c_mean": mean(native), "c_most": max(native)} | said.cores,
        "frames": fleet.first.frames / setup.events,
        "bytes": fleet.first.bytes / setup.events,
        "missing": _missing(fleet.first, wants, contender),
    }
    if contender.facts.loses_nothing:
        trees, forests = [trees_of(node) for node in nodes], [forest_of(node) for node in nodes]
        expected = copies(trees, forests, wants, contender.facts)
        if fleet.first.frames != expected:
            raise Disagrees(f"{setup}: {contender} sent {fleet.first.frames} copies of the events, not {expected}")
    return Built(contender, fleet, budget, figures)


def _each(said: Said, count: int) -> Figures | None:
    """Return what one of `count` subscriptions made routers say; None: there were none."""
    return {name: total / count for name, total in asdict(said).items()} if count else None


def _missing(found: Pass, wants: Wants, contender: Contender) -> int:
    """Return how many deliveries are missing, which must be none where the strategy loses nothing; Disagrees otherwise,
    and if somebody got what he did not want, or got it twice."""
    due = {(event, router) for event, routers in enumerate(wants.wanting) for router in routers}
    got = set(found.delivered)
    astray, twice = got - due, sum(count > 1 for count in found.delivered.values())
    missing = len(due - got)
    if astray or twice or (missing and contender.facts.loses_nothing):
        raise Disagrees(f"{contender}: {missing} deliveries are missing, {len(astray)} astray, {twice} doubled")
    return missing


def _cores(network: Network) -> dict[str, float]:
    """Return bytes that the core of a router keeps, of a sample."""
    step = max(1, len(network.nodes) // CORES)
    cores = [bytes_kept(node.core) for node in network.nodes[::step][:CORES]]
    return {"core_mean": mean(cores), "core_most": max(cores)}


def _times(passes: list[Pass], events: int) -> Figures:
    """Times and steps of one hop by role, and of an event over all routers."""
    counted = passes[0]
    roles = [role for role in ROLES if counted.visits[role]]
    parts = [passes[part::REPEATS] for part in range(REPEATS) if passes[part::REPEATS]]
    whole = [min(sum(each.ns.values()) for each in part) for part in parts]
    least = {role: min(each.ns[role] for each in passes) for role in roles}
    return {
        "us": {role: least[role] / counted.visits[role] / 1_000 for role in roles},
        "us_event": sum(least.values()) / events / 1_000,
        "spread": max(whole) / min(whole) - 1,
        "steps": {role: counted.steps[role] / counted.visits[role] for role in roles},
        "steps_event": sum(counted.steps.values()) / events,
        "visits": {role: counted.visits[role] / events for role in roles},
    }
