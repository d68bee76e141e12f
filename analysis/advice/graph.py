"""The number of links that a message has to cross.

Law: every router sends along its own paths of least cost, and a link that several receivers need is crossed once. Among
equal paths any may be the real one, so a count may be wrong by the links that they share.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import heappop, heappush

Neighbours = Mapping[str, Iterable[tuple[str, int]]]
"""Router -> (neighbour, cost)."""


def parents(neighbours: Neighbours, source: str) -> dict[str, str]:
    """Return, for each router that can be reached from `source`, the router before it on the way."""
    found: dict[str, str] = {}
    heap = [(0, 0, source, source)]
    while heap:
        cost, hops, router, before = heappop(heap)
        if router in found:
            continue
        found[router] = before
        for other, more in neighbours[router]:
            heappush(heap, (cost + more, hops + 1, other, router))
    return found


def links_needed(before: Mapping[str, str], wanted_at: Iterable[str]) -> int:
    """Return how many links of one source's tree are needed to reach all of `wanted_at`; a router out of reach needs
    none."""
    crossed: set[str] = set()
    for receiver in wanted_at:
        router = receiver
        while router in before and before[router] != router and router not in crossed:
            crossed.add(router)
            router = before[router]
    return len(crossed)


def links_between(before: Mapping[str, str], members: Iterable[str]) -> int:
    """Return how many links of one tree join `members`: those with some, but not all, of them behind."""
    found = [member for member in set(members) if member in before]
    behind: dict[str, int] = {}
    for member in found:
        router = member
        while before[router] != router:
            behind[router] = behind.get(router, 0) + 1
            router = before[router]
    return sum(count < len(found) for count in behind.values())


def depths(before: Mapping[str, str]) -> dict[str, int]:
    """Return how many links lie between each router of a tree and its root."""
    found: dict[str, int] = {}
    for router, above in before.items():  # a router comes after the one above it
        found[router] = 0 if above == router else found[above] + 1
    return found
