"""Links and routes as JSON objects.

Law: a router is shown by the id in its link state; a router without a link state is shown by its number.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tamis.router.admin.edges import edge_figures, root_changes, root_forms
from tamis.router.connections.connections import Connections
from tamis.router.core.strategies.edges import EdgeCore
from tamis.router.links.relay import RelayEnd

if TYPE_CHECKING:
    from tamis.router.core.core import Core
    from tamis.router.links.joined import JoinedNetwork
    from tamis.router.links.neighbour import Neighbour


def link_form(neighbour: Neighbour, connections: Connections, is_in_step: bool) -> dict[str, Any]:
    link, settings = neighbour.link, neighbour.settings
    present: dict[str, object] = {"peer": None, "version": None, "since_s": None, "rtt_us": None, "queued_bytes": 0}
    if link is not None:
        queued = connections.switch.connection(link.connection).queued_bytes
        about = {"peer": link.peer, "version": link.version, "since_s": link.since_s, "rtt_us": link.rtt_us()}
        present = about | {"queued_bytes": queued}
    return {
        "neighbour": settings.neighbour,
        "state": neighbour.state,
        "in_step": is_in_step,
        "cost": settings.cost,
        "dials": str(settings.dial) if settings.dial else None,
        "sessions": neighbour.sessions,
        **present,
        "control_queued_bytes": link.outgoing.queued_bytes if link is not None else 0,
        **asdict(neighbour.carried),
        "statements_refused": neighbour.border.refused,
        "rules": neighbour.rules or None,
        "problem": neighbour.problem,
        "down_since_s": neighbour.down_since_s or None,
        "down_because": neighbour.down_because,
    }


def link_forms(network: JoinedNetwork) -> list[dict[str, Any]]:
    in_step = network.core.links_in_step()
    named = network.neighbours.named.values()
    return [link_form(neighbour, network.connections, in_step.get(neighbour.number, False)) for neighbour in named]


def custody_form(network: JoinedNetwork) -> dict[str, int]:
    """Return how many frames of custody were passed on, and by reason how many ended here."""
    relay = network.neighbours.custody
    return {"passed": relay.passed} | {end.value: relay.ended[end] for end in RelayEnd}


def network_form(network: JoinedNetwork) -> dict[str, object]:
    """Return the network part of the status of a router."""
    core = network.core
    figures = edge_figures(core)
    return {
        "links": link_forms(network),
        "custody": custody_form(network),
        "in_step": network.step.is_in_step,
        "routers": len(core.core_state.trees.routers),
        "edges": None if figures is None else figures._asdict(),
        "roots": root_forms(network),
        "root_changes": root_changes(core),
        "remote_filters": network.connections.switch.figures().remote_filters,
        "refused_filters": network.installer.refused,
        "alarms": network.connections.health.alarms,
        "quiet_s": round(network.quiet_s, 3),
        "earlier_trees_s": round(network.routes.earlier_s, 3),
        "rules": network.neighbours.same_rules.mine or None,
        "unfinished": dict(core.figures().unfinished),
    }


def known_routers(network: JoinedNetwork, cursor: int) -> list[int]:
    """Return the numbers of the known routers, in order, from `cursor` on."""
    core_state = network.core.core_state
    return sorted(router for router in core_state.topology.states.keys() | core_state.rib.entries if router >= cursor)


def routes_head(network: JoinedNetwork, broadcast: str) -> dict[str, object]:
    """Return the fields that identify this router and its broadcast."""
    core = network.core
    return {"router": core.core_state.identity.name, "number": core.me, "epoch": core.epoch, "broadcast": broadcast}


def interface_forms(network: JoinedNetwork) -> list[dict[str, object]]:
    """Return the numbers of routers and filters behind each neighbour; the filters behind it are those of all routers
    whose next hop it is."""
    core, core_state = network.core, network.core.core_state
    behind, filters = Counter[int | None](), Counter[int | None]()
    for router in core_state.trees.routers:
        hop = core_state.trees.next_hop(router)
        behind[hop] += 1
        if router in core_state.rib.entries:
            filters[hop] += len(core_state.rib.entries[router].filters)
    below = Counter(
        way for router, way in core_state.trees.below(core.me).items() if router in core_state.trees.routers
    )
    children = core_state.trees.children(core.me)
    if isinstance(core, EdgeCore) and core.held_edges:
        filters = Counter()
        for held in core.held_edges:
            filters[held.place.neighbour] += len(held.filters)
    return [
        {
            "neighbour": neighbour.settings.neighbour,
            "state": neighbour.state,
            "synced": is_synced(core, neighbour.number),
            "cost": neighbour.settings.cost,
            "child": neighbour.number in children,
            "below": below[neighbour.number],
            "routers": behind[neighbour.number],
            "filters": filters[neighbour.number],
        }
        for neighbour in network.neighbours.named.values()
    ]


def is_synced(core: Core, neighbour: int) -> bool:
    link = core.core_state.links.by_neighbour.get(neighbour)
    return link is not None and link.is_synced


def router_form(core: Core, router: int) -> dict[str, object]:
    core_state = core.core_state
    name = core_state.topology.name_of
    state, entry, hop = (
        core_state.topology.states.get(router),
        core_state.rib.entries.get(router),
        core_state.trees.next_hop(router),
    )
    parent = core_state.trees.parent(router)
    links = state.body.links if state else ()
    return {
        "router": name(router),
        "number": router,
        "reachable": router in core_state.trees.routers,
        "next_hop": name(hop) if hop is not None else None,
        "parent": name(parent) if parent is not None else None,
        "links": [{"neighbour": name(link.neighbour), "cost": link.cost} for link in links],
        "topology_version": list(state.version) if state else None,
        "version": list(entry.version) if entry else None,
        "digest": entry.digest.hex() if entry else None,
        "filters": len(entry.filters) if entry else 0,
    }
