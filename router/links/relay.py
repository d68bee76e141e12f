"""Frames of custody (CUSTODY_ACK, CUSTODY_ASK, GAP), passed on towards the router that each is for.

Law: a frame goes on by the next hop with one hop less, never back to the neighbour that it came from, so that none
circulates. One that cannot go on ends here and is counted with the reason; its sender repeats it.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from tamis.protocol.wire.custody_bodies import CustodyBody


class RelayEnd(enum.Enum):
    """Why a frame does not go on."""

    HERE = "here"
    """It is for this router, which has no log."""
    HOPS = "hops"
    NO_ROUTE = "no_route"
    VERSION = "version"
    """The neighbour has an earlier version."""
    QUEUE_FULL = "queue_full"
    NOT_ALLOWED = "not_allowed"
    """The border of the link does not let it leave."""


class CustodyRelay:
    """`next_hop` returns the neighbour towards a router; `send` sends a frame to a neighbour, or returns why not."""

    def __init__(
        self,
        me: int,
        next_hop: Callable[[int], int | None],
        send: Callable[[int, CustodyBody], RelayEnd | None],
    ) -> None:
        self._me, self._next_hop, self._send = me, next_hop, send
        self.take: Callable[[CustodyBody], None] | None = None
        """Called with each frame for this router."""
        self.passed = 0
        self.ended: Counter[RelayEnd] = Counter()

    def send(self, body: CustodyBody) -> None:
        """Send a frame of this router towards its receiver."""
        hop = self._next_hop(body.receiver)
        end = RelayEnd.NO_ROUTE if hop is None else self._send(hop, body)
        if end is not None:
            self.ended[end] += 1

    def hear(self, body: CustodyBody, came_from: int) -> None:
        """Take a frame that came from a neighbour, or pass it on."""
        if body.receiver == self._me and self.take is not None:
            self.take(body)
            return
        end = self._pass_on(body, came_from)
        if end is None:
            self.passed += 1
        else:
            self.ended[end] += 1

    def _pass_on(self, body: CustodyBody, came_from: int) -> RelayEnd | None:
        if body.receiver == self._me:
            return RelayEnd.HERE
        if body.hops == 0:
            return RelayEnd.HOPS
        hop = self._next_hop(body.receiver)
        if hop is None or hop == came_from:
            return RelayEnd.NO_ROUTE
        return self._send(hop, replace(body, hops=body.hops - 1))
