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
    TOO_LARGE = "the message has no room for its place in the chain to another router"
    CUSTODY_FULL = "the message was given up for a home, which had been away for too long"
    NO_ROOM = "there is no room for the message in the chain to a home, which is behind"


class PassedOver(enum.Enum):
    """Why a frame has no effect: its sender is late, or says what is not so."""

    UNKNOWN = "it is of a router without a chain here"
    OTHER_LOG = "it names a log that its router does not state"
    NEVER_GIVEN = "it is of a number that the chain never had"
    TOO_SOON = "it asks again too soon"
    UNASKED = "it gives numbers up, without the token of this home"


@dataclass(frozen=True, slots=True)
class Write:
    """Append `record` to the log; its owner reports when it is on disk. `body` is the message of an Arrived."""

    record: Record
    body: bytes = b""


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
