"""Source trees (R5, R6): T(s) is the union of the shortest paths from s.

Law: a neighbour j is my child in T(s) iff d(j, s) = d(j, me) + d(me, s), and j's link to me is its shortest path: as
lengths are unique, iff j's path towards s passes me. Finding the children takes the paths from this router and from its
neighbours, and none from the source. Finding exactly which routers lie below a child takes the paths from the source,
computed when a message of that source arrives.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from tamis.router.core.routing.paths import Length
from tamis.router.core.routing.reverse_path import ReversePath


class SourceTrees(ReversePath):
    """Trees in which the routers below a child of T(s) are those whose path from s passes me, then the child."""

    @cached_property
    def _near(self) -> tuple[tuple[int, Length, Mapping[int, Length]], ...]:
        """(neighbour, length of its link, its distances) of each neighbour whose link is the shortest path between both
        ends; the other links are in no tree."""
        return tuple(
            (link, self.own.distance[link], self._cache.paths(self._graph, link).distance)
            for link in self.links
            if self.ways[link] == link
        )

    def children(self, source: int) -> tuple[int, ...]:
        if source == self.me:  # computed at every change of topology: no neighbour's paths are needed
            return tuple(link for link in self.links if self.ways[link] == link)
        mine = self.own.distance.get(source)
        if mine is None:
            return ()
        return tuple(link for link, length, distance in self._near if distance[source] == mine + length)

    def below(self, source: int) -> Mapping[int, int]:
        if source not in self.own.distance:
            return {}
        below = self._below.get(source)
        if below is None:
            below = self._below[source] = self._behind_children(source)
        return below

    def _behind_children(self, source: int) -> Mapping[int, int]:
        return self._cache.paths(self._graph, source).branches(self.me) if self.children(source) else {}


class CoarseSourceTrees(SourceTrees):
    """Trees in which every router that this router reaches by a child lies below that child: one table for all sources,
    with more routers than the exact one, which needs only the paths of this router and its neighbours."""

    @cached_property
    def _behind(self) -> dict[tuple[int, ...], Mapping[int, int]]:
        return {}

    def _behind_children(self, source: int) -> Mapping[int, int]:
        children = self.children(source)
        below = self._behind.get(children)
        if below is None:
            below = {router: way for router, way in self.ways.items() if way in children}
            self._behind[children] = below
        return below
