"""Conditions of `behind` in a topology: the listed routers exist, and no message of another one needs the link.

Law: as in wiring.py. A router that reaches one end through the other alone, or on its only shortest path, must be
listed there, else what it publishes is lost while everything is up.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tamis.configs.mistakes import Path, Problem, quoted

_FAR = float("inf")
_BY_SOURCE = "source-trees"


class BoundedLink(NamedTuple):
    """A link whose ends are routers of the file. `behind`: what the file lists for an end; None: it lists nothing
    readable."""

    path: Path
    ends: tuple[str, str]
    cost: int
    behind: Mapping[str, tuple[str, ...]]


def problems(routers: Mapping[str, object], links: list[BoundedLink], broadcast: str) -> Iterator[Problem]:
    """Yield the problems of all lists. `links` are all links of a file that is sound but for them."""
    for number, link in enumerate(links):
        for end, listed in link.behind.items():
            path = (*link.path, "behind", end)
            unknown = [(index, each) for index, each in enumerate(listed) if each not in routers]
            for index, each in unknown:
                yield Problem((*path, index), f"no router is called {quoted(each)}", word=each, known=routers)
            other = link.ends[link.ends[0] == end]
            if other in listed:
                yield Problem(path, f"{quoted(other)} is the other end of the link")
            elif not unknown:
                yield from _needed(routers, links, number, end, path, broadcast)


def _needed(
    routers: Mapping[str, object], links: list[BoundedLink], number: int, end: str, path: Path, broadcast: str
) -> Iterator[Problem]:
    link = links[number]
    other = link.ends[link.ends[0] == end]
    rest = links[:number] + links[number + 1 :]
    to_end, to_other = _distances(end, rest), _distances(other, rest)
    for router in routers:
        if router in (end, *link.behind[end]):
            continue
        around, across = to_other.get(router, _FAR), to_end.get(router, _FAR) + link.cost
        if around == _FAR or (broadcast == _BY_SOURCE and across < around):
            how = "only by" if around == _FAR else "on the shortest path by"
            what = f"lacks {quoted(router)}, whose messages come to {quoted(other)} {how} this link: list it"
            yield Problem(path, what)


def _distances(start: str, links: list[BoundedLink]) -> dict[str, int]:
    """Return the least cost from `start` to each router that it reaches."""
    beside: dict[str, list[tuple[str, int]]] = {}
    for link in links:
        for here, there in (link.ends, link.ends[::-1]):
            beside.setdefault(here, []).append((there, link.cost))
    found: dict[str, int] = {}
    waiting = [(0, start)]
    while waiting:
        cost, router = heapq.heappop(waiting)
        if router not in found:
            found[router] = cost
            for there, more in beside.get(router, ()):
                heapq.heappush(waiting, (cost + more, there))
    return found
