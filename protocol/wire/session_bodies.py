"""Bodies of a connection's life: greeting, authentication, liveness, errors, the end.

Law: the frames that a peer may send before it is authenticated (Hello, Welcome, Auth, Authenticated, Error) fit within
UNAUTHENTICATED_BYTES_MAX, whatever their values.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Annotated, Final

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
    Name,
    Nonce,
    PositiveU32,
    Sentence,
    Text,
    Unsigned,
)
from tamis.protocol.wire.versions import VersionRange

FrameLimit = Annotated[int, Unsigned(32, least=limits.FRAME_BYTES_MIN)]
ROUTE: Final = "route"
"""The capability of a neighbour that supports the extension ROUTE."""
ROUTE_SET: Final = "route-set"
"""The capability of a neighbour that also supports mode SET of ROUTE."""
ROUTE_TREE: Final = "route-tree"
"""The capability of a neighbour that also supports mode TREE of ROUTE."""
ROUTE_KEYS: Final = "route-keys"
"""The capability of a neighbour that also supports mode KEYS of ROUTE."""
ACCESS: Final = "access:"
"""Begins the capability of a router that has rules of access: the digest of these, as 8 hexadecimal digits."""
AUTH_AGAIN: Final = "auth-again"
"""The capability of a router that takes AUTH on an open connection, and answers it by an ACK."""
MOVES: Final = "moves"
"""The capability of a client that supports GO_AWAY and has another address."""
Capabilities = Annotated[
    tuple[Annotated[str, Text(1, limits.CAPABILITY_BYTES_MAX)], ...], Between(0, limits.CAPABILITIES_MAX)
]
Credential = Annotated[bytes, Binary(0, limits.CREDENTIAL_BYTES_MAX)]
Proof = Annotated[bytes, Binary(0, limits.PROOF_BYTES)]


class Role(enum.IntEnum):
    """The role of the connecting side."""

    CLIENT = 1
    ROUTER = 2


class AuthMethod(enum.IntEnum):
    """How the connecting side proves its name."""

    NONE = 0
    TOKEN = 1
    SECRET = 2
    JWT = 5


@dataclass(frozen=True, slots=True)
class Hello:
    """The first frame, from the side that connected."""

    role: Role
    name: Name
    epoch: U64
    nonce: Nonce
    version_low: PositiveU32
    version_high: PositiveU32
    capabilities: Capabilities
    frame_bytes_max: FrameLimit
    hold_ms: PositiveU32
    link_cost: U32

    def __post_init__(self) -> None:
        if self.version_low > self.version_high:
            raise Refused(f"versions {self.version_low} to {self.version_high} are an empty range")
        if (self.role is Role.ROUTER) is not bool(self.link_cost):
            raise Refused("a router must state the cost of its link, from 1; a client 0")

    @property
    def versions(self) -> VersionRange:
        return VersionRange(self.version_low, self.version_high)


@dataclass(frozen=True, slots=True)
class Welcome:
    """The answer to Hello: the chosen version, and the requirements of the accepting router."""

    name: Name
    epoch: U64
    nonce: Nonce
    version: PositiveU32
    capabilities: Capabilities
    frame_bytes_max: FrameLimit
    hold_ms: PositiveU32
    link_cost: U32
    methods: Annotated[tuple[U8, ...], Between(1, limits.AUTH_METHODS_MAX)]


@dataclass(frozen=True, slots=True)
class Auth:
    """The connecting side's credential: nothing, its token, or its proof. A client may send its next token on an open
    connection to a router with the capability `auth-again`."""

    method: AuthMethod
    credential: Credential

    def __post_init__(self) -> None:
        size = len(self.credential)
        fits = {
            AuthMethod.NONE: size == 0,
            AuthMethod.TOKEN: size > 0,
            AuthMethod.SECRET: size == limits.PROOF_BYTES,
            AuthMethod.JWT: size > 0,
        }
        if not fits[self.method]:
            raise Refused(f"a credential of {size} bytes does not fit method {self.method.name}")


@dataclass(frozen=True, slots=True)
class Authenticated:
    """The end of the greeting; with a shared secret, the accepting side's own proof. From here on both sides send.

    `newest` is the highest message counter that the router knows of this publisher; 0: it knows none.
    """

    proof: Proof
    number: U64
    filters_max: U32
    newest: Annotated[U64, APPENDED] = 0

    def __post_init__(self) -> None:
        if len(self.proof) not in (0, limits.PROOF_BYTES):
            raise Refused(f"a proof has {limits.PROOF_BYTES} bytes, or none, not {len(self.proof)}")


@dataclass(frozen=True, slots=True)
class Error:
    """The mistake of the receiver of this frame. After a fatal one the sender closes the connection."""

    code: U16
    text: Sentence
    kind: U8
    fatal: bool


@dataclass(frozen=True, slots=True)
class Ping:
    """Requests a Pong with an equal token."""

    token: U64


@dataclass(frozen=True, slots=True)
class Pong:
    """The answer to a Ping. A router adds its clock, in microseconds of Unix time, which comparisons ignore; 0 if it
    does not send it."""

    token: U64
    unix_us: Annotated[U64, APPENDED] = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Drain:
    """The sender will close the connection within the grace period and starts nothing new until then."""

    grace_ms: U32
    reason: Sentence


@dataclass(frozen=True, slots=True)
class GoAway:
    """The sender will send DRAIN within `within_ms`: until then the receiver should move to another router; some accept
    clients at `addresses`."""

    within_ms: U32
    addresses: Annotated[
        tuple[Annotated[str, Text(1, limits.GO_AWAY_ADDRESS_BYTES_MAX)], ...],
        Between(0, limits.GO_AWAY_ADDRESSES_MAX),
    ]
    reason: Sentence
