"""Every number of the wire: its meaning, its first version, and the numbers reserved for later parts.

Law: a number is assigned once, here. The enumerations (`kinds`, `codes`, ...) hold the numbers in use, and this file
has the meaning of each; the `reserved` rows are the only source of reserved numbers. A part that starts to use one
moves its row to the enumeration and to `meanings`. `reference.py` prints docs/reference/numbers.md from this file;
tests check that no number is assigned twice.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tamis.protocol.wire.client_bodies import (
    CONFIRMS_HELD,
    COPIES_MIN,
    DURABLE_VIEW,
    DURABLES,
    GROUPS,
    LISTS_ELSEWHERE,
    RESIDUAL,
    AckOf,
    AckVerdict,
    Reach,
)
from tamis.protocol.wire.codes import ErrorCode, LossReason, RefusalCode
from tamis.protocol.wire.durable_bodies import Overflow, StartAt
from tamis.protocol.wire.extensions import ExtensionType, RouteMode
from tamis.protocol.wire.header import Flags
from tamis.protocol.wire.home_bodies import DURABLES_KNOWN
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.routing_bodies import Scope
from tamis.protocol.wire.session_bodies import (
    ACCESS,
    AUTH_AGAIN,
    MOVES,
    ROUTE,
    ROUTE_KEYS,
    ROUTE_SET,
    ROUTE_TREE,
    AuthMethod,
    Role,
)


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a number in use, and the first version of the wire that has it."""

    text: str
    since: int = 1


@dataclass(frozen=True, slots=True)
class Reserved:
    """A number that a later part will use; until then it is not sent."""

    number: int
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Capability:
    """A word in HELLO or WELCOME for an ability beyond the version."""

    word: str
    text: str
    is_prefix: bool = False
    """Whether the sender appends a value to `word`; otherwise it sends `word` alone."""


@dataclass(frozen=True, slots=True)
class Register:
    """The numbers of one field of the wire."""

    title: str
    where: str
    """The field that carries the numbers, and the action of a receiver on an unknown one."""
    in_use: type[enum.IntEnum | enum.IntFlag]
    meanings: Mapping[int, Meaning]
    reserved: tuple[Reserved, ...] = ()
    digits: int = 0
    """Hexadecimal digits for printing numbers; 0: decimal."""

    def shown(self, number: int) -> str:
        """Return `number` in the form of the pages."""
        return f"0x{number:0{self.digits}x}" if self.digits else str(number)


