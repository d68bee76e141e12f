"""The network of paper 002 with its subscriptions and events: 39 brokers in three regions, ten clients each.

Law: what is drawn depends on the seed and the sizes alone. Each subscription and event has its own random numbers, so
that more subscriptions are those of a smaller run and further ones.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from tamis.configs import load_topology

TOPOLOGY: Final = Path(__file__).parents[3] / "configs" / "topologies" / "wan39.yaml"
CLIENTS: Final = 10
ATTRIBUTES: Final = 10
PUBLISHERS: Final = ("a11", "b22", "c33")
"""Leaves of the three regions, so that events take one to six brokers; the paper's own are lost with its figure 6."""
_FIRST: Final = 0.98


@dataclass(frozen=True, slots=True)
class GryphonSpace:
    """Values of an attribute, how fast subscriptions care less from attribute to attribute, and indexed attributes."""

    values: int
    decay: float
    factored: int


@dataclass(frozen=True, slots=True)
class GryphonInterest:
    """One subscription of a client."""

    home: str
    client: int
    wanted: dict[int, int]


class SpanningTree:
    """The best ways from one publishing broker to all."""

    def __init__(self, links: Sequence[tuple[str, str, int]], root: str) -> None:
        far: dict[str, float] = {root: 0}
        self.root = root
        self.parent: dict[str, str] = {}
        waiting = [root]
        while waiting:
            at = waiting.pop(0)
            for other, cost in _around(links, at):
                if far[at] + cost < far.get(other, float("inf")):
                    far[other], self.parent[other] = far[at] + cost, at
                    waiting.append(other)
        self.children: dict[str, list[str]] = {each: [] for each in far}
        for child, parent in sorted(self.parent.items()):
            self.children[parent].append(child)

    def way(self, to: str) -> list[str]:
        """The brokers from the root to one, both included."""
        way = [to]
        while way[-1] != self.root:
            way.append(self.parent[way[-1]])
        return way[::-1]


def _around(links: Sequence[tuple[str, str, int]], at: str) -> list[tuple[str, int]]:
    ends = [(b, cost) for a, b, cost in links if a == at] + [(a, cost) for a, b, cost in links if b == at]
    return sorted(ends)


@dataclass(frozen=True, slots=True)
class Brokers:
    names: list[str]
    trees: dict[str, SpanningTree]
    """By publisher."""
    costs: dict[tuple[str, str], int]
    """Of each link in both directions: its delay in milliseconds."""


def brokers(publishers: Sequence[str] | None = PUBLISHERS) -> Brokers:
    """The network, with the trees of some publishers; None: one at every broker."""
    topology = load_topology(TOPOLOGY)
    links = [(link.ends[0], link.ends[1], link.cost) for link in topology.links]
    roots = topology.routers if publishers is None else publishers
    costs = {ends: cost for a, b, cost in links for ends in ((a, b), (b, a))}
    return Brokers(list(topology.routers), {root: SpanningTree(links, root) for root in roots}, costs)


def _turned(rng: random.Random, space: GryphonSpace, region: str) -> int:
    """By Zipf, from another first value on in each region."""
    weights = [1 / (rank + 1) for rank in range(space.values)]
    return (rng.choices(range(space.values), weights)[0] + "abc".index(region)) % space.values


def wishes(network: Brokers, space: GryphonSpace, count: int, seed: int) -> list[GryphonInterest]:
    drawn = []
    for number in range(count):
        rng = random.Random(f"wish {number} {seed}")
        home = rng.choice(network.names)
        cares = [k for k in range(ATTRIBUTES) if rng.random() < _FIRST * space.decay**k]
        wanted = {k: _turned(rng, space, home[0]) for k in cares}
        drawn.append(GryphonInterest(home, rng.randrange(CLIENTS), wanted))
    return drawn


def event(
    space: GryphonSpace, number: int, seed: int, publishers: Sequence[str] = PUBLISHERS
) -> tuple[str, tuple[int, ...]]:
    """The publisher of an event, each in its turn, and its values."""
    rng = random.Random(f"event {number} {seed}")
    publisher = publishers[number % len(publishers)]
    return publisher, tuple(_turned(rng, space, publisher[0]) for _ in range(ATTRIBUTES))


class Positions:
    """The bits of the trits: clients of all brokers, each or all of a broker as one, then for each tree the link above
    each broker."""

    def __init__(self, network: Brokers, each_client: bool) -> None:
        self.clients_of_one = CLIENTS if each_client else 1
        own = range(self.clients_of_one)
        keys: list[tuple[str, str, int | str]] = [("client", name, k) for name in network.names for k in own]
        keys += [("link", child, root) for root, tree in network.trees.items() for child in tree.parent]
        self._bit = {key: 1 << place for place, key in enumerate(keys)}
        self._network = network
        self._above = {name: self._links_to(name) for name in network.names}
        self.clients = (1 << len(network.names) * self.clients_of_one) - 1

    def of(self, wish: GryphonInterest) -> int:
        """The positions that lead to a subscription, in every tree."""
        return self._above[wish.home] | self._bit["client", wish.home, wish.client % self.clients_of_one]

    def _links_to(self, home: str) -> int:
        bits = 0
        for root, tree in self._network.trees.items():
            for _, child in pairwise(tree.way(home)):
                bits |= self._bit["link", child, root]
        return bits

    def link(self, root: str, child: str) -> int:
        return self._bit["link", child, root]

    def mask(self, root: str, broker: str) -> int:
        """What a broker decides on under one tree: its children and its clients."""
        bits = self.local(broker)
        for child in self._network.trees[root].children[broker]:
            bits |= self.link(root, child)
        return bits

    def local(self, broker: str) -> int:
        return sum(self._bit["client", broker, k] for k in range(self.clients_of_one))
