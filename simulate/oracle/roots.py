"""The root of each class of messages, computed from the truth alone.

Law: written from the description of the choice and not from its code: the first router of the class's list that is in
reach, otherwise the one in reach with the highest BLAKE2b-8 over the name of the class and its number.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from tamis.simulate.oracle.paths import Edge, Graph, component, edges_between, edges_by_root, graph_of
from tamis.simulate.oracle.truth import Truth


@dataclass(frozen=True, slots=True)
class ClassTruth:
    """A class: its name, the contents that are in it and in no earlier class, and the routers preferred as its root."""

    name: str
    contents: int
    preferred: tuple[int, ...]

    def root(self, reach: Collection[int]) -> int:
        for router in self.preferred:
            if router in reach:
                return router
        return max(reach, key=self._rank)

    def _rank(self, router: int) -> tuple[bytes, int]:
        hashed = blake2b(self.name.encode("utf-8") + router.to_bytes(8, "little"), digest_size=8).digest()
        return hashed[::-1], router


class Lanes:
    """The routes of messages of each class. Without classes there is one lane, of shortest paths."""

    def __init__(self, classes: Sequence[ClassTruth] = ()) -> None:
        self._classes = classes

    def of(self, content: int) -> int:
        """Return the lane of a content."""
        places = (place for place, each in enumerate(self._classes) if each.contents >> content & 1)
        return next(places, 0)

    @property
    def all(self) -> range:
        return range(max(1, len(self._classes)))

    def contents_by_root(self, reach: Collection[int]) -> dict[int, int]:
        """Return each root among the routers in `reach` with the contents whose messages use its tree."""
        contents: dict[int, int] = {}
        for each in self._classes:
            root = each.root(reach)
            contents[root] = contents.get(root, 0) | each.contents
        return contents

    def ways(self, graph: Graph, start: int, end: int, lane: int) -> set[Edge] | None:
        """Return the edges that a message of a lane may need from `start` to `end`: by its root and, where no root is
        named, by the shortest paths; None: there is no path."""
        ways = edges_between(graph, start, end)
        if ways is None or not self._classes:
            return ways
        root = self._classes[lane].root(component(graph, start))
        return ways.union(edges_between(graph, root, start) or (), edges_between(graph, root, end) or ())

    def stayed(self, truth: Truth, source: int, lane: int, since_us: int) -> bool:
        """Return whether the root of a lane has been unchanged for routers around `source` since `since_us`."""
        if not self._classes:
            return True
        moments = [since_us, *(at_us for at_us in truth.unsettled if since_us < at_us <= truth.now_us), truth.now_us]
        roots = set()
        for at_us in moments:
            graph: Mapping[int, Mapping[int, int]] = graph_of(truth.edges(at_us), list(truth.lives))
            roots.add(self._classes[lane].root(component(graph, source)))
        return len(roots) == 1


class SharedTreeLanes(Lanes):
    """One lane, of the routes in a tree that all share."""

    def ways(self, graph: Graph, start: int, end: int, lane: int) -> set[Edge] | None:  # noqa: ARG002 - there is one
        return edges_by_root(graph, start, end)
