"""One HTTP/1.1 connection of a server: requests in order, one at a time.

Law: a handler takes a Request and returns an Answer, or an awaitable of one: a coroutine runs as a task; a future needs
none, and is the server's from then on. It returns None when it has streamed its answer or taken the connection. When
its client leaves, it is cancelled; while it streams, a client that closes its half has left. RequestRefused becomes an
answer, any other exception the status 500. Bounds for whatever a client does:

    sends faster than it is read    READ_AHEAD_BYTES and one read wait; then its socket is not read
    sends thousands of requests     REQUESTS_PER_TURN are answered, then the loop does other work
    sends a head or body slowly     `head_s`, `body_s` (a whole body), `idle_s` (each piece of a streamed one), then 408
    does not read whole answers     no request is read while WRITE_BYTES wait; after `idle_s` it is cut
    does not read a stream          `write` waits; it is cut when it has read nothing for `stalled_s`
    sends more than was read        its answer is sent, and UNREAD_BYTES_MAX are dropped so that it can be read
"""

from __future__ import annotations

import asyncio
import enum
import logging
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, cast

from tamis.serving.answers import CONTINUE, LAST_CHUNK, Answer, chunk, problem_answer, stream_head, written
from tamis.serving.problem import Headers, Problem, RequestRefused, refused
from tamis.serving.request import ClientLeft, Request, Stream
from tamis.serving.request_reader import PIECE_BYTES_MAX, End, Head, RequestReader
from tamis.serving.waiting import unread_bytes

__all__ = ["ClientLeft", "Handler", "HttpConnection", "HttpServer", "Request", "Stream", "Times", "Watcher"]

READ_AHEAD_BYTES: Final = 65_536
WRITE_BYTES: Final = 65_536
STREAM_BYTES_MAX: Final = 1_048_576
"""Bytes of a stream that may wait where its handler does not look at `is_full`; past them the client is cut."""
UNREAD_BYTES_MAX: Final = 16 * 1_048_576
REQUESTS_PER_TURN: Final = 16
PIECES_PER_TURN: Final = 8
# One buffer for all connections: its bytes are passed on before the next read.
_receive: Final = memoryview(bytearray(READ_AHEAD_BYTES))

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds that a client has. `head_s`: from the first byte of a request to the end of its head; `idle_s`: between
    requests, and to read an answer; `stalled_s`: without having read anything of a stream."""

    head_s: float = 5.0
    body_s: float = 15.0
    idle_s: float = 15.0
    stalled_s: float = 60.0


Handler = Callable[[Request], Answer | Awaitable[Answer | None]]


class Watcher:
    """Is told what happens to connections, to give them places; each method may be overridden."""

    def opened(self, connection: HttpConnection) -> None:
        """The connection was accepted; its transport may not be there yet."""

    def heard(self, connection: HttpConnection) -> None:
        """Bytes of a request have come."""

    def answered(self, connection: HttpConnection) -> None:
        """A request was answered, and the next one is awaited."""

    def over(self, connection: HttpConnection) -> None:
        """The connection has ended, or was taken by its handler."""


class HttpServer:
    """What the connections of one server share. `tls`: that of connections that `open` serves; `connection` makes the
    protocol of one, for servers of asyncio."""

    def __init__(
        self,
        handler: Handler,
        times: Times = Times(),
        refusal: Callable[[Problem], Answer] = problem_answer,
        watcher: Watcher | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.handler, self.times, self.refusal = handler, times, refusal
        self.watcher, self.tls = watcher or Watcher(), tls
        self.connections: set[HttpConnection] = set()
        self._opening: set[asyncio.Task[None]] = set()
        self.is_draining = False

    def connection(self) -> HttpConnection:
        return HttpConnection(self)

    def open(self, sock: socket.socket, peer: str) -> HttpConnection:
        """Serve an accepted connection from `peer`, whose socket is the server's from here on; it counts at once."""
        loop, within_s = asyncio.get_running_loop(), self.times.head_s if self.tls is not None else None
        connection = HttpConnection(self, peer)
        self.connections.add(connection)
        self.watcher.opened(connection)

        async def connect() -> None:
            await loop.connect_accepted_socket(
                lambda: connection, sock, ssl=self.tls, ssl_handshake_timeout=within_s, ssl_shutdown_timeout=within_s
            )

        def connected(opening: asyncio.Task[None]) -> None:
            self._opening.discard(opening)
            error = None if opening.cancelled() else opening.exception()
            if opening.cancelled() or error is not None:
                sock.close()
                connection.give_way()
            if error is not None and not isinstance(error, OSError | EOFError):  # such as TimeoutError and SSLError
                _log.error("a connection could not be served", exc_info=error)

        opening = loop.create_task(connect(), name="HTTP connection")
        self._opening.add(opening)
        opening.add_done_callback(connected)
        return connection

    def drain(self) -> None:
        """End each connection after its present request; idle ones now."""
        self.is_draining = True
        for connection in list(self.connections):
            connection.drain()

    def close(self) -> None:
        """Cut all connections."""
        for connection in list(self.connections):
            connection.give_way()
        for opening in self._opening:
            opening.cancel()