KINDS: Final = Register(
    "Frame kinds",
    "Byte 4 of every frame. Below 0x10: data frames. From 0x80: a receiver that does not know the kind skips the "
    "frame; any other unknown kind ends the connection.",
    FrameKind,
    {
        FrameKind.PUBLISH: Meaning("a message, from a client to its router or between routers"),
        FrameKind.DELIVER: Meaning("a message, from a router to a client with a matching subscription"),
        FrameKind.DRY_RUN: Meaning("takes the route of a PUBLISH and is not delivered"),
        FrameKind.DIRECTED: Meaning("a message for one router, forwarded from next hop to next hop", since=3),
        FrameKind.HELLO: Meaning("opens a connection: name, versions, limits"),
        FrameKind.WELCOME: Meaning("answers HELLO: the chosen version, methods of authentication"),
        FrameKind.AUTH: Meaning("the credential of the connecting side"),
        FrameKind.AUTHENTICATED: Meaning("completes the greeting"),
        FrameKind.ERROR: Meaning("reports the error in a frame"),
        FrameKind.PING: Meaning("requests a sign of life"),
        FrameKind.PONG: Meaning("answers PING with the time"),
        FrameKind.DRAIN: Meaning("the sender begins nothing new and will close"),
        FrameKind.REMOTE_HELLO: Meaning("opens a remote session, inside REMOTE: who the client is", since=3),
        FrameKind.SUBSCRIBE: Meaning("a batch of subscriptions"),
        FrameKind.UNSUBSCRIBE: Meaning("ends a batch of subscriptions"),
        FrameKind.ACK: Meaning("the items that are accepted, and those that are refused"),
        FrameKind.CREDIT: Meaning("the total that a client may publish"),
        FrameKind.LOST: Meaning("messages are missing here, with the reason"),
        FrameKind.CREATE_DURABLE: Meaning("creates a durable subscription: name, policy, start", since=2),
        FrameKind.CONSUME: Meaning("makes this connection a consumer of a durable subscription", since=2),
        FrameKind.CANCEL_CONSUME: Meaning("ends a CONSUME; the durable subscription remains", since=2),
        FrameKind.REMOVE_DURABLE: Meaning("removes a durable subscription and its messages", since=2),
        FrameKind.REPLAY: Meaning("requests messages of the log by predicate", since=2),
        FrameKind.REPLAY_END: Meaning("ends the answer to REPLAY", since=2),
        FrameKind.LIST_DURABLES: Meaning("requests the durable subscriptions that the client may remove", since=2),
        FrameKind.DURABLES_LISTED: Meaning("answers LIST_DURABLES: some of them, with their state", since=2),
        FrameKind.GET: Meaning("requests the newest message with one value of a durable subscription", since=2),
        FrameKind.TRACE_RECORD: Meaning("the handling of a traced message at one router"),
        FrameKind.DRY_RUN_REPORT: Meaning("how one router would handle a message"),
        FrameKind.LSA: Meaning("the links of a router"),
        FrameKind.RA: Meaning("the interest of a router's clients, whole or as a change"),
        FrameKind.SR: Meaning("requests the state that the sender lacks"),
        FrameKind.UR: Meaning("answers SR"),
        FrameKind.HELD: Meaning("confirms that routers have an advertisement"),
        FrameKind.CUSTODY_ACK: Meaning("a home has stored all messages of an entry router up to this number", since=3),
        FrameKind.CUSTODY_ASK: Meaning("a home lacks messages of an entry router: send again from here", since=3),
        FrameKind.GAP: Meaning("the numbers of messages that an entry router no longer has for a home", since=3),
        FrameKind.GO_AWAY: Meaning("the sender will drain; names the time and other routers", since=2),
        FrameKind.EPOCH_REFUSED: Meaning("an epoch is too far ahead of the sender's clock", since=2),
        FrameKind.DURABLES: Meaning("the durable subscriptions of a router, flooded", since=2),
        FrameKind.DURABLES_HELD: Meaning("confirms that routers have stored a DURABLES, each with its log", since=2),
        FrameKind.REMOTE: Meaning("a piece of the frames of a client and its home at another router", since=3),
        FrameKind.FINISHED: Meaning("a home says which messages of its copy its consumers are done with", since=3),
        FrameKind.EA: Meaning("the interest behind one tree edge, for the neighbour at its other end", since=2),
        FrameKind.EH: Meaning("confirms an EA", since=2),
        FrameKind.ER: Meaning("requests a full EA from a neighbour", since=2),
        FrameKind.SPACE: Meaning("the declaration of a space, flooded", since=2),
    },
    (
        Reserved(
            0x2B,
            "OFFER",
            "requests notice of interest in the messages that a predicate admits (quench)",
        ),
        Reserved(0x2C, "WANTED", "answers OFFER at once and at each change: interest or none"),
        Reserved(0xC8, "PLAN", "the strategy of each class of messages"),
    ),
    digits=2,
)

FLAGS: Final = Register(
    "Flags",
    "Byte 5 of a data frame, bit by bit. A bit without a name is 0; one that is set ends the connection (RESERVED).",
    Flags,
    {
        Flags.CONFIRM: Meaning("answer with an ACK"),
        Flags.RETRY: Meaning("this message may have been sent before"),
        Flags.DURABLE: Meaning("to be stored for durable subscriptions"),
        Flags.OWN: Meaning("DELIVER: the receiver published this message itself"),
        Flags.TRACED: Meaning("the frame has a TRACE extension"),
        Flags.EVERY_HOME: Meaning(
            "with CONFIRM and DURABLE, from a client: answer once every home has the message on disk", since=3
        ),
    },
    digits=2,
)

