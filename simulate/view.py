"""What a router holds, as plain numbers and mappings, for the judge.

Law: looking changes nothing that a message or a neighbour could see. This file alone reads inside a core.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tamis.router.core.core import Core
from tamis.simulate.node import Node
from tamis.simulate.oracle.tables import Holding, Ways


def holding(node: Node) -> Holding:
    core = _core(node)
    entries = {issuer: (*held.version, held.digest) for issuer, held in core.desk.rib.entries.items()}
    advertised = {issuer: held.filters for issuer, held in core.desk.rib.entries.items()}
    return Holding(node.number, entries, advertised, node.table.filters)


def versions(node: Node) -> dict[int, tuple[int, int]]:
    return {issuer: held.version for issuer, held in _core(node).desk.rib.entries.items()}


def ways(node: Node, sources: Iterable[int]) -> dict[int, Ways]:
    """By the newest trees."""
    trees = _core(node).desk.trees
    return {source: Ways(trees.parent(source), trees.children(source), trees.below(source)) for source in sources}


def edges(node: Node) -> Iterator[tuple[int, int, int]]:
    """The links that count, as the router knows them, with their costs."""
    neighbours = _core(node).desk.topology.graph.neighbours
    return ((a, b, cost) for a, costs in neighbours.items() for b, cost in costs.items() if a < b)


@dataclass(frozen=True, slots=True)
class Kept:
    """Of whom a router still holds something, and how much is under way in it about those in reach."""

    about: frozenset[int]
    unfinished: dict[str, int]


def kept(node: Node) -> Kept:
    core = _core(node)
    desk, predicates = core.desk, core._predicates
    about = {*desk.rib.entries, *desk.topology.states, *node.table.filters, *predicates.flood._newest}
    unfinished = {
        "changes without their base": sum(desk.rib.waits(issuer) for issuer in desk.trees.routers),
        "confirmations": len(predicates.confirmations),
        "tickets": len(core._asking.holders),
    }
    return Kept(frozenset(about), {what: count for what, count in unfinished.items() if count})


def _core(node: Node) -> Core:
    if not isinstance(node.core, Core):
        raise TypeError(f"{type(node.core).__name__} holds nothing that can be compared")
    return node.core
