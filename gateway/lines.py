"""The outbox of a stream of lines: C makes its frames, and the router's answers are counted, not remembered.

Law: each message of the stream is answered once, is refused once, or is unknown after a cut; nothing is sent twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from tamis.client.errors import explain_refusal
from tamis.client.messages.outbox import Outbox
from tamis.protocol.wire.client_bodies import Ack, Credit

REFUSALS_MAX: Final = 100
"""Refusals that an answer shows; all of them are counted."""


class LinesOutbox(Outbox):
    """`sent`: messages in all; `accepted` and `refused`: those that the router has answered. `refusals`: the first of
    these, by the number of the message, from 1. `changed` is set when there may be more to send, or something was
    answered."""

    def __init__(self, origin: int, first_counter: int) -> None:
        super().__init__(origin, first_counter)
        self.changed = asyncio.Event()
        self.sent = self.accepted = self.refused = 0
        self.refusals: list[tuple[int, str]] = []
        self.is_cut = False
        self._first: int | None = None

    @property
    def unanswered_count(self) -> int:
        return self.sent - self.accepted - self.refused

    def send_made(self, frames: bytes, count: int) -> None:
        if self._first is None:
            self._first = self.next_id.counter
        self.sent += count
        super().send_made(frames, count)

    def grant(self, credit: Credit) -> None:
        super().grant(credit)
        self.changed.set()

    def taken(self) -> bytearray:
        output = super().taken()
        self.changed.set()
        return output

    def answer(self, ack: Ack) -> None:
        super().answer(ack)
        for first, last in ack.ranges:
            self.accepted += last - first + 1
        for refusal in ack.refusals:
            self.refused += 1
            if len(self.refusals) < REFUSALS_MAX and self._first is not None:
                self.refusals.append((refusal.number - self._first + 1, explain_refusal(refusal)))
        self.changed.set()

    def cut(self, reason: str) -> None:
        super().cut(reason)
        self.is_cut = self.is_cut or self.sent > 0
        self.changed.set()


def new_lines_outbox(number: int, tell: Callable[[str], object]) -> LinesOutbox:  # noqa: ARG001
    import time

    return LinesOutbox(number, time.time_ns())
