"""What the broadcast layers have in common: messages come by the way towards their source and leave by others.

Law: `ways` names, for each other router in reach, the neighbour towards it. The parent in T(s) is that of s. Here every
other link is a child, and below it is each router to which the way goes by it; a layer that knows better narrows both.
Everything is computed when it is first asked for, and kept for sources in reach alone: no peer can make it grow by
naming sources.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Final

from tamis.router.core.routing.paths import Graph, PathCache

HOPS_TO_SPARE: Final = 4  # R11: other views than one's own may be longer, even in the smallest network
HOP_LIMIT_MAX: Final = 255  # one byte of the frame: no path is longer


class BroadcastLayer(ABC):
    """One router's view of a broadcast layer; `Trees` says what the methods answer."""

    def __init__(self, graph: Graph, me: int, cache: PathCache) -> None:
        self.me: Final = me
        self._graph = graph
        self._cache = cache
        self._below: dict[int | None, Mapping[int, int]] = {}  # by parent here; by source where that matters

    @property
    @abstractmethod
    def ways(self) -> Mapping[int, int]:
        """router -> the neighbour towards it, for every other router in reach."""

    @property
    @abstractmethod
    def links(self) -> tuple[int, ...]:
        """The neighbours that take part in the layer, ascending."""

    @property
    @abstractmethod
    def onward(self) -> Mapping[int, int]:
        """router -> the next one on the way from there to here, for every other router in reach."""

    @property
    @abstractmethod
    def hops(self) -> Mapping[int, int]:
        """router -> how many links messages cross from there to here or back, for every router in reach."""

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
        """Return twice the hops to the farthest router, and HOPS_TO_SPARE: routers that have not heard of a short cut
        yet send on by a way that may be much longer. A router takes no message twice, so a generous limit costs
        nothing."""
        return min(2 * max(self.hops.values()) + HOPS_TO_SPARE, HOP_LIMIT_MAX)
