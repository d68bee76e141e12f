"""The peer of a connection, client or router: sends frames to it, reports its errors, ends its connection.

Law: every frame is recorded in the session before it is sent, and every received frame before it is handled. Data
frames do not reach this file. A peer does nothing after its end.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import ClassVar, Final, Protocol

from tamis.configs.sections.limits import Limits
from tamis.native.switch_values import EventType
from tamis.native.traces import Trace
from tamis.protocol.errors import FrameError
from tamis.protocol.wire.codes import ErrorCode, is_fatal
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.session import Session
from tamis.protocol.wire.session_bodies import Error
from tamis.router.connections.admissions import Admissions, Reason, Side, TooLate, reason_of
from tamis.router.daemon.logs import fields
from tamis.serving.waiting import WaitingRoom, unread_bytes

LINGER_S: Final = 2.0
"""Seconds in which queued frames may still be sent to a peer whose connection is ended."""
UNREAD_S: Final = 0.05
"""Seconds until a late peer with unread bytes is checked again."""
PROBLEM_CHARACTERS_MAX: Final = 256
FULL: Final = encode(Error(ErrorCode.FULL, "this router has no room for another connection", 0, True))

_log = logging.getLogger(__name__)


class EndingSwitch(Protocol):
    """The part of the switch that a peer uses; its connection is identified by a number."""

    def send(self, connection: int, frames: bytes, urgent: bool = True) -> bool: ...

    def pause(self, connection: int, is_paused: bool) -> None: ...

    def end(self, connection: int, now: bool = False) -> None: ...

    def lose(self, connection: int) -> None: ...


class LimitedSettings(Protocol):
    """The settings of a router that a peer uses."""

    @property
    def limits(self) -> Limits: ...


class Switchboard(Protocol):
    """The part of Connections that a peer uses."""

    admissions: Admissions

    @property
    def settings(self) -> LimitedSettings: ...

    @property
    def switch(self) -> EndingSwitch: ...

    def later(self, delay_s: float, what: Callable[[], None]) -> asyncio.TimerHandle:
        """Call `what` after `delay_s` seconds."""

    def poll_soon(self) -> None:
        """Poll the switch at the next turn of the loop, so that the places of ended connections are freed."""

    def when_caught_up(self, callback: Callable[[], None]) -> bool:
        """Return whether events wait to be handled; if they do, call `callback` once they are handled."""


class Peer:
    """The peer of one connection. `peer`: its address; `name`: empty until it has greeted."""

    CUT: ClassVar[str]
    """The log line for a peer that is disconnected for an error."""
    IS_LINK: ClassVar[bool]
    """Whether the peer is a neighbour, not a client."""
    SIDE: ClassVar[Side]

    __slots__ = (
        *("_is_ending", "_is_greeting", "_is_paused", "_room", "_session", "_timer"),
        *("connection", "connections", "descriptor", "is_there", "name", "on_output", "on_pause", "peer"),
    )

    def __init__(self, connections: Switchboard, connection: int, peer: str, session: Session) -> None:
        self.connections, self.connection, self.peer = connections, connection, peer
        self.name, self.is_there = "", True
        self.on_output: Callable[[], None] | None = None
        self.on_pause: Callable[[bool], None] | None = None
        self._session = session
        self._is_greeting, self._is_ending, self._is_paused = True, False, False
        self.descriptor = -1  # socket, owned by the switch; -1 if there is none
        self._room: WaitingRoom | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_its_turn()

    @property
    def is_open(self) -> bool:
        return not self._is_greeting and not self._is_ending

    @property
    def hold_ms(self) -> int:
        """Milliseconds that the peer may be silent."""
        raise NotImplementedError

    # --- receiving -------------------------------------------------------------------------------------------------

    def receive(self, kind: FrameKind, frame: bytes) -> None:
        """Handle a control frame; raise FrameError if it is not allowed."""
        raise NotImplementedError

    def event(self, type_: int) -> None:
        """Handle an event of the connection that is not a frame."""
        if type_ == EventType.SILENT:
            self.fail(FrameError(ErrorCode.SILENT, f"no frame arrived for {self.hold_ms} ms"))
        elif type_ == EventType.SLOW:
            self.fail(FrameError(ErrorCode.SLOW, "your queue is full; this router disconnects slow receivers"))
        elif type_ == EventType.OUTPUT and self.on_output is not None:
            self.on_output()
        elif type_ in (EventType.WAITS, EventType.GOES_ON) and self.on_pause is not None:
            self.on_pause(type_ == EventType.WAITS or self._is_paused)

    # --- before it has greeted -------------------------------------------------------------------------------------

    @property
    def said(self) -> tuple[str | None, str | None]:
        """The name and the method that the peer sent in its greeting; None for each that it has not sent."""
        raise NotImplementedError

    def wait_in(self, room: WaitingRoom, address: str) -> None:
        """Wait in `room` until the peer has greeted."""
        self._room = room
        room.enter(self, address)

    def is_heard(self) -> bool:
        return bool(self.descriptor >= 0 and unread_bytes(self.descriptor))

    def give_way(self) -> None:
        self._refused(Reason.GAVE_WAY, "its greeting was not complete, and another connection needed the place")
        self._queue(FULL)
        self._end()
        self.connections.poll_soon()

    def _spoke(self) -> None:
        """Record a frame of the greeting: the peer's time limit starts again."""
        if self._room is not None:
            self._room.spoke(self)
        self._is_its_turn()

    def _is_its_turn(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.connections.later(self.connections.settings.limits.greeting_ms / 1000, self._too_late)

    def _refused(self, reason: Reason, problem: str) -> None:
        """Count and log that this peer is refused."""
        name, method = self.said
        self.connections.admissions.refuse(self.SIDE, reason, name=name, peer=self.peer, method=method, reason=problem)

    def _leave_room(self) -> None:
        if self._room is not None:
            self._room.leave(self)
            self._room = None

    # --- more events -----------------------------------------------------------------------------------------------

    def traced(self, trace: Trace) -> None:
        """Handle the trace of a message that the peer sent."""

    def unrouted(self, frame: bytes) -> None:
        """Handle a message of a source for which the switch has no route; raise Gone if the connection has ended."""

    # --- sending ---------------------------------------------------------------------------------------------------

    def send(self, kind: FrameKind, frame: bytes, urgent: bool = True) -> None:
        """Send a control frame; disconnect the peer if too many of them are queued."""
        self._session.sent(kind)
        if not self._queue(frame, urgent):
            _log.info("a peer does not read its answers", extra=self._fields())
            self._end(now=True)

    def _queue(self, frame: bytes, urgent: bool = True) -> bool:
        is_queued = self.connections.switch.send(self.connection, frame, urgent)
        if self.on_output is not None:
            self.on_output()
        return is_queued

    def fail(self, error: FrameError, kind: int = 0) -> None:
        """Send the error to the peer; end the connection if it is fatal, as every error of a greeting is."""
        if self._is_ending:
            return
        fatal = self._is_greeting or is_fatal(error.code)
        if self._is_greeting:
            self._refused(reason_of(error), error.problem)
        else:
            _log.log(
                logging.WARNING if fatal else logging.INFO,
                self.CUT if fatal else "a frame was refused",
                extra=self._fields(code=error.code, kind=f"0x{kind:02x}", reason=error.problem),
            )
        self._queue(encode(Error(error.code, error.problem[:PROBLEM_CHARACTERS_MAX], kind, fatal)))
        if fatal:
            self._end()

    def pause(self, is_paused: bool) -> None:
        """Stop or resume reading from the peer."""
        if is_paused is self._is_paused or self._is_ending:
            return
        self._is_paused = is_paused
        self.connections.switch.pause(self.connection, is_paused)
        if self.on_pause is not None:
            self.on_pause(is_paused)

    # --- the end ---------------------------------------------------------------------------------------------------

    def leave(self) -> None:
        """End the connection; queued frames are still sent for LINGER_S."""
        if not self._is_ending:
            self._end()

    def vanish(self) -> None:
        """End the connection at once; queued frames are dropped."""
        self._end(now=True)

    def peer_left(self) -> None:
        """End a connection without a socket in the switch, whose peer has closed it."""
        if not self._is_ending:
            self.connections.switch.lose(self.connection)
        self._end(now=True)

    def ended(self) -> None:
        """Handle the end of the connection in the switch."""
        if self._is_greeting and not self._is_ending:
            self._refused(Reason.LEFT, "the peer closed the connection")
        self._is_ending, self.is_there = True, False
        self._leave_room()
        self._session.closed()
        self._cancel_timer()

    def forgotten(self) -> None:
        """Handle that the switch has no state of the connection left: its number is free."""

    def dropped(self) -> None:
        """Mark the peer as ended because the router ends, without a notification."""
        self._is_ending, self.is_there = True, False
        self._cancel_timer()

    def _end(self, now: bool = False) -> None:
        self._is_ending = True
        self._cancel_timer()
        self._leave_room()
        if self.is_there:
            self.connections.switch.end(self.connection, now)
        if not now:
            self._timer = self.connections.later(LINGER_S, self._cut)

    def _cut(self) -> None:
        self.connections.switch.end(self.connection, now=True)

    def _greeted(self) -> None:
        self._is_greeting = False
        self._cancel_timer()
        if self._room is not None:
            self._room.greeted(self)
            self._room = None
        name, method = self.said
        self.connections.admissions.admit(self.SIDE, name=name, peer=self.peer, method=method)

    def _too_late(self) -> None:
        self._timer = None
        if not self.connections.when_caught_up(self._end_late):
            self._end_late()

    def _end_late(self) -> None:
        """Refuse the peer as late, unless the next frame of its greeting has been handled in the meantime or its bytes
        are unread."""
        if self._timer is not None or self._is_ending or not self._is_greeting:
            return
        if self.is_heard():
            self._timer = self.connections.later(UNREAD_S, self._too_late)
            return
        limit_ms = self.connections.settings.limits.greeting_ms
        self.fail(TooLate(f"the next frame of the greeting took more than {limit_ms} ms"))

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fields(self, **more: object) -> dict[str, object]:
        return fields(name=self.name or None, peer=self.peer, connection=self.connection, **more)
