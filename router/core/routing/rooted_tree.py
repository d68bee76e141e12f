"""One spanning tree for all sources: the shortest paths from a root.

Law: T(s) is that tree, seen from s. Removing me splits it into one part for each of my links in it; the parent is the
link towards the part of s, and below each other link lies exactly its part. Exact and coarse therefore coincide, and a
message of any source along the tree has one path.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Final

from tamis.router.core.routing.layer import BroadcastLayer
from tamis.router.core.routing.paths import Graph, PathCache, Paths


class SpanningTree(BroadcastLayer):
    """The tree of a root; if the root is unreachable, this router alone."""

    @property
    @abstractmethod
    def root(self) -> int: ...

    @cached_property
    def _tree(self) -> Paths:
        paths = self._cache.paths(self._graph, self.root)
        return paths if self.me in paths.distance else Paths(self.me, {self.me: 0}, {})

    @cached_property
    def ways(self) -> Mapping[int, int]:
        down = self._tree.branches(self.me)
        up = self._tree.previous.get(self.me)
        if up is None:
            return down
        return {router: down.get(router, up) for router in self._tree.distance if router != self.me}

    @cached_property
    def links(self) -> tuple[int, ...]:
        return tuple(sorted(set(self.ways.values())))

    @cached_property
    def onward(self) -> Mapping[int, int]:
        previous = self._tree.previous
        onward = dict(previous)
        at = self.me
        while at in previous:  # messages from routers up to the root come down towards me
            onward[previous[at]] = at
            at = previous[at]
        onward.pop(self.me, None)
        return onward

    @cached_property
    def hops(self) -> Mapping[int, int]:
        previous = self._tree.previous
        hops = {self.me: 0}
        at = self.me
        while at in previous:  # up to the root; all others are below a counted router
            hops[previous[at]] = hops[at] + 1
            at = previous[at]
        for router, above in previous.items():
            hops.setdefault(router, hops[above] + 1)
        return hops


class RootedTree(SpanningTree):
    """The tree of one router, seen from router `me`."""

    def __init__(self, graph: Graph, me: int, cache: PathCache, root: int) -> None:
        super().__init__(graph, me, cache)
        self._root: Final = root

    @property
    def root(self) -> int:
        return self._root
