"""The deliveries of one stream, as text for a foreign client.

    router -> DELIVER frames -> C writes text -> the client's socket

Law: while the client does not read, the router's connection is not read either; what waits here meanwhile is the text
of one read. Then the router's queue fills, its policy decides what is dropped, and the gap is told in the stream.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Final

from tamis.client.gap import Gap
from tamis.client.message import Message, frame_of
from tamis.client.messages.inbox import Inbox, InboxBounds
from tamis.gateway.upstream import Upstream
from tamis.native.codecs import EventFields, EventForm, EventsWritten, EventWriter
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.wire.codes import ErrorCode
from tamis.serving.request import ClientLeft, Stream

PIECE_BYTES: Final = 65_536
"""Bytes of text that are sent at once."""
WAITING_BYTES_MAX: Final = 268_435_456
"""Bytes of text that wait in all streams together; a stream whose text would exceed them ends."""
_SSE_ENDS: Final = b"\n\n"
_LINE_ENDS: Final = b"\n"


def gap_form(gap: Gap) -> dict[str, object]:
    """Return a gap as a JSON object, without what is unknown."""
    said: dict[str, object] = {
        "reason": gap.reason.name,
        "count": gap.count,
        "bytes": gap.bytes,
        "span_s": gap.span_s,
        "goes_on": gap.goes_on or None,
    }
    return {key: value for key, value in said.items() if value is not None}


class Feed(Inbox):
    """The inbox of the subscription of one stream. `count`: it ends after as many messages; None: it does not end.
    `over` is done when the stream is to end."""

    __slots__ = (
        *("_ends", "_form", "_left", "_pump", "_stream", "_text", "_waiting", "_writer"),
        *("is_cut", "over", "shared", "wake"),
    )

    def __init__(self, upstream: Upstream, form: EventForm, fields: EventFields, count: int | None) -> None:
        core = upstream.pump.core
        super().__init__(InboxBounds(1, 1), core.registry.full, lambda _: None)
        self._pump, self._form, self._left = upstream.pump, form, count
        self._writer = EventWriter(form, fields, output=upstream.shared.output)
        self._ends = _SSE_ENDS if form is EventForm.SSE else _LINE_ENDS
        self.shared = upstream.shared
        self._stream: Stream | None = None
        self._text = bytearray()
        self._waiting = 0
        self.is_cut = False
        """Whether it has ended because it did not keep up, and not whole."""
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.wake = asyncio.Event()
        core.sink = self.read

    # --- what the router sends ----------------------------------------------------------------------------------------

    def read(self, data: bytes) -> int:
        """Take the plain messages at the start of `data`; return their bytes."""
        consumed = 0
        rest = memoryview(data)
        while len(rest) > consumed:
            written = self._write(rest[consumed:])
            if not written.consumed:
                break
            consumed += written.consumed
        self._send()
        return consumed

    def _write(self, frames: bytes | memoryview) -> EventsWritten:
        """Add the text of frames. Raise FrameError if the router has sent none that is sound."""
        try:
            written = self._writer.write(frames)
        except Refused as error:
            raise FrameError(ErrorCode.MALFORMED, str(error)) from None
        self._add_text(written.text, written.messages)
        return written

    def put(self, message: Message) -> None:
        self._write(frame_of(message))
        self._send()

    def put_run(self, frames: Sequence[bytes], ids: Sequence[int], positions: Sequence[int]) -> None:  # noqa: ARG002
        self.read(b"".join(frames))

    def put_gap(self, gap: Gap) -> None:
        self.tell("gap", gap_form(gap))

    def end(self, error: Exception | None = None) -> None:
        if self.over.done():
            return
        if error is not None:
            self.tell("end", {"reason": str(error)})
        super().end(error)
        self.over.set_result(None)
        self.wake.set()

    # --- what goes to the client --------------------------------------------------------------------------------------

    def start(self, stream: Stream) -> None:
        self._stream = stream
        self._send()

    def tell(self, event: str, form: Mapping[str, object]) -> None:
        """Add an event that is no message."""
        said = json.dumps(form, ensure_ascii=False)
        if self._form is EventForm.SSE:
            self._text += f"event: {event}\ndata: {said}\n\n".encode()
        else:
            self._text += f'{{"{event}": {said}}}\n'.encode()
        self._send()

    def beat(self) -> None:
        """Add a sign of life."""
        if self._form is EventForm.SSE and not self._text and not self.is_full:
            self._text += b":\n\n"
            self._send()

    def go_on(self) -> None:
        """Send what waits, and read on from the router when nothing waits any more."""
        self._send()
        if not self._text and self.is_full:
            self.is_full = False
            self._full.discard(self)
            self._pump.regulate()

    def _add_text(self, text: bytes, messages: int) -> None:
        if self.over.done():
            return
        if self._left is not None:
            if messages >= self._left:
                parts = text.split(self._ends, self._left)
                text = self._ends.join(parts[: self._left]) + self._ends
                messages = self._left
            self._left -= messages
        self._text += text
        if self._left == 0:
            self.end()

    def _send(self) -> None:
        stream = self._stream
        if stream is None:
            return
        try:
            while self._text and not stream.is_full:
                stream.send(bytes(self._text[:PIECE_BYTES]))
                del self._text[:PIECE_BYTES]
        except ClientLeft:
            self._give_up()
            return
        self._count_waiting()
        if self.shared.waiting_bytes > WAITING_BYTES_MAX and self._text:
            self.is_cut = True
            self._give_up()
            return
        if self._text or stream.is_full:
            self.is_full = True
            self._full.add(self)
            self.wake.set()

    def _count_waiting(self) -> None:
        self.shared.waiting_bytes += len(self._text) - self._waiting
        self._waiting = len(self._text)

    def _give_up(self) -> None:
        self._text.clear()
        self._count_waiting()
        self.end()

    def close(self) -> None:
        """Drop what waits: the client has left."""
        self._text.clear()
        self._count_waiting()

    @property
    def waits(self) -> bool:
        """Whether text waits for the client."""
        return bool(self._text)
