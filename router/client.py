"""One client as its router sees it: the greeting, then its requests, then its end.

Law: every control frame is told to the session before it is acted on, and every frame that leaves from here before it
is sent. Data frames do not come here. After its end a client does nothing any more.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tamis.native import EventType, Trace
from tamis.protocol.errors import FrameError
from tamis.protocol.wire.codes import ErrorCode, is_fatal
from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.kinds import Kind
from tamis.protocol.wire.session import State
from tamis.protocol.wire.session_bodies import Error, Ping, Pong
from tamis.router import dry_run
from tamis.router.greeting import Greeting
from tamis.router.logs import fields
from tamis.router.requests import Requests
from tamis.router.settings import admission

if TYPE_CHECKING:
    from tamis.router.plane import Plane

LINGER_S: Final = 2.0
"""What is queued for a client that has to go may take so long to leave."""

FULL: Final = encode(Error(ErrorCode.FULL, "this router has no room for another connection", 0, True))

_log = logging.getLogger(__name__)


class Client:
    """`peer` is where it connected from; `name` is empty until it is let in."""

    __slots__ = (
        *("_greeting", "_is_ending", "_is_paused", "_requests", "_session", "_timer"),
        *(
            "connection",
            "filters_max",
            "frame_bytes_max",
            "is_there",
            "name",
            "number",
            "on_output",
            "on_pause",
            "peer",
            "plane",
        ),
    )

    def __init__(self, plane: Plane, connection: int, peer: str) -> None:
        self.plane, self.connection, self.peer = plane, connection, peer
        self.name, self.is_there = "", True
        self.number = self.filters_max = self.frame_bytes_max = 0
        self.on_output: Callable[[], None] | None = None
        self.on_pause: Callable[[bool], None] | None = None
        greeting = Greeting(plane.door())
        self._greeting: Greeting | None = greeting
        self._session = greeting.session
        self._requests: Requests | None = None
        self._is_ending = self._is_paused = False
        self._timer: asyncio.TimerHandle | None = plane.later(plane.settings.limits.greeting_ms / 1000, self._too_late)

    @property
    def is_open(self) -> bool:
        return self._greeting is None and not self._is_ending

    @property
    def requests(self) -> int:
        """How many are waiting."""
        return len(self._requests) if self._requests is not None else 0

    # --- what comes ------------------------------------------------------------------------------------------------

    def receive(self, kind: Kind, frame: bytes) -> None:
        """A control frame; FrameError if it is not allowed."""
        if self._is_ending:
            return
        if self._greeting is not None:
            self._greet(self._greeting, kind, frame)
            return
        self._session.received(kind)
        if kind in (Kind.SUBSCRIBE, Kind.UNSUBSCRIBE):
            self._requests = self._requests or Requests(self)
            self._requests.add(kind, frame)
        else:
            self._take(decode(frame))

    def _take(self, body: object) -> None:
        """What needs no answer, but for a PING in an unusual spelling, which C leaves to us."""
        if isinstance(body, Ping):
            self.send(Kind.PONG, encode(Pong(body.token)))
        elif isinstance(body, Error):
            _log.info("a client reports an error", extra=fields(client=self.name, code=body.code, text=body.text))

    def _greet(self, greeting: Greeting, kind: Kind, frame: bytes) -> None:
        if self.plane.is_draining:
            raise FrameError(ErrorCode.FULL, "the router is stopping")
        answer = greeting.receive(frame, kind)
        if answer:
            self.plane.switch.send(self.connection, answer)
        if self._session.state is State.CLOSED:
            self._end()
        if greeting.is_over and greeting.hello is not None:
            self._greeting = None
            self._cancel_timer()
            granted = admission(self.plane.settings, greeting.hello)
            self.name, self.number = greeting.hello.name, granted.number
            self.filters_max, self.frame_bytes_max = granted.filters_max, granted.frame_bytes_max
            self.plane.admitted(self)
            self.plane.switch.admit(self.connection, granted)

    def traced(self, trace: Trace) -> None:
        """What became of one of its messages."""
        if trace.is_dry and self.is_open:
            self.send(Kind.DRY_RUN_REPORT, dry_run.report(self.plane.settings.id, trace, self.frame_bytes_max))

    def event(self, type_: int) -> None:
        """Something about the connection that is no frame."""
        if type_ == EventType.SILENT:
            hold_ms = self.plane.settings.keepalive.hold_ms
            self.fail(FrameError(ErrorCode.SILENT, f"nothing came for {hold_ms} ms"))
        elif type_ == EventType.SLOW:
            self.fail(FrameError(ErrorCode.SLOW, "your queue is full, and this router disconnects who cannot keep up"))
        elif type_ == EventType.OUTPUT and self.on_output is not None:
            self.on_output()

    # --- what goes -------------------------------------------------------------------------------------------------

    def send(self, kind: Kind, frame: bytes, urgent: bool = True) -> None:
        """One of our frames; a client that lets too many of them wait is disconnected."""
        self._session.sent(kind)
        if not self.plane.switch.send(self.connection, frame, urgent):
            _log.info("a client does not read its answers", extra=self._fields())
            self._end(now=True)

    def fail(self, error: FrameError, kind: int = 0) -> None:
        """Tell the client what it did wrong; unless that is of no consequence, it ends here."""
        if self._is_ending:
            return
        fatal = self._greeting is not None or is_fatal(error.code)
        _log.log(
            logging.WARNING if fatal else logging.INFO,
            "a client is disconnected" if fatal else "a frame was refused",
            extra=self._fields(code=error.code, kind=f"0x{kind:02x}", reason=error.problem),
        )
        self.plane.switch.send(self.connection, encode(Error(error.code, error.problem[:256], kind, fatal)))
        if fatal:
            self._end()

    def pause(self, is_paused: bool) -> None:
        """Stop or go on reading from this client."""
        if is_paused is self._is_paused or self._is_ending:
            return
        self._is_paused = is_paused
        self.plane.switch.pause(self.connection, is_paused)
        if self.on_pause is not None:
            self.on_pause(is_paused)

    # --- the end ---------------------------------------------------------------------------------------------------

    def leave(self) -> None:
        """What is queued still goes out."""
        if not self._is_ending:
            self._end()

    def vanish(self) -> None:
        """Nothing can go out any more."""
        self._end(now=True)

    def ended(self) -> None:
        """The connection is gone."""
        self._is_ending, self.is_there = True, False
        self._session.closed()
        self._cancel_timer()

    def _end(self, now: bool = False) -> None:
        self._is_ending = True
        self._cancel_timer()
        if self.is_there:
            self.plane.switch.end(self.connection, now)
        if not now:
            self._timer = self.plane.later(LINGER_S, self._cut)

    def _cut(self) -> None:
        self.plane.switch.end(self.connection, now=True)

    def _too_late(self) -> None:
        limit_ms = self.plane.settings.limits.greeting_ms
        self.fail(FrameError(ErrorCode.UNAUTHENTICATED, f"the greeting took more than {limit_ms} ms"))

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fields(self, **more: object) -> dict[str, object]:
        return fields(client=self.name or None, peer=self.peer, connection=self.connection, **more)
