"""The control plane of a network that follows one strategy: real cores in virtual time, and what their links carry.

Law: the network comes up first; then clients subscribe, a tenth of each router's filters at a time; then filters come
and go one by one; then filters that cover others go, and come again; then links are cut and mended. Counted is from the
first subscription on, each copy on each link, digests apart, which neighbours compare however quiet it is. *Quiet* is
QUIET_US without a frame; what never rests (paper 004 to the letter repeats itself) is counted for REST_MAX_US.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final, cast

import tamis.configs
from tamis.bench.networks.strategies.wants import Wants
from tamis.protocol.strategies import BY_NAME, StrategyFacts
from tamis.protocol.wire.routing_bodies import Body, SenderRequest
from tamis.router.core.commands import NeighbourSession
from tamis.router.core.core import Core, CoreParts, CoreSettings
from tamis.router.core.routing.forest import Forest
from tamis.router.core.routing.roots import REST, RootChoice
from tamis.router.core.routing.trees import Trees
from tamis.router.core.statements.edges.edges import PACKED_EVERYTHING
from tamis.router.links.covering import NativeIndex
from tamis.simulate.faults import topologies
from tamis.simulate.faults.topologies import NetworkPlan
from tamis.simulate.nodes.clock import Clock
from tamis.simulate.nodes.direction import Line
from tamis.simulate.nodes.link import SimulatedLink, Watcher
from tamis.simulate.nodes.node import Node
from tamis.simulate.nodes.observer import Observer
from tamis.simulate.nodes.paths import SharedPaths
from tamis.simulate.nodes.run_parts import RunParts
from tamis.simulate.twin.table import Matches, PureTable

MS: Final = 1_000
S: Final = 1_000_000
DELAY_US: Final = 10 * MS
"""Of a link, where costs are all alike; else a cost is a delay in milliseconds."""
BATCHES: Final = 10
QUIET_US: Final = 3 * S
REST_MAX_US: Final = 65 * S
"""Longer than a router of paper 004 waits before it asks the whole tree."""
SLICE_US: Final = 100 * MS
CUTS: Final = 3
UNIX_MS: Final = 1_700_000_000_000


class OverBudget(Exception):
    """The cell takes more seconds than it may; its text says while doing what."""


@dataclass(slots=True)
class Budget:
    """Seconds of CPU that a cell may take. It runs inside `with budget:`, with the garbage collector off, which would
    look through a hundred routers for the sake of one."""

    seconds: float
    spent_s: float = 0.0
    """What is spent of them; what one has in common with others, from the beginning."""
    _began_s: float = 0.0

    def __enter__(self) -> None:
        gc.disable()
        self._began_s = time.process_time()

    def __exit__(self, *_: object) -> None:
        self.spent_s += time.process_time() - self._began_s
        self._began_s = 0.0
        gc.enable()

    def check(self, doing: str) -> None:
        """OverBudget if the time is over."""
        running_s = time.process_time() - self._began_s if self._began_s else 0.0
        if self.spent_s + running_s > self.seconds:
            raise OverBudget(f"more than {self.seconds:g} s, while {doing}")


@dataclass(frozen=True, slots=True)
class Said:
    """What crossed the links."""

    frames: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Cut:
    """A link was cut: what it cost, and after how many microseconds the last router had new trees."""

    said: Said
    converged_us: int


class Tally(Observer, Watcher):
    """Counts control frames, and notes when trees changed last."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.frames = self.bytes = 0
        self.rerouted_us = 0

    def sent(self, router: int, to: tuple[NeighbourSession, ...], body: Body, size: int) -> None:  # noqa: ARG002 - Observer's
        if not (isinstance(body, SenderRequest) and body.digest):
            self.frames += len(to)
            self.bytes += len(to) * size

    def rerouted(self, router: int, trees: Trees) -> None:  # noqa: ARG002 - Observer's
        self.rerouted_us = self._clock.now_us


class Kept(PureTable):
    """Keeps filters, and matches nothing: the switches do."""

    def install(self, issuer: int, added: Mapping[int, bytes], removed: Sequence[int]) -> None:
        held = self.filters.setdefault(issuer, {})
        held.update(added)
        for each in removed:
            del held[each]
        if not held:
            del self.filters[issuer]


def trees_of(node: Node) -> Trees:
    """Return the trees that a simulated router goes by."""
    return cast("Core", node.core).core_state.trees


def classes_of(facts: StrategyFacts, asked: tuple[RootChoice, ...] | None = None) -> tuple[RootChoice, ...]:
    """Return the classes of messages: those asked for, or one, with a root by hash; none if the strategy has no
    roots."""
    if not facts.has_roots:
        return ()
    return (RootChoice(REST),) if asked is None else asked


def forest_of(node: Node) -> Forest:
    """Return the trees of roots that a simulated router has, and the roots that messages name which enter there."""
    return cast("Core", node.core).core_state.forest


def layout(name: str) -> NetworkPlan:
    """Return the network that `name` names: one of configs/topologies, or a kind of shape with its size (line9)."""
    file = Path(tamis.configs.__file__).parent / "topologies" / f"{name}.yaml"
    if file.exists():
        return topologies.from_file(str(file))
    kind = name.rstrip("0123456789")
    return topologies.read(f"{kind}:{name[len(kind) :]}", seed=1)


