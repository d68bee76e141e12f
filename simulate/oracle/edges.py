"""Invariant 4 of strategies with statements about edges: the state of each router about each edge of the tree at rest.

Law: the routers behind an edge follow from the parents that routers have for one source, which `tables.py` judges; the
interest of these routers follows from the truth. The statement held of the edge must be complete and match exactly that
interest, the table must contain it and nothing else, and no statement may be held of a neighbour outside the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from tamis.simulate.oracle.tables import Report, TreePlace


@dataclass(frozen=True, slots=True)
class EdgeHolding:
    """The state of one router for its edges at rest."""

    router: int
    said: Mapping[int, Collection[bytes]]
    """Maps a neighbour to the filters that it has stated for its end of the edge."""
    complete: Collection[int]
    """The neighbours whose statements are complete."""
    table: Mapping[int, Collection[bytes]]
    """Maps a neighbour to the filters by which messages are forwarded to it."""
    stray: Collection[int]
    """Further numbers in the table, without a known neighbour."""


@dataclass(frozen=True, slots=True)
class OfRoot:
    """A root, and the contents whose messages use its tree."""

    root: int
    contents: int


def compare_edges(
    holdings: Mapping[int, EdgeHolding],
    ways: Mapping[int, Mapping[int, TreePlace]],
    wanted_at: Callable[[int], int],
    contents_of: Callable[[bytes], int],
    report: Report,
    by_root: OfRoot | None = None,
) -> None:
    """Judge the statements about edges. `ways` maps a router to its handling of messages of each source; `wanted_at`
    returns the contents that a router must request. With `by_root`, messages use the tree of that root, and only
    routers farther from it state their interest in its contents."""
    neighbours = _trees(ways)
    for router, holding in holdings.items():
        there = set(neighbours.get(router, ()))
        contents = -1
        if by_root is not None:
            there.discard(ways[router][by_root.root].parent or 0)
            contents = by_root.contents
        if holding.stray:
            report(4, f"the table of {router:x} has {len(holding.stray)} numbers that belong to no neighbour")
        if extra := (holding.said.keys() | holding.table.keys()) - there:
            report(4, f"{router:x} holds statements of {len(extra)} neighbours outside the tree")
        for neighbour in sorted(there):
            wanted = 0
            for other in _behind(neighbours, neighbour, router):
                wanted |= wanted_at(other)
            _compare_edge(holding, neighbour, wanted, contents, contents_of, report)


def _compare_edge(
    holding: EdgeHolding,
    neighbour: int,
    wanted: int,
    concerned: int,
    contents_of: Callable[[bytes], int],
    report: Report,
) -> None:
    who, said = f"{holding.router:x} for the routers behind {neighbour:x}", holding.said.get(neighbour, ())
    if neighbour not in holding.complete:
        report(4, f"the statement held by {who} is not complete")
    contents = _union(said, contents_of)
    if contents & ~wanted or (contents ^ wanted) & concerned:
        report(4, f"the statement held by {who} has contents {contents:x}, and their interest is {wanted:x}")
    if sorted(holding.table.get(neighbour, ())) != sorted(said):
        report(4, f"the table of {who} differs from their statement")


def _union(filters: Iterable[bytes], contents_of: Callable[[bytes], int]) -> int:
    contents = 0
    for packed in filters:
        contents |= contents_of(packed)
    return contents


def _trees(ways: Mapping[int, Mapping[int, TreePlace]]) -> dict[int, set[int]]:
    """Return the neighbours in the tree by router. All sources of a component use one tree."""
    neighbours: dict[int, set[int]] = {}
    for router, places in ways.items():
        for source, place in places.items():
            if place.parent is not None and source != router:
                neighbours.setdefault(router, set()).add(place.parent)
                neighbours.setdefault(place.parent, set()).add(router)
    return neighbours


def _behind(neighbours: Mapping[int, set[int]], start: int, at: int) -> set[int]:
    """Return the routers that are reached by `start` from `at`."""
    found, front = {start}, [start]
    while front:
        for other in neighbours.get(front.pop(), ()):
            if other not in found and other != at:
                found.add(other)
                front.append(other)
    return found
