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
    certified: Callable[[str], Admitted | Denial] | None = None
    """Returns the result for a name by the certificate of the connection; None if it has shown none."""
    takes_signed: bool = False
    """Whether the caller verifies signed tokens, and sets `Greeting.verified` before such an AUTH is received."""

    full: Callable[[str, Admitted], str] = lambda _name, _admitted: ""
    """Returns which quota a name would exceed that is admitted now, as a sentence; "" if none."""
    slowed: Callable[[str], str] | None = None
    """Returns why no credential for a name is checked now, as a sentence; "" if one is."""

    @property
    def methods(self) -> tuple[AuthMethod, ...]:
        """The methods that are offered to this connection."""
        if self.judge is None:
            return (AuthMethod.NONE,)
        signed = (AuthMethod.JWT,) if self.takes_signed else ()
        return (AuthMethod.TOKEN, *signed, *((AuthMethod.NONE,) if self.certified is not None else ()))


def still_admitted(found: Admitted | Denial, name: str) -> Admitted | Denial:
    """Return the result for a credential by the rules of now, which may have changed while it was verified."""
    if isinstance(found, Denial) or found.proof is None:
        return found
    return found.proof.admitted(name) or Denial("the rules of access no longer admit this client")


class Greeting:
    """The greeting of one client. `hello`: the HELLO of the client; `method`: its method of authentication; `version`:
    the negotiated version; `admitted` is set once it is admitted. `verified`: the result for its signed token."""

    def __init__(self, policy: AdmissionPolicy) -> None:
        self._policy = policy
        self.session = Session(CLIENT_CONNECTION, is_connector=False)
        self.hello: Hello | None = None
        self.method: AuthMethod | None = None
        self.version = 0
        self.admitted: Admitted | None = None
        self.verified: Admitted | Denial | None = None

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
        if policy.slowed is not None and (slowed := policy.slowed(hello.name)):
            raise FrameError(ErrorCode.FULL, slowed)
        self.version = version = negotiate(SPOKEN, hello.versions)
        self.session.sent(FrameKind.WELCOME)
        return encode(
            Welcome(
                *(policy.name, policy.epoch, policy.nonce(), version),
                *(policy.capabilities, policy.frame_bytes_max, policy.hold_ms, 0),
                methods=policy.methods,
            )
        )

    def signed(self, frame: bytes, kind: FrameKind) -> tuple[str, bytes] | None:
        """Return the name and the signed token of an AUTH whose token has to be verified first; None for any other
        frame, also one that comes at the wrong time."""
        if kind is not FrameKind.AUTH or self.hello is None or self.verified is not None:
            return None
        body = decode(frame) if self._policy.takes_signed else None
        if not isinstance(body, Auth) or body.method is not AuthMethod.JWT:
            return None
        self.method = body.method
        return self.hello.name, body.credential

    def _judged(self, auth: Auth, name: str) -> Admitted | Denial:
        """Return the result for a credential by an offered method."""
        policy = self._policy
        if policy.judge is None:
            return Admitted()
        if auth.method is AuthMethod.TOKEN:
            return policy.judge(name, auth.credential)
        if auth.method is AuthMethod.NONE and policy.certified is not None:
            return policy.certified(name)
        return still_admitted(self.verified or Denial("this token was not verified"), name)

    def _authenticated(self, auth: Auth, hello: Hello) -> bytes:
        policy = self._policy
        self.method = auth.method
        if auth.method not in policy.methods:
            offered = " or ".join(method.name for method in policy.methods)
            raise FrameError(ErrorCode.AUTHENTICATION_FAILED, f"this router requires method {offered}")
        found = self._judged(auth, hello.name)
        if isinstance(found, Denial):
            raise FrameError(ErrorCode.AUTHENTICATION_FAILED, found.problem)
        if full := policy.full(hello.name, found):
            raise FrameError(ErrorCode.FULL, full)
        self.session.sent(FrameKind.AUTHENTICATED)
        self.admitted = found
        number = stable_number(hello.name)
        newest = policy.newest(number) if self.version >= COUNTERS_TOLD else 0
        return encode(Authenticated(b"", number, policy.filters_max, newest))
