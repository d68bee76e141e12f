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

from tamis.protocol.wire.client_bodies import DURABLE_VIEW, DURABLES, GROUPS, AckOf, AckVerdict, Reach
from tamis.protocol.wire.codes import ErrorCode, LossReason, RefusalCode
from tamis.protocol.wire.durable_bodies import Overflow, StartAt
from tamis.protocol.wire.extensions import ExtensionType, RouteMode
from tamis.protocol.wire.header import Flags
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.routing_bodies import Scope
from tamis.protocol.wire.session_bodies import MOVES, ROUTE, ROUTE_SET, ROUTE_TREE, AuthMethod, Role


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
    is_reserved: bool = False
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
        FrameKind.DELIVER: Meaning("a message, from a router to a client that wants it"),
        FrameKind.DRY_RUN: Meaning("goes where a PUBLISH would, and is delivered to nobody"),
        FrameKind.HELLO: Meaning("opens a connection: name, versions, limits"),
        FrameKind.WELCOME: Meaning("answers HELLO: the chosen version, methods to prove a name"),
        FrameKind.AUTH: Meaning("the connecting side's credential"),
        FrameKind.AUTHENTICATED: Meaning("ends the greeting"),
        FrameKind.ERROR: Meaning("says what was wrong with a frame"),
        FrameKind.PING: Meaning("asks for a sign of life"),
        FrameKind.PONG: Meaning("answers PING, and tells the clock"),
        FrameKind.DRAIN: Meaning("the sender starts nothing new and will close"),
        FrameKind.SUBSCRIBE: Meaning("a batch of subscriptions"),
        FrameKind.UNSUBSCRIBE: Meaning("ends a batch of subscriptions"),
        FrameKind.ACK: Meaning("which items are done, and which are refused"),
        FrameKind.CREDIT: Meaning("how much a client may publish in all"),
        FrameKind.LOST: Meaning("messages are missing here, and why"),
        FrameKind.CREATE_DURABLE: Meaning("makes a kept subscription: a name, terms, and where it starts", since=2),
        FrameKind.CONSUME: Meaning("attaches this connection to a kept subscription", since=2),
        FrameKind.CANCEL_CONSUME: Meaning("ends an CONSUME; the kept subscription stays", since=2),
        FrameKind.REMOVE_DURABLE: Meaning("ends a kept subscription and what is kept for it", since=2),
        FrameKind.REPLAY: Meaning("asks for history by predicate", since=2),
        FrameKind.REPLAY_END: Meaning("ends the answer to REPLAY", since=2),
        FrameKind.LIST_DURABLES: Meaning("asks for the kept subscriptions that the client may end", since=2),
        FrameKind.DURABLES_LISTED: Meaning("answers LIST_DURABLES: some of them, and how they stand", since=2),
        FrameKind.GET: Meaning("asks for the newest message of a kept subscription with one value", since=2),
        FrameKind.TRACE_RECORD: Meaning("what one router did with a traced message"),
        FrameKind.DRY_RUN_REPORT: Meaning("what one router would do with a message"),
        FrameKind.LSA: Meaning("a router's links"),
        FrameKind.RA: Meaning("what the clients of a router want, whole or as a change"),
        FrameKind.SR: Meaning("asks for what the sender lacks"),
        FrameKind.UR: Meaning("answers SR"),
        FrameKind.HELD: Meaning("confirms that routers hold an advertisement"),
        FrameKind.GO_AWAY: Meaning("the sender will drain: be at another router by then, and where", since=2),
        FrameKind.EPOCH_REFUSED: Meaning("an epoch is too far ahead of the sender's clock", since=2),
        FrameKind.EA: Meaning("what is wanted behind one tree edge, said to the neighbour at its other end", since=2),
        FrameKind.EH: Meaning("confirms an EA", since=2),
        FrameKind.ER: Meaning("asks a neighbour to say its EA whole", since=2),
        FrameKind.SPACE: Meaning("what messages of one kind have, flooded", since=2),
    },
    (
        Reserved(
            0x04, "DIRECTED", "a data frame for one router, passed from next hop to next hop: repeats, relayed keeps"
        ),
        Reserved(0x2B, "OFFER", "a publisher asks to be told whether anybody wants what a predicate admits (quench)"),
        Reserved(0x2C, "WANTED", "answers OFFER at once and at each change: wanted or not"),
        Reserved(0x50, "CUSTODY_ACK", "a home has on disk all of one entry's messages up to this number"),
        Reserved(0x51, "CUSTODY_ASK", "a home noticed a gap: send again from here"),
        Reserved(0x52, "GAP", "messages of a chain that its entry could not keep, and how many"),
        Reserved(0x90, "DURABLES", "a home's kept subscriptions, flooded beside its RA"),
        Reserved(0x91, "DURABLES_HELD", "confirms that routers hold a DURABLES, each with the log that it has"),
        Reserved(0xC8, "PLAN", "which strategy carries which class of messages"),
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
        Flags.DURABLE: Meaning("to be kept in event logs until confirmed"),
        Flags.OWN: Meaning("DELIVER: the receiver published this message itself"),
        Flags.TRACED: Meaning("there is a TRACE extension"),
    },
    (Reserved(0x20, "EVERY_HOME", "with CONFIRM and DURABLE: answer once every home has the message on disk"),),
    digits=2,
)

