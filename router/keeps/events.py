"""What happens to the keeps of a router, and what they want done.

Law: events and commands are plain values. `token` is the asker's own name for what it asked, and comes back with the
answer; 0: nobody waits for one. A `member` is one attachment, by a number that is never used twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tamis.protocol.messages import Message
from tamis.protocol.wire.client_bodies import AckVerdict, Range
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.keep_bodies import Attach, Keep
from tamis.router.keeps.records import Leaving, LogRecord


class Clocks(NamedTuple):
    """Now: by a clock that never goes back, for what this life waits for, and by Unix time, for what outlives it."""

    steady_ms: int
    wall_ms: int


@dataclass(frozen=True, slots=True)
class KeepAsked:
    token: int
    owner: str
    keep: Keep


@dataclass(frozen=True, slots=True)
class ForgetAsked:
    token: int
    name: str


@dataclass(frozen=True, slots=True)
class AttachAsked:
    token: int
    member: int
    attach: Attach


@dataclass(frozen=True, slots=True)
class MemberGone:
    """It has sent DETACH, or its connection has ended. `is_lost`: its peer went away, and did not say so."""

    member: int
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class MemberCredit:
    """How many messages the member may be sent in all."""

    member: int
    frames_total: int


@dataclass(frozen=True, slots=True)
class MemberAcked:
    """What a member says of positions. `delay_ms`: with AGAIN, the least time until the next try; 0: by the terms."""

    member: int
    ranges: Sequence[Range]
    verdict: AckVerdict
    delay_ms: int = 0
    reason: str = ""
    token: int = 0


@dataclass(frozen=True, slots=True)
class MessageCame:
    """A message that satisfies the keeps of these numbers, as the matcher found. `token`: `kept` was asked for; else
    nobody is told where it is not stored, and the keep that has no room loses it."""

    token: int
    message: Message
    size: int
    keeps: tuple[int, ...]
    expires_ms: int = 0
    is_retry: bool = False


@dataclass(frozen=True, slots=True)
class LogCommitted:
    """The records up to this number are on disk."""

    n: int


@dataclass(frozen=True, slots=True)
class LogStands:
    """Whether the log takes messages (not where the disk is full) and whether it takes anything (not where it has
    failed)."""

    is_full: bool
    has_failed: bool


@dataclass(frozen=True, slots=True)
class TimePassed:
    pass


KeepEvent = (
    KeepAsked
    | ForgetAsked
    | AttachAsked
    | MemberGone
    | MemberCredit
    | MemberAcked
    | MessageCame
    | LogCommitted
    | LogStands
    | TimePassed
)


@dataclass(frozen=True, slots=True)
class AppendRecord:
    n: int
    record: LogRecord


@dataclass(frozen=True, slots=True)
class DeliverKept:
    """Send a message to a member. `deliveries`: how often it was given out, this time included; 0 with `replayed`,
    which is not acknowledged. `dead_letter`: it came from another keep."""

    member: int
    position: int
    message: Message
    deliveries: int
    replayed: bool
    maybe_duplicate: bool
    dead_letter: bool


@dataclass(frozen=True, slots=True)
class TellLost:
    """How many messages the keep has lost in all, by how."""

    member: int
    how: Leaving
    in_all: int


@dataclass(frozen=True, slots=True)
class CutMember:
    """The keep is forgotten: the member is detached."""

    member: int


@dataclass(frozen=True, slots=True)
class AnswerDone:
    token: int


@dataclass(frozen=True, slots=True)
class AnswerRefused:
    token: int
    code: RefusalCode
    reason: str


KeepCommand = AppendRecord | DeliverKept | TellLost | CutMember | AnswerDone | AnswerRefused
