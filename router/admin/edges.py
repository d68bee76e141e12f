"""The edges of broadcast trees, and the roots of classes, as JSON objects.

Law: an edge is identified by the root of its tree and the neighbour, since a neighbour may have an edge in the tree of
each root. The class of messages that are in no other class is null.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from tamis.protocol.values import Value
from tamis.router.core.routing.classes import class_of
from tamis.router.core.statements.edges.edges import SAID
from tamis.router.core.statements.edges.places import EVERY_CLASS, EdgePlace, everything_of
from tamis.router.core.strategies.edges import EdgeCore
from tamis.router.core.strategies.rendezvous import RendezvousCore

if TYPE_CHECKING:
    from tamis.router.core.core import Core
    from tamis.router.core.routing.trees import Trees
    from tamis.router.links.joined import JoinedNetwork


def edge_forms(core: Core, cursor: int = 0) -> Iterator[dict[str, object]]:
    """Yield each edge of this router from index `cursor` on, root by root, with the state received from its neighbour
    and the state sent to it. Yield none if the strategy has no edges or a router with another layout is reachable."""
    if not isinstance(core, EdgeCore):
        return
    at = 0
    for tree in core.edge_trees:
        first, at = at, at + len(tree.places)
        if at > cursor:
            behind = Counter(map(tree.next_hop, tree.routers))
            for neighbour in sorted(tree.places)[max(0, cursor - first) :]:
                yield _edge_form(core, tree.places[neighbour], behind[neighbour])


def _edge_form(core: EdgeCore, place: EdgePlace, routers: int) -> dict[str, object]:
    """Return an edge. `held` is null if every message is sent there, `said` if the neighbour sends every message."""
    name_of, held, said = core.core_state.topology.name_of, core.held_of(place), core.said_of(place)
    is_said = core.policy.of_own(place) is SAID
    return {
        "root": name_of(place.root),
        "neighbour": name_of(place.neighbour),
        "towards_root": place.is_up,
        "classes": _class_names(core, place.classes),
        "routers": routers,
        "number": place.number,
        "held": None if held is None else {"complete": held.is_complete, "filters": len(held.filters)},
        "said": None
        if not is_said
        else {
            "complete": said is not None and said.is_complete,
            "filters": said.count if said is not None else 0,
        },
    }


def _class_names(core: EdgeCore, classes: int) -> list[str | None] | None:
    """Return the names of the classes in the bits of `classes`; None if they are all or the strategy has none."""
    if not isinstance(core, RendezvousCore) or classes == EVERY_CLASS:
        return None
    return [choice.name or None for at, choice in enumerate(core.roots.choices) if classes >> at & 1]


class EdgeFigures(NamedTuple):
    """Numbers of `trees` and `edges` of this router; `heard`: edges whose neighbour sends the interest behind it."""

    trees: int
    edges: int
    heard: int
    incomplete: int
    filters: int


def edge_figures(core: Core) -> EdgeFigures | None:
    """Return the figures of edges; None if the strategy has none."""
    if not isinstance(core, EdgeCore):
        return None
    held = core.held_edges
    return EdgeFigures(
        len(core.edge_trees),
        sum(len(tree.places) for tree in core.edge_trees),
        len(held),
        sum(not each.is_complete for each in held),
        sum(len(each.filters) for each in held),
    )


class RootFigures(NamedTuple):
    """The root of a class. `class_name` is None for the class of all other messages; `root` is None if a reachable
    router has another layout. `is_named`: messages name this root now; `preferred`: the first root of the list in the
    topology file."""

    class_name: str | None
    root: str | None
    is_named: bool
    preferred: str | None


def roots(network: JoinedNetwork) -> list[RootFigures] | None:
    """Return the roots of the classes in order of classes; None if the strategy has no roots."""
    core, strategy = network.core, network.connections.settings.strategy
    if not isinstance(core, RendezvousCore):
        return None
    name_of = core.core_state.topology.name_of
    chosen = core.roots.chosen or (None,) * len(core.roots.choices)
    named = core.core_state.forest.roots or (None,) * len(chosen)
    listed = [*(strategy.roots.get(name, ()) for name in strategy.classes), strategy.others]
    return [
        RootFigures(
            choice.name or None,
            None if root is None else name_of(root),
            root is not None and named_root == root,
            next(iter(names), None),
        )
        for choice, root, named_root, names in zip(core.roots.choices, chosen, named, listed, strict=True)
    ]


def root_forms(network: JoinedNetwork) -> list[dict[str, object]] | None:
    """Return the roots of the classes as JSON objects; None if the strategy has no roots."""
    found = roots(network)
    if found is None:
        return None
    return [
        {"class": each.class_name, "root": each.root, "named": each.is_named, "preferred": each.preferred}
        for each in found
    ]


def root_changes(core: Core) -> int | None:
    """Return how often the root of a class has changed; None if the strategy has no roots."""
    return core.roots.changes if isinstance(core, RendezvousCore) else None


def onward_forms(network: JoinedNetwork, attributes: Mapping[str, Value]) -> list[dict[str, object]]:
    """Return the neighbours that receive a message which enters here, each with the routers behind it whose interest
    matches, as far as they are known singly, and `why`: `root` (every message of the class is sent there), `routers`
    (the interest of the listed ones matches), `edge` (the interest of the edge matches) or `everything`."""
    core = network.core
    tree, up = _tree_of(core, attributes)
    below, name_of = tree.below(tree.me), core.core_state.topology.name_of
    whole = {everything_of(router) for router in tree.routers}
    why: dict[int, str] = {} if up is None else {up: "root"}
    behind: dict[int, list[str]] = {way: [] for way in why}
    for number in network.connections.switch.wanting(attributes):
        way = below.get(number)
        if way is None:
            continue
        routers = behind.setdefault(way, [])
        if number in tree.routers:
            routers.append(name_of(number))
            why.setdefault(way, "routers")
        else:
            why.setdefault(way, "everything" if number in whole else "edge")
    named = sorted((name_of(way), way) for way in behind)
    return [{"neighbour": name, "routers": sorted(behind[way]), "why": why[way]} for name, way in named]


def _tree_of(core: Core, attributes: Mapping[str, Value]) -> tuple[Trees, int | None]:
    """Return the tree of a message that enters here, and the neighbour towards its root, which receives it whatever the
    interest is; None if the message names no root or this router is the root."""
    root = root_of_message(core, attributes)
    if root is None:
        return core.core_state.trees, None
    tree = core.core_state.forest.trees[root]
    return tree, tree.next_hop(root)


def root_of_message(core: Core, attributes: Mapping[str, Value]) -> int | None:
    """Return the root that a message with `attributes` names when it enters; None if it names none."""
    forest = core.core_state.forest
    if not isinstance(core, RendezvousCore) or not forest.roots:
        return None
    return forest.root_of((class_of(core.roots.choices, attributes),))


def class_form(core: Core, attributes: Mapping[str, Value]) -> dict[str, object] | None:
    """Return the class of a message and the root that it names, null if it names none; None if the strategy has no
    classes."""
    if not isinstance(core, RendezvousCore):
        return None
    root = root_of_message(core, attributes)
    name_of = core.core_state.topology.name_of
    class_name = core.roots.choices[class_of(core.roots.choices, attributes)].name
    return {"class": class_name or None, "root": None if root is None else name_of(root)}