EXTENSIONS: Final = Register(
    "Extensions",
    "The type of an entry in the extension area. Below 0x8000: carried along unread by a router that does not know it; "
    "from 0x8000: the frame is refused (UNKNOWN_EXTENSION).",
    ExtensionType,
    {
        ExtensionType.REUSE_KEYS: Meaning("keys of subscriptions that an upstream router found to match"),
        ExtensionType.TRACE: Meaning("the number under which each router reports what it did"),
        ExtensionType.EXPIRY: Meaning("when the message is dropped instead of delivered"),
        ExtensionType.GROUP: Meaning("the publisher's label for messages that belong together"),
        ExtensionType.SATISFIED: Meaning("DELIVER: the receiver's subscriptions that the message satisfies"),
        ExtensionType.LOG_POSITION: Meaning("DELIVER: where the message stands in the client's event log"),
        ExtensionType.GROUP_CHOICE: Meaning("which router's member of each worker group gets the message", since=2),
        ExtensionType.DELIVERIES: Meaning(
            "DELIVER: how often this was given out, whether replayed, maybe a double, a dead letter", since=2
        ),
        ExtensionType.MEMBERS_ONLY: Meaning("the message is for the members that GROUP_CHOICE names alone", since=2),
        ExtensionType.TELL_UNWANTED: Meaning("the publisher is told by an ACK (UNWANTED) if nobody wants it", since=2),
        ExtensionType.ROUTE: Meaning("how the message goes on: to all routers, or to those that are listed", since=2),
    },
    (
        Reserved(0x0007, "DESTINATIONS", "nothing: what it was promised to is the mode SET of ROUTE"),
        Reserved(0x0008, "CUSTODY", "the entry's number for a kept message, and for each home the number before"),
        Reserved(0x0009, "REPLY", "who asked, and the proof that an answer is for that client"),
        Reserved(0x8008, "TENANT", "which tenant's tables the message belongs to"),
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
        ErrorCode.MALFORMED: Meaning("a body or header that does not fit its table"),
        ErrorCode.TRAILING_BYTES: Meaning("bytes after a body"),
        ErrorCode.OVER_LIMIT: Meaning("a count or size above its limit"),
        ErrorCode.BAD_ATTRIBUTES: Meaning("attributes that a message may not carry"),
        ErrorCode.BAD_EXTENSION: Meaning("an extension area or a known extension that is wrong"),
        ErrorCode.UNKNOWN_EXTENSION: Meaning("an extension that must be understood and is not"),
        ErrorCode.BAD_FILTER: Meaning("a packed filter that does not decode"),
        ErrorCode.BAD_PARTS: Meaning("parts that make no body"),
        ErrorCode.UNAUTHENTICATED: Meaning("too many bytes before authentication"),
        ErrorCode.VERSION_REFUSED: Meaning("no version in common"),
        ErrorCode.AUTHENTICATION_FAILED: Meaning("the credential is wrong"),
        ErrorCode.WRONG_SENDER: Meaning("transit fields or an origin that this sender may not use"),
        ErrorCode.REPLACED: Meaning("a newer connection has this client's name"),
        ErrorCode.SILENT: Meaning("nothing came for the hold time"),
        ErrorCode.SLOW: Meaning("the receiver does not read what waits for it"),
        ErrorCode.FULL: Meaning("no room for another connection"),
        ErrorCode.REVOKED: Meaning("the credential by which this client came in is no longer good", since=2),
    },
)

