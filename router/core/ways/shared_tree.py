"""One spanning tree for all sources (papers 001 and 003): the shortest paths from the smallest router number in reach.

Law: T(s) is that tree, seen from s. Removing me cuts it into one part for each of my links in it; the parent is the
link towards the part of s, and below each other link lies exactly its part. So exact and coarse are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from tamis.router.core.ways.layer import BroadcastLayer
from tamis.router.core.ways.paths import Paths


class SharedTree(BroadcastLayer):
    @cached_property
    def _tree(self) -> Paths:
        root = min(self._cache.paths(self._graph, self.me).distance)
        return self._cache.paths(self._graph, root)

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
        while at in previous:  # up to the root, they come down towards me
            onward[previous[at]] = at
            at = previous[at]
        onward.pop(self.me, None)
        return onward

    @cached_property
    def hops(self) -> Mapping[int, int]:
        previous = self._tree.previous
        hops = {self.me: 0}
        at = self.me
        while at in previous:  # up to the root; all others hang below what has been counted
            hops[previous[at]] = hops[at] + 1
            at = previous[at]
        for router, above in previous.items():
            hops.setdefault(router, hops[above] + 1)
        return hops
