"""Links and routes as JSON objects.

Law: routers are shown by their ids, which link states carry; one that has not said its id yet is shown by its number.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tamis.router.links.figures import state_of
from tamis.router.plane import Plane

if TYPE_CHECKING:
    from tamis.router.core.core import Core
    from tamis.router.links.neighbours import Neighbour
    from tamis.router.links.network import Network


def link_form(neighbour: Neighbour, plane: Plane) -> dict[str, Any]:
    link, settings = neighbour.link, neighbour.settings
    present: dict[str, object] = {"peer": None, "since_s": None, "rtt_us": None, "queued_bytes": 0}
    if link is not None:
        queued = plane.switch.connection(link.connection).queued_bytes
        present = {"peer": link.peer, "since_s": link.since_s, "rtt_us": link.rtt_us(), "queued_bytes": queued}
    return {
        "neighbour": settings.neighbour,
        "state": state_of(neighbour),
        "cost": settings.cost,
        "dials": str(settings.dial) if settings.dial else None,
        "sessions": neighbour.sessions,
        **present,
        "control_queued_bytes": link.outgoing.queued_bytes if link is not None else 0,
        **asdict(neighbour.carried),
        "problem": neighbour.problem,
    }


def network_form(network: Network) -> dict[str, object]:
    """For the status of a router."""
    core = network.core
    return {
        "links": [link_form(neighbour, network.plane) for neighbour in network.neighbours.named.values()],
        "routers": len(core.desk.trees.routers),
        "remote_filters": network.plane.switch.figures().remote_filters,
        "refused_filters": network.installer.refused,
        "alarms": network.plane.health.alarms,
        "quiet_s": round(network.quiet_s, 3),
    }


def routes_form(network: Network, broadcast: str, limit: int, cursor: int) -> dict[str, object]:
    """The routers that this one knows of, in the order of their numbers from `cursor` on, and its own tree."""
    core = network.core
    known = sorted(router for router in core.desk.topology.states.keys() | core.desk.rib.entries if router >= cursor)
    return {
        "router": core.desk.identity.name,
        "number": core.me,
        "epoch": core.epoch,
        "broadcast": broadcast,
        "interfaces": [_interface_form(core, neighbour) for neighbour in network.neighbours.named.values()],
        "routers": [_router_form(core, router) for router in known[:limit]],
        "next": known[limit] if len(known) > limit else None,
    }


def _interface_form(core: Core, neighbour: Neighbour) -> dict[str, object]:
    """What lies behind one neighbour: the predicate of the interface is the filters of all those routers."""
    desk, number = core.desk, neighbour.number
    behind = [router for router in desk.trees.routers if desk.trees.next_hop(router) == number]
    entries = [desk.rib.entries[router] for router in behind if router in desk.rib.entries]
    link = desk.links.by_neighbour.get(number)
    return {
        "neighbour": neighbour.settings.neighbour,
        "state": state_of(neighbour),
        "synced": link is not None and link.is_synced,
        "cost": neighbour.settings.cost,
        "child": number in desk.trees.children(core.me),
        "below": sum(child == number for child in desk.trees.below(core.me).values()),
        "routers": len(behind),
        "filters": sum(len(entry.filters) for entry in entries),
    }


def _router_form(core: Core, router: int) -> dict[str, object]:
    desk = core.desk
    name = desk.topology.name_of
    state, entry, hop = desk.topology.states.get(router), desk.rib.entries.get(router), desk.trees.next_hop(router)
    parent = desk.trees.parent(router)
    links = state.body.links if state else ()
    return {
        "router": name(router),
        "number": router,
        "reachable": router in desk.trees.routers,
        "next_hop": name(hop) if hop is not None else None,
        "parent": name(parent) if parent is not None else None,
        "links": [{"neighbour": name(link.neighbour), "cost": link.cost} for link in links],
        "topology_version": list(state.version) if state else None,
        "version": list(entry.version) if entry else None,
        "digest": entry.digest.hex() if entry else None,
        "filters": len(entry.filters) if entry else 0,
    }
