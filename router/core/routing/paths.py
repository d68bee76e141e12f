"""R5: the topology as a graph, and the one shortest path between any two of its routers.

Law: the length of a path is (sum of the costs of its edges, sum of their hashes), compared in that order. The hash of
an edge is 64 bits of BLAKE2b over its two router numbers, the smaller first; two paths of equal length are as likely as
a collision of it. The shortest path from a to b is therefore unique, equals the one from b to a, and each part of it is
a shortest path. Routers with equal edges compute equal paths, in whatever order they received them.
"""

from __future__ import annotations

import hashlib
import struct
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from heapq import heappop, heappush
from typing import Final

Length = int
"""The two sums in one number, which adds and compares like the pair and takes a third of its memory: cost << HASH_BITS
| sum of hashes."""

HASH_BITS: Final = 96  # a sum of 64-bit hashes along a path of up to 2^32 edges
EDGES_REMEMBERED: Final = 65_536  # hashes of edges; forgetting one costs its computation
PATHS_MAX: Final = 1_024
ROUTERS_MAX: Final = 250_000  # about 35 MB

_EDGE: Final = struct.Struct("<QQ")
_EDGE_AND_COST: Final = struct.Struct("<QQQ")
_DIGESTS: Final = 1 << 128


@lru_cache(EDGES_REMEMBERED)
def edge_hash(low: int, high: int) -> int:
    """Return the little-endian BLAKE2b of both numbers as little-endian u64; never 0: each edge makes a path longer."""
    return int.from_bytes(hashlib.blake2b(_EDGE.pack(low, high), digest_size=8).digest(), "little") or 1


@lru_cache(EDGES_REMEMBERED)
def _edge_digest(low: int, high: int, cost: int) -> int:
    return int.from_bytes(hashlib.blake2b(_EDGE_AND_COST.pack(low, high, cost), digest_size=16).digest(), "little")


def edge_length(one: int, other: int, cost: int) -> Length:
    return (cost << HASH_BITS) + edge_hash(min(one, other), max(one, other))


@dataclass(frozen=True)
class Graph:
    """Routers and the edges between them. Graphs never change; those with equal edges have equal digests: a router
    without an edge is on no path."""

    neighbours: Mapping[int, Mapping[int, int]] = field(default_factory=dict, hash=False)
    """Maps a router to its neighbours, and each of them to the cost of the edge, which is equal at both ends."""
    digest: int = 0
    """The sum of 128-bit hashes of (smaller number, larger number, cost), which is updated by a change of one edge."""

    @staticmethod
    def of(edges: Iterable[tuple[int, int, int]], routers: Iterable[int] = ()) -> Graph:
        """Make a graph of edges (router, router, cost), in any order and direction; an edge listed twice has the last
        cost. `routers` may contain routers without an edge."""
        return Graph().changed(edges, routers)

    def changed(self, edges: Iterable[tuple[int, int, int | None]], routers: Iterable[int] = ()) -> Graph:
        """Return this graph with `edges` set to new costs; a cost of None removes the edge, and a router with its last
        edge. This takes work in proportion to the changes, and one copy of the outer table."""
        neighbours = dict(self.neighbours)
        mine: dict[int, dict[int, int]] = {}
        digest = self.digest
        for one, other, cost in edges:
            if one == other:
                raise ValueError(f"router {one} cannot be its own neighbour")
            low, high = min(one, other), max(one, other)
            for router in (low, high):
                if router not in mine:
                    neighbours[router] = mine[router] = dict(neighbours.get(router, {}))
            before = mine[low].pop(high, None)
            mine[high].pop(low, None)
            digest -= _edge_digest(low, high, before) if before is not None else 0
            if cost is not None:
                mine[low][high] = mine[high][low] = cost
                digest += _edge_digest(low, high, cost)
        for router in [router for router, costs in mine.items() if not costs]:
            del neighbours[router]
        for router in routers:
            neighbours.setdefault(router, {})
        return Graph(neighbours, digest % _DIGESTS)

    def component(self, router: int) -> frozenset[int]:
        """Return all routers reachable from `router`, itself included; this takes a twentieth of the work of shortest
        paths."""
        neighbours = self.neighbours
        reached = frontier = {router}
        while frontier:
            frontier = set().union(*[neighbours.get(each, ()) for each in frontier]) - reached
            reached = reached | frontier
        return frozenset(reached)

    @cached_property
    def lengths(self) -> Mapping[int, tuple[tuple[int, Length], ...]]:
        """Maps a router to (neighbour, length of the edge) of each neighbour, ascending."""
        return {
            router: tuple((other, edge_length(router, other, cost)) for other, cost in sorted(costs.items()))
            for router, costs in self.neighbours.items()
        }


