"""Control frames that wait for one link.

    streams    (RA, issuer 7): body body      (UR, me): body      (LSA, 3): body       one frame of each in turn

Law: bodies of one stream leave one after the other, each with its frames in order; frames of other streams pass in
between. The switch receives WINDOW_BYTES at most until the wire accepts more, which leaves room in its urgent lane for
pings and errors. At most QUEUE_BYTES_MAX wait; beyond that `overflow` is called, and the link has to start again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

from tamis.protocol.limits import ASSEMBLY_BYTES_MAX
from tamis.protocol.wire.streams import Stream
from tamis.router.links.packing import Packed

WINDOW_BYTES: Final = 65_536
"""Bytes of one part of the largest size, and thereby of any frame: a quarter of the switch's urgent lane."""
QUEUE_BYTES_MAX: Final = 2 * ASSEMBLY_BYTES_MAX
"""Bytes of the largest body that a neighbour accepts, and an equal amount for bodies queued while it is sent. Frames of
advertisements are shared by all the links that they wait for."""


class Outgoing:
    """The control frames of one link. `hand` passes one frame to the switch; `when_writable` calls back once when the
    wire accepts more; `overflow` is called when too much waits."""

    def __init__(
        self,
        hand: Callable[[bytes], None],
        when_writable: Callable[[Callable[[], None]], None],
        overflow: Callable[[], None],
    ) -> None:
        self._hand, self._when_writable, self._overflow = hand, when_writable, overflow
        self._streams: dict[Stream, deque[tuple[Packed, Callable[[], None] | None]]] = {}
        self._turn: deque[tuple[Stream, deque[bytes]]] = deque()  # streams whose first body is packed, with its frames
        self._window = WINDOW_BYTES
        self._is_waiting = self._is_closed = False
        self.queued_bytes = self.frames = self.bytes = 0

    def add(self, body: Packed, left: Callable[[], None] | None = None) -> None:
        """Queue a body; `left` is called when its last frame has been handed over."""
        self._streams.setdefault(body.stream, deque()).append((body, left))
        body.when_packed(partial(self._packed, body))

    def waiting(self, stream: Stream) -> int:
        """Return the number of bodies of one stream that have not left."""
        return len(self._streams.get(stream, ()))

    def close(self) -> None:
        """Drop all queued frames; none leaves after this."""
        self._is_closed = True
        self._streams.clear()
        self._turn.clear()
        self.queued_bytes = 0

    def _packed(self, body: Packed) -> None:
        if self._is_closed or body.frames is None:
            return
        self.queued_bytes += sum(map(len, body.frames))
        if self.queued_bytes > QUEUE_BYTES_MAX:
            self._overflow()
            return
        if self._streams[body.stream][0][0] is body:
            self._turn.append((body.stream, deque(body.frames)))
        self._pump()

    def _pump(self) -> None:
        while self._turn and len(self._turn[0][1][0]) <= self._window:
            stream, frames = self._turn.popleft()
            frame = frames.popleft()
            self._window -= len(frame)
            self.queued_bytes -= len(frame)
            self.frames += 1
            self.bytes += len(frame)
            left = None
            if frames:
                self._turn.append((stream, frames))
            else:
                left = self._next_body(stream)
            self._hand(frame)  # this may close the queue
            if left is not None:
                left()
        if self._turn and not self._is_waiting:
            self._is_waiting = True
            self._when_writable(self._writable)

    def _next_body(self, stream: Stream) -> Callable[[], None] | None:
        """Remove the first body of `stream`, which has left, and begin the next one; return the `left` of the first."""
        bodies = self._streams[stream]
        _, left = bodies.popleft()
        if not bodies:
            del self._streams[stream]
        elif bodies[0][0].frames is not None:
            self._turn.append((stream, deque(bodies[0][0].frames)))
        return left

    def _writable(self) -> None:
        self._is_waiting = False
        self._window = WINDOW_BYTES
        self._pump()
