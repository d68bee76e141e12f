"""The greeting of two routers, from either end: HELLO, WELCOME, AUTH, AUTHENTICATED.

    dialling   HELLO ->             AUTH ->                      complete
    accepting           <- WELCOME          <- AUTHENTICATED     complete

Law: nothing is read, sent or timed here. Each received frame either gives the frame to send back or raises FrameError,
after which the link is over. Neither end accepts a name before it is proved: by the secret of the link, by the name in
a certificate, or without proof where the topology requires none. The session tables define which frame is due.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tamis.protocol.errors import FrameError
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.home_bodies import DURABLES_KNOWN
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.proofs import Prover, proof, proves
from tamis.protocol.wire.session import LINK, Session
from tamis.protocol.wire.session_bodies import (
    ACCESS,
    ROUTE,
    ROUTE_KEYS,
    ROUTE_SET,
    ROUTE_TREE,
    Auth,
    Authenticated,
    AuthMethod,
    Hello,
    Role,
    Welcome,
)
from tamis.protocol.wire.versions import SPOKEN, negotiate
from tamis.router.connections.admissions import check_said_name
from tamis.router.links.same_rules import differing, stated

LINK_CAPABILITIES: Final = (ROUTE, ROUTE_SET, ROUTE_TREE, ROUTE_KEYS, DURABLES_KNOWN)
"""The capabilities of this router beyond its version, as a neighbour receives them."""


@dataclass(frozen=True, slots=True)
class LocalIdentity:
    """The identity that this router states; `nonce` is new for each link."""

    name: str
    epoch: int
    frame_bytes_max: int
    nonce: bytes
    rules: str = ""
    """The digest of its access rules; empty if it has none."""
    is_strict: bool = False
    """Whether neighbours with other rules are refused."""

    @property
    def capabilities(self) -> tuple[str, ...]:
        return (*LINK_CAPABILITIES, ACCESS + self.rules) if self.rules else LINK_CAPABILITIES


@dataclass(frozen=True, slots=True)
class ExpectedNeighbour:
    """The entry of the topology about a neighbour. Without a secret only its certificate, if it has one, proves its
    name."""

    name: str
    cost: int
    hold_ms: int
    secret: bytes | None
    is_partner: bool = False
    """It belongs to another operator, and has rules of its own."""

    @property
    def method(self) -> AuthMethod:
        return AuthMethod.NONE if self.secret is None else AuthMethod.SECRET


@dataclass(frozen=True, slots=True)
class Greeted:
    """The identity and limits that a neighbour has stated."""

    name: str
    epoch: int
    frame_bytes_max: int
    hold_ms: int
    cost: int
    version: int
    """The version of the wire that both ends have chosen."""
    takes_route: bool = False
    """The neighbour knows the extension ROUTE."""
    takes_set: bool = False
    """The neighbour knows the mode SET of ROUTE."""
    takes_tree: bool = False
    """The neighbour knows the mode TREE of ROUTE."""
    takes_keys: bool = False
    """The neighbour knows the mode KEYS of ROUTE."""
    rules: str = ""
    """The digest of the neighbour's access rules; empty if it has none."""
    knows_durables: bool = False
    """The neighbour knows DURABLES and DURABLES_HELD."""


Certified = frozenset[str] | None
"""The names in the certificate of the other end; None: the link is not encrypted."""


class Dialling:
    """The greeting of the end that has connected to `neighbour`. `other` is set once it is complete."""

    def __init__(self, me: LocalIdentity, neighbour: ExpectedNeighbour, certified: Certified = None) -> None:
        self._me, self._neighbour, self._certified = me, neighbour, certified
        self.session = Session(LINK, is_connector=True)
        self._hello = self._welcome_frame = b""
        self._welcome: Welcome | None = None
        self.other: Greeted | None = None

    @property
    def said(self) -> tuple[str | None, str | None]:
        """The name that is expected at the other end, and the method that must prove it."""
        return self._neighbour.name, self._neighbour.method.name.lower()

    def begin(self) -> bytes:
        me, neighbour = self._me, self._neighbour
        self.session.sent(FrameKind.HELLO)
        self._hello = encode(
            Hello(
                *(Role.ROUTER, me.name, me.epoch, me.nonce, SPOKEN.low, SPOKEN.high, me.capabilities),
                *(me.frame_bytes_max, neighbour.hold_ms, neighbour.cost),
            )
        )
        return self._hello

    def receive(self, frame: bytes, kind: FrameKind) -> bytes:
        """Return the reply to `frame`; an empty one for the last frame, and for an ERROR, with which the other end has
        given up."""
        self.session.received(kind)
        body = decode(frame)
        if isinstance(body, Welcome):
            return self._auth(body, frame)
        if isinstance(body, Authenticated) and self._welcome is not None:
            self._believe(body, self._welcome)
        return b""

    def _auth(self, welcome: Welcome, frame: bytes) -> bytes:
        neighbour = self._neighbour
        if welcome.name != neighbour.name:
            who = "this router itself" if welcome.name == self._me.name else welcome.name
            raise _refusal(f"expected {neighbour.name} here, but {who} replied")
        _check_certificate(welcome.name, self._certified)
        _check_rules(self._me, neighbour, welcome.capabilities)
        if not SPOKEN.low <= welcome.version <= SPOKEN.high:
            raise FrameError(ErrorCode.VERSION_REFUSED, f"this router speaks {SPOKEN}, not {welcome.version}")
        if not welcome.link_cost:
            raise FrameError(ErrorCode.MALFORMED, "a router must state the cost of its link, at least 1")
        if neighbour.method not in welcome.methods:
            raise _refusal(_methods_differ(neighbour))
        self._welcome, self._welcome_frame = welcome, frame
        secret = neighbour.secret
        credential = proof(secret, Prover.CONNECTOR, self._hello, frame) if secret is not None else b""
        self.session.sent(FrameKind.AUTH)
        return encode(Auth(neighbour.method, credential))

    def _believe(self, verdict: Authenticated, welcome: Welcome) -> None:
        secret = self._neighbour.secret
        if secret is not None and not proves(verdict.proof, secret, Prover.ACCEPTOR, self._hello, self._welcome_frame):
            raise _refusal(f"{welcome.name} does not know the secret of this link")
        self.other = Greeted(
            *(welcome.name, welcome.epoch, welcome.frame_bytes_max),
            *(welcome.hold_ms, welcome.link_cost, welcome.version),
            takes_route=ROUTE in welcome.capabilities,
            takes_set=ROUTE_SET in welcome.capabilities,
            takes_tree=ROUTE_TREE in welcome.capabilities,
            takes_keys=ROUTE_KEYS in welcome.capabilities,
            rules=stated(welcome.capabilities),
            knows_durables=DURABLES_KNOWN in welcome.capabilities,
        )


