"""Commands of an entry or a home to its owner."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from tamis.router.core.custody.frames import Frame
from tamis.router.core.custody.records import Record


class Level(enum.Enum):
    """What a publisher waits for."""

    STORED = "on the disk of the entry"
    HELD = "on the disk of each home that wants it"


class CustodyRefusal(enum.Enum):
    NOT_IN_STEP = "this router does not know yet what durable subscriptions elsewhere want"
    CUSTODY_FULL = "the message was given up for a home, which had been away for too long"


@dataclass(frozen=True, slots=True)
class Write:
    """Append `record` to the log; its owner reports when it is on disk."""

    record: Record


@dataclass(frozen=True, slots=True)
class SendTo:
    router: int
    frame: Frame


@dataclass(frozen=True, slots=True)
class Confirm:
    waiter: object
    level: Level


@dataclass(frozen=True, slots=True)
class Refuse:
    waiter: object
    why: CustodyRefusal


Command = Write | SendTo | Confirm | Refuse
