"""The state of a router, as plain numbers and mappings, for the judge.

Law: reading changes nothing that a message or a neighbour could notice. This file alone reads the state of a core.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.routing_bodies import SpaceStatement, group_of
from tamis.router.core.core import Core
from tamis.router.core.routing.trees import Trees
from tamis.router.core.statements.edges.places import EdgePlace, everything_of
from tamis.router.core.strategies.edges import EdgeCore
from tamis.simulate.nodes.node import Node
from tamis.simulate.oracle.durables import KnownByRouter
from tamis.simulate.oracle.edges import EdgeHolding
from tamis.simulate.oracle.tables import Holding, TreePlace


def holding(node: Node) -> Holding:
    core = _core(node)
    entries = {issuer: (*held.version, held.digest) for issuer, held in core.core_state.rib.entries.items()}
    advertised = {issuer: held.filters for issuer, held in core.core_state.rib.entries.items()}
    return Holding(node.number, entries, advertised, _stated(node))


def _stated(node: Node) -> dict[int, dict[int, bytes]]:
    """Return the statements of other routers in the table of `node`: filters by router and id. A filter whose id is
    also that of a filter for everything is returned with an id that no router states."""
    core, found = _core(node), dict[int, dict[int, bytes]]()
    routers = core.core_state.rib.entries if isinstance(core, EdgeCore) else node.table.filters
    for router in routers:
        filters, everything = (node.table.filters.get(each, {}) for each in (router, everything_of(router)))
        twice = {-1 - id_: packed for id_, packed in filters.items() if id_ in everything}
        if filters or everything:
            found[router] = {**filters, **everything, **twice}
    return found


def edge_holding(node: Node, root: int | None = None) -> EdgeHolding:
    """Return the state of `node` for the edges of the tree that messages use; with several trees, that of `root`."""
    core = cast("EdgeCore", _core(node))
    held = {each.place.neighbour: each for each in core.held_edges if root in (None, each.place.root)}
    numbers = {each.number: neighbour for neighbour, each in held.items()}
    others = {each.number for each in core.held_edges} - numbers.keys()
    routers = core.core_state.rib.entries
    known = {*routers, *map(everything_of, routers), *others}
    table = {number: filters.values() for number, filters in node.table.filters.items() if number not in known}
    return EdgeHolding(
        node.number,
        {neighbour: each.filters.values() for neighbour, each in held.items()},
        {neighbour for neighbour, each in held.items() if each.is_complete},
        {numbers[number]: filters for number, filters in table.items() if number in numbers},
        table.keys() - numbers,
    )


def own_filters(node: Node) -> list[bytes]:
    """Return the filters that `node` states for its own clients, without those of worker groups."""
    core = _core(node)
    own = core.own_filters if isinstance(core, EdgeCore) else core.core_state.rib.entries[core.me].filters
    return [packed for packed in own.values() if not group_of(packed)]


def edges_to(node: Node, neighbour: int) -> list[EdgePlace]:
    """Return the edges that `node` states to a neighbour; none with strategies without edges."""
    core = _core(node)
    said = core.said_edges if isinstance(core, EdgeCore) else ()
    return [each.place for each in said if each.place.neighbour == neighbour]


def wanted_towards(node: Node, router: int) -> int:
    """Return the contents that `node` forwards towards `router`, by its table."""
    core = _core(node)
    if not isinstance(core, EdgeCore):
        return node.table.wanted_by(router)
    if core.core_state.forest.trees:
        return _wanted_by_roots(node, core, router)
    number = core.number_towards(router)
    if number is not None:
        return node.table.wanted_by(number)
    return node.table.wanted_by(router) | node.table.wanted_by(everything_of(router))


def _wanted_by_roots(node: Node, core: EdgeCore, router: int) -> int:
    """Return the contents for which `node` sends messages towards `router` along the trees of their roots: all contents
    where the path leads up."""
    wanted = -1
    contents = node.lanes.contents_by_root(core.core_state.trees.routers)
    held = {(each.place.root, each.place.neighbour): each.number for each in core.held_edges}
    for root, tree in core.core_state.forest.trees.items():
        number = held.get((root, tree.next_hop(router) or 0))
        if number is not None:
            wanted &= node.table.wanted_by(number) | ~contents.get(root, 0)
    return wanted


def root_ways(node: Node) -> dict[int, TreePlace]:
    """Return how `node` forwards messages of each root, by its newest trees."""
    trees = _core(node).core_state.forest.trees
    return {root: TreePlace(tree.parent(root), tree.children(root), _below(tree, root)) for root, tree in trees.items()}


def versions(node: Node) -> dict[int, tuple[int, int]]:
    return {issuer: held.version for issuer, held in _core(node).core_state.rib.entries.items()}


def version(node: Node, issuer: int) -> tuple[int, int] | None:
    return _core(node).core_state.rib.version(issuer)


def spaces(node: Node) -> dict[str, SpaceStatement]:
    """Return the spaces of `node`, including those that are withdrawn."""
    return {name: held.statement for name, held in _core(node).core_state.spaces.held.items()}


def durables(node: Node) -> KnownByRouter:
    """Return what `node` knows of durable subscriptions: of each home, itself included, by name those of others, and
    who stores its own."""
    core = _core(node)
    known = core.core_state.durables
    homes = {home: (held.version, tuple(held.filters.values())) for home, held in known.rib.entries.items()}
    names = {name: [stable_number(home) for home, _ in known.at(name)] for name in known.names()}
    return KnownByRouter(homes, names, core.storing)


def behind(node: Node) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield for each home the links of the chain of `node` that it has not acknowledged, as ((node, home), links)."""
    if node.custody is not None:
        yield from (((node.number, home), len(chain)) for home, chain in node.custody.entry.chains.items())


def ways(node: Node, sources: Iterable[int]) -> dict[int, TreePlace]:
    """Return how `node` forwards messages of each source, by its newest trees."""
    trees = _core(node).core_state.trees
    return {
        source: TreePlace(trees.parent(source), trees.children(source), _below(trees, source)) for source in sources
    }


def _below(trees: Trees, source: int) -> dict[int, int]:
    """Return the routers below, without the numbers of edges that some strategies put beside them."""
    return {router: way for router, way in trees.below(source).items() if router in trees.routers}


def in_reach(node: Node) -> frozenset[int]:
    """Return the routers to which `node` knows a route, including itself."""
    return _core(node).core_state.trees.routers


def edges(node: Node) -> Iterator[tuple[int, int, int]]:
    """Yield the edges that count in the topology of `node`, with their costs."""
    neighbours = _core(node).core_state.topology.graph.neighbours
    return ((a, b, cost) for a, costs in neighbours.items() for b, cost in costs.items() if a < b)


def known(node: Node) -> frozenset[int]:
    """Return the routers of which `node` has any state."""
    held = _stated(node) if isinstance(_core(node), EdgeCore) else node.table.filters
    return _core(node).figures().known | held.keys()


def unfinished(node: Node) -> Mapping[str, int]:
    """Return the pending work of `node` about routers in reach: name -> how much."""
    return _core(node).figures().unfinished


def _core(node: Node) -> Core:
    if not isinstance(node.core, Core):
        raise TypeError(f"{type(node.core).__name__} holds nothing that can be compared")
    return node.core
