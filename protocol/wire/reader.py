"""Cutting a stream of bytes into frames.

Law: feed what arrived, in whatever pieces, then take frames until there are none: a frame comes out once, when its last
byte is there, and the same whatever the pieces were. A length that is not allowed is refused at its fourth byte, a kind
at its own, and nothing more of the frame is waited for. No body is read. After an error the stream has no more frames.
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
    """Cut the bytes of one connection into frames. Take all frames after each `feed`, or the buffer grows.

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
        """Note that the peer has proved who it is: from here on only the limit of a single frame remains."""
        self._is_authenticated = True
        self._allowed = self._frame_bytes_max

    def feed(self, data: bytes | bytearray | memoryview) -> None:
        """Take over received bytes; `data` is copied."""
        self._buffer += data

    def take_rest(self) -> bytes:
        """Take back the fed bytes that make no frame yet, for a caller that reads on by itself and feeds what it
        leaves."""
        rest = bytes(self._buffer)
        self._buffer.clear()
        return rest

    def __iter__(self) -> Iterator[bytes]:
        """Yield the frames that are complete; FrameError at the first that cannot be a frame."""
        if self._error is not None:
            raise self._error
        buffer = self._buffer
        stored = b""  # what the buffer holds, once as bytes: a slice of it is one copy, of the buffer it would be two
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
        """Raise FrameError for what is wrong with the beginning of a frame, now and on every later call."""
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