EXTENSIONS: Final = Register(
    "Extensions",
    "The type of an entry in the extension area. Below 0x8000: a router that does not know it forwards it unread; "
    "from 0x8000: the frame is refused (UNKNOWN_EXTENSION).",
    ExtensionType,
    {
        ExtensionType.REUSE_KEYS: Meaning("unused: replaced by mode KEYS of ROUTE"),
        ExtensionType.TRACE: Meaning("the number under which each router reports its handling"),
        ExtensionType.EXPIRY: Meaning("the time after which the message is dropped"),
        ExtensionType.GROUP: Meaning("the publisher's label for messages that belong together"),
        ExtensionType.SATISFIED: Meaning("DELIVER: the receiver's subscriptions that the message satisfies"),
        ExtensionType.LOG_POSITION: Meaning("DELIVER: the position of the message in the log"),
        ExtensionType.CUSTODY: Meaning(
            "DIRECTED: the home, the number of the message at its entry router, and the number before", since=3
        ),
        ExtensionType.GROUP_CHOICE: Meaning(
            "for each worker group, the router whose member receives the message", since=2
        ),
        ExtensionType.DELIVERIES: Meaning(
            "DELIVER: the number of deliveries; whether replayed, a possible duplicate, a dead letter", since=2
        ),
        ExtensionType.MEMBERS_ONLY: Meaning("the message is only for the members that GROUP_CHOICE names", since=2),
        ExtensionType.TELL_UNWANTED: Meaning(
            "an ACK (UNWANTED) informs the publisher if no subscription matches", since=2
        ),
        ExtensionType.ROUTE: Meaning(
            "the further route of the message: to all routers, or to those that are listed", since=2
        ),
    },
    (
        Reserved(0x0007, "DESTINATIONS", "unused: replaced by mode SET of ROUTE"),
        Reserved(0x0009, "REPLY", "the requesting client, and the proof that an answer is for it"),
        Reserved(0x8008, "TENANT", "the tenant whose tables apply to the message"),
    ),
    digits=4,
)

ERRORS: Final = Register(
    "Errors",
    "The code of an ERROR frame. A code that a receiver does not know is fatal.",
    ErrorCode,
    {
        ErrorCode.TOO_LONG: Meaning("a length above the receiver's limit"),
        ErrorCode.TOO_SHORT: Meaning("a length below that of the frame's fixed part"),
        ErrorCode.RESERVED: Meaning("a reserved byte, bit or unused field is not 0"),
        ErrorCode.UNKNOWN_KIND: Meaning("a kind below 0x80 that the receiver does not know"),
        ErrorCode.UNEXPECTED_KIND: Meaning("a kind that the sender may not send now"),
        ErrorCode.MALFORMED: Meaning("a body or header that violates its table"),
        ErrorCode.TRAILING_BYTES: Meaning("bytes after a body"),
        ErrorCode.OVER_LIMIT: Meaning("a count or size above its limit"),
        ErrorCode.BAD_ATTRIBUTES: Meaning("attributes that a message may not carry"),
        ErrorCode.BAD_EXTENSION: Meaning("an invalid extension area or known extension"),
        ErrorCode.UNKNOWN_EXTENSION: Meaning("an unsupported extension that must not be ignored"),
        ErrorCode.BAD_FILTER: Meaning("a packed filter that does not decode"),
        ErrorCode.BAD_PARTS: Meaning("parts that do not form a body"),
        ErrorCode.UNAUTHENTICATED: Meaning("too many bytes before authentication"),
        ErrorCode.VERSION_REFUSED: Meaning("no version in common"),
        ErrorCode.AUTHENTICATION_FAILED: Meaning("the credential is wrong"),
        ErrorCode.WRONG_SENDER: Meaning("transit fields or an origin that this sender may not use"),
        ErrorCode.REPLACED: Meaning("a newer connection has this client's name"),
        ErrorCode.SILENT: Meaning("nothing arrived within the hold time"),
        ErrorCode.SLOW: Meaning("the receiver does not read its queued data"),
        ErrorCode.FULL: Meaning("the limit of connections is reached"),
        ErrorCode.REVOKED: Meaning("the credential of this client is no longer valid", since=2),
    },
)

