"""The role of a router that has a durable subscription and serves clients of other routers: the home of its sessions.

    Home   states durable subscriptions, takes what clients say, and answers what the test has it say
    .heard_of(kind)    requests as they came: session and body
    .say(session, ...) frames for the client of a session

Law: it answers no request by itself, so that a test says what a home may say, and what none does.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgpack

from tests.stranger import frames
from tests.stranger.client import Where
from tests.stranger.frames import body_of, frame, kind_of
from tests.stranger.neighbour import Neighbour
from tests.stranger.predicates import number, packed, predicate_digest
from tests.stranger.routers import until

TAKES_DIRECTED, TAKES_REMOTE, TAKES_READS = 2, 4, 8
SERVES = TAKES_DIRECTED | TAKES_REMOTE | TAKES_READS
FROM_FAR, ENDS = 1, 2
WINDOW = 262_144
HOPS = 8


@dataclass(slots=True)
class Far:
    """The far end of one session: the router of its client, and the bytes of both directions."""

    router: int
    received: bytes = b""
    taken: int = 0
    sent: int = 0
    is_over: bool = False


class Home(Neighbour):
    """Router `name` with durable subscriptions; each message satisfies them."""

    def __init__(self, where: Where, name: str, durables: Mapping[str, int]) -> None:
        """`durables`: the flags of each durable subscription, by name."""
        self.far: dict[int, Far] = {}
        self.requests: list[tuple[int, int, list[Any]]] = []
        """Session, kind and body, in order."""
        super().__init__(where, name, time.time_ns() // 10**6, versions=(1, 3), capabilities=["durables-known"])
        self.join()
        self._state_durables(durables)

    def _state_durables(self, durables: Mapping[str, int]) -> None:
        self.seq += 1
        stated = {
            n: msgpack.packb([name, "maker", [packed([])], flags, 0, 0])
            for n, (name, flags) in enumerate(durables.items(), 1)
        }
        said = [self.number, self.name, self.epoch, self.seq, self.epoch << 20, True, 0, list(stated.items()), []]
        body = [*said, predicate_digest(stated), len(stated), True]
        self.say_in_parts(frames.DURABLES, self.number, self.epoch, self.seq, body)

    # --- sessions ----------------------------------------------------------------------------------------------------

    def heard_of(self, kind: int, count: int = 1) -> list[tuple[int, list[Any]]]:
        """Wait for `count` requests of a kind; return them, with their sessions."""
        until(lambda: len(self._of(kind)) >= count)
        return self._of(kind)[:count]

    def tell(self, session: int, *said: bytes) -> None:
        """Say frames, whole or not, to the client of a session."""
        far = self.far[session]
        for data in said:
            self._piece(session, far, data)
            far.sent += len(data)

    def _of(self, kind: int) -> list[tuple[int, list[Any]]]:
        return [(session, body) for session, each, body in self.requests if each == kind]

    def _piece(self, session: int, far: Far, data: bytes) -> None:
        body = [HOPS, far.router, self.number, session, far.sent, far.taken, WINDOW, FROM_FAR, data]
        self.send(frame(frames.REMOTE, body))

    def _take(self, data: bytes) -> None:
        super()._take(data)
        if kind_of(data) == frames.REMOTE:
            self._take_piece(body_of(data))

    def _take_piece(self, body: list[Any]) -> None:
        _, _, sender, session, at, _, _, marks, piece = body[:9]
        far = self.far.setdefault(session, Far(sender))
        far.is_over = far.is_over or bool(marks & ENDS)
        if piece and at == far.taken:
            far.taken += len(piece)
            far.received += piece
            while len(far.received) >= 8 and len(far.received) >= (size := int.from_bytes(far.received[:4], "little")):
                said, far.received = far.received[:size], far.received[size:]
                self.requests.append((session, kind_of(said), body_of(said)))
        if not far.is_over:
            self._piece(session, far, b"")


def message_for(id_: int, position: int, attributes: Mapping[str, Any], payload: bytes = b"") -> bytes:
    """Return a stored message as a home hands it out, under an id of the client."""
    header = frames.Header(number("maker"), 1, number("b"), number("maker"), position, time.time_ns())
    satisfied = frames.extension(frames.SATISFIED, id_.to_bytes(4, "little"))
    place = frames.extension(frames.LOG_POSITION, position.to_bytes(8, "little"))
    return frames.data_frame(header, attributes, payload, [satisfied, place], frames.DELIVER)


def ack(of: int, request: int, id_: int, code: int = 0, reason: str = "") -> bytes:
    """Return an answer: done, or refused with a code."""
    ranges, refusals = ([[id_, id_]], []) if not code else ([], [[id_, code, reason]])
    return frame(frames.ACK, [of, request, ranges, refusals])