@dataclass(frozen=True)
class Paths:
    """The shortest paths from one router: the tree T(root). Both tables are ordered by growing length, the nearest
    router first: in iteration order, each router follows all routers on its path."""

    root: int
    distance: Mapping[int, Length]
    """Maps every reachable router, the root included, to the length of its path from the root."""
    previous: Mapping[int, int]
    """Maps a router to the one before it on the path from the root; the root has none."""

    @cached_property
    def hops(self) -> Mapping[int, int]:
        """Maps a router to the number of edges between it and the root."""
        hops = {self.root: 0}
        for router, previous in self.previous.items():
            hops[router] = hops[previous] + 1
        return hops

    def branches(self, through: int) -> dict[int, int]:
        """Return for each router whose path passes `through` and continues: the router that comes after `through`."""
        branch: dict[int, int] = {}
        for router, previous in self.previous.items():
            if previous == through:
                branch[router] = router
            elif previous in branch:
                branch[router] = branch[previous]
        return branch


def shortest_paths(graph: Graph, root: int) -> Paths:
    """Return the shortest paths from `root` by Dijkstra's algorithm. Of two equally distant routers the smaller number
    comes first; of two equally long paths to one router (a collision of hashes) the one found first stays."""
    lengths = graph.lengths
    found = {root: 0}
    via: dict[int, int] = {}
    distance: dict[int, Length] = {}
    heap = [(0, root)]
    while heap:
        length, router = heappop(heap)
        if router in distance:
            continue
        distance[router] = length
        for neighbour, edge in lengths.get(router, ()):
            longer = length + edge
            known = found.get(neighbour)
            if known is None or longer < known:
                found[neighbour] = longer
                via[neighbour] = router
                heappush(heap, (longer, neighbour))
    return Paths(root, distance, {router: via[router] for router in distance if router != root})


class PathCache:
    """Cache the paths requested last, at most `paths_max` of them and, over all, about `routers_max` routers at their
    ends (about 140 bytes each); the least recent are dropped first, the latest always stays. The default is for one
    router, whose trees keep what they need. A simulator gives all its routers one cache, with room for every root of
    its topology."""

    def __init__(self, paths_max: int = PATHS_MAX, routers_max: int = ROUTERS_MAX) -> None:
        self._paths_max = paths_max
        self._routers_max = routers_max
        self._paths: OrderedDict[tuple[int, int], Paths] = OrderedDict()
        self._routers = 0

    def paths(self, graph: Graph, root: int) -> Paths:
        """Return the paths from `root`; a root that is not in the graph has a path to itself alone."""
        key = (graph.digest, root)
        paths = self._paths.get(key)
        if paths is not None:
            self._paths.move_to_end(key)
            return paths
        paths = self._paths[key] = shortest_paths(graph, root)
        self._routers += len(paths.distance)
        while len(self._paths) > 1 and (len(self._paths) > self._paths_max or self._routers > self._routers_max):
            self._routers -= len(self._paths.popitem(last=False)[1].distance)
        return paths

    def __len__(self) -> int:
        return len(self._paths)