REFUSALS: Final = Register(
    "Refusals",
    "The code of a refusal of one item in an ACK. An unknown code means: failed, see the reason.",
    RefusalCode,
    {
        RefusalCode.BAD_FILTER: Meaning("the packed filter does not decode"),
        RefusalCode.NEVER_MATCHES: Meaning("the filter contradicts itself"),
        RefusalCode.TOO_MANY_FILTERS: Meaning("the limit of filters of the client is reached"),
        RefusalCode.NOT_ALLOWED: Meaning("the client has no permission"),
        RefusalCode.ID_IN_USE: Meaning("the subscription id is in use"),
        RefusalCode.NO_SUCH_ID: Meaning("no subscription has this id"),
        RefusalCode.OVERLOADED: Meaning("a limit is reached for now; retry later"),
        RefusalCode.LOG_FAILED: Meaning("the event log cannot be written"),
        RefusalCode.EXPIRED: Meaning("the message's expiry has passed"),
        RefusalCode.TOO_LARGE: Meaning("larger than a receiver accepts"),
        RefusalCode.DRAINING: Meaning("the router is draining"),
        RefusalCode.UNKNOWN_EXTENSION: Meaning("an unsupported extension that must not be ignored"),
        RefusalCode.OUT_OF_MEMORY: Meaning("no memory for tables"),
        RefusalCode.DUPLICATE: Meaning("a message with this counter was accepted before", since=2),
        RefusalCode.TOO_OLD: Meaning("the counter is too old to know whether its message was accepted", since=2),
        RefusalCode.TOO_FAR_AHEAD: Meaning("the counter is more than a day ahead of the router's clock", since=2),
        RefusalCode.NOT_IN_STEP: Meaning("a link was not synchronised in time", since=2),
        RefusalCode.TOO_COSTLY: Meaning("matching exceeded the step limit of one message", since=2),
        RefusalCode.OVER_QUOTA: Meaning("above the client's share of table bytes, or another quota", since=2),
        RefusalCode.NOT_IN_SPACE: Meaning("the message violates the space that it names", since=2),
        RefusalCode.NO_SUCH_DURABLE: Meaning("no durable subscription has this name", since=2),
        RefusalCode.DURABLE_DIFFERS: Meaning("a durable subscription of this name has another policy", since=2),
        RefusalCode.LOG_FULL: Meaning("the log, or a durable subscription that matches, is full", since=2),
        RefusalCode.NO_LOG: Meaning("this router has no log and stores nothing; the reason names the key", since=2),
        RefusalCode.UNWANTED: Meaning(
            "no subscription matches the message, and its publisher requested this report", since=2
        ),
        RefusalCode.DURABLE_ELSEWHERE: Meaning("another router has a durable subscription of this name", since=2),
        RefusalCode.NOT_HELD: Meaning("the message is stored here, and was given up for a home", since=3),
        RefusalCode.HOME_AWAY: Meaning("the home of the durable subscription is out of reach or silent", since=3),
    },
    (Reserved(24, "NUMBER_REUSED", "a home has another message under this number of the entry router"),),
)

