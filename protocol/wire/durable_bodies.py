"""Bodies about durable subscriptions, between a client and its router.

Law: a durable subscription has a name and a policy; its start is not part of the policy, since it matters only when the
durable subscription is made. A consumer has an id among the ids of the client's subscriptions. A policy that exists
is within its bounds, so a router checks quotas only.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, fields
from typing import Annotated, Final, NamedTuple

from tamis.protocol import limits
from tamis.protocol.errors import Refused
from tamis.protocol.wire.schema import (
    APPENDED,
    U8,
    U16,
    U32,
    U64,
    Between,
    Binary,
    DialectName,
    Name,
    PackedFilter,
    PackedProgram,
    PositiveU32,
    PositiveU64,
    Sentence,
    Text,
)

Filters = Annotated[tuple[PackedFilter, ...], Between(1, limits.DISJUNCTS_MAX)]
NameOrNone = Annotated[str, Text(0, limits.NAME_BYTES_MAX)]

DAY_MS: Final = 86_400_000
GET_VALUE: Final = "value"
"""The name of the one attribute of a GET."""


class Overflow(enum.IntEnum):
    """The action for a message beyond the bounds of a durable subscription."""

    DROP_OLDEST = 0
    REFUSE = 1


class StartAt(enum.IntEnum):
    """Which stored messages of the log a new durable subscription includes."""

    NEW = 0
    EARLIEST = 1
    TIME = 2
    AFTER = 3


@dataclass(frozen=True, slots=True)
class DurablePolicy:
    """The policy of a durable subscription: its filters, retention and deliveries.

    `for_ms`: how long a message is stored, acknowledged or not; 0: until acknowledged. `count`, `idle_ms` and
    `deliveries_max`: 0 means no bound. `order_by`: messages with equal values of this attribute go to one consumer at a
    time, in order. `latest_by`: of messages with equal values only the newest is stored. `copies_min`: how many of
    several homes need to have a message before it counts as held; 0: each. `residual`: the program that decides about
    messages which a filter matches; none if it is empty, as it is where `homes` are named. `dialect`: the one that the
    predicate was written in, for those who look at it; empty: none.
    """

    filters: Filters
    for_ms: U64 = 0
    bytes: PositiveU64 = 2**30
    count: U64 = 0
    overflow: Overflow = Overflow.DROP_OLDEST
    idle_ms: U64 = 7 * DAY_MS
    ack_wait_ms: PositiveU32 = 30_000
    deliveries_max: U32 = 5
    backoff_ms: Annotated[tuple[U32, ...], Between(0, limits.DURABLE_BACKOFFS_MAX)] = (1_000, 5_000, 30_000)
    dead_letter: NameOrNone = ""
    unacked_max: PositiveU32 = 1_000
    order_by: NameOrNone = ""
    latest_by: NameOrNone = ""
    copies_min: Annotated[U8, APPENDED] = 0
    residual: Annotated[PackedProgram, APPENDED] = b""
    dialect: Annotated[DialectName, APPENDED] = ""

    def __post_init__(self) -> None:
        if self.unacked_max > limits.DURABLE_UNACKED_MAX:
            raise Refused(f"unacked_max is 1 to {limits.DURABLE_UNACKED_MAX}, not {self.unacked_max}")

    def differing(self, other: DurablePolicy) -> tuple[str, ...]:
        """Return the names of the fields in which `other` differs. The words of an equal predicate do not matter."""
        names = (f.name for f in fields(self) if f.name != "dialect")
        return tuple([name for name in names if getattr(self, name) != getattr(other, name)])


@dataclass(frozen=True, slots=True)
class CreateDurable:
    """Makes a durable subscription, or finds one of equal policy.

    `start_ns`: with TIME, Unix nanoseconds. `after_origin` and `after_counter`: with AFTER, a message's identity.
    `homes`: the routers that have a copy of it each, the first to serve first; empty: the router that receives this.
    """

    request: U32
    name: Name
    policy: DurablePolicy
    start: StartAt = StartAt.NEW
    start_ns: U64 = 0
    after_origin: U64 = 0
    after_counter: U64 = 0
    homes: Annotated[tuple[Name, ...], Between(0, limits.DURABLE_HOMES_MAX)] = ()

    def __post_init__(self) -> None:
        if self.policy.copies_min > len(self.homes):
            raise Refused(f"copies_min is at most {len(self.homes)}, the number of homes, not {self.policy.copies_min}")
        if self.policy.residual and self.homes:
            raise Refused("a durable subscription with homes has no residual program")
        if self.policy.dead_letter == self.name:
            raise Refused(f"durable subscription {self.name!r} cannot be its own dead letter subscription")
        if bool(self.start_ns) > (self.start is StartAt.TIME):
            raise Refused("start_ns is 0 unless start is TIME")
        if bool(self.after_origin or self.after_counter) > (self.start is StartAt.AFTER):
            raise Refused("after_origin and after_counter are 0 unless start is AFTER")


@dataclass(frozen=True, slots=True)
class Consume:
    """Attaches this connection to a durable subscription, under an id of the client's own.

    `credit_frames`: how many messages may be delivered in total; CREDIT raises it. `after`: a position; messages for
    the client up to it count as acknowledged. `latest`: deliver first the newest message of each value of `latest_by`.
    """

    request: U32
    id: U32
    name: Name
    credit_frames: U64
    after: U64 = 0
    latest: bool = False


@dataclass(frozen=True, slots=True)
class CancelConsume:
    """Ends a consumer; messages that it did not acknowledge go to other consumers."""

    request: U32
    id: U32


@dataclass(frozen=True, slots=True)
class RemoveDurable:
    """Removes a durable subscription and its messages."""

    request: U32
    name: Name


class DurableStatus(NamedTuple):
    """The state of a durable subscription: its owner, its policy, and how many of its messages are open, of these at
    consumers (`out`) and waiting for redelivery (`paused`), and the bytes of all. `lag_ms`: the age of the oldest open
    message; 0 if there is none. `homes`: its routers, if there are several."""

    name: Name
    owner: NameOrNone
    policy: DurablePolicy
    open: U64
    out: U64
    paused: U64
    bytes: U64
    consumers: U32
    lag_ms: U64
    homes: Annotated[tuple[Name, ...], Between(0, limits.DURABLE_HOMES_MAX), APPENDED] = ()


@dataclass(frozen=True, slots=True)
class ListDurables:
    """Requests the durable subscriptions that the client may remove, by name; those behind the name `after`. With
    `elsewhere`, those of other routers, and none of this one."""

    request: U32
    after: NameOrNone
    elsewhere: Annotated[bool, APPENDED] = False


class DurableElsewhere(NamedTuple):
    """A durable subscription of another router, as that states it, and whether that is in reach."""

    name: Name
    router: Name
    owner: NameOrNone
    filters: Filters
    is_in_reach: bool


@dataclass(frozen=True, slots=True)
class DurablesListed:
    """Answers ListDurables. `more`: there are further ones behind the last; of those elsewhere, behind the name
    `upto`."""

    request: U32
    durables: Annotated[tuple[DurableStatus, ...], Between(0, limits.DURABLES_PER_FRAME_MAX)]
    more: bool
    elsewhere: Annotated[tuple[DurableElsewhere, ...], Between(0, limits.DURABLES_PER_FRAME_MAX), APPENDED] = ()
    upto: Annotated[NameOrNone, APPENDED] = ""


@dataclass(frozen=True, slots=True)
class Get:
    """Requests the newest message of a durable subscription for one value of its `latest_by`, which is no delivery.
    `attributes`: packed, with the value under the name GET_VALUE. The message arrives under `id`, before the ACK."""

    request: U32
    id: U32
    name: Name
    attributes: Annotated[bytes, Binary(1, limits.GET_BYTES_MAX)]


@dataclass(frozen=True, slots=True)
class Replay:
    """Requests stored messages of the log, by predicate and time; they arrive under the id, and are not
    acknowledged. `residual`: the program that decides about messages which a filter matches; none if it is empty."""

    request: U32
    id: U32
    filters: Filters
    since_ns: U64
    until_ns: U64
    credit_frames: U64
    residual: Annotated[PackedProgram, APPENDED] = b""

    def __post_init__(self) -> None:
        if self.since_ns > self.until_ns:
            raise Refused(f"since_ns is at most until_ns; {self.since_ns} is after {self.until_ns}")


@dataclass(frozen=True, slots=True)
class ReplayEnd:
    """Ends a replay of `messages`. `code` of `codes.RefusalCode`: why it ends early; 0: it is complete."""

    id: U32
    messages: U64
    code: U16 = 0
    reason: Sentence = ""