class _State(enum.Enum):
    IDLE = enum.auto()  # a head is awaited
    ANSWERING = enum.auto()
    LINGERING = enum.auto()  # the answer was the last; what the client sends is dropped
    TAKEN = enum.auto()
    OVER = enum.auto()


class HttpConnection(asyncio.BufferedProtocol):
    """One connection; a guest (waiting.py) of a waiting room."""

    def __init__(self, server: HttpServer, peer: str = "") -> None:
        self._server, self._peer = server, peer
        self._loop = asyncio.get_running_loop()
        self._reader = RequestReader()
        self._state = _State.IDLE
        self._transport: asyncio.Transport
        self._is_open = False
        self._head: Head | None = None
        self._running: asyncio.Future[Answer | None] | None = None
        self._stream: Stream | None = None
        self._chunked = self._is_body_over = self._has_continued = False
        self._has_begun = self._has_ended = self._is_paused = self._is_waiting_turn = False
        self.is_full = False
        self._more: asyncio.Future[None] | None = None  # bytes of a body are awaited
        self._writable: asyncio.Future[None] | None = None
        self._deadline_s: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._dropped = self._pieces = self._stalled_bytes = 0

    # --- what asyncio calls -------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass of it
        self._is_open = True
        if self._state is _State.OVER:
            self._transport.abort()
            return
        self._transport.set_write_buffer_limits(high=WRITE_BYTES)
        if self not in self._server.connections:
            self._server.connections.add(self)
            self._server.watcher.opened(self)
        self._await_within(self._server.times.idle_s)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - the signature is asyncio's
        return _receive

    def buffer_updated(self, nbytes: int) -> None:
        if self._state is _State.LINGERING:
            self._dropped += nbytes
            if self._dropped > UNREAD_BYTES_MAX:
                self._transport.abort()
            return
        self._reader.feed(_receive[:nbytes])
        self._server.watcher.heard(self)
        if self._state is _State.IDLE and not self._is_waiting_turn:
            self._advance()
        elif self._more is not None:
            self._wake(self._more)
        elif self._reader.unread_bytes >= READ_AHEAD_BYTES:
            self._read_on(False)

    def eof_received(self) -> bool:
        self._has_ended = True
        if self._stream is not None:
            self._transport.abort()
            return False
        if self._more is not None or self._transport.get_extra_info("ssl_object") is not None:
            return False  # within a body; TLS has no half that stays open
        waits = self._state is _State.IDLE and (self._is_waiting_turn or self.is_full)
        return waits or self._state is _State.ANSWERING  # it may still read

    def pause_writing(self) -> None:
        self.is_full = True
        if self._more is not None:
            return  # the time of the body counts
        if self._stream is None:
            self._await_within(self._server.times.idle_s)
        else:
            self._stalled_bytes = self._transport.get_write_buffer_size()
            self._await_within(self._server.times.stalled_s)

    def resume_writing(self) -> None:
        self.is_full = False
        if self._state is _State.ANSWERING and self._more is None:
            self._deadline_s = None
        if self._writable is not None:
            self._wake(self._writable)
        if self._state is _State.IDLE and not self._is_waiting_turn:
            self._wait_turn()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._finish(_State.OVER)
        for waiting in (self._more, self._writable):
            if waiting is not None and not waiting.done():
                waiting.set_exception(ClientLeft("the client has left"))
                waiting.exception()  # the handler that waits is cancelled, too
        running, self._running = self._running, None
        if running is not None:
            running.cancel()

    # --- places -------------------------------------------------------------------------------------------------------

    def is_heard(self) -> bool:
        """Return whether received bytes are unread."""
        if not self._is_open or self._transport.is_closing():
            return False
        return bool(unread_bytes(self._transport.get_extra_info("socket").fileno()))

    def give_way(self) -> None:
        """Cut the connection."""
        if self._is_open:
            self._transport.abort()
        else:
            self._finish(_State.OVER)

    def drain(self) -> None:
        if self._is_open and self._state is _State.IDLE and not self._reader.unread_bytes:
            self._close()

    @property
    def peer(self) -> str:
        """The address of the client, `HOST:PORT` or `unix`."""
        if not self._peer:
            where = self._transport.get_extra_info("peername")
            self._peer = f"{where[0]}:{where[1]}" if isinstance(where, tuple) else "unix"
        return self._peer

    @property
    def local(self) -> tuple[str, int] | None:
        """The address that the client has connected to; None for a Unix socket."""
        where = self._transport.get_extra_info("sockname")
        return (where[0], where[1]) if isinstance(where, tuple) else None

    # --- requests -----------------------------------------------------------------------------------------------------

    def _advance(self) -> None:
        """Answer the requests that have arrived, some a turn."""
        for _ in range(REQUESTS_PER_TURN):
            if self._state is not _State.IDLE or self.is_full or self._transport.is_closing():
                return
            try:
                head = self._reader.next()
            except RequestRefused as error:
                self._give_up(error.problem)
                return
            if head is None:
                self._await_head()
                return
            self._begin(cast("Head", head))
        if self._state is _State.IDLE and not self.is_full:
            self._wait_turn()

    def _wait_turn(self) -> None:
        self._is_waiting_turn = True
        self._read_on(False)
        self._loop.call_soon(self._its_turn)

    def _its_turn(self) -> None:
        self._is_waiting_turn = False
        self._advance()

    def _await_head(self) -> None:
        if self._has_ended or (self._server.is_draining and not self._reader.unread_bytes):
            self._close()
            return
        if not self._reader.unread_bytes:
            self._await_within(self._server.times.idle_s)
        elif not self._has_begun:
            self._has_begun = True
            self._await_within(self._server.times.head_s)
        self._read_on(True)

    def _begin(self, head: Head) -> None:
        self._head, self._state, self._deadline_s = head, _State.ANSWERING, None
        self._is_body_over, self._has_continued, self._has_begun = head.length == 0, not head.expects_continue, False
        try:
            made = self._server.handler(Request(self, head))
        except RequestRefused as error:
            self._answer(self._server.refusal(error.problem))
            return
        except Exception:
            self._answer(self._failed())
            return
        if isinstance(made, Answer):
            self._answer(made)
            return
        self._running = asyncio.ensure_future(made, loop=self._loop)
        self._running.add_done_callback(self._made)

    def _made(self, running: asyncio.Future[Answer | None]) -> None:
        error = None if running.cancelled() else running.exception()
        if self._running is not running or self._state is not _State.ANSWERING:  # its client has left, or it was taken
            if error is not None and not isinstance(error, ConnectionError | RequestRefused):
                _log.error("a handler failed after its connection", exc_info=error)
            return
        self._running = None
        is_head = self._head is not None and self._head.method == "HEAD"
        if self._stream is not None and is_head and isinstance(error, ClientLeft):
            self._end_stream(None)
        elif running.cancelled() or isinstance(error, ClientLeft):
            self._transport.abort()
        elif self._stream is not None:
            self._end_stream(error)
        elif isinstance(error, RequestRefused):
            self._answer(self._server.refusal(error.problem))
        elif error is not None or (made := running.result()) is None:
            self._answer(self._failed(error))
        else:
            self._answer(made)
        self._advance()

    def _failed(self, error: BaseException | None = None) -> Answer:
        _log.error("a handler failed", exc_info=error or True)
        return self._server.refusal(Problem("failed", 500, "this request has failed; see the log of the server"))

    # --- bodies -------------------------------------------------------------------------------------------------------

    async def piece(self, deadline_s: float | None = None) -> bytes | None:
        """Return the next piece of the body, None after the last one; `deadline_s`: instead of `idle_s` from now."""
        self._pieces += 1
        if self._pieces % PIECES_PER_TURN == 0:
            await asyncio.sleep(0)
        while True:
            piece = self._next_piece()
            if piece is not None:
                return piece
            if self._is_body_over:
                return None
            if self._has_ended or self._state is not _State.ANSWERING:
                raise ClientLeft("the client has closed within a body")
            if not self._has_continued:
                self._has_continued = True
                self._transport.write(CONTINUE)
            self._read_on(True)
            self._deadline_s = deadline_s or self._loop.time() + self._server.times.idle_s
            self._arm()
            self._more = self._loop.create_future()
            try:
                await self._more
            finally:
                self._more = self._deadline_s = None

    def _next_piece(self) -> bytes | None:
        """Return the next piece if it is there."""
        event = None if self._is_body_over else self._reader.next()
        if event is End.OF_BODY:
            self._is_body_over = True
            return None
        if event is not None and self._is_paused and self._reader.unread_bytes < READ_AHEAD_BYTES:
            self._read_on(True)
        return cast("bytes | None", event)

    async def whole_body(self, bytes_max: int) -> bytes:
        self._check_length(bytes_max)
        deadline_s = self._loop.time() + self._server.times.body_s
        body = bytearray()  # of a body that comes byte by byte, a list of pieces would be forty times as large
        while (piece := await self.piece(deadline_s)) is not None:
            body += piece
            if len(body) > bytes_max:
                raise _too_large(bytes_max)
        return bytes(body)

    def body_at_hand(self, bytes_max: int) -> bytes | None:
        self._check_length(bytes_max)
        if self._head is None or (length := self._head.length) is None or length > self._reader.unread_bytes:
            return None
        if length > PIECE_BYTES_MAX:
            return None
        body = self._next_piece() or b""
        self._next_piece()
        return body

    def _check_length(self, bytes_max: int) -> None:
        if self._head is not None and (self._head.length or 0) > bytes_max:
            raise _too_large(bytes_max)

    def _drop_body(self) -> bool:
        """Drop what has arrived of the body; return whether that was all."""
        try:
            while not self._is_body_over and self._next_piece() is not None:
                pass
        except RequestRefused:
            return False
        return self._is_body_over

    # --- answers ------------------------------------------------------------------------------------------------------

    def _answer(self, answer: Answer) -> None:
        head = cast("Head", self._head)
        keeps_open = self._keeps_open()
        try:
            data = written(answer, head.method == "HEAD", not keeps_open)
        except ValueError:
            _log.exception("an answer cannot be written")
            self._transport.abort()
            return
        self._transport.write(data)
        self._next_request(keeps_open)

    def _keeps_open(self) -> bool:
        head = cast("Head", self._head)
        return (self._is_body_over or self._drop_body()) and head.keeps_open and not self._server.is_draining

    def _next_request(self, keeps_open: bool) -> None:
        self._head = self._stream = None
        if self._state is not _State.ANSWERING:
            return
        if not keeps_open:
            self._linger()
            return
        self._state = _State.IDLE
        self._server.watcher.answered(self)

    def _give_up(self, problem: Problem) -> None:
        """Answer what is no request, or comes too slowly."""
        self._transport.write(written(self._server.refusal(problem), False, True))
        self._linger()

    def stream(self, content_type: str, status: int, headers: Headers) -> Stream:
        if self._state is not _State.ANSWERING or self._has_ended:
            raise ClientLeft("the client has left")
        head = cast("Head", self._head)
        self._chunked = not head.is_old
        closes = head.is_old or not head.keeps_open or self._server.is_draining
        self._transport.write(stream_head(status, content_type, headers, self._chunked, closes))
        self._stream = Stream(self)
        return self._stream

    def send_piece(self, data: bytes) -> None:
        head = self._head
        if self._state is not _State.ANSWERING or head is None or head.method == "HEAD" or self._transport.is_closing():
            raise ClientLeft("the client wants no body, or has left")
        if self.is_full and self._transport.get_write_buffer_size() > STREAM_BYTES_MAX:
            self._transport.abort()
            raise ClientLeft("the client does not keep up")
        if data:
            self._transport.write(chunk(data) if self._chunked else data)

    async def when_writable(self) -> None:
        while self.is_full:
            if self._state is not _State.ANSWERING:
                raise ClientLeft("the client has left")
            if self._deadline_s is None:  # it was that of the body
                self.pause_writing()
            if self._writable is None or self._writable.done():
                self._writable = self._loop.create_future()
            await self._writable

    def _end_stream(self, error: BaseException | None) -> None:
        if error is not None:  # without a last chunk the client sees that the answer is cut
            if not isinstance(error, RequestRefused):
                _log.error("a handler failed in its stream", exc_info=error)
            self._transport.abort()
            return
        head = cast("Head", self._head)
        if self._chunked and head.method != "HEAD":
            self._transport.write(LAST_CHUNK)
        self._next_request(self._keeps_open() and self._chunked)

    def take(self, answer: bytes) -> tuple[asyncio.Transport, bytes]:
        if self._state is not _State.ANSWERING:
            raise ClientLeft("the client has left")
        self._read_on(False)
        if answer:
            self._transport.write(answer)
        self._finish(_State.TAKEN)
        return self._transport, self._reader.take_all()

    # --- the end ------------------------------------------------------------------------------------------------------

    def _linger(self) -> None:
        """Close, but first read on for a while where bytes are unread: they would discard the answer."""
        self._await_within(self._server.times.idle_s)
        is_all_read = self._reader.is_between_requests and not self._reader.unread_bytes
        self._state = _State.LINGERING
        self._reader.take_all()
        if is_all_read or self._has_ended:
            self._close()
            return
        self._read_on(True)
        if self._transport.can_write_eof():
            self._transport.write_eof()

    def _close(self) -> None:
        """Close when all is sent; a client that does not read that in time is cut."""
        self._state = _State.LINGERING
        self._await_within(self._server.times.idle_s)
        self._transport.close()

    def _finish(self, state: _State) -> None:
        was, self._state = self._state, state
        self._deadline_s = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if was not in (_State.TAKEN, _State.OVER):
            self._server.connections.discard(self)
            self._server.watcher.over(self)

    # --- time ---------------------------------------------------------------------------------------------------------

    def _await_within(self, seconds: float) -> None:
        self._deadline_s = self._loop.time() + seconds
        self._arm()

    def _arm(self) -> None:
        """Look at the deadline when it comes. A timer that is earlier stays: it sets the next one."""
        if self._deadline_s is None:
            return
        if self._timer is not None:
            if self._timer.when() <= self._deadline_s:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(self._deadline_s, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._deadline_s is not None and self._deadline_s > self._loop.time():
            self._arm()
        elif self._deadline_s is not None:
            self._deadline_s = None
            self._too_slow()

    def _too_slow(self) -> None:
        slow = refused("slow", 408, "the request did not arrive in time")
        if self._more is not None:
            self._more.set_exception(slow)
            self._more = None
        elif self._stream is not None and self._transport.get_write_buffer_size() < self._stalled_bytes:
            self._stalled_bytes = self._transport.get_write_buffer_size()
            self._await_within(self._server.times.stalled_s)
        elif self._state is _State.IDLE and self._has_begun and not self.is_full:
            self._give_up(slow.problem)
        elif self._state is _State.IDLE and not self._transport.get_write_buffer_size():
            self._close()
        else:
            self._transport.abort()

    def _read_on(self, is_reading: bool) -> None:
        if self._is_paused is is_reading:
            self._is_paused = not is_reading
            if is_reading:
                self._transport.resume_reading()
            else:
                self._transport.pause_reading()

    def _wake(self, waiting: asyncio.Future[None]) -> None:
        if not waiting.done():
            waiting.set_result(None)
        if waiting is self._writable:
            self._writable = None


def _too_large(bytes_max: int) -> RequestRefused:
    return refused("too-large", 413, f"a body may have at most {bytes_max} bytes")
