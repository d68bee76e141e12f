"""HTTP/1.1 requests from bytes, without a socket.

Law: what two readers could read differently is refused: a head with a bare line feed, a folded or doubled header that
decides something, both framings, an empty line before a request. A head is parsed once, when it is complete; one call
of `next` reads at most one head or one piece of a body, so that its work is bounded whatever has arrived.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum, IntEnum, auto
from typing import Final, NamedTuple

from httptools import HttpParserError, HttpParserInvalidMethodError, HttpParserUpgrade, HttpRequestParser

from tamis.serving.problem import RequestRefused, refused

HEAD_BYTES_MAX: Final = 16_384
FIELDS_MAX: Final = 128
PIECE_BYTES_MAX: Final = 65_536
"""Bytes of a piece of a body, at most."""
CHUNKS_MAX: Final = 64
"""Chunks of one piece, at most."""
CHUNK_LINE_BYTES_MAX: Final = 256
TRAILER_BYTES_MAX: Final = 4_096
_EMPTY_LINE: Final = b"\r\n\r\n"
_LINE: Final = re.compile(rb"([A-Z-]+) ([\x21-\x7e]+) HTTP/1\.([01])")
_LENGTH: Final = re.compile(r"[0-9]{1,18}")
_CHUNK: Final = re.compile(rb"([0-9A-Fa-f]{1,15})(?:;[\t\x20-\x7e\x80-\xff]*)?")
_TRAILERS: Final = re.compile(
    rb"(?:(?!(?i:content-length|transfer-encoding|host):)[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*\r\n)+"
)
_ONCE: Final = frozenset(
    {
        *("authorization", "content-length", "content-type", "expect", "host", "origin"),
        *("sec-fetch-site", "sec-websocket-key", "sec-websocket-version", "transfer-encoding", "upgrade"),
    }
)
"""Headers that decide something and may stand in a head once."""


_KEYS: Final = {
    name.encode(): name.lower()
    for name in (
        *("Accept", "Accept-Encoding", "Accept-Language", "Authorization", "Cache-Control", "Connection"),
        *("Content-Length", "Content-Type", "Host", "Origin", "Referer", "Sec-Fetch-Site", "User-Agent"),
    )
}
"""Usual names as programs spell them, in lower case: a look is faster than a conversion."""


class Head(NamedTuple):
    """The head of a request. `headers`: by name in lower case; values of one name are joined by commas; `length`: bytes
    of the body, None if it comes in chunks."""

    method: str
    target: str
    headers: dict[str, str]
    length: int | None
    is_old: bool  # HTTP/1.0
    keeps_open: bool
    expects_continue: bool


class End(Enum):
    """The event after the last piece of a body; a head with `length` 0 has none."""

    OF_BODY = auto()


class _Part(IntEnum):
    """What is read next."""

    HEAD = auto()
    SIZED = auto()
    CHUNKS = auto()
    TRAILERS = auto()


class RequestReader:
    """Reads the requests of one connection: `feed` bytes, then call `next` until it returns None."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._searched = 0
        self._left = 0  # of a body, or of a chunk
        self._before_chunk = b""
        self._part = _Part.HEAD

    @property
    def unread_bytes(self) -> int:
        return len(self._bytes)

    @property
    def is_between_requests(self) -> bool:
        return self._part is _Part.HEAD

    def feed(self, data: bytes | memoryview) -> None:
        self._bytes += data

    def take_all(self) -> bytes:
        """Remove and return all unread bytes."""
        data = bytes(self._bytes)
        self._bytes.clear()
        return data

    def next(self) -> Head | bytes | End | None:
        """Return the next head, piece of a body or end of a body; None: more bytes are needed. Raise RequestRefused if
        the bytes are no request; the connection cannot go on after it."""
        return _READ[self._part](self)

    def _head(self) -> Head | None:
        data = self._bytes
        if not data:
            return None
        end = data.find(_EMPTY_LINE, self._searched)
        if (end if end >= 0 else len(data)) > HEAD_BYTES_MAX - len(_EMPTY_LINE):
            raise refused("http", 431, f"a head may have at most {HEAD_BYTES_MAX} bytes")
        if end < 0:
            if not 0x41 <= data[0] <= 0x5A:
                raise refused("http", 400, "a request begins with a method in capital letters")
            self._searched = max(0, len(data) - len(_EMPTY_LINE) + 1)
            return None
        end += len(_EMPTY_LINE)
        head = parse_head(bytes(data[:end]))
        del data[:end]
        self._searched = 0
        if head.length is None:
            self._left, self._before_chunk, self._part = 0, b"", _Part.CHUNKS
        elif head.length:
            self._left, self._part = head.length, _Part.SIZED
        return head

    def _sized(self) -> bytes | End | None:
        if self._left == 0:
            self._part = _Part.HEAD
            return End.OF_BODY
        return self._take(PIECE_BYTES_MAX) or None

    def _take(self, bytes_max: int) -> bytes:
        piece = bytes(self._bytes[: min(self._left, bytes_max)])
        del self._bytes[: len(piece)]
        self._left -= len(piece)
        return piece

    def _chunks(self) -> bytes | End | None:
        pieces: list[bytes] = []
        room = PIECE_BYTES_MAX
        for _ in range(CHUNKS_MAX):
            if self._left == 0 and not self._chunk_line():
                break
            piece = self._take(room)
            if not piece:
                break
            pieces.append(piece)
            room -= len(piece)
        if pieces:
            return b"".join(pieces)
        return self._trailers() if self._part is _Part.TRAILERS else None

    def _chunk_line(self) -> bool:
        """Read the line before a chunk, and the end of the chunk before it. Return False if bytes are missing, or the
        chunk is the last one."""
        begin = len(self._before_chunk)
        if self._bytes[:begin] != self._before_chunk[: len(self._bytes)]:
            raise refused("http", 400, "a chunk is longer than it says")
        end = self._bytes.find(b"\r\n", begin, begin + CHUNK_LINE_BYTES_MAX + 2)
        if end < 0:
            if len(self._bytes) >= begin + CHUNK_LINE_BYTES_MAX + 2:
                raise refused("http", 400, f"the line before a chunk may have at most {CHUNK_LINE_BYTES_MAX} bytes")
            return False
        size = _CHUNK.fullmatch(bytes(self._bytes[begin:end]))
        if size is None:
            raise refused("http", 400, "a chunk begins with its size in hexadecimal digits")
        self._left, self._before_chunk = int(size[1], 16), b"\r\n"
        del self._bytes[: end + 2]
        if self._left == 0:
            self._part = _Part.TRAILERS
        return self._left > 0

    def _trailers(self) -> End | None:
        """Read what may stand behind the last chunk, and drop it."""
        data = self._bytes
        end = 0 if data[:2] == b"\r\n" else data.find(_EMPTY_LINE, 0, TRAILER_BYTES_MAX) + 2
        if end == 1:
            if len(data) >= TRAILER_BYTES_MAX:
                raise refused("http", 431, f"trailers may have at most {TRAILER_BYTES_MAX} bytes")
            return None
        if end and not _TRAILERS.fullmatch(bytes(data[:end])):
            raise refused("http", 400, "what stands behind the last chunk are no trailers")
        del data[: end + 2]
        self._part = _Part.HEAD
        return End.OF_BODY


