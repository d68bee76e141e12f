"""One spanning tree for all sources (papers 001 and 003): that of the smallest reachable router number."""

from __future__ import annotations

from functools import cached_property

from tamis.router.core.routing.rooted_tree import SpanningTree


class SharedTree(SpanningTree):
    @cached_property
    def root(self) -> int:
        return min(self._cache.paths(self._graph, self.me).distance)
