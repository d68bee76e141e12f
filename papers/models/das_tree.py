"""A tree of brokers, as paper 003's figures have it: which way leads from one to another, and who lies behind whom.

Law: a pair (from, to) of brokers is one direction of a link.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from tamis.configs import load_topology

Broker = str
Link = tuple[Broker, Broker]


class BrokerTree:
    """Brokers, one at least, and the links that join them without a cycle. ValueError: these do not."""

    def __init__(self, brokers: Collection[Broker], links: Collection[Link]) -> None:
        self.brokers: Final = tuple(sorted(brokers))
        self._links: Final = tuple(links)
        self.neighbours: Final[dict[Broker, list[Broker]]] = {broker: [] for broker in self.brokers}
        for one, other in links:
            self.neighbours[one].append(other)
            self.neighbours[other].append(one)
        self.way = cache(self._way)
        self.behind = cache(self._behind)
        if len(links) != len(brokers) - 1 or len(self.behind(self.brokers[0], None)) != len(brokers):
            raise ValueError("the links make no tree of all brokers")

    @staticmethod
    def of(topology: str | Path) -> BrokerTree:
        """Return the tree of a topology file."""
        network = load_topology(topology)
        return BrokerTree(list(network.routers), [(link.ends[0], link.ends[1]) for link in network.links])

    def first(self, count: int) -> BrokerTree:
        """Return the part with the brokers whose names come first; ValueError where they are no tree of their own."""
        kept = self.brokers[:count]
        return BrokerTree(kept, [link for link in self._links if link[0] in kept and link[1] in kept])

    def _way(self, one: Broker, other: Broker) -> tuple[Broker, ...]:
        """Return the brokers from one to another, both included."""
        at = [one]
        while at[-1] != other:
            at.append(next(next_ for next_ in self.neighbours[at[-1]] if other in self.behind(next_, at[-1])))
        return tuple(at)

    def links(self, one: Broker, other: Broker) -> tuple[Link, ...]:
        """Return the links from one broker to another."""
        way = self.way(one, other)
        return tuple(pairwise(way))

    def away_from(self, broker: Broker) -> Iterable[Link]:
        """Yield each link in the direction that leads away from a broker."""
        for one, other in self._links:
            yield (one, other) if broker in self.behind(one, other) else (other, one)

    def _behind(self, broker: Broker, seen_from: Broker | None) -> frozenset[Broker]:
        """Return a broker and those that lie behind it, seen from a neighbour of it; None: from nowhere, so all."""
        farther = [self.behind(other, broker) for other in self.neighbours[broker] if other != seen_from]
        return frozenset({broker}).union(*farther)