_READ: Final[dict[_Part, Callable[[RequestReader], Head | bytes | End | None]]] = {
    _Part.HEAD: RequestReader._head,
    _Part.SIZED: RequestReader._sized,
    _Part.CHUNKS: RequestReader._chunks,
    _Part.TRAILERS: RequestReader._trailers,
}


class _Fields:
    """Collects the header fields of one head for llhttp."""

    __slots__ = ("headers",)

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}

    def on_header(self, name: bytes, value: bytes) -> None:
        key = _KEYS.get(name) or str(name, "latin-1").lower()
        text = str(value, "latin-1").strip(" \t")
        headers = self.headers
        if key in headers:
            if key in _ONCE:
                raise refused("http", 400, f"the header {key} stands twice")
            text = f"{headers[key]}, {text}"
        headers[key] = text


def parse_head(data: bytes) -> Head:
    """Return the head in `data`, which ends with its first empty line. Raise RequestRefused if it is none."""
    line = _LINE.fullmatch(data, 0, data.find(b"\r\n"))
    if line is None:
        raise refused("http", 400, "the first line of a request is METHOD /PATH HTTP/1.1")
    target, is_old = str(line[2], "ascii"), line[3] == b"0"
    if target[0] != "/" and (target, line[1]) != ("*", b"OPTIONS"):
        raise refused("http", 400, "the target of a request is a path")
    if data.count(b"\n") > FIELDS_MAX + 2:
        raise refused("http", 431, f"a head may have at most {FIELDS_MAX} headers")
    headers = _fields(data)
    if "host" not in headers and not is_old:
        raise refused("http", 400, "the header Host is missing")
    connection, expects = headers.get("connection"), headers.get("expect")
    if expects is not None and expects.lower() != "100-continue":
        raise refused("http", 417, "the only expectation that this server knows is 100-continue")
    closes = is_old or (connection is not None and "close" in map(str.strip, connection.lower().split(",")))
    waits = expects is not None and not is_old
    return Head(str(line[1], "ascii"), target, headers, _length(headers, is_old), is_old, not closes, waits)


def _fields(data: bytes) -> dict[str, str]:
    fields = _Fields()
    try:
        HttpRequestParser(fields).feed_data(data)
    except HttpParserUpgrade:
        pass  # llhttp stops behind the head, which is all that it was given
    except HttpParserInvalidMethodError:
        raise refused("http", 501, "this server does not know the method") from None
    except HttpParserError as error:
        if isinstance(error.__context__, RequestRefused):
            raise error.__context__ from None
        raise refused("http", 400, f"the head of the request is malformed: {error}") from None
    return fields.headers


def _length(headers: dict[str, str], is_old: bool) -> int | None:
    """Return the bytes of the body, None if it comes in chunks."""
    coding, length = headers.get("transfer-encoding"), headers.get("content-length")
    if coding is not None:
        if length is not None or is_old:
            raise refused("http", 400, "a body has either Content-Length or, in HTTP/1.1, Transfer-Encoding")
        if coding.lower() != "chunked":
            raise refused("http", 501, "the only transfer coding that this server knows is chunked")
        return None
    if length is None:
        return 0
    if not _LENGTH.fullmatch(length):
        raise refused("http", 400, "Content-Length is a number")
    return int(length)
