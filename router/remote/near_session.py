"""One remote session at the router of its client: its consumers, and the requests without an answer.

Law: an answer is for the request of its kind and number. Reads are sent one at a time, so that the message of each has
room at the home, which keeps it until the client takes it.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from tamis.protocol.wire.client_bodies import Ack, AckOf
from tamis.protocol.wire.durable_bodies import CancelConsume, Consume, Get, RemoveDurable
from tamis.router.clients.client import Client

READS_MAX: Final = 64
"""Most reads of a session that wait for the one before; further ones are refused (OVERLOADED)."""
Request = Consume | CancelConsume | RemoveDurable | Get
_OF: Final[dict[type[Request], AckOf]] = {
    Consume: AckOf.CONSUME,
    CancelConsume: AckOf.CANCEL_CONSUME,
    RemoveDurable: AckOf.REMOVE_DURABLE,
    Get: AckOf.GET,
}


@dataclass(slots=True)
class NearSession:
    """One session: its number, client and home, its consumers that are attached, each with the name of the durable
    subscription, and requests without an answer, with the time when each was sent. `reads` wait for the one that was
    sent. `away_s`: since when the home is out of reach."""

    number: int
    client: Client
    home: str
    attached: dict[int, str] = field(default_factory=dict)
    asked: dict[tuple[AckOf, int], tuple[Request, float]] = field(default_factory=dict)
    reads: deque[Get] = field(default_factory=deque)
    away_s: float | None = None

    def sends(self, body: Request) -> None:
        """Record a request that is sent now."""
        self.asked[_OF[type(body)], body.request] = body, time.monotonic()

    def answered(self, ack: Ack) -> Request | None:
        """Remove the request that `ack` answers, and return it; None if there is none."""
        body, _ = self.asked.pop((ack.of, ack.request), (None, 0.0))
        return body

    def unanswered(self) -> list[Request]:
        """Remove all requests without an answer, and return them."""
        found = [*(body for body, _ in self.asked.values()), *self.reads]
        self.asked.clear()
        self.reads.clear()
        return found

    def consumes(self, id_: int) -> bool:
        """Return whether a consumer is attached, or asks to be."""
        asks = (body.id for body, _ in self.asked.values() if isinstance(body, Consume))
        return id_ in self.attached or id_ in asks

    def uses(self, id_: int) -> bool:
        """Return whether a consumer or a read has this id."""
        reads = (*(body for body, _ in self.asked.values()), *self.reads)
        return self.consumes(id_) or any(isinstance(each, Get) and each.id == id_ for each in reads)

    @property
    def is_reading(self) -> bool:
        """Whether a read has no answer yet."""
        return any(of is AckOf.GET for of, _ in self.asked)

    @property
    def is_idle(self) -> bool:
        return not (self.attached or self.asked or self.reads)
