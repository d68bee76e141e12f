"""One direction of a link: frames wait, are sent one after the other, travel, arrive.

Law: sent = delivered + dropped (with a reason) + queued, at any time (invariant 11). Control passes data between two
frames, never within one (R12). The queue of data is bounded, and a full one drops further frames; a full queue of
control ends the session. Frames of one lane arrive in the order in which they were sent.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from tamis.simulate.nodes.clock import Clock


@dataclass(frozen=True, slots=True)
class Line:
    """The physical properties of a link; the defaults are those of a good line of 100 Mbit/s."""

    delay_us: int = 5_000
    bytes_per_ms: int = 12_500
    data_queue_bytes: int = 1024 * 1024
    control_queue_bytes: int = 64 * 1024 * 1024


class SimulatedSession:
    """One connection over the link. `over` is true once no byte passes any more, even if its ends have not noticed."""

    __slots__ = ("number", "over", "whole")

    def __init__(self, number: int, over: bool = False) -> None:
        self.number = number
        self.over = over
        self.whole = False
        """True once both ends have greeted."""


NO_SESSION = SimulatedSession(0, over=True)


class Frame(NamedTuple):
    """A frame on a link. `content` is a control body, a packet, or None for traffic that only takes room."""

    session: SimulatedSession
    control: bool
    size: int
    content: Any
    sent_us: int


class Direction:
    """One direction of a link. It calls `arrived` with each frame that is delivered and `lost` with each other one."""

    __slots__ = (
        *("line", "dark", "deaf_to", "lose_control", "lose_data", "sent", "delivered", "dropped", "control_wait_us"),
        *("arrived", "lost", "overflowed", "_clock", "_busy_until_us", "_control", "_data", "_data_bytes"),
        *("_control_bytes", "_travelling", "_pumping"),
    )

    def __init__(self, clock: Clock, line: Line) -> None:
        self.line = line
        self.dark = False
        """True while frames vanish without notice to either end."""
        self.deaf_to: SimulatedSession | None = None
        """The session in which a frame was lost: no later frame of this session arrives, since a stream has no
        holes."""
        self.lose_control = 0
        """The number of next control frames that are lost silently; `lose_data`: that of next data frames."""
        self.lose_data = 0
        self.sent = 0
        self.delivered = 0
        self.dropped: Counter[str] = Counter()
        self.control_wait_us = 0
        """The longest time that control has waited for data."""
        self.arrived: Callable[[Frame], bool]
        self.lost: Callable[[Frame, str], None]
        self.overflowed: Callable[[SimulatedSession], None]
        self._clock = clock
        self._busy_until_us = 0
        self._control: deque[Frame] = deque()
        self._data: deque[Frame] = deque()
        self._data_bytes = 0
        self._control_bytes = 0
        self._travelling = 0
        self._pumping = False

    @property
    def queued(self) -> int:
        return len(self._control) + len(self._data) + self._travelling

    @property
    def control_leaves_us(self) -> int:
        """Return when the last waiting control frame will have left, if nothing stalls the line."""
        waiting_us = self._control_bytes * 1_000 // self.line.bytes_per_ms
        return max(self._busy_until_us, self._clock.now_us) + waiting_us

    def send(self, session: SimulatedSession, control: bool, size: int, content: Any) -> bool:  # noqa: ANN401 - see Frame
        """Queue or send a frame; return false if it was dropped at once."""
        self.sent += 1
        now = self._clock.now_us
        frame = Frame(session, control, size, content, now)
        if session.over:
            self._drop(frame, "session over")
            return False
        if self._busy_until_us <= now and not self._pumping:
            self._transmit(frame)
            return True
        return self._queue(frame)

    def refuse(self, control: bool, content: Any) -> None:  # noqa: ANN401 - see Frame
        """Count as dropped a frame that an end sends in a session which it has given up."""
        self.sent += 1
        self._drop(Frame(NO_SESSION, control, 0, content, self._clock.now_us), "session over")

    def stall(self, until_us: int) -> None:
        """Hold the line still until `until_us`; frames wait and none is lost."""
        self._busy_until_us = max(self._busy_until_us, until_us)

    def _queue(self, frame: Frame) -> bool:
        if frame.control:
            self._control.append(frame)
            self._control_bytes += frame.size
            if self._control_bytes > self.line.control_queue_bytes:
                self.overflowed(frame.session)
        elif self._data_bytes + frame.size > self.line.data_queue_bytes:
            self._drop(frame, "queue full")
            return False
        else:
            self._data.append(frame)
            self._data_bytes += frame.size
        self._wait_for_turn()
        return True

    def _wait_for_turn(self) -> None:
        if not self._pumping:
            self._pumping = True
            self._clock.at(self._busy_until_us, self._pump)

    def _pump(self, _: None) -> None:
        now = self._clock.now_us
        while (self._control or self._data) and self._busy_until_us <= now:
            frame = self._next()
            if frame.session.over:
                self._drop(frame, "session over")
                continue
            self._transmit(frame)
        self._pumping = bool(self._control or self._data)
        if self._pumping:
            self._clock.at(self._busy_until_us, self._pump)

    def _next(self) -> Frame:
        """Remove and return the next frame to send: a control frame if one waits (R12), else data."""
        if self._control:
            frame = self._control.popleft()
            self._control_bytes -= frame.size
        else:
            frame = self._data.popleft()
            self._data_bytes -= frame.size
        return frame

    def _transmit(self, frame: Frame) -> None:
        now = self._clock.now_us
        if frame.control:
            self.control_wait_us = max(self.control_wait_us, now - frame.sent_us)
        self._busy_until_us = now + frame.size * 1_000 // self.line.bytes_per_ms
        self._travelling += 1
        self._clock.at(self._busy_until_us + self.line.delay_us, self._arrive, frame)

    def _arrive(self, frame: Frame) -> None:
        self._travelling -= 1
        reason = self._mishap(frame)
        if reason:
            self._drop(frame, reason)
        elif self.arrived(frame):
            self.delivered += 1
        else:
            self._drop(frame, "session over")

    def _mishap(self, frame: Frame) -> str:
        if self.dark or frame.session is self.deaf_to:
            return "dark"
        if frame.session.over:
            return "session over"
        if frame.control and self.lose_control:
            self.lose_control -= 1
            return "silently lost"
        if not frame.control and self.lose_data:
            self.lose_data -= 1
            return "silently lost"
        return ""

    def _drop(self, frame: Frame, reason: str) -> None:
        self.dropped[reason] += 1
        self.lost(frame, reason)