REFUSALS: Final = Register(
    "Refusals",
    "The code of a refusal in an ACK: why one item was not taken. An unknown code means: failed, see the reason.",
    RefusalCode,
    {
        RefusalCode.BAD_FILTER: Meaning("the packed filter does not decode"),
        RefusalCode.NEVER_MATCHES: Meaning("the filter contradicts itself"),
        RefusalCode.TOO_MANY_FILTERS: Meaning("past the client's number of filters"),
        RefusalCode.NOT_ALLOWED: Meaning("this client may not"),
        RefusalCode.ID_IN_USE: Meaning("the subscription id is in use"),
        RefusalCode.NO_SUCH_ID: Meaning("no subscription has this id"),
        RefusalCode.OVERLOADED: Meaning("no room now; try again later"),
        RefusalCode.LOG_FAILED: Meaning("the event log cannot be written"),
        RefusalCode.EXPIRED: Meaning("the message's expiry has passed"),
        RefusalCode.TOO_LARGE: Meaning("larger than a receiver takes"),
        RefusalCode.DRAINING: Meaning("the router is draining"),
        RefusalCode.UNKNOWN_EXTENSION: Meaning("an extension that must be understood and is not"),
        RefusalCode.OUT_OF_MEMORY: Meaning("no memory for tables"),
        RefusalCode.DUPLICATE: Meaning("a message with this counter was taken before", since=2),
        RefusalCode.TOO_OLD: Meaning("the counter is too far back to know whether it was taken", since=2),
        RefusalCode.TOO_FAR_AHEAD: Meaning("the counter is more than a day ahead of the router's clock", since=2),
        RefusalCode.NOT_IN_STEP: Meaning("a link was not in step in time", since=2),
        RefusalCode.TOO_COSTLY: Meaning("matching took more steps than one message may", since=2),
        RefusalCode.OVER_QUOTA: Meaning("past the client's share of the tables' bytes", since=2),
        RefusalCode.NOT_IN_SPACE: Meaning("the message does not fit the information space that it names", since=2),
        RefusalCode.NO_SUCH_DURABLE: Meaning("no kept subscription has this name", since=2),
        RefusalCode.DURABLE_DIFFERS: Meaning("a kept subscription of this name has other terms", since=2),
        RefusalCode.LOG_FULL: Meaning("the log, or a kept subscription that wants it, has no room", since=2),
        RefusalCode.NO_LOG: Meaning("this router keeps nothing: it has no log; the reason names the key", since=2),
        RefusalCode.UNWANTED: Meaning("nobody wants the message, whose publisher asks to be told that", since=2),
    },
    (Reserved(24, "NUMBER_REUSED", "a home has another message under this number of its entry"),),
)

LOSSES: Final = Register(
    "Loss reasons",
    "The reason in a LOST frame. An unknown reason means: lost.",
    LossReason,
    {
        LossReason.QUEUE_FULL: Meaning("the receiver's queue was full"),
        LossReason.EXPIRED: Meaning("expired while queued"),
        LossReason.TOO_LARGE: Meaning("larger than the receiver takes"),
        LossReason.LOG_FULL: Meaning("the event log was full"),
        LossReason.LINK_CUT: Meaning("a link was cut while they were queued"),
        LossReason.ROUTE_CHANGED: Meaning(
            "the way of a source has changed; what was on the old one may be lost", since=2
        ),
        LossReason.TOO_COSTLY: Meaning("matching took more steps than one message may", since=2),
        LossReason.UNDELIVERABLE: Meaning(
            "given out as often as the kept subscription allows, or rejected, and it has no dead letter place", since=2
        ),
        LossReason.LOG_DAMAGED: Meaning("a part of the router's log was damaged, and cannot be read", since=2),
        LossReason.SKIPPED: Meaning("the owner of the kept subscription passed over them: `after` of CONSUME", since=2),
    },
    (
        Reserved(10, "CUSTODY_FULL", "the entry could keep no more for a home that was away"),
        Reserved(11, "ENTRY_LOST", "the router where they entered has lost its disk"),
        Reserved(12, "NOT_ALLOWED", "the owner of the kept subscription may no longer have them"),
    ),
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
        AuthMethod.NONE: Meaning("nothing is proved, or the transport has proved it"),
        AuthMethod.TOKEN: Meaning("the token of a name"),
        AuthMethod.SECRET: Meaning("a proof by a shared secret"),
    },
    (
        Reserved(3, "PASSWORD", "the password of a person"),
        Reserved(4, "SIGNATURE", "a signature over the greeting, by an Ed25519 key"),
        Reserved(5, "JWT", "a signed token of an issuer, with an end"),
    ),
)

REACHES: Final = Register(
    "Waits",
    "`wait` of SUBSCRIBE.",
    Reach,
    {
        Reach.HOME: Meaning("acknowledged when active at the client's router"),
        Reach.NETWORK: Meaning("acknowledged when every router in reach holds it"),
    },
)

