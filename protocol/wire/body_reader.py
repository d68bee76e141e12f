"""Read one msgpack body element by element, by a schema, never as a whole.

Law: nothing is allocated for claimed sizes. A container's count is compared with the number of remaining bytes (each
element takes at least one) before an element is read; a scalar is built from bytes that are present; containers are
entered only where the schema has one, so depth never depends on the input. Every refusal is a FrameError.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Final, TypeVar

from tamis.protocol.errors import FrameError
from tamis.protocol.limits import CONTROL_DEPTH_MAX
from tamis.protocol.wire._msgpack import READ_ERRORS, OutOfData, Unpacker
from tamis.protocol.wire.codes import ErrorCode

T = TypeVar("T")
Row = tuple[Any, ...]
_ROWS_BYTES: Final = 262_144
"""Bytes read ahead for rows, which bounds what is built before it is checked."""


class BodyReader:
    """A cursor over one msgpack body. `what` names it in error messages."""

    __slots__ = ("_body", "_unpacker", "what")

    def __init__(self, body: bytes | memoryview, what: str) -> None:
        self.what = what
        self._body = body
        # Without room for containers, unpack() can build scalars only; the buffer is exactly as large as the body.
        size = max(len(body), 1)
        self._unpacker = Unpacker(
            read_size=size, max_buffer_size=size, max_array_len=0, max_map_len=0, strict_map_key=True
        )
        self._unpacker.feed(body)

    def array(self, least: int, most: int) -> int:
        """Enter an array, and return its count, which is within the bounds and within the remaining bytes."""
        count = self._count(self._unpacker.read_array_header)
        if count < least:
            raise FrameError(ErrorCode.MALFORMED, f"{self.what}: at least {least} elements, not {count}")
        if count > most:
            raise FrameError(ErrorCode.OVER_LIMIT, f"{self.what}: at most {most} elements, not {count}")
        return count

    def scalar(self) -> object:
        """Return the next element, which must not be a container (an empty one passes here, and the codec's type check
        refuses it)."""
        return self._guarded(self._unpacker.unpack)

    def skip(self) -> bytes:
        """Skip one element of any type that a later version has appended, and return its bytes."""
        start = self._unpacker.tell()
        self._skip(CONTROL_DEPTH_MAX)
        return bytes(self._body[start : self._unpacker.tell()])

    def _skip(self, depth: int) -> None:
        if depth == 0:
            raise FrameError(ErrorCode.OVER_LIMIT, f"{self.what}: more than {CONTROL_DEPTH_MAX} levels deep")
        for _ in range(self._enter_any()):
            self._skip(depth - 1)

    def rows(
        self, count: int, width: int, fits: Callable[[list[tuple[Any, ...]]], bool]
    ) -> list[tuple[Any, ...]] | None:
        """Return the next `count` arrays of `width` elements as tuples, if they are short and `fits` accepts them;
        otherwise return None, and read nothing. This is for long lists, since reading element by element is slow."""
        at = self._unpacker.tell()
        unpacker = Unpacker(max_array_len=width, max_map_len=0, use_list=False, max_buffer_size=_ROWS_BYTES)
        unpacker.feed(memoryview(self._body)[at : at + _ROWS_BYTES])
        try:
            rows = list(itertools.islice(unpacker, count))
        except READ_ERRORS:
            return None
        if len(rows) < count or not fits(rows):
            return None
        for _ in rows:
            self._unpacker.skip()
        return rows

    def finish(self) -> None:
        """Refuse bytes that follow the body."""
        if self._left():
            raise FrameError(ErrorCode.TRAILING_BYTES, f"{self.what}: {self._left()} bytes after the end")

    def _enter_any(self) -> int:
        """Read a container's header or a whole scalar, and return how many elements belong to it."""
        tag = self._body[self._unpacker.tell()] if self._left() else 0
        if tag & 0xF0 == 0x90 or tag in (0xDC, 0xDD):
            return self._count(self._unpacker.read_array_header)
        if tag & 0xF0 == 0x80 or tag in (0xDE, 0xDF):
            return 2 * self._count(self._unpacker.read_map_header)
        self.scalar()
        return 0

    def _count(self, read_header: Callable[[], int]) -> int:
        count = self._guarded(read_header)
        if count > self._left():
            raise FrameError(ErrorCode.MALFORMED, f"{self.what}: {count} elements in {self._left()} bytes")
        return count

    def _left(self) -> int:
        left: int = len(self._body) - self._unpacker.tell()
        return left

    def _guarded(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except OutOfData:
            raise FrameError(ErrorCode.MALFORMED, f"{self.what}: cut short") from None
        except READ_ERRORS as error:
            raise FrameError(ErrorCode.MALFORMED, f"{self.what}: {error or 'not msgpack'}") from None
