"""`wait="network"`: the pending answers, and whether the answers are true.

Law: an answer is judged if the topology has been calm long enough to determine which routers must have the
subscription. Each answer comes once, and to an existing wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tamis.router.core.events import Await
from tamis.simulate.nodes import view
from tamis.simulate.nodes.clock import Clock
from tamis.simulate.nodes.node import Node
from tamis.simulate.world.clients import SimulatedClient
from tamis.simulate.world.recorder import RunRecorder


@dataclass(slots=True)
class NetworkWait:
    """A wait for a subscription to be known everywhere."""

    router: int
    life: int
    contents: int


class WaitsWorld(Protocol):
    """The part of the world that waits use."""

    clock: Clock
    recorder: RunRecorder
    nodes: list[Node]
    by_number: dict[int, Node]

    def reachable(self, node: Node) -> set[int]: ...


class Waits:
    def __init__(self, world: WaitsWorld) -> None:
        self._world = world
        self._tickets: dict[int, NetworkWait] = {}

    def begin(self, client: SimulatedClient) -> None:
        recorder, node = self._world.recorder, self._world.nodes[client.home]
        number = recorder.counts["waits"] = recorder.counts["waits"] + 1
        self._tickets[number] = NetworkWait(node.number, node.life, recorder.truth.contents_wanted(client.number))
        node.ask(Await(number))

    def answered(self, router: int, number: int) -> None:
        """Invariant 1: judge the answer to a wait: all routers in reach have the subscription. If a frame was silently
        lost, a link may still be unknown, and the routers behind it: then the router answers for those it knows."""
        ticket = self._tickets.pop(number, None)
        world, recorder = self._world, self._world.recorder
        truth, now_us = recorder.truth, world.clock.now_us
        if ticket is None:
            recorder.report(9, f"{router:x} answered a wait that does not exist, or answered it twice")
        elif truth.last_calm(recorder.patience.known_us, now_us) == now_us:
            node = world.by_number[router]
            contents = ticket.contents & truth.contents_wanted_at(router)
            others = world.reachable(node) - {router}
            for other in others & view.in_reach(node) if truth.is_tainted else others:
                knows = view.wanted_towards(world.by_number[other], router)
                if contents & ~knows and not self._is_deceived(other, router):
                    recorder.report(1, f"{router:x} reports that {other:x} knows its filters, which is false")
            recorder.counts["judged waits"] += 1

    def _is_deceived(self, other: int, router: int) -> bool:
        """Return whether `other` holds a statement of `router` that was forged in this round and is newer than all
        statements that `router` has made: `other` may have confirmed correctly before, and `router` has not received
        the forgery. A forged statement of an edge is about all routers behind it, and has no issuer that could correct
        it."""
        world = self._world
        if world.recorder.truth.are_edges_forged:
            return True
        held, said = (view.versions(world.by_number[each]).get(router) for each in (other, router))
        return router in world.recorder.truth.forged and held is not None and said is not None and held > said

    def at_rest(self) -> None:
        """Invariant 9: report waits without an answer at rest, except those of routers whose life has ended."""
        for number, ticket in self._tickets.items():
            node = self._world.by_number[ticket.router]
            if node.alive and node.life == ticket.life:
                self._world.recorder.report(9, f"{node.number:x} never answered wait {number}")
        self._tickets.clear()
