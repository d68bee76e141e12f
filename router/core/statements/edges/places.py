"""E1, E6: the edges of a tree at this router, the routers behind each, and the numbers of edges in tables.

Law: an edge is named by the root of its tree, the neighbour at its other end, and the set of routers behind that end. A
statement about an edge is about this set and not about paths inside it: an edge stays as long as its set does. In the
tree of a root it is also about the classes with that root: with another class the edges are others. The number of an
edge follows from its name, which gives an edge that returns its earlier number.

The trees of this file put edges beside routers: below a child lie the routers behind it, by which members of worker
groups are found, and the number of its edge, under which the table holds the child's statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final, NamedTuple

from tamis.protocol.wire.numbers import NO_DIGEST, edge_number, of_classes_digest, routers_digest
from tamis.router.core.routing.trees import Trees

EVERY_CLASS: Final = -1
"""The classes of messages that use a tree, as bits: those of the tree of a strategy that has no classes."""


class EdgePlace(NamedTuple):
    """One edge of a tree, as the router at one of its ends sees it."""

    root: int
    neighbour: int
    behind: bytes
    """The digest of the routers behind the neighbour's end, for which the neighbour makes statements; in a tree of
    classes of messages, of the classes, too."""
    before: bytes
    """The digest of the routers behind this router's end, for which this router makes statements."""
    is_up: bool
    """Whether the neighbour is nearer to the root."""
    classes: int = EVERY_CLASS
    """The classes of messages that use the tree, as bits."""

    @property
    def number(self) -> int:
        return edge_number(self.root, self.neighbour, self.behind)


class _Wrapped:
    """Trees that differ from the wrapped ones only in `below`."""

    def __init__(self, trees: Trees) -> None:
        self._trees: Final = trees
        self.me, self.routers = trees.me, trees.routers
        self.next_hop, self.parent, self.children = trees.next_hop, trees.parent, trees.children
        self.hop_limit = trees.hop_limit
        self._below: dict[int, Mapping[int, int]] = {}

    @property
    def hops(self) -> Mapping[int, int]:
        return self._trees.hops

    @property
    def onward(self) -> Mapping[int, int]:
        return self._trees.onward


class EdgeTrees(_Wrapped):
    """One tree, with its edges in `below`. `root` is the router that it is made from; `classes` are those of the
    messages that use it."""

    def __init__(self, trees: Trees, root: int, classes: int = EVERY_CLASS) -> None:
        super().__init__(trees)
        self.root: Final = root
        self._classes: Final = classes

    @cached_property
    def places(self) -> Mapping[int, EdgePlace]:
        """Maps each neighbour to its edge."""
        behind: dict[int, list[int]] = {}
        for router in self.routers - {self.me}:
            way = self._trees.next_hop(router)
            if way is not None:
                behind.setdefault(way, []).append(router)
        up = self._trees.next_hop(self.root)
        return {
            neighbour: EdgePlace(
                self.root,
                neighbour,
                self._digest(there),
                self._digest(self.routers.difference(there)),
                neighbour == up,
                self._classes,
            )
            for neighbour, there in sorted(behind.items())
        }

    def _digest(self, routers: Iterable[int]) -> bytes:
        digest = routers_digest(routers)
        return digest if self._classes == EVERY_CLASS else of_classes_digest(digest, self._classes)

    @cached_property
    def numbers(self) -> Mapping[int, int]:
        """Maps the number of each edge to its neighbour."""
        return {place.number: neighbour for neighbour, place in self.places.items()}

    def below(self, source: int) -> Mapping[int, int]:
        parent = self._trees.parent(source)
        if parent is None and source != self.me:
            return {}
        key = self.me if parent is None else parent
        if key not in self._below:
            edges = {number: neighbour for number, neighbour in self.numbers.items() if neighbour != parent}
            self._below[key] = {**self._trees.below(source), **edges}
        return self._below[key]


class TreesOfAll(_Wrapped):
    """The trees that all families fall back to. Below a child lies each router, and beside it the number under which
    the table holds the router's interest in everything, which routers of this family state to those of others."""

    def below(self, source: int) -> Mapping[int, int]:
        if source not in self._below:
            below = self._trees.below(source)
            if not below:
                return below
            self._below[source] = {**below, **{everything_of(router): way for router, way in below.items()}}
        return self._below[source]


def everything_of(router: int) -> int:
    """Return the number under which a table holds the statement of `router` that it wants everything."""
    return edge_number(0, router, NO_DIGEST)
