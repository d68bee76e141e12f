"""The whole-tree form of paper 004's request, on demand: a comparison of all routers with this one.

Law: a request of scope TREE goes down T(requester), each router replies for itself, and replies return along the path
of the request. A router that lacks something requests it; what the requester lacks comes with the replies, except large
predicates: for those each router on the path sends a digest, and its neighbour requests what differs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tamis.protocol.wire.routing_bodies import Scope, SenderRequest, UpdateReply
from tamis.protocol.wire.whole import Ticket
from tamis.router.core.commands import Audited
from tamis.router.core.statements.core_state import CoreState
from tamis.router.core.statements.exchange import Exchange
from tamis.router.core.statements.neighbours import NeighbourTalks
from tamis.router.core.timers import Due

REQUEST_BASE: Final = 1 << 32
"""The number after which requests of audits are numbered; requests to neighbours are numbered from 1."""
PASSING_MAX: Final = 64
"""Audits of other routers whose replies are forwarded at one time; beyond that the oldest is forgotten."""


@dataclass(slots=True)
class Mine:
    ticket: int
    answered: int = 0
    differing: dict[int, None] = field(default_factory=dict)


class Audits:
    def __init__(self, core_state: CoreState, exchange: Exchange, neighbours: NeighbourTalks) -> None:
        self._core_state = core_state
        self._exchange = exchange
        self._neighbours = neighbours
        self._mine: dict[int, Mine] = {}
        self._came_from: dict[Ticket, int] = {}
        self._requests = REQUEST_BASE

    def start(self, ticket: int) -> None:
        core_state = self._core_state
        self._requests += 1
        self._mine[self._requests] = Mine(ticket)
        known, topology = self._exchange.vectors()
        request = SenderRequest(
            core_state.me, core_state.identity.epoch, self._requests, Scope.TREE, b"", known, topology
        )
        self._pass_down(request)
        core_state.timers.set((Due.AUDIT, self._requests), core_state.now_us + core_state.times.audit_us)
        self._check(self._requests)

    def requested(self, body: SenderRequest, came_from: int) -> None:
        """Forward the request of another router, then reply to it for this router."""
        core_state = self._core_state
        if core_state.trees.parent(body.requester) != came_from or body.ticket in self._came_from:
            return
        while len(self._came_from) >= PASSING_MAX:
            del self._came_from[next(iter(self._came_from))]
        self._came_from[body.ticket] = came_from
        self._pass_down(body)
        link = core_state.links.by_neighbour[came_from]
        found = self._exchange.compare(body)
        differs = (core_state.me,) if any(found) else ()
        for state in found.states:
            core_state.send(link, state)
        short = [issuer for issuer in found.entries if not core_state.rib.entries[issuer].is_large]
        *first, last = filter(None, self._exchange.replies(body, short, link.version))
        for reply in first:
            core_state.send(link, UpdateReply(*body.ticket, reply.entries, True, 0))
        core_state.send(link, UpdateReply(*body.ticket, last.entries, False, 1, differs))
        if len(short) < len(found.entries):
            self._neighbours.send_digest(link)
        if found.lacks:
            self._neighbours.ask(link)

    def replied(self, body: UpdateReply, came_from: int) -> None:  # noqa: ARG002 - mode paper uses it
        """Count a reply to this router's request of scope TREE, or forward the reply to another router's request."""
        core_state = self._core_state
        mine = self._mine.get(body.request) if body.requester == core_state.me else None
        if mine is not None:
            mine.answered += body.answered
            mine.differing.update(dict.fromkeys(body.differing))
            self._check(body.request)
            return
        link = core_state.links.by_neighbour.get(self._came_from.get(body.ticket, 0))
        if link is not None:
            core_state.send(link, body)

    def end(self, request: int) -> None:
        mine = self._mine.pop(request, None)
        if mine is not None:
            self._core_state.timers.cancel((Due.AUDIT, request))
            self._core_state.out.append(Audited(mine.ticket, mine.answered, tuple(mine.differing)))

    def _check(self, request: int) -> None:
        if self._mine[request].answered >= len(self._core_state.trees.routers) - 1:
            self.end(request)

    def _pass_down(self, body: SenderRequest) -> None:
        core_state = self._core_state
        for child in core_state.trees.children(body.requester):
            link = core_state.links.by_neighbour.get(child)
            if link is not None:
                core_state.send(link, body)
