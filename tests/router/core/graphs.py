"""Graphs to test with, and what is true of them, told by an oracle that shares no code with the routing core.

Law: the oracle knows lengths as pairs (cost, sum of hashes) and finds them by Floyd and Warshall's three loops; a path
passes a router iff the two parts add up. It is slow, and obviously right.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise

from hypothesis import settings
from hypothesis import strategies as st

checks = settings(max_examples=min(15, settings.default.max_examples), deadline=None, derandomize=True)

Edge = tuple[int, int, int]
Pair = tuple[int, int]


def number(index: int) -> int:
    """A router number of 64 bits; their order has nothing to do with that of the indexes."""
    return (index + 1) * 0x9E37_79B9_7F4A_7C15 % 2**64


def hash_of(one: int, other: int) -> int:
    low, high = sorted((one, other))
    packed = low.to_bytes(8, "little") + high.to_bytes(8, "little")
    return int.from_bytes(hashlib.blake2b(packed, digest_size=8).digest(), "little")


def add(one: Pair, other: Pair) -> Pair:
    return one[0] + other[0], one[1] + other[1]


@dataclass(frozen=True, eq=False)
class World:
    """A topology as a list of edges, and every pair of routers in it."""

    routers: tuple[int, ...]
    edges: tuple[Edge, ...]

    @cached_property
    def links(self) -> dict[tuple[int, int], Pair]:
        return {
            way: (cost, hash_of(one, other)) for one, other, cost in self.edges for way in ((one, other), (other, one))
        }

    @cached_property
    def distance(self) -> dict[tuple[int, int], Pair]:
        distance = {(router, router): (0, 0) for router in self.routers} | self.links
        for middle in self.routers:
            before = [(router, distance[router, middle]) for router in self.routers if (router, middle) in distance]
            after = [(router, distance[middle, router]) for router in self.routers if (middle, router) in distance]
            for start, first in before:
                for end, second in after:
                    through = add(first, second)
                    if through < distance.get((start, end), (1 << 200, 0)):
                        distance[start, end] = through
        return distance

    @cached_property
    def reaches(self) -> dict[int, set[int]]:
        return {one: {other for other in self.routers if (one, other) in self.distance} for one in self.routers}

    @cached_property
    def adjacent(self) -> dict[int, set[int]]:
        return {router: {other for one, other in self.links if one == router} for router in self.routers}

    def reach(self, router: int) -> set[int]:
        return self.reaches[router]

    def neighbours(self, router: int) -> set[int]:
        return self.adjacent[router]

    def passes(self, *stops: int) -> bool:
        """Does the shortest path from the first to the last go by all of them, in this order?"""
        parts = [self.distance.get(part) for part in pairwise(stops)]
        return None not in parts and reduce(add, parts) == self.distance[stops[0], stops[-1]]

    def next_hop(self, router: int, target: int) -> int | None:
        """The neighbour towards `target`."""
        if router == target or target not in self.reach(router):
            return None
        [found] = [way for way in self.neighbours(router) if self.link_leads(router, way, target)]
        return found

    def link_leads(self, router: int, way: int, target: int) -> bool:
        return add(self.links[router, way], self.distance[way, target]) == self.distance[router, target]

    def within(self, edges: set[frozenset[int]]) -> World:
        """With these edges only."""
        return World(self.routers, tuple(edge for edge in self.edges if frozenset(edge[:2]) in edges))


def drawn(indexes: list[tuple[int, int, int]], size: int) -> World:
    edges = {frozenset((one % size, other % size)): cost for one, other, cost in indexes if one % size != other % size}
    numbered = [(*sorted(number(index) for index in pair), cost) for pair, cost in edges.items()]
    return World(tuple(number(index) for index in range(size)), tuple(sorted(numbered)))  # type: ignore[arg-type]


def worlds(size_max: int = 24) -> st.SearchStrategy[World]:
    """2 to 24 routers in one component or several; few costs, so that many paths cost the same."""
    index = st.integers(0, size_max - 1)
    edges = st.lists(st.tuples(index, index, st.integers(1, 3)), max_size=3 * size_max)
    return st.builds(drawn, edges, st.integers(2, size_max))


def random_edges(size: int, degree: int, random) -> list[Edge]:
    """One component of `size` routers with `degree` edges each on average."""
    edges = {(index, random.randrange(index)): random.randint(1, 10) for index in range(1, size)}
    while 2 * len(edges) < size * degree:
        one, other = sorted(random.sample(range(size), 2), reverse=True)
        edges[one, other] = random.randint(1, 10)
    return [(number(one), number(other), cost) for (one, other), cost in edges.items()]