ACKNOWLEDGED: Final = Register(
    "What an ACK answers",
    "`of` of ACK.",
    AckOf,
    {
        AckOf.SUBSCRIBE: Meaning("a SUBSCRIBE; the numbers are subscription ids"),
        AckOf.UNSUBSCRIBE: Meaning("an UNSUBSCRIBE; the numbers are subscription ids"),
        AckOf.PUBLISH: Meaning("PUBLISH frames; the numbers are message counters"),
        AckOf.CREATE_DURABLE: Meaning("a CREATE_DURABLE; the number is 0", since=2),
        AckOf.CONSUME: Meaning("an CONSUME; the number is its id", since=2),
        AckOf.CANCEL_CONSUME: Meaning("a CANCEL_CONSUME; the number is its id", since=2),
        AckOf.REMOVE_DURABLE: Meaning("a REMOVE_DURABLE; the number is 0", since=2),
        AckOf.REPLAY: Meaning("a REPLAY; the number is its id", since=2),
        AckOf.LIST_DURABLES: Meaning("a LIST_DURABLES that is refused; the number is 0", since=2),
        AckOf.GET: Meaning("a GET; the number is its id", since=2),
        AckOf.DELIVER: Meaning("DELIVER frames; the numbers are log positions"),
    },
)

VERDICTS: Final = Register(
    "Verdicts on what was delivered",
    "`verdict` of an ACK of DELIVER.",
    AckVerdict,
    {
        AckVerdict.DONE: Meaning("dealt with: not delivered again", since=2),
        AckVerdict.AGAIN: Meaning("not dealt with: deliver it again, to anybody, after a time", since=2),
        AckVerdict.EXTEND: Meaning("still at it: the time to acknowledge begins anew", since=2),
        AckVerdict.REJECT: Meaning("cannot be dealt with: to the dead letter place", since=2),
    },
)

OVERFLOWS: Final = Register(
    "What a full keep does",
    "`overflow` of DurablePolicy.",
    Overflow,
    {
        Overflow.DROP_OLDEST: Meaning("the oldest messages are dropped, counted and told", since=2),
        Overflow.REFUSE: Meaning("a message that it wants is refused (LOG_FULL)", since=2),
    },
)

STARTS: Final = Register(
    "Where a keep starts",
    "`start` of CREATE_DURABLE.",
    StartAt,
    {
        StartAt.NEW: Meaning("with what comes from now on", since=2),
        StartAt.EARLIEST: Meaning("with all that the log holds", since=2),
        StartAt.TIME: Meaning("with what the log has taken since a time", since=2),
        StartAt.AFTER: Meaning("with what the log has taken since a message", since=2),
    },
)

SCOPES: Final = Register(
    "Scopes of a request",
    "`scope` of SR.",
    Scope,
    {
        Scope.NEIGHBOUR: Meaning("the neighbour's own answer"),
        Scope.TREE: Meaning("the answer of the whole tree below the neighbour"),
    },
)

ROUTE_MODES: Final = Register(
    "Modes of a route",
    "The first byte of ROUTE.",
    RouteMode,
    {
        RouteMode.ALL: Meaning("to all routers", since=2),
        RouteMode.LIST: Meaning("to the routers that are listed", since=2),
        RouteMode.TREE: Meaning("along the tree of a root, to those who want it", since=2),
        RouteMode.SET: Meaning("to the routers of a set, where the tables are those that it was made of", since=2),
    },
)

REGISTERS: Final = (
    *(KINDS, FLAGS, EXTENSIONS, ERRORS, REFUSALS, LOSSES),
    *(ROLES, METHODS, REACHES, ACKNOWLEDGED, VERDICTS, OVERFLOWS, STARTS, SCOPES, ROUTE_MODES),
)

CAPABILITIES: Final = (
    Capability(GROUPS, "of a router: SUBSCRIBE may name a worker group"),
    Capability(DURABLES, "of a router: it knows kept subscriptions, and answers what a client asks about them"),
    Capability(DURABLE_VIEW, "of a router: it answers LIST_DURABLES and GET"),
    Capability(MOVES, "of a client: it knows GO_AWAY, and has another address to go to"),
    Capability(ROUTE, "between routers: the extension ROUTE is understood"),
    Capability(ROUTE_SET, "between routers: the mode SET of ROUTE is understood, too"),
    Capability(ROUTE_TREE, "between routers: the mode TREE of ROUTE is understood, too"),
    Capability("access:", "between routers: the digest of the rules of access", is_reserved=True, is_prefix=True),
    Capability("residual", "of a router: what the index cannot decide of a filter is decided there", is_reserved=True),
)
"""Every capability, in use and reserved."""
