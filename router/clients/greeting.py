"""The greeting on the accepting side: HELLO, WELCOME, AUTH, AUTHENTICATED.

Law: nothing is read, sent or timed here. Each frame either yields the answer to send or raises FrameError, which ends
the connection. The session tables define the order of frames; the policy judges credentials.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tamis.protocol.errors import FrameError
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.session import CLIENT_CONNECTION, Session
from tamis.protocol.wire.session_bodies import Auth, Authenticated, AuthMethod, Hello, Role, Welcome
from tamis.protocol.wire.versions import SPOKEN, negotiate
from tamis.router.access.admitted import Admitted, Denial
from tamis.router.connections.admissions import check_said_name

COUNTERS_TOLD: Final = 2
"""The first version whose AUTHENTICATED has the newest counter."""


@dataclass(frozen=True, slots=True)
class AdmissionPolicy:
    """The properties that a router announces, and its rule of admission. `judge`: returns the result for a name and a
    token; None if no token is required and every client is admitted."""

    name: str
    epoch: int
    frame_bytes_max: int
    hold_ms: int
    filters_max: int
    judge: Callable[[str, bytes], Admitted | Denial] | None
    nonce: Callable[[], bytes]
    newest: Callable[[int], int]
    """Returns the highest known message counter of a publisher number; 0 if none is known."""
    capabilities: tuple[str, ...] = ()

    @property
    def method(self) -> AuthMethod:
        return AuthMethod.NONE if self.judge is None else AuthMethod.TOKEN

    def admits(self, name: str, credential: bytes) -> Admitted | Denial:
        """Return what a client `name` is admitted as that sends `credential` by the method of the policy, or the
        denial."""
        return Admitted() if self.judge is None else self.judge(name, credential)


class Greeting:
    """The greeting of one client. `hello`: the HELLO of the client; `method`: its method of authentication; `version`:
    the negotiated version; `admitted` is set once it is admitted."""

    def __init__(self, policy: AdmissionPolicy) -> None:
        self._policy = policy
        self.session = Session(CLIENT_CONNECTION, is_connector=False)
        self.hello: Hello | None = None
        self.method: AuthMethod | None = None
        self.version = 0
        self.admitted: Admitted | None = None

    def receive(self, frame: bytes, kind: FrameKind) -> bytes:
        """Return the frame that answers `frame`; b"" for an ERROR, by which the client ends the greeting."""
        self.session.received(kind)
        body = decode(frame)
        if isinstance(body, Hello):
            return self._welcome(body)
        if isinstance(body, Auth) and self.hello is not None:
            return self._authenticated(body, self.hello)
        return b""

    def _welcome(self, hello: Hello) -> bytes:
        self.hello, policy = hello, self._policy
        check_said_name(hello.name)
        if hello.role is not Role.CLIENT:
            raise FrameError(
                ErrorCode.AUTHENTICATION_FAILED,
                "only clients connect here; neighbours connect to the addresses under `neighbours`",
            )
        self.version = version = negotiate(SPOKEN, hello.versions)
        self.session.sent(FrameKind.WELCOME)
        return encode(
            Welcome(
                *(policy.name, policy.epoch, policy.nonce(), version),
                *(policy.capabilities, policy.frame_bytes_max, policy.hold_ms, 0),
                methods=(policy.method,),
            )
        )

    def _authenticated(self, auth: Auth, hello: Hello) -> bytes:
        policy = self._policy
        self.method = auth.method
        if auth.method is not policy.method:
            raise FrameError(ErrorCode.AUTHENTICATION_FAILED, f"this router requires method {policy.method.name}")
        found = policy.admits(hello.name, auth.credential)
        if isinstance(found, Denial):
            raise FrameError(ErrorCode.AUTHENTICATION_FAILED, found.problem)
        self.session.sent(FrameKind.AUTHENTICATED)
        self.admitted = found
        number = stable_number(hello.name)
        newest = policy.newest(number) if self.version >= COUNTERS_TOLD else 0
        return encode(Authenticated(b"", number, policy.filters_max, newest))
