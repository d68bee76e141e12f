"""HTTP/1.1 over asyncio streams, by h11.

Law: a request has bounded head, body and time, and there are at most CONNECTIONS_MAX at once; whatever is wrong with
one is answered with a JSON object that says so. Pages are asked one after the other and never wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass
from typing import Final

import h11

from tamis.router.admin.pages import Answer, Problem, Request, answer
from tamis.router.listeners import Listener
from tamis.router.running import Running

BODY_BYTES_MAX: Final = 1_048_576
CONNECTIONS_MAX: Final = 32
UNREAD_BYTES_MAX: Final = 16 * BODY_BYTES_MAX
IDLE_S: Final = 15.0
_READ_BYTES: Final = 65_536

_log = logging.getLogger(__name__)


class AdminServer:
    def __init__(self, running: Running) -> None:
        self._running = running
        self._tasks: set[asyncio.Task[None]] = set()
        self._listener: Listener | None = None
        self._server: asyncio.Server | None = None

    async def start(self, listener: Listener) -> None:
        self._listener = listener
        start = asyncio.start_unix_server if listener.address.kind == "unix" else asyncio.start_server
        self._server = await start(self._serve, sock=listener.sock)

    def close(self) -> None:
        if self._server is not None and self._listener is not None:
            self._server.close()
            self._listener.close()
        for task in self._tasks:
            task.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - streams run us as one
        self._tasks.add(task)
        conversation = _Conversation(reader, writer, self._running)
        try:
            if len(self._tasks) > CONNECTIONS_MAX:
                await conversation.send(Problem(503, "too many connections").answer, None)
            else:
                await conversation.hold()
        except (OSError, TimeoutError, h11.LocalProtocolError, asyncio.CancelledError):
            pass  # the other side went away, or we do
        finally:
            self._tasks.discard(task)
            with contextlib.suppress(OSError):
                writer.close()


@dataclass(slots=True)
class _Head:
    """Of a request that is still being read."""

    method: str
    target: str


class _Conversation:
    """The requests of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, running: Running) -> None:
        self._reader, self._writer, self._running = reader, writer, running
        self._http = h11.Connection(h11.SERVER)

    async def hold(self) -> None:
        while True:
            try:
                head, body = await self._request()
            except h11.RemoteProtocolError as error:
                await self._give_up(Problem(error.error_status_hint, str(error)))
                return
            except Problem as problem:
                await self._give_up(problem)
                return
            if head is None:
                return
            await self.send(self._answer(head, body), head)
            if self._http.our_state is h11.MUST_CLOSE:
                return
            self._http.start_next_cycle()

    def _answer(self, head: _Head, body: bytes) -> Answer:
        try:
            return answer(Request.of(head.method, head.target, body), self._running)
        except Problem as problem:
            return problem.answer
        except Exception:  # a bug in a page: logged, and the page alone fails
            _log.exception("an administration page failed")
            return Problem(500, "this page has failed; see the router's log").answer

    async def _request(self) -> tuple[_Head | None, bytes]:
        """The next request; no head: the other side is done."""
        head: _Head | None = None
        body = bytearray()
        async with asyncio.timeout(IDLE_S):
            while True:
                event = self._http.next_event()
                if event is h11.NEED_DATA:
                    if self._http.they_are_waiting_for_100_continue:
                        self._write(h11.InformationalResponse(status_code=100, headers=[]))
                    self._http.receive_data(await self._reader.read(_READ_BYTES))
                elif isinstance(event, h11.Request):
                    head = _Head(event.method.decode(), event.target.decode("latin-1"))
                elif isinstance(event, h11.Data):
                    body += event.data
                    if len(body) > BODY_BYTES_MAX:
                        raise Problem(413, f"a body has at most {BODY_BYTES_MAX} bytes")
                else:
                    return (head if isinstance(event, h11.EndOfMessage) else None), bytes(body)

    async def _give_up(self, problem: Problem) -> None:
        """Answer, and read on for a while: closing before all has been read would take the answer away again."""
        await self.send(problem.answer, None)
        self._writer.write_eof()
        left = UNREAD_BYTES_MAX
        async with asyncio.timeout(IDLE_S):
            while left > 0 and (data := await self._reader.read(_READ_BYTES)):
                left -= len(data)

    async def send(self, answer: Answer, head: _Head | None) -> None:
        """`head` None: nothing more is read after this answer."""
        headers = [("Content-Type", answer.content_type), ("Content-Length", str(len(answer.body)))]
        headers += list(answer.headers)
        if head is None:
            headers.append(("Connection", "close"))
        self._write(h11.Response(status_code=answer.status, headers=headers))
        if head is None or head.method != "HEAD":
            self._write(h11.Data(data=answer.body))
        self._write(h11.EndOfMessage())
        async with asyncio.timeout(IDLE_S):
            await self._writer.drain()

    def _write(self, event: h11.Event) -> None:
        self._writer.write(self._http.send(event) or b"")
