"""A random network to measure: it comes up, is at rest, loses a link and gets it back.

Law: links have 10 ms and 100 Mbit/s; a router has four on average. The same size and seed give the same network
and, but for CPU, the same figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from tamis.bench.matching.workloads import make
from tamis.bench.networks.growth.gauge import Gauge, GaugedKit
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.protocol.wire.routing_bodies import Body, ReceiverAdvertisement
from tamis.router.core.core import Core
from tamis.router.core.events import Heard, Tick
from tamis.router.core.routing.paths import PathCache
from tamis.router.core.statements.rib import advertised
from tamis.simulate.faults.topologies import Edge, tree
from tamis.simulate.nodes.clock import Clock
from tamis.simulate.nodes.direction import Line
from tamis.simulate.nodes.link import SimulatedLink
from tamis.simulate.nodes.node import Node
from tamis.simulate.nodes.paths import SharedPaths
from tamis.simulate.twin.table import Matches

MS: Final = 1_000
S: Final = 1_000_000
DELAY_US: Final = 10 * MS
QUIET_US: Final = 3 * S
"""At rest: so long nobody said anything new; longer than anything is damped or held back."""
PATIENCE_US: Final = 120 * S
UNIX_MS: Final = 1_700_000_000_000


def random_edges(size: int, random: Random) -> list[Edge]:
    """A tree, and others anywhere until there are twice as many edges as routers, or all there can be."""
    edges = tree(size, random)
    while len(edges) < min(2 * size, size * (size - 1) // 2):
        a, b = sorted(random.sample(range(size), 2))
        edges.add((a, b))
    return sorted(edges)


def small_filters(count: int) -> list[bytes]:
    """Of two constraints, none like another."""
    return [
        encode_filter(Filter((Constraint("region", Op.EQ, (f"r{number % 100}",)), Constraint("id", Op.EQ, (number,)))))
        for number in range(count)
    ]


def filters_of_the_paper(count: int) -> list[bytes]:
    """Paper 004, table 1: 1 to 9 constraints, strings and integers."""
    batch = make("sigcomm03", count, 1, 1_000, 2003).filters
    return [batch[index] for index in range(count)]


def said(core: Core) -> tuple[Body, Body]:
    """What a router says of itself, whole."""
    core_state = core.core_state
    held = core_state.rib.entries[core.me]
    filters = advertised(held.filters)
    whole = ReceiverAdvertisement(core.me, *held.version, True, 0, filters, (), held.digest, len(filters), False)
    return core_state.topology.states[core.me].body, whole


class Simulated:
    """Routers deal out the filters among them. The CPU of `watched` is counted, and it has a path cache of its own, as
    a router has; the others share one, so that a thousand of them fit. `all_alike`: they are all like that one."""

    def __init__(self, size: int, filters: Sequence[bytes], seed: int, all_alike: bool = False) -> None:
        self.random = Random(f"{seed}/growth/{size}")
        self.clock = Clock()
        names = [f"r{index}" for index in range(size)]
        alone = range(size) if all_alike else (size // 2,)
        self.gauge = Gauge([names[index] for index in alone])
        kit = GaugedKit(gauge=self.gauge)
        shared, matches = SharedPaths(size), Matches(())
        caches = {index: PathCache() for index in alone}
        self.nodes = [
            Node(name, self.clock, kit, matches, caches.get(index, shared), self.gauge, lambda: UNIX_MS)
            for index, name in enumerate(names)
        ]
        self.watched = self.nodes[size // 2]
        self.links = [self._link(self.nodes[a], self.nodes[b]) for a, b in random_edges(size, self.random)]
        self._filters = filters

    def _link(self, one: Node, other: Node) -> SimulatedLink:
        chance = Random(f"{one.name}/{other.name}")
        link = SimulatedLink(self.clock, (one, other), 1, Line(DELAY_US), chance, self.gauge)
        one.links[other.number] = (link, 0)
        other.links[one.number] = (link, 1)
        return link

    def come_up(self) -> None:
        """All at about the same time, as after a power cut; each router's clients are there soon after."""
        for index, node in enumerate(self.nodes):
            at_us = self.random.randrange(50 * MS)
            self.clock.at(at_us, _start, node)
            self.clock.at(at_us + 50 * MS, self._want, (node, tuple(self._filters[index :: len(self.nodes)])))
        for link in self.links:
            link.wake()
        self.rest()

    def stand(self) -> None:
        """At rest from the beginning: links are up, and each router is told what the others say. What coming up costs
        is left out; what follows is what it would have been."""
        self.gauge.standing = {node.name: sorted(node.links) for node in self.nodes}
        for index, node in enumerate(self.nodes):
            node.start()
            node.want(0, tuple(self._filters[index :: len(self.nodes)]), 0)
        bodies = [body for node in self.nodes for body in said(self.core_of(node))]
        for node in self.nodes:
            core, teller = self.core_of(node), min(node.links)
            for body in bodies:
                core.handle(Heard(teller, 1, body), 0)
        for link in self.links:
            link.join()
        for node in self.nodes:
            node.ask(Tick())
        self.rest()

    def _want(self, what: tuple[Node, tuple[bytes, ...]]) -> None:
        node, filters = what
        node.want(0, filters, 0)

    def rest(self) -> None:
        """Until nobody has anything new to say."""
        began_us = quiet_since_us = self.clock.now_us
        while self.clock.now_us < quiet_since_us + QUIET_US:
            before = self.gauge.news_frames
            self.run(100 * MS)
            if self.gauge.news_frames != before:
                quiet_since_us = self.clock.now_us
            if quiet_since_us > began_us + PATIENCE_US:
                raise TimeoutError(f"not at rest after {PATIENCE_US // S} s")

    def core_of(self, node: Node) -> Core:
        return self.gauge.cores[node.name].core

    def run(self, duration_us: int) -> None:
        self.clock.run_until(self.clock.now_us + duration_us)

    def spare_link(self) -> SimulatedLink:
        """One without which the network stays in one piece."""
        while True:
            link = self.random.choice(self.links)
            if self._hangs_together_without(link):
                return link

    def _hangs_together_without(self, left_out: SimulatedLink) -> bool:
        by_number = {node.number: node for node in self.nodes}
        reached, frontier = {self.watched.number}, [self.watched]
        while frontier:
            for neighbour, (link, _) in frontier.pop().links.items():
                if link is not left_out and neighbour not in reached:
                    reached.add(neighbour)
                    frontier.append(by_number[neighbour])
        return len(reached) == len(self.nodes)


def _start(node: Node) -> None:
    node.start()
