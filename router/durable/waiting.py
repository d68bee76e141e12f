"""Messages that wait in a durable subscription, read from the log for inspection.

Law: an inspection changes nothing and is no delivery. It blocks on the disk, so the thread of replays runs it. One look
reads at most RECORDS_A_LOOK records, and BYTES_A_LOOK bytes plus one record.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

from tamis.native.log import DEAD_LETTER, MESSAGE, SEED, Log, LogRecord

RECORDS_A_LOOK: Final = 2_000
BYTES_A_LOOK: Final = 4 << 20

_DEAD_LETTER: Final = struct.Struct("<QQQQQII")
"""Head of a dead letter, before its reason and frame: subscription that it left, first and last position that are done
there, one more field of that range, arrival time, number of delivery attempts, bytes of the reason."""


@dataclass(frozen=True, slots=True)
class Death:
    """Why a message left a durable subscription as a dead letter. `durable`: number of the subscription; `position`: of
    the message there."""

    durable: int
    position: int
    deliveries: int
    reason: str


@dataclass(frozen=True, slots=True)
class WaitingMessage:
    """A message of a durable subscription: its position, arrival time (Unix milliseconds), and frame as received."""

    position: int
    came_ms: int
    frame: bytes
    death: Death | None


@dataclass(frozen=True, slots=True)
class Look:
    """Result of one look. `next`: position after which the next look continues; None if there are no more messages."""

    found: list[WaitingMessage]
    next: int | None


def look(log: Log, number: int, after: int, limit: int, dead_of: int | None = None) -> Look:
    """Return at most `limit` messages on disk of subscription `number` after position `after`, oldest first. `dead_of`:
    only dead letters of that subscription. Raise LogFailed if the disk cannot be read."""
    found: list[WaitingMessage] = []
    looked_at = taken = 0
    for record in log.read(number, after):
        if len(found) >= limit or looked_at >= RECORDS_A_LOOK or taken >= BYTES_A_LOOK:
            return Look(found, after)
        looked_at, taken, after = looked_at + 1, taken + len(record.body), record.n
        message = _message(record)
        if message is not None and (dead_of is None or (message.death and message.death.durable == dead_of)):
            found.append(message)
    return Look(found, None)


def _message(record: LogRecord) -> WaitingMessage | None:
    if record.kind in (MESSAGE, SEED):
        return WaitingMessage(record.n, record.t_us // 1_000, record.body, None)
    if record.kind != DEAD_LETTER:
        return None
    durable, _, position, _, came_ms, deliveries, size = _DEAD_LETTER.unpack_from(record.body)
    behind = _DEAD_LETTER.size + size
    reason = record.body[_DEAD_LETTER.size : behind].decode(errors="replace")
    return WaitingMessage(record.n, came_ms, record.body[behind:], Death(durable, position, deliveries, reason))