LOSSES: Final = Register(
    "Loss reasons",
    "The reason in a LOST frame. An unknown reason means: lost.",
    LossReason,
    {
        LossReason.QUEUE_FULL: Meaning("the receiver's queue was full"),
        LossReason.EXPIRED: Meaning("expired while queued"),
        LossReason.TOO_LARGE: Meaning("larger than the receiver accepts"),
        LossReason.LOG_FULL: Meaning("the event log was full"),
        LossReason.LINK_CUT: Meaning("a link was cut while they were queued"),
        LossReason.ROUTE_CHANGED: Meaning(
            "the route from a source has changed; messages on the old one may be lost", since=2
        ),
        LossReason.TOO_COSTLY: Meaning("matching exceeded the step limit of one message", since=2),
        LossReason.UNDELIVERABLE: Meaning(
            "rejected, or the limit of deliveries reached, and no dead letter subscription is set", since=2
        ),
        LossReason.LOG_DAMAGED: Meaning("a part of the router's log is damaged and cannot be read", since=2),
        LossReason.CUSTODY_FULL: Meaning(
            "the router that the messages entered reached its limit of bytes stored for this router", since=3
        ),
        LossReason.ENTRY_LOST: Meaning(
            "the entry router no longer has what it stored for this router: its disk was lost, damaged or restored",
            since=3,
        ),
        LossReason.SKIPPED: Meaning("skipped by the owner of the durable subscription: `after` of CONSUME", since=2),
    },
    (Reserved(12, "NOT_ALLOWED", "the owner of the durable subscription has no permission any longer"),),
)

ROLES: Final = Register(
    "Roles",
    "`role` of HELLO.",
    Role,
    {Role.CLIENT: Meaning("a client"), Role.ROUTER: Meaning("a router")},
)

METHODS: Final = Register(
    "Methods of authentication",
    "`methods` of WELCOME and `method` of AUTH.",
    AuthMethod,
    {
        AuthMethod.NONE: Meaning("no proof, or proof by the transport"),
        AuthMethod.TOKEN: Meaning("the token of a name"),
        AuthMethod.SECRET: Meaning("a proof by a shared secret"),
        AuthMethod.JWT: Meaning("a signed token of an issuer, with an expiry", since=2),
    },
    (
        Reserved(3, "PASSWORD", "the password of a person"),
        Reserved(4, "SIGNATURE", "a signature over the greeting, by an Ed25519 key"),
    ),
)

REACHES: Final = Register(
    "Waits",
    "`wait` of SUBSCRIBE.",
    Reach,
    {
        Reach.HOME: Meaning("acknowledged when active at the client's router"),
        Reach.NETWORK: Meaning("acknowledged when every reachable router has it"),
    },
)

ACKNOWLEDGED: Final = Register(
    "Subjects of an ACK",
    "`of` of ACK.",
    AckOf,
    {
        AckOf.SUBSCRIBE: Meaning("a SUBSCRIBE; the numbers are subscription ids"),
        AckOf.UNSUBSCRIBE: Meaning("an UNSUBSCRIBE; the numbers are subscription ids"),
        AckOf.PUBLISH: Meaning("PUBLISH frames; the numbers are message counters"),
        AckOf.CREATE_DURABLE: Meaning("a CREATE_DURABLE; the number is 0", since=2),
        AckOf.CONSUME: Meaning("a CONSUME; the number is its id", since=2),
        AckOf.CANCEL_CONSUME: Meaning("a CANCEL_CONSUME; the number is its id", since=2),
        AckOf.REMOVE_DURABLE: Meaning("a REMOVE_DURABLE; the number is 0", since=2),
        AckOf.REPLAY: Meaning("a REPLAY; the number is its id", since=2),
        AckOf.LIST_DURABLES: Meaning("a LIST_DURABLES that is refused; the number is 0", since=2),
        AckOf.AUTH: Meaning("an AUTH on an open connection; the number is 0", since=2),
        AckOf.GET: Meaning("a GET; the number is its id", since=2),
        AckOf.DELIVER: Meaning("DELIVER frames; the numbers are log positions"),
    },
)

