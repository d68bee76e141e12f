"""One connection of a client, without its socket: the greeting, frames, liveness, and the end of the connection.

Law: the owner interprets frames; this file checks that a frame is valid and allowed in the current state. A line serves
one connection; protocol rules that concern neither another line nor a message are here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from tamis.client.connection.credential import Credential, auth_by
from tamis.client.connection.liveness import Liveness
from tamis.client.connection.settings import Settings
from tamis.client.errors import NotAdmitted
from tamis.client.message import Message
from tamis.client.messages.outbox import Outbox
from tamis.protocol.errors import FrameError
from tamis.protocol.limits import FRAME_BYTES_MAX, NONCE_BYTES, TEXT_BYTES_MAX
from tamis.protocol.shown import shown
from tamis.protocol.wire.client_bodies import (
    CONFIRMS_HELD,
    COPIES_MIN,
    DURABLE_VIEW,
    DURABLES,
    GROUPS,
    LISTS_ELSEWHERE,
    RESIDUAL,
    Credit,
)
from tamis.protocol.wire.codes import ErrorCode, is_fatal
from tamis.protocol.wire.frames import Body, Frame, decode, encode, kind_of
from tamis.protocol.wire.header import DURABLE, EVERY_HOME, KIND_OFFSET
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.reader import FrameReader
from tamis.protocol.wire.session import CLIENT_CONNECTION, Session, SessionState
from tamis.protocol.wire.session_bodies import (
    AUTH_AGAIN,
    MOVES,
    Auth,
    Authenticated,
    AuthMethod,
    Error,
    Hello,
    Ping,
    Pong,
    Role,
    Welcome,
)
from tamis.protocol.wire.versions import SPOKEN

_DELIVER: Final = int(FrameKind.DELIVER)
_GIVE_UP: Final = frozenset({ErrorCode.AUTHENTICATION_FAILED, ErrorCode.VERSION_REFUSED})
"""Errors of a greeting that a retry cannot resolve."""
_ALIVE_TOKEN: Final = 0


class LineOwner(Protocol):
    """The owner of the lines of a client."""

    settings: Settings
    credential: Credential

    def let_in(self, line: Line) -> None:
        """Record that the greeting of `line` is complete."""

    def walked(self, line: Line, data: bytes) -> bytes | memoryview:
        """Deliver the plain messages at the start of `data`; return the rest."""

    def deliver(self, line: Line, message: Message) -> None: ...

    def control(self, line: Line, body: Frame) -> None:
        """Process a frame that belongs neither to the greeting nor to liveness."""

    def tell(self, sentence: str) -> None:
        """Write a sentence to the log."""


class Line:
    """One connection. It sends frames of its own, and those of `outbox` while the outbox publishes through this
    line."""

    def __init__(self, owner: LineOwner, random_bytes: Callable[[int], bytes], now: float) -> None:
        settings = owner.settings
        self.now = now
        """When data arrived from the router last."""
        self.router = ""
        self.frame_bytes_max = FRAME_BYTES_MAX
        self.newest = 0
        self.credit = Credit(0, 0)
        """The totals that this client may publish."""
        self.has_groups = self.has_durables = self.has_durable_view = False
        self.lists_elsewhere = self.counts_copies = self.runs_programs = False
        self.flags = 0
        """Those of DURABLE and EVERY_HOME that the router supports."""
        self.takes_auth = False
        self.token: bytes | None = None
        """The token of the greeting."""
        self.methods: tuple[int, ...] = ()
        self.is_greeted = False
        self.wants_close = False
        self.ending = ""
        """Why this client ends the connection; empty if it does not."""
        self.gave_up: NotAdmitted | None = None
        """Why a new connection would fail as well; None if one may succeed."""
        self.outbox: Outbox | None = None
        self._output = bytearray()
        self._owner = owner
        self._settings = settings
        self._random_bytes = random_bytes
        self._reader = FrameReader()
        self._session = Session(CLIENT_CONNECTION, is_connector=True)
        self._liveness = Liveness(settings.hold_s, now)

    # --- what goes -----------------------------------------------------------------------------------------------

    def greet(self) -> None:
        settings = self._settings
        self.send(
            Hello(
                role=Role.CLIENT,
                name=settings.name,
                epoch=0,
                nonce=self._random_bytes(NONCE_BYTES),
                version_low=SPOKEN.low,
                version_high=SPOKEN.high,
                capabilities=(MOVES,) if len(settings.addresses) > 1 else (),
                frame_bytes_max=FRAME_BYTES_MAX,
                hold_ms=max(1, round(settings.hold_s * 1000)),
                link_cost=0,
            )
        )

    def send(self, body: Body) -> None:
        self._session.sent(kind_of(body))
        output = self._output if self.outbox is None else self.outbox.output
        output += encode(body, self.frame_bytes_max)

    def take_output(self, now: float) -> bytearray:
        """Return the bytes to send now; the caller owns them."""
        if self.outbox is not None:
            output = self.outbox.taken()
        else:
            output, self._output = self._output, bytearray()
        if output:
            self._liveness.sent(now)
        return output

    def publish_for(self, outbox: Outbox) -> None:
        """Let `outbox` send its messages over this line, after the output that waits here."""
        self.outbox = outbox
        outbox.output, self._output = self._output, bytearray()

    def leave_outbox(self) -> None:
        """Detach the outbox from this line; its output until now is still sent here."""
        if self.outbox is not None:
            self._output, self.outbox.output = self.outbox.output, bytearray()
            self.outbox = None

    # --- what comes ----------------------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        return self._session.state is SessionState.OPEN

    @property
    def is_closed(self) -> bool:
        return self._session.state is SessionState.CLOSED

    def receive(self, data: bytes, now: float) -> None:
        """Process `data` from the router."""
        self._liveness.heard(now)
        self.now = now
        try:
            self._reader.feed(self._owner.walked(self, self._reader.take_rest() + data) if self.is_open else data)
            for frame in self._reader:
                if frame[KIND_OFFSET] == _DELIVER:
                    self._session.received(FrameKind.DELIVER)
                    self._deliver(frame)
                else:
                    self._control(frame)
                if self.wants_close:
                    break
        except FrameError as error:
            self.broken(error)

    def _deliver(self, frame: bytes) -> None:
        try:
            message = Message(frame)
        except FrameError as error:
            if is_fatal(error.code):
                raise
            self._tell(error)
            return
        self._owner.deliver(self, message)

    def _control(self, frame: bytes) -> None:
        body = decode(frame)
        self._session.received(kind_of(body))
        handler = _HANDLERS.get(type(body))
        if handler is None:
            self._owner.control(self, body)
        else:
            handler(self, body)

    def _welcome(self, welcome: Welcome) -> None:
        if not SPOKEN.low <= welcome.version <= SPOKEN.high:
            raise FrameError(
                ErrorCode.VERSION_REFUSED, f"this client supports {SPOKEN}, the router chose {welcome.version}"
            )
        self.router = welcome.name
        self.has_groups = GROUPS in welcome.capabilities
        self.has_durables = DURABLES in welcome.capabilities
        self.has_durable_view = DURABLE_VIEW in welcome.capabilities
        self.lists_elsewhere = LISTS_ELSEWHERE in welcome.capabilities
        self.counts_copies = COPIES_MIN in welcome.capabilities
        self.runs_programs = RESIDUAL in welcome.capabilities
        self.flags = (DURABLE if self.has_durables else 0) | (
            EVERY_HOME if CONFIRMS_HELD in welcome.capabilities else 0
        )
        self.frame_bytes_max = welcome.frame_bytes_max
        self._liveness.peer_holds(welcome.hold_ms / 1000)
        self.takes_auth, self.methods = AUTH_AGAIN in welcome.capabilities, welcome.methods
        try:
            self.token = self._owner.credential.token()
        except Exception as error:  # of the application's function
            self.end(f"there is no token: {error!r}")
            return
        auth = auth_by(self.token, welcome.methods) if self.token is not None else None
        if auth is not None:
            self.send(auth)
        elif AuthMethod.NONE in welcome.methods:
            self.send(Auth(AuthMethod.NONE, b""))
        else:
            has_tokens = not {AuthMethod.TOKEN, AuthMethod.JWT}.isdisjoint(welcome.methods)
            wants = "a token" if has_tokens else "a credential that a client cannot have"
            self.gave_up = NotAdmitted(f'router "{welcome.name}" requires {wants}')
            self.end(str(self.gave_up))

    def _authenticated(self, body: Authenticated) -> None:
        if body.number != stable_number(self._settings.name):
            raise FrameError(ErrorCode.MALFORMED, f"{body.number} is not the number of {self._settings.name!r}")
        self._reader.authenticated()
        self.is_greeted = True
        self.newest = body.newest
        self._owner.let_in(self)

    def _error(self, error: Error) -> None:
        sentence = f"the router reports: {shown(error.text)} (error {error.code})"
        if not self.is_greeted and error.code in _GIVE_UP:
            self.gave_up = NotAdmitted(sentence)
        # A new connection would only displace the one that now has this client's name, or fail with a revoked token.
        is_revoked = error.code == ErrorCode.REVOKED and not self._owner.credential.renews
        if error.code == ErrorCode.REPLACED or is_revoked:
            self.gave_up = NotAdmitted(sentence)
        if error.fatal or not self.is_greeted:
            self.end(sentence)
        else:
            self._owner.tell(sentence)

    def _ping(self, ping: Ping) -> None:
        self.send(Pong(ping.token))

    # --- time and the end ----------------------------------------------------------------------------------------

    def reads(self, is_reading: bool, now: float) -> None:
        """Record whether the shell reads."""
        self._liveness.read(is_reading, now)

    @property
    def deadline(self) -> float:
        return self._liveness.deadline

    def tick(self, now: float) -> None:
        if self._liveness.is_dead(now):
            self.end(f"no sign of life for {self._settings.hold_s} s")
        elif self.is_greeted and self._liveness.must_ping(now):
            self.send(Ping(_ALIVE_TOKEN))

    def end(self, reason: str) -> None:
        """End the connection when the output has been sent."""
        self.ending = self.ending or reason
        self.wants_close = True

    def cut(self) -> bool:
        """Record that the connection has ended; return whether the router had admitted this client."""
        was_open, self.is_greeted = self.is_greeted, False
        self._session.closed()
        return was_open

    def closed(self) -> None:
        """Send and receive nothing more, since the client is closed."""
        self.wants_close = True
        self._session.closed()

    def broken(self, error: FrameError) -> None:
        """Report to the router that it violated the protocol, and end the connection."""
        if not self.is_closed:
            self._tell(error)
        self.end(f"protocol violation by the router: {error.problem}")

    def _tell(self, error: FrameError) -> None:
        text = error.problem.encode()[:TEXT_BYTES_MAX].decode(errors="ignore")
        fatal = is_fatal(error.code) or not self.is_greeted
        self.send(Error(error.code, text, 0, fatal))


_HANDLERS: Final[dict[type, Callable[..., None]]] = {
    Welcome: Line._welcome,
    Authenticated: Line._authenticated,
    Error: Line._error,
    Ping: Line._ping,
}
