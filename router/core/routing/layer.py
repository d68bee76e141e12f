"""The common part of the broadcast layers: messages arrive along the path towards their source and leave by other
links.

Law: `ways` maps each other reachable router to the neighbour towards it. The parent in T(s) is that of s. Here every
other link is a child, and below it is each router whose path uses it; a more exact layer narrows both. Values are
computed on demand, and cached for reachable sources alone: no peer can grow the cache by naming sources.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Final

from tamis.router.core.routing.paths import Graph, PathCache

HOPS_TO_SPARE: Final = 4  # R11: paths in other routers' views may be longer, even in the smallest network
HOP_LIMIT_MAX: Final = 255  # one byte of the frame: no path is longer


class BroadcastLayer(ABC):
    """One router's view of a broadcast layer; `Trees` specifies the methods."""

    def __init__(self, graph: Graph, me: int, cache: PathCache) -> None:
        self.me: Final = me
        self._graph = graph
        self._cache = cache
        self._below: dict[int | None, Mapping[int, int]] = {}  # by parent here; by source in exact trees

    @property
    @abstractmethod
    def ways(self) -> Mapping[int, int]:
        """Maps every other reachable router to the neighbour towards it."""

    @property
    @abstractmethod
    def links(self) -> tuple[int, ...]:
        """The neighbours that take part in the layer, ascending."""

    @property
    @abstractmethod
    def onward(self) -> Mapping[int, int]:
        """Maps every other reachable router to the next router on its path to here."""

    @property
    @abstractmethod
    def hops(self) -> Mapping[int, int]:
        """Maps every reachable router to the number of links that messages cross between it and here."""

    @cached_property
    def routers(self) -> frozenset[int]:
        return self._graph.component(self.me)

    def next_hop(self, router: int) -> int | None:
        return self.ways.get(router)

    def parent(self, source: int) -> int | None:
        return self.ways.get(source)

    def children(self, source: int) -> tuple[int, ...]:
        parent = self.parent(source)
        if parent is None and source != self.me:
            return ()
        return tuple(link for link in self.links if link != parent)

    def below(self, source: int) -> Mapping[int, int]:
        parent = self.parent(source)
        if parent is None and source != self.me:
            return {}
        below = self._below.get(parent)
        if below is None:
            below = self._below[parent] = {router: way for router, way in self.ways.items() if way != parent}
        return below

    def hop_limit(self) -> int:
        """Return twice the hops to the farthest router, and HOPS_TO_SPARE: routers that do not know of a short cut yet
        may forward along a much longer path. A router accepts no message twice, which makes a generous limit free."""
        return min(2 * max(self.hops.values()) + HOPS_TO_SPARE, HOP_LIMIT_MAX)
