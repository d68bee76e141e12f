"""Bodies between a client and its router, besides the messages.

Law: every request has a number, and its acknowledgement accounts for each of its items exactly once: in a range or in a
refusal. The requesting side chooses ids and counters.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
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
    Choice,
    DialectName,
    Flag,
    Name,
    PackedFilter,
    PackedProgram,
    Sentence,
    Text,
)

GroupName = Annotated[str, Text(0, limits.NAME_BYTES_MAX)]
GROUPS: Final = "groups"
"""The capability of a router whose subscriptions may name a group."""
DURABLES: Final = "kept"
"""The capability of a router that supports durable subscriptions: it observes DURABLE, and answers CREATE_DURABLE to
REPLAY."""
DURABLE_VIEW: Final = "kept-view"
"""The capability of a router that answers LIST_DURABLES and GET, too."""
LISTS_ELSEWHERE: Final = "durables-elsewhere"
"""The capability of a router that lists the durable subscriptions of other routers."""
CONFIRMS_HELD: Final = "held"
"""The capability of a router that observes the flag EVERY_HOME."""
RESIDUAL: Final = "residual"
"""The capability of a router that runs residual programs of subscriptions."""
COPIES_MIN: Final = "copies-min"
"""The capability of a router that observes `copies_min` of a durable subscription."""


class Reach(enum.IntEnum):
    """The routers that know a subscription when it is acknowledged."""

    HOME = 0
    NETWORK = 1


class SubscriptionItem(NamedTuple):
    """A disjunction of packed filters under an id of the client.

    `residual`: the program that decides about messages which a filter matches; none if it is empty. Only for a
    router with the capability `residual`, and not in a group. `indexed`: with a program that decides alone, filters
    that the router's own index may use in place of `filters`: they match whatever the program passes. A condition
    on `name~` is about the folded text of `name` (protocol/residual/cases.py). `dialect`: the one that the predicate
    was written in, for those who look at it; empty: none.
    """

    id: U32
    filters: Annotated[tuple[PackedFilter, ...], Between(1, limits.DISJUNCTS_MAX)]
    residual: Annotated[PackedProgram, APPENDED] = b""
    indexed: Annotated[tuple[PackedFilter, ...], Between(0, limits.DISJUNCTS_MAX), APPENDED] = ()
    dialect: Annotated[DialectName, APPENDED] = ""


@dataclass(frozen=True, slots=True)
class Subscribe:
    """A batch of subscriptions. The options apply to all of them.

    `group`: each message that satisfies subscriptions with this group name, of any client, goes to one of them; an
    empty name means no group. Only for a router with the capability `groups`.
    """

    request: U32
    subscriptions: Annotated[tuple[SubscriptionItem, ...], Between(1, limits.SUBSCRIPTIONS_PER_FRAME_MAX)]
    own_messages: bool
    wait: Reach
    durable: bool
    group: Annotated[GroupName, APPENDED] = ""

    def __post_init__(self) -> None:
        _check_distinct([subscription.id for subscription in self.subscriptions])


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """A batch of subscription ids."""

    request: U32
    ids: Annotated[tuple[U32, ...], Between(1, limits.SUBSCRIPTIONS_PER_FRAME_MAX)]

    def __post_init__(self) -> None:
        _check_distinct(self.ids)


class AckOf(enum.IntEnum):
    """The request that an acknowledgement answers, which determines the meaning of its numbers."""

    SUBSCRIBE = 1
    UNSUBSCRIBE = 2
    PUBLISH = 3
    DELIVER = 4
    CREATE_DURABLE = 5
    CONSUME = 6
    CANCEL_CONSUME = 7
    REMOVE_DURABLE = 8
    REPLAY = 9
    LIST_DURABLES = 10
    GET = 11
    AUTH = 12


class AckVerdict(enum.IntEnum):
    """The verdict of an ACK of DELIVER on its positions."""

    DONE = 0
    AGAIN = 1
    EXTEND = 2
    REJECT = 3


class Range(NamedTuple):
    """The numbers from `first` to `last`, both included."""

    first: U64
    last: U64


class Refusal(NamedTuple):
    """One refused item: a number of `codes.RefusalCode`, and the reason as text.

    `newest`: with DUPLICATE, TOO_OLD and TOO_FAR_AHEAD the highest message counter that the router knows of this
    publisher; 0 otherwise.
    """

    number: U64
    code: U16
    reason: Sentence
    newest: Annotated[U64, APPENDED] = 0


class KnownAt(NamedTuple):
    """The routers that know a new durable subscription, and those that do not, some of each, with the count of all.
    `is_directed`: each router that knows it stores for it what enters there. `lacking`: homes of it without a copy."""

    known: Annotated[tuple[Name, ...], Between(0, limits.DURABLE_WAIT_ROUTERS_MAX)] = ()
    unknown: Annotated[tuple[Name, ...], Between(0, limits.DURABLE_WAIT_ROUTERS_MAX)] = ()
    known_count: U32 = 0
    unknown_count: U32 = 0
    is_directed: Annotated[bool, APPENDED] = False
    lacking: Annotated[tuple[Name, ...], Between(0, limits.DURABLE_HOMES_MAX), APPENDED] = ()

    def __bool__(self) -> bool:
        """Return whether it says anything."""
        return bool(self.known_count or self.unknown_count)


NOT_SAID: Final = KnownAt()


class Narrowed(NamedTuple):
    """The filters in force of a subscription that rules of access narrow; none if they are too many to be told."""

    id: U32
    filters: Annotated[tuple[PackedFilter, ...], Between(0, limits.DISJUNCTS_MAX)] = ()


@dataclass(frozen=True, slots=True)
class Ack:
    """The numbers in `ranges`, which ascend and do not touch, are done; those in `refusals` are not.

    Of PUBLISH with DURABLE: of the numbers in `ranges`, those in `unstored` matched no durable subscription of this
    router, and those in `stored` are on its disk for one. It is unknown for numbers in neither.

    Of CREATE_DURABLE: `known_at` has the other routers that have stored it, and those that did not confirm it in time
    or are out of reach.

    Of SUBSCRIBE: `narrowed` has the accepted subscriptions of which rules of access let through a part only.

    Of DELIVER: a `request` other than 0 requests an answer, an ACK of DELIVER with that `request`. `subscription` is
    the consumer of these positions, `verdict` their outcome, `delay_ms` the least time until AGAIN, and `reason`
    belongs to AGAIN and REJECT.
    """

    of: AckOf
    request: U32
    ranges: Annotated[tuple[Range, ...], Between(0, limits.ACK_ITEMS_MAX)]
    refusals: Annotated[tuple[Refusal, ...], Between(0, limits.ACK_ITEMS_MAX)] = ()
    verdict: Annotated[AckVerdict, Choice(AckVerdict), APPENDED] = AckVerdict.DONE
    subscription: Annotated[U32, APPENDED] = 0
    delay_ms: Annotated[U32, APPENDED] = 0
    reason: Annotated[Sentence, APPENDED] = ""
    unstored: Annotated[tuple[Range, ...], Between(0, limits.ACK_ITEMS_MAX), APPENDED] = ()
    stored: Annotated[tuple[Range, ...], Between(0, limits.ACK_ITEMS_MAX), APPENDED] = ()
    known_at: Annotated[KnownAt, APPENDED] = NOT_SAID
    narrowed: Annotated[tuple[Narrowed, ...], Between(0, limits.ACK_ITEMS_MAX), APPENDED] = ()

    def __post_init__(self) -> None:
        for ranges in (self.ranges, self.unstored, self.stored):
            _check_ascending(ranges)


@dataclass(frozen=True, slots=True)
class Credit:
    """How much a client may have published since the connection was opened, in total. Neither number decreases.

    From a client: how many messages may be sent to it for `subscription`, a consumer or replay, since that began, in
    total; bytes are not counted.
    """

    frames_total: U64
    bytes_total: U64
    subscription: Annotated[U32, APPENDED] = 0


@dataclass(frozen=True, slots=True)
class Lost:
    """Messages that were dropped on their way to the receiver since the last such frame; a number of `codes.LossReason`
    gives the reason.

    `messages` is 0 if the number, which may be 0, is unknown. `subscriptions` lists those of the receiver that the
    messages satisfied, if they are known. Messages may be missing that were published within `span_ms` before the
    frame; with 0 they are missing exactly here. `goes_on`: routers are out of reach, whose messages will be missing,
    too. Between routers, `sources` are the routers where the messages entered, and `hops` is how many links the frame
    may pass. `in_all`: `messages` is the total that the durable subscription has lost for this reason since it was
    made. Of a damaged log, `unknowns` unknown ranges of positions, all between `first` and `last`, cannot be read;
    whether they held messages of the durable subscription is unknown.
    """

    messages: U64
    bytes_total: U64
    reason: U16
    subscriptions: Annotated[tuple[U32, ...], Between(0, limits.REPORT_ITEMS_MAX)] = ()
    span_ms: Annotated[U32, APPENDED] = 0
    goes_on: Annotated[bool, Flag(), APPENDED] = False
    sources: Annotated[tuple[U64, ...], Between(0, limits.REPORT_ITEMS_MAX), APPENDED] = ()
    hops: Annotated[U8, APPENDED] = 0
    in_all: Annotated[bool, Flag(), APPENDED] = False
    unknowns: Annotated[U64, APPENDED] = 0
    first: Annotated[U64, APPENDED] = 0
    last: Annotated[U64, APPENDED] = 0


def ranges_of(numbers: Iterable[int]) -> tuple[Range, ...]:
    """Return `numbers`, in any order, as the fewest ranges, for an Ack."""
    ordered = sorted(set(numbers))
    if not ordered:
        return ()
    ranges = []
    first = last = ordered[0]
    for number in ordered:
        if number > last + 1:
            ranges.append(Range(first, last))
            first = number
        last = number
    return (*ranges, Range(first, last))


def _check_ascending(ranges: Iterable[Range]) -> None:
    below = -2
    for first, last in ranges:
        if not below + 1 < first <= last:
            raise Refused(f"ranges must ascend and not touch; {first} to {last} comes after {below}")
        below = last


def _check_distinct(ids: Iterable[int]) -> None:
    seen: set[int] = set()
    for number in ids:
        if number in seen:
            raise Refused(f"id {number} appears twice")
        seen.add(number)