class Network:
    """Routers that follow a strategy, with their links. `classes` None: all messages are one, with a root by hash;
    `merge`: the limit of merging, None for none."""

    def __init__(
        self,
        plan: NetworkPlan,
        strategy: str,
        budget: Budget,
        classes: tuple[RootChoice, ...] | None = None,
        merge: float | None = None,
    ) -> None:
        self.clock, self._budget = Clock(), budget
        self.tally = Tally(self.clock)
        parts = CoreParts(index=NativeIndex)
        roots = classes_of(BY_NAME[strategy], classes)
        settings = CoreSettings(broadcast=plan.broadcast, classes=roots, merge=merge)
        kit = RunParts(strategy, settings, parts, table=Kept)
        paths, matches = SharedPaths(len(plan.names)), Matches(())
        self.nodes = [Node(name, self.clock, kit, matches, paths, self.tally, lambda: UNIX_MS) for name in plan.names]
        costs = [cost for _, _, cost in plan.links]
        are_delays = max(costs, default=1) > 1
        self.links = [self._link(a, b, cost, MS * cost if are_delays else DELAY_US) for a, b, cost in plan.links]

    def _link(self, a: int, b: int, cost: int, delay_us: int) -> SimulatedLink:
        one, other = self.nodes[a], self.nodes[b]
        chance = Random(f"{one.name}/{other.name}")
        link = SimulatedLink(self.clock, (one, other), cost, Line(delay_us), chance, self.tally)
        one.links[other.number] = (link, 0)
        other.links[one.number] = (link, 1)
        return link

    def come_up(self) -> None:
        for number, node in enumerate(self.nodes):
            self.clock.at(number * MS, lambda each: each.start(), node)
        for link in self.links:
            link.wake()
        self._rest("the network comes up")
        if any(len(trees_of(node).routers) != len(self.nodes) for node in self.nodes):
            raise RuntimeError("the network did not come up")

    def subscribe(self, wants: Wants) -> Said:
        """Let every client subscribe, router by router at the same time, and wait for rest."""

        def all_want() -> None:
            for batch in range(BATCHES):
                for node, filters in zip(self.nodes, wants.filters, strict=True):
                    if filters[batch::BATCHES]:
                        node.want(0, tuple(filters[batch::BATCHES]), 0)
                self._run(2 * SLICE_US, "clients subscribe")

        return self._said(all_want, "clients subscribe")

    def come(self, filters: Sequence[tuple[int, bytes]]) -> Said:
        """Let filters, each of a router by its index, come one after the other, and wait for rest."""
        return self._one_by_one(Node.want, filters, "subscriptions are added")

    def go(self, filters: Sequence[tuple[int, bytes]]) -> Said:
        """Let filters, each of a router by its index, go one after the other, and wait for rest."""
        return self._one_by_one(Node.unwant, filters, "subscriptions are removed")

    def stored(self) -> int:
        """Return how many filters of others all routers keep; those that match everything are none."""
        others = (
            filters for node in self.nodes for issuer, filters in node.table.filters.items() if issuer != node.number
        )
        return sum(packed != PACKED_EVERYTHING for filters in others for packed in filters.values())

    def _one_by_one(
        self, act: Callable[[Node, int, tuple[bytes, ...], int], None], filters: Sequence[tuple[int, bytes]], doing: str
    ) -> Said:
        def do() -> None:
            for router, packed in filters:
                act(self.nodes[router], 0, (packed,), 0)
                self._run(S, doing)

        return self._said(do, doing)

    def cuts(self) -> Iterator[Cut]:
        """Cut some links, one after the other, each mended before the next."""
        spare = [link for link in self.links if self._hangs_together_without(link)] or self.links
        for number in range(min(CUTS, len(spare))):
            link = spare[number * len(spare) // CUTS]
            began_us = self.clock.now_us
            said = self._said(lambda link=link: link.cut(silently=False), "a link is cut")  # type: ignore[misc]
            yield Cut(said, self.tally.rerouted_us - began_us)
            link.restore()
            self._rest("a link is restored")

    def _said(self, do: Callable[[], None], doing: str) -> Said:
        frames, size = self.tally.frames, self.tally.bytes
        do()
        self._rest(doing)
        return Said(self.tally.frames - frames, self.tally.bytes - size)

    def _rest(self, doing: str) -> None:
        began_us = quiet_since_us = self.clock.now_us
        while self.clock.now_us < min(quiet_since_us + QUIET_US, began_us + REST_MAX_US):
            frames = self.tally.frames
            self._run(SLICE_US, doing)
            if self.tally.frames != frames or any(node.core.has_work for node in self.nodes):
                quiet_since_us = self.clock.now_us

    def _run(self, duration_us: int, doing: str) -> None:
        until_us = self.clock.now_us + duration_us
        while self.clock.now_us < until_us:
            self.clock.run_until(min(until_us, self.clock.now_us + SLICE_US // 10))
            self._budget.check(doing)

    def _hangs_together_without(self, left_out: SimulatedLink) -> bool:
        by_number = {node.number: node for node in self.nodes}
        first = self.nodes[0].number
        reached, front = {first}, [first]
        while front:
            for neighbour, (link, _) in by_number[front.pop()].links.items():
                if link is not left_out and neighbour not in reached:
                    reached.add(neighbour)
                    front.append(neighbour)
        return len(reached) == len(self.nodes)
