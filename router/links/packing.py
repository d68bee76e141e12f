"""A control body as frames, packed once for all links to which it goes.

Law: a short body is packed at once, a long one in slices, with other work in between; callbacks given to `when_packed`
are called when it is packed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import cast

from tamis.protocol.wire.custody_bodies import CustodyBody
from tamis.protocol.wire.edge_bodies import EdgeHeld, EdgeRequest
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.home_bodies import DurablesHeld
from tamis.protocol.wire.parts import ReplyPart, Whole, cut, packed_whole
from tamis.protocol.wire.report_bodies import DryRunReport, Report, TraceRecord, fitted
from tamis.protocol.wire.routing_bodies import Body, EpochRefused, Held, LinkState
from tamis.protocol.wire.streams import stream_of
from tamis.router.connections.work import SlicedWork


class Packed:
    """A body and its frames; `frames` is None until it is packed."""

    __slots__ = ("_waiting", "frames", "stream")

    def __init__(self, body: Body | Report | CustodyBody, frame_bytes_max: int, work: SlicedWork) -> None:
        self.stream = stream_of(body)
        self.frames: list[bytes] | None = None
        self._waiting: list[Callable[[], None]] = []
        if isinstance(body, LinkState | Held | EpochRefused | EdgeHeld | EdgeRequest | DurablesHeld | CustodyBody):
            self.frames = [encode(body)]
            return
        if isinstance(body, TraceRecord | DryRunReport):
            self.frames = [encode(fitted(body, frame_bytes_max))]
            return
        packing = self._pack(body, frame_bytes_max)
        if next(packing, self) is not self:
            work.add(packing)

    @property
    def bytes(self) -> int:
        """Bytes of all frames; 0 until they are packed."""
        return sum(map(len, self.frames or ()))

    def when_packed(self, callback: Callable[[], None]) -> None:
        if self.frames is None:
            self._waiting.append(callback)
        else:
            callback()

    def _pack(self, whole: Whole, frame_bytes_max: int) -> Generator[None, None, None]:
        body = yield from packed_whole(whole)
        self.frames = [encode(cast("ReplyPart", part)) for part in cut(whole, body, frame_bytes_max)]  # any Part
        waiting, self._waiting = self._waiting, []
        for callback in waiting:
            callback()
