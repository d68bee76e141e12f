"""What a router holds, as plain numbers and mappings, for the judge.

Law: looking changes nothing that a message or a neighbour could see. This file alone looks at what a core holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tamis.protocol.wire.routing_bodies import SpaceStatement
from tamis.router.core.core import Core
from tamis.simulate.node import Node
from tamis.simulate.oracle.tables import Holding, TreePlace


def holding(node: Node) -> Holding:
    core = _core(node)
    entries = {issuer: (*held.version, held.digest) for issuer, held in core.core_state.rib.entries.items()}
    advertised = {issuer: held.filters for issuer, held in core.core_state.rib.entries.items()}
    return Holding(node.number, entries, advertised, node.table.filters)


def versions(node: Node) -> dict[int, tuple[int, int]]:
    return {issuer: held.version for issuer, held in _core(node).core_state.rib.entries.items()}


def version(node: Node, issuer: int) -> tuple[int, int] | None:
    return _core(node).core_state.rib.version(issuer)


def spaces(node: Node) -> dict[str, SpaceStatement]:
    """Return what `node` holds of spaces, those that are withdrawn included."""
    return {name: held.statement for name, held in _core(node).core_state.spaces.held.items()}


def ways(node: Node, sources: Iterable[int]) -> dict[int, TreePlace]:
    """Return what `node` does with messages of each source, by its newest trees."""
    trees = _core(node).core_state.trees
    return {source: TreePlace(trees.parent(source), trees.children(source), trees.below(source)) for source in sources}


def in_reach(node: Node) -> frozenset[int]:
    """Return the routers to which `node` knows a way, itself included."""
    return _core(node).core_state.trees.routers


def edges(node: Node) -> Iterator[tuple[int, int, int]]:
    """Yield the edges that count, as `node` knows them, with their costs."""
    neighbours = _core(node).core_state.topology.graph.neighbours
    return ((a, b, cost) for a, costs in neighbours.items() for b, cost in costs.items() if a < b)


def known(node: Node) -> frozenset[int]:
    """Return the routers of which `node` holds anything."""
    return _core(node).figures().known | node.table.filters.keys()


def unfinished(node: Node) -> Mapping[str, int]:
    """Return what `node` has under way about routers in reach: name -> how much."""
    return _core(node).figures().unfinished


def _core(node: Node) -> Core:
    if not isinstance(node.core, Core):
        raise TypeError(f"{type(node.core).__name__} holds nothing that can be compared")
    return node.core