VERDICTS: Final = Register(
    "Verdicts on delivered messages",
    "`verdict` of an ACK of DELIVER.",
    AckVerdict,
    {
        AckVerdict.DONE: Meaning("processed: not delivered again", since=2),
        AckVerdict.AGAIN: Meaning("not processed: deliver it again, to any consumer, after a pause", since=2),
        AckVerdict.EXTEND: Meaning("in progress: the time to acknowledge restarts", since=2),
        AckVerdict.REJECT: Meaning("cannot be processed: becomes a dead letter", since=2),
    },
)

OVERFLOWS: Final = Register(
    "Overflow of a durable subscription",
    "`overflow` of DurablePolicy.",
    Overflow,
    {
        Overflow.DROP_OLDEST: Meaning("the oldest messages are dropped, counted and reported", since=2),
        Overflow.REFUSE: Meaning("a matching message is refused (LOG_FULL)", since=2),
    },
)

STARTS: Final = Register(
    "Start of a durable subscription",
    "`start` of CREATE_DURABLE.",
    StartAt,
    {
        StartAt.NEW: Meaning("with messages published from now on", since=2),
        StartAt.EARLIEST: Meaning("with all messages in the log", since=2),
        StartAt.TIME: Meaning("with messages logged since a time", since=2),
        StartAt.AFTER: Meaning("with messages logged after a message", since=2),
    },
)

SCOPES: Final = Register(
    "Scopes of a request",
    "`scope` of SR.",
    Scope,
    {
        Scope.NEIGHBOUR: Meaning("the neighbour's own answer"),
        Scope.TREE: Meaning("the answer of the whole subtree below the neighbour"),
    },
)

ROUTE_MODES: Final = Register(
    "Modes of a route",
    "The first byte of ROUTE.",
    RouteMode,
    {
        RouteMode.ALL: Meaning("to all routers", since=2),
        RouteMode.LIST: Meaning("to the routers that are listed", since=2),
        RouteMode.TREE: Meaning("along the tree of a root, to routers with interest", since=2),
        RouteMode.SET: Meaning(
            "to the routers of a set, valid where tables equal those that it was computed from", since=2
        ),
        RouteMode.KEYS: Meaning(
            "to the routers of the filters with these keys, and unless these are all to others that match", since=2
        ),
    },
)

REGISTERS: Final = (
    *(KINDS, FLAGS, EXTENSIONS, ERRORS, REFUSALS, LOSSES),
    *(ROLES, METHODS, REACHES, ACKNOWLEDGED, VERDICTS, OVERFLOWS, STARTS, SCOPES, ROUTE_MODES),
)

CAPABILITIES: Final = (
    Capability(GROUPS, "of a router: SUBSCRIBE may name a worker group"),
    Capability(DURABLES, "of a router: it supports durable subscriptions and the requests about them"),
    Capability(DURABLE_VIEW, "of a router: it answers LIST_DURABLES and GET"),
    Capability(LISTS_ELSEWHERE, "of a router: LIST_DURABLES may ask for those of other routers"),
    Capability(CONFIRMS_HELD, "of a router: it observes the flag EVERY_HOME"),
    Capability(RESIDUAL, "of a router: it runs residual programs of subscriptions"),
    Capability(COPIES_MIN, "of a router: it observes `copies_min` of a durable subscription"),
    Capability(AUTH_AGAIN, "of a router: it takes AUTH on an open connection"),
    Capability(MOVES, "of a client: it supports GO_AWAY, and has another address"),
    Capability(ROUTE, "between routers: the extension ROUTE is supported"),
    Capability(ROUTE_SET, "between routers: mode SET of ROUTE is also supported"),
    Capability(ROUTE_TREE, "between routers: mode TREE of ROUTE is also supported"),
    Capability(ROUTE_KEYS, "between routers: mode KEYS of ROUTE is also supported"),
    Capability(DURABLES_KNOWN, "between routers: DURABLES and DURABLES_HELD are supported"),
    Capability(ACCESS, "between routers: the first 4 bytes of the digest of its access rules", is_prefix=True),
)
"""Every capability, in use and reserved."""
