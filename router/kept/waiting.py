"""What waits in a keep, as it lies in the log: for people who look at it and take nothing.

Law: looking changes nothing, and counts as no delivery. It reads the disk, so the reading thread does it; one look goes
over at most RECORDS_A_LOOK records, BYTES_A_LOOK bytes of them, and one record more.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

from tamis.native.log import DEAD_LETTER, MESSAGE, SEED, Log, LogRecord

RECORDS_A_LOOK: Final = 2_000
BYTES_A_LOOK: Final = 4 << 20

_LETTER: Final = struct.Struct("<QQQQQII")
"""Before the reason and the frame of a dead letter: the keep that it left, the first and last number that are done
with there, and more that belongs to its range; when it came, how often it was given out, the size of the reason."""


@dataclass(frozen=True, slots=True)
class Death:
    """Why a message left a keep as a dead letter. `keep`: its number; `position`: the message's place there."""

    keep: int
    position: int
    deliveries: int
    reason: str


@dataclass(frozen=True, slots=True)
class WaitingMessage:
    """A message that a keep has: its position, when it came (Unix milliseconds), its frame as it travelled."""

    position: int
    came_ms: int
    frame: bytes
    death: Death | None


@dataclass(frozen=True, slots=True)
class Look:
    """What one look found. `next`: look again behind this position; None: that was all."""

    found: list[WaitingMessage]
    next: int | None


def look(log: Log, number: int, after: int, limit: int, dead_of: int | None = None) -> Look:
    """Return at most `limit` messages that are on disk for keep `number` behind position `after`, the oldest first.
    `dead_of`: only those that are dead letters of this keep. LogFailed: the disk cannot be read."""
    found: list[WaitingMessage] = []
    looked_at = taken = 0
    for record in log.read(number, after):
        if len(found) >= limit or looked_at >= RECORDS_A_LOOK or taken >= BYTES_A_LOOK:
            return Look(found, after)
        looked_at, taken, after = looked_at + 1, taken + len(record.body), record.n
        message = _message(record)
        if message is not None and (dead_of is None or (message.death and message.death.keep == dead_of)):
            found.append(message)
    return Look(found, None)


def _message(record: LogRecord) -> WaitingMessage | None:
    if record.kind in (MESSAGE, SEED):
        return WaitingMessage(record.n, record.t_us // 1_000, record.body, None)
    if record.kind != DEAD_LETTER:
        return None
    keep, _, position, _, came_ms, deliveries, size = _LETTER.unpack_from(record.body)
    behind = _LETTER.size + size
    reason = record.body[_LETTER.size : behind].decode(errors="replace")
    return WaitingMessage(record.n, came_ms, record.body[behind:], Death(keep, position, deliveries, reason))
