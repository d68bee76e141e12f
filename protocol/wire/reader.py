"""Extract the frames from a stream of bytes.

Law: feed the received bytes in any pieces, then take frames until there are none: a frame is yielded once, when its
last byte has arrived, independently of the pieces. An invalid length is refused at its fourth byte, an invalid kind at
its own, without waiting for the rest of the frame. No body is read. After an error the stream has no more frames.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from tamis.protocol.errors import FrameError
from tamis.protocol.limits import FRAME_BYTES_MAX, UNAUTHENTICATED_BYTES_MAX
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.header import KIND_OFFSET
from tamis.protocol.wire.kinds import KINDS
from tamis.protocol.wire.prefix import PREFIX_BYTES, check_kind

_START: Final = struct.Struct("<IB")


class FrameReader:
    """Extracts the frames of one connection. Take all frames after each `feed`, or the buffer grows.

    Until `authenticated` is called, all frames together may have UNAUTHENTICATED_BYTES_MAX bytes. Frames of an unknown
    kind that may be skipped are skipped, and counted in `skipped`.
    """

    def __init__(self, frame_bytes_max: int = FRAME_BYTES_MAX) -> None:
        self._frame_bytes_max = frame_bytes_max
        self._is_authenticated = False
        self._allowed = min(frame_bytes_max, UNAUTHENTICATED_BYTES_MAX)
        self._buffer = bytearray()
        self._at = 0
        self._error: FrameError | None = None
        self.skipped = 0

    def authenticated(self) -> None:
        """Record that the peer is authenticated: from here on only the limit of a single frame applies."""
        self._is_authenticated = True
        self._allowed = self._frame_bytes_max

    def feed(self, data: bytes | bytearray | memoryview) -> None:
        """Add received bytes; `data` is copied."""
        self._buffer += data

    def take_rest(self) -> bytes:
        """Remove and return the fed bytes that make no complete frame yet. The caller parses them itself, and feeds the
        remainder."""
        rest = bytes(self._buffer)
        self._buffer.clear()
        return rest

    def __iter__(self) -> Iterator[bytes]:
        """Yield the complete frames; FrameError at the first invalid one."""
        if self._error is not None:
            raise self._error
        buffer = self._buffer
        stored = b""  # the content of the buffer as bytes: a slice of bytes is one copy, of the buffer it would be two
        while (there := len(buffer) - self._at) > KIND_OFFSET:
            start = self._at
            length, kind = _START.unpack_from(buffer, start)
            if not PREFIX_BYTES <= length <= self._allowed or kind not in KINDS:
                self._judge(length, kind)
            if there < length:
                break
            self._at = end = start + length
            if not self._is_authenticated:
                self._allowed -= length
            if kind not in KINDS:
                self.skipped += 1
                continue
            if len(stored) < end:
                stored = bytes(buffer)
            yield stored[start:end]
        del buffer[: self._at]
        self._at = 0
        if len(buffer) == KIND_OFFSET:
            self._judge(int.from_bytes(buffer, "little"), kind=None)

    def _judge(self, length: int, kind: int | None) -> None:
        """Raise FrameError if the beginning of a frame is invalid, now and on every later call."""
        try:
            self._check_length(length)
            if kind is not None:
                check_kind(kind)
        except FrameError as error:
            self._error = error
            raise

    def _check_length(self, length: int) -> None:
        if length < PREFIX_BYTES:
            raise FrameError(ErrorCode.TOO_SHORT, f"a frame has at least {PREFIX_BYTES} bytes, not {length}")
        if length > self._frame_bytes_max:
            raise FrameError(ErrorCode.TOO_LONG, f"a frame has at most {self._frame_bytes_max} bytes, not {length}")
        if length > self._allowed:
            raise FrameError(
                ErrorCode.UNAUTHENTICATED,
                f"{length} bytes, with {self._allowed} left of {UNAUTHENTICATED_BYTES_MAX} before authentication",
            )
