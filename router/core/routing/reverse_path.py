"""Reverse path (paper 004): a message that arrives by the shortest path from its source may leave by every other link.

Law: parents are next hops of the shortest paths, as with source trees. A child may refuse a message: it has another
parent. That costs copies, and loses no message: T(s) is contained in the links used.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from tamis.router.core.routing.layer import BroadcastLayer
from tamis.router.core.routing.paths import Paths


class ReversePath(BroadcastLayer):
    @cached_property
    def own(self) -> Paths:
        return self._cache.paths(self._graph, self.me)

    @cached_property
    def ways(self) -> Mapping[int, int]:
        return self.own.branches(self.me)

    @cached_property
    def links(self) -> tuple[int, ...]:
        return tuple(sorted(self._graph.neighbours.get(self.me, ())))

    @property
    def onward(self) -> Mapping[int, int]:
        return self.own.previous

    @property
    def hops(self) -> Mapping[int, int]:
        return self.own.hops
