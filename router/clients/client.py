"""One client of a router: its greeting, its requests and its end.

Law: a client is the peer of one connection, and serves a subscriber from its admission to its end. `requests.py`
processes its requests, which change the subscriber.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Generator
from functools import partial
from typing import Protocol

from tamis.native.subscribe_frame import SubscribeFrame
from tamis.native.switch_values import Admission
from tamis.native.traces import Trace
from tamis.protocol.errors import FrameError
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.frames import decode, encode, kind_of
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.report_bodies import Report, fitted
from tamis.protocol.wire.session import SessionState
from tamis.protocol.wire.session_bodies import MOVES, Auth, Error, Hello, Ping, Pong
from tamis.router.access.admitted import Admitted, Denial
from tamis.router.access.client_rights import ClientRights
from tamis.router.access.in_force import AccessInForce
from tamis.router.clients.again import AdmittedAgain
from tamis.router.clients.allowed import count, judge
from tamis.router.clients.durables import Durables, Elsewhere, check_version
from tamis.router.clients.greeting import AdmissionPolicy, Greeting
from tamis.router.clients.requests import JudgedFrame, Requests
from tamis.router.clients.subscriber import Subscriber
from tamis.router.clients.trace_askers import TraceAskers
from tamis.router.connections.admissions import Reason, Side
from tamis.router.connections.connections import Connections
from tamis.router.connections.peer import Peer
from tamis.router.connections.traces import report_of
from tamis.router.daemon.logs import fields
from tamis.router.daemon.settings import admission
from tamis.serving.addresses import address_of
from tamis.serving.slowing import Slowing

_log = logging.getLogger(__name__)


class ClientRegister(Protocol):
    """The part of Clients that a client uses."""

    access: AccessInForce | None
    slowing: Slowing
    trace_askers: TraceAskers
    durables: Durables
    elsewhere: Elsewhere

    @property
    def needs_proof(self) -> bool:
        """Whether a client has to prove its name."""

    @property
    def has_place(self) -> bool:
        """Whether one more client can be admitted."""

    def policy(self, peer: str, certified: frozenset[str]) -> AdmissionPolicy:
        """Return the admission policy for a client that connects now from the address `peer`. `certified`: the names in
        its certificate."""

    def verify(self, name: str, token: bytes, then: Callable[[Admitted | Denial], None]) -> bool:
        """Call `then` with the result for a signed token; return False, with nothing done, if too many wait."""

    def admit(self, client: Client, name: str, admission: Admission, admitted: Admitted) -> Subscriber:
        """Admit `client`, whose greeting has succeeded; return the subscriber that it serves. Raise FrameError if there
        is no room."""

    def admit_again(self, subscriber: Subscriber, admitted: Admitted) -> bool:
        """Let a client be what another credential has proved, from the next message on. Return whether it may stay.
        Raise OutOfMemory, or Refused beyond a limit; then nothing has changed."""

    def end_memberships(self, subscriber: Subscriber) -> None:
        """End the subscriptions of a client in worker groups that the rules in force do not let it join."""

    def admitted(self, subscriber: Subscriber) -> None:
        """Register `subscriber`, which is served from now on; an earlier client of its name is disconnected."""

    def gone(self, client: Client) -> None:
        """Remove `client`, whose connection has ended."""

    def forgotten(self, client: Client) -> None:
        """Free the place of `client`, whose filters are out of the table."""


class Client(Peer):
    """One client. `subscriber` is None, and `frame_bytes_max` 0, until it is admitted. `rights`: what rules of access
    say about it; None if there are none."""

    CUT = "client disconnected"
    IS_LINK = False
    SIDE = Side.CLIENT

    __slots__ = (
        "_again",
        "_expiring",
        "_greeting",
        "_held",
        "_is_verifying",
        "_register",
        "_requests",
        "certificate",
        "frame_bytes_max",
        "rights",
        "subscriber",
    )

    connections: Connections

    def __init__(
        self,
        connections: Connections,
        register: ClientRegister,
        connection: int,
        peer: str,
        certified: frozenset[str] = frozenset(),
        certificate: bytes = b"",
    ) -> None:
        """`certified`: the names in the certificate of the client, and `certificate`: itself, in DER."""
        self._register, self._greeting = register, Greeting(register.policy(peer, certified))
        self.certificate = certificate
        self._is_verifying = False
        self._expiring: asyncio.TimerHandle | None = None
        self._held: asyncio.TimerHandle | None = None
        super().__init__(connections, connection, peer, self._greeting.session)
        self.frame_bytes_max = 0
        self.subscriber: Subscriber | None = None
        self.rights: ClientRights | None = None
        self._requests: Requests | None = None
        self._again: AdmittedAgain | None = None

    @property
    def hold_ms(self) -> int:
        return self.connections.settings.keepalive.hold_ms

    @property
    def said(self) -> tuple[str | None, str | None]:
        hello, method = self._greeting.hello, self._greeting.method
        return None if hello is None else hello.name, None if method is None else method.name.lower()

    @property
    def moves(self) -> bool:
        """Whether the client is admitted and moves to another router on a GO_AWAY."""
        hello = self._greeting.hello
        return self.is_open and hello is not None and MOVES in hello.capabilities

    @property
    def requests(self) -> int:
        """The number of waiting requests."""
        return len(self._requests) if self._requests is not None else 0

    @property
    def principal(self) -> str:
        """The owner of durable subscriptions that the client makes: with rules of access its full name."""
        admitted = self.subscriber.admitted if self.subscriber is not None else None
        by_line = admitted is not None and admitted.roles is None and admitted.principal
        return by_line or self.name

    @property
    def filters(self) -> int:
        """The number of its filters."""
        return self.subscriber.filters if self.subscriber is not None else 0

    def judge(self, frame: SubscribeFrame, found: JudgedFrame) -> Generator[None, None, None] | None:
        return judge(self.rights, frame, self, found) if self.rights is not None else None

    def counted(self) -> None:
        if self.rights is not None:
            count(self.rights, self)

    def joined(self) -> None:
        """End what the client has just joined if the rules have changed while it did."""
        if self.subscriber is not None:
            self._register.end_memberships(self.subscriber)

    def wanted_before(self, at_s: float) -> bool:
        """Return whether its subscriber has a subscription, and had one at `at_s` (monotonic)."""
        return self.is_open and self.subscriber is not None and self.subscriber.wanted_before(at_s)

    def receive(self, kind: FrameKind, frame: bytes) -> None:
        if self._is_ending:
            return
        if self._is_greeting:
            self._greet(kind, frame)
            return
        check_version(kind, self._greeting.version)
        self._session.received(kind)
        if kind in (FrameKind.SUBSCRIBE, FrameKind.UNSUBSCRIBE):
            assert self.subscriber is not None  # noqa: S101 - set at the end of the greeting
            if self._requests is None:  # an empty one is false, and may be at work on its last request
                self._requests = Requests(self, self.subscriber)
            self._requests.add(kind, frame)
        else:
            self._take(decode(frame))

    def _take(self, body: object) -> None:
        """Handle a frame other than SUBSCRIBE and UNSUBSCRIBE; C hands up a PING only in an unusual encoding."""
        if isinstance(body, Ping):
            self.send(FrameKind.PONG, encode(Pong(body.token)))
        elif isinstance(body, Auth):
            if self._again is None:
                self._again = AdmittedAgain(self, self._register)
            self._again.take(body)
        elif isinstance(body, Error):
            _log.info("a client reported an error", extra=fields(client=self.name, code=body.code, text=body.text))
        elif not self._register.elsewhere.takes(self, body):
            self._register.durables.asked(self, body)

    def _greet(self, kind: FrameKind, frame: bytes) -> None:
        if self.connections.is_leaving:
            raise FrameError(ErrorCode.FULL, "the router is stopping")
        if self._held is not None or self._is_verifying:
            raise FrameError(ErrorCode.UNEXPECTED_KIND, "no frame is accepted before the answer to AUTH")
        self._take_greeting(kind, frame)
        if self._is_greeting and not self._is_ending:
            self._spoke()

    def _take_greeting(self, kind: FrameKind, frame: bytes) -> None:
        if kind is FrameKind.AUTH and self._has_to_wait(frame):
            return
        if kind is FrameKind.AUTH and not self._register.has_place:
            raise FrameError(ErrorCode.FULL, "this router has no room for another client")
        greeting = self._greeting
        signed = greeting.signed(frame, kind)
        if signed is not None:
            self._verify(*signed, frame)
            return
        answer = greeting.receive(frame, kind)
        if answer:
            self._queue(answer)
        if self._session.state is SessionState.CLOSED:
            self._end()
        if greeting.admitted is not None and greeting.hello is not None:
            self._come_in(greeting.hello, greeting.admitted)

    def _come_in(self, hello: Hello, admitted: Admitted) -> None:
        limits = admission(self.connections.settings, hello, self._greeting.version)
        self.subscriber = self._register.admit(self, hello.name, limits, admitted)
        self.name, self.frame_bytes_max = hello.name, hello.frame_bytes_max
        access = self._register.access
        self.rights = ClientRights(access, self.subscriber) if access is not None else None
        self._greeted()
        self._register.admitted(self.subscriber)
        if self._register.needs_proof:
            self._register.slowing.admitted(address_of(self.peer), self.name)
        if self.rights is not None:
            said = {"principal": admitted.principal, "roles": sorted(admitted.roles or ())}
            self.rights.access.note("admitted", **said, **self.about)
        self.lasts_until(admitted.until_s)

    def lasts_until(self, until_s: float | None) -> None:
        """End the session at this time (Unix seconds), and no longer at another; None: it has no such time."""
        if self._expiring is not None:
            self._expiring.cancel()
            self._expiring = None
        if until_s is not None:
            self._expiring = self.connections.later(max(0.0, until_s - time.time()), self._expired)

    def _expired(self) -> None:
        self.fail(FrameError(ErrorCode.REVOKED, "the signed token of this connection has expired"))

    def _verify(self, name: str, token: bytes, frame: bytes) -> None:
        """Verify a signed token beside the loop; `frame`, its AUTH, is handled then."""
        self._is_verifying = self._register.verify(name, token, partial(self._verified, frame))
        if not self._is_verifying:
            raise FrameError(ErrorCode.FULL, "too many signed tokens wait to be verified; try again")

    def _verified(self, frame: bytes, found: Admitted | Denial) -> None:
        self._is_verifying = False
        if self.is_there and not self._is_ending:
            self._greeting.verified = found
            self.connections.come_again(self, FrameKind.AUTH, frame)

    def _has_to_wait(self, frame: bytes) -> bool:
        """Delay `frame` if its address or name has recently sent wrong credentials; return whether it was delayed.
        Raise FrameError if the router does not hold the credential for so long."""
        if not self._register.needs_proof:
            return False
        slowing, sender = self._register.slowing, (address_of(self.peer), self.said[0] or "")
        if refusal := slowing.refusal(*sender):
            raise FrameError(ErrorCode.FULL, refusal)
        wait_s = slowing.wait_s(*sender)
        if wait_s > 0:
            self._held = self.connections.later(slowing.hold(wait_s), partial(self._come_again, frame))
        return wait_s > 0

    def _come_again(self, frame: bytes) -> None:
        self._hold_no_longer()
        self.connections.come_again(self, FrameKind.AUTH, frame)

    def _hold_no_longer(self) -> None:
        if self._held is not None:
            self._held.cancel()
            self._held = None
            self._register.slowing.held -= 1

    @property
    def about(self) -> dict[str, object]:
        """The client, for the audit log."""
        name, method = self.said
        return {"name": name, "method": method, "peer": self.peer}

    def _refused(self, reason: Reason, problem: str) -> None:
        super()._refused(reason, problem)
        if self._register.access is not None and reason is not Reason.LEFT:
            self._register.access.note("not admitted", why=reason.value, **self.about)
        if reason is Reason.CREDENTIAL:
            self._register.slowing.failed(address_of(self.peer), self.said[0] or "")

    def _cancel_timer(self) -> None:
        super()._cancel_timer()
        self._hold_no_longer()
        if self._expiring is not None and not self.is_open:
            self._expiring.cancel()
            self._expiring = None

    def traced(self, trace: Trace) -> None:
        """Send the client this router's report on one of its messages; other routers may report on it later."""
        self._register.trace_askers.asks(self, trace.trace)
        self.report(report_of(self.connections.settings.id, trace, self.connections.durable_name))

    def report(self, report: Report) -> None:
        """Send the client a report on one of its messages."""
        if self.is_open:
            self.send(kind_of(report), encode(fitted(report, self.frame_bytes_max)))

    def ended(self) -> None:
        super().ended()
        self._register.gone(self)
        self._register.durables.left(self)
        self._register.elsewhere.left(self)
        if self.subscriber is not None:
            self.connections.work.add(self.subscriber.clear_interest())

    def forgotten(self) -> None:
        self._register.forgotten(self)
