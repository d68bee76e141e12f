"""What the log holds, as values: the only things that change what a keep has.

Law: each record has the number that the log gave it, (life, counter), and no number is given twice. The position of a
message in a keep is the number of the record by which the keep got it: that of the message itself or that of its dead
letter, so that an acknowledgement that comes late means what it meant when it was sent.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

from tamis.protocol.messages import Message
from tamis.protocol.wire.keep_bodies import KeepTerms

COUNTER_BITS: Final = 40
"""Of a number: the lower bits count the records of one life of the log; the 24 above them count its lives."""


class Leaving(enum.Enum):
    """How a message leaves a keep."""

    ACKED = "acked"
    EXPIRED = "expired"
    DROPPED = "dropped"
    REPLACED = "replaced"
    DEAD = "dead"
    UNDELIVERABLE = "undeliverable"
    SKIPPED = "skipped"


LOSSES: Final = frozenset({Leaving.EXPIRED, Leaving.DROPPED, Leaving.UNDELIVERABLE, Leaving.SKIPPED})
DONE_WITH: Final = frozenset({Leaving.ACKED, Leaving.SKIPPED})
"""What is kept on by a keep that keeps for a time, or the latest."""

"""What consumers are told as a gap. A message that was replaced by a newer one left by the keep's own terms, and one
that is dead is in another keep."""


@dataclass(frozen=True, slots=True)
class KeepMade:
    """A keep; its number is that of this record. `taken`: numbers of messages in the log that it starts with."""

    name: str
    owner: str
    terms: KeepTerms
    taken: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MessageKept:
    """A message, for the keeps of these numbers. `n` is the number of this record, which the message takes along from
    keep to keep. `at_ms` and `expires_ms` are Unix time; 0: it does not expire.

    `homes` and `entry` are for custody between routers: (router, number before) of each home, and the number that the
    entry router gave it. They are empty as long as a router keeps for itself alone.
    """

    n: int
    message: Message
    size: int
    keeps: tuple[int, ...]
    at_ms: int
    expires_ms: int = 0
    maybe_duplicate: bool = False
    is_partial: bool = False
    """A keep that wanted it had no room: a second try is for those that are in no record of it."""
    homes: tuple[tuple[int, int], ...] = ()
    entry: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class MessagesLeft:
    """Messages leave a keep: an acknowledgement, or a gap."""

    keep: int
    positions: tuple[int, ...]
    how: Leaving


@dataclass(frozen=True, slots=True)
class LetterMoved:
    """A message leaves one keep for another, which gets it under the number of this record."""

    keep: int
    position: int
    to: int
    deliveries: int
    reason: str


@dataclass(frozen=True, slots=True)
class KeepForgotten:
    """A keep is no more, nor what it had."""

    keep: int


@dataclass(frozen=True, slots=True)
class MessageUnstored:
    """A keep has lost a message that it had no room for, and of which nobody was told that it is not stored."""

    keep: int


LogRecord = KeepMade | MessageKept | MessagesLeft | MessageUnstored | LetterMoved | KeepForgotten
