"""A request and a streaming answer, for handlers.

Law: a handler sees a head, a body by pieces, and a place for its answer, over whatever connection these came.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Protocol

from tamis.serving.problem import Headers
from tamis.serving.request_reader import Head


class ClientLeft(ConnectionError):
    """Raised when the client is not there any more, or wants no body."""


class Exchange(Protocol):
    """The connection of a request, while it is answered."""

    is_full: bool

    @property
    def peer(self) -> str:
        """The address of the client, `HOST:PORT` or `unix`."""

    @property
    def local(self) -> tuple[str, int] | None:
        """The address that the client has connected to; None for a Unix socket."""

    def give_way(self) -> None:
        """Cut the connection."""

    async def piece(self) -> bytes | None: ...

    async def whole_body(self, bytes_max: int) -> bytes: ...

    def body_at_hand(self, bytes_max: int) -> bytes | None: ...

    def stream(self, content_type: str, status: int, headers: Headers) -> Stream: ...

    def send_piece(self, data: bytes) -> None: ...

    async def when_writable(self) -> None: ...

    def take(self, answer: bytes) -> tuple[asyncio.Transport, bytes]: ...


class Request:
    """A request, for its handler."""

    __slots__ = ("_connection", "headers", "method", "path", "query", "target")

    def __init__(self, connection: Exchange, head: Head) -> None:
        self._connection = connection
        self.method, self.target, self.headers = head.method, head.target, head.headers
        self.path, _, self.query = head.target.partition("?")

    @property
    def connection(self) -> Exchange:
        return self._connection

    async def body(self) -> AsyncIterator[bytes]:
        """Yield the body by pieces of at most PIECE_BYTES_MAX. Raise RequestRefused if it is malformed or slow."""
        while (piece := await self._connection.piece()) is not None:
            yield piece

    async def whole_body(self, bytes_max: int) -> bytes:
        """Return the body. Raise RequestRefused if it has more than `bytes_max` bytes, or is malformed or slow."""
        return await self._connection.whole_body(bytes_max)

    def body_at_hand(self, bytes_max: int) -> bytes | None:
        """Return the body if all of it has arrived and fits into one piece, else None: ask `whole_body` then. For
        handlers that are no coroutines."""
        return self._connection.body_at_hand(bytes_max)

    def stream(self, content_type: str, status: int = 200, headers: Headers = ()) -> Stream:
        """Begin a streaming answer, which ends when the handler returns None."""
        return self._connection.stream(content_type, status, headers)

    def take(self, answer: bytes = b"") -> tuple[asyncio.Transport, bytes]:
        """Take the connection, after sending `answer`; return its transport, which does not read until
        `resume_reading`, and the bytes that were read behind the head. Its protocol is to be set at once."""
        return self._connection.take(answer)


class Stream:
    """The body of a streaming answer."""

    __slots__ = ("_connection",)

    def __init__(self, connection: Exchange) -> None:
        self._connection = connection

    @property
    def is_full(self) -> bool:
        """Whether WRITE_BYTES wait for the client to read."""
        return self._connection.is_full

    def send(self, data: bytes) -> None:
        """Send a piece at once; `is_full` says whether the client keeps up. Raise ClientLeft if it has left."""
        self._connection.send_piece(data)

    async def write(self, data: bytes) -> None:
        """Send a piece, and wait while the client does not keep up. Raise ClientLeft if it has left."""
        self._connection.send_piece(data)
        if self._connection.is_full:
            await self._connection.when_writable()