class Accepting:
    """The greeting of the end that was connected to. `expected` returns the entry of the topology about a name; `admit`
    raises FrameError if a neighbour that has proved its name may not connect now."""

    def __init__(
        self,
        me: LocalIdentity,
        expected: Callable[[str], ExpectedNeighbour],
        admit: Callable[[Greeted], None],
        certified: Certified = None,
    ) -> None:
        self._me, self._expected, self._admit, self._certified = me, expected, admit, certified
        self.session = Session(LINK, is_connector=False)
        self._frames: tuple[bytes, bytes] = (b"", b"")
        self._hello: Hello | None = None
        self._neighbour: ExpectedNeighbour | None = None
        self._method: AuthMethod | None = None
        self.other: Greeted | None = None

    @property
    def said(self) -> tuple[str | None, str | None]:
        """The name and the method that the other end has stated; None for each that is not stated yet."""
        hello, method = self._hello, self._method
        return None if hello is None else hello.name, None if method is None else method.name.lower()

    def receive(self, frame: bytes, kind: FrameKind) -> bytes:
        """Return the reply to `frame`; an empty one for an ERROR, with which the other end has given up."""
        self.session.received(kind)
        body = decode(frame)
        if isinstance(body, Hello):
            return self._welcome(body, frame)
        if isinstance(body, Auth) and self._hello is not None and self._neighbour is not None:
            return self._authenticated(body, self._hello, self._neighbour)
        return b""

    def _welcome(self, hello: Hello, frame: bytes) -> bytes:
        self._hello, me = hello, self._me
        check_said_name(hello.name)
        if hello.role is not Role.ROUTER:
            raise _refusal("only neighbours connect here; clients connect to the addresses under `clients`")
        if hello.name == me.name:
            raise _refusal(f"{hello.name} is this router itself")
        neighbour = self._expected(hello.name)
        _check_certificate(hello.name, self._certified)
        _check_rules(me, neighbour, hello.capabilities)
        version = negotiate(SPOKEN, hello.versions)
        self.session.sent(FrameKind.WELCOME)
        welcome = encode(
            Welcome(
                *(me.name, me.epoch, me.nonce, version, me.capabilities, me.frame_bytes_max),
                *(neighbour.hold_ms, neighbour.cost, (neighbour.method,)),
            )
        )
        self._neighbour, self._frames = neighbour, (frame, welcome)
        return welcome

    def _authenticated(self, auth: Auth, hello: Hello, neighbour: ExpectedNeighbour) -> bytes:
        self._method = auth.method
        if auth.method is not neighbour.method:
            raise _refusal(_methods_differ(neighbour))
        secret = neighbour.secret
        if secret is not None and not proves(auth.credential, secret, Prover.CONNECTOR, *self._frames):
            raise _refusal(f"{hello.name} does not know the secret of this link")
        own_proof = proof(secret, Prover.ACCEPTOR, *self._frames) if secret is not None else b""
        other = Greeted(
            *(hello.name, hello.epoch, hello.frame_bytes_max),
            *(hello.hold_ms, hello.link_cost, negotiate(SPOKEN, hello.versions)),
            takes_route=ROUTE in hello.capabilities,
            takes_set=ROUTE_SET in hello.capabilities,
            takes_tree=ROUTE_TREE in hello.capabilities,
            takes_keys=ROUTE_KEYS in hello.capabilities,
            rules=stated(hello.capabilities),
            knows_durables=DURABLES_KNOWN in hello.capabilities,
        )
        self._admit(other)
        self.session.sent(FrameKind.AUTHENTICATED)
        self.other = other
        return encode(Authenticated(own_proof, stable_number(hello.name), 0))


def _check_certificate(name: str, certified: Certified) -> None:
    if certified is not None and name not in certified:
        shown = ", ".join(sorted(certified)) or "none"
        raise _refusal(f"the certificate is not that of {name}; its names are {shown}")


def _check_rules(me: LocalIdentity, neighbour: ExpectedNeighbour, capabilities: tuple[str, ...]) -> None:
    what = differing(me.rules, stated(capabilities))
    if me.is_strict and what and not neighbour.is_partner:
        raise _refusal(f"{neighbour.name} is refused: {what}, and these are strict")


def _methods_differ(neighbour: ExpectedNeighbour) -> str:
    here, there = ("no secret", "one") if neighbour.secret is None else ("a secret", "none")
    return f"the link has {here} at this end but {there} at the other: give both ends the same `secret`"


def _refusal(problem: str) -> FrameError:
    return FrameError(ErrorCode.AUTHENTICATION_FAILED, problem)
