"""HTTP/1.1 over asyncio streams, by h11.

Law: head, body and time of a request are bounded; a bad request is answered with the error as a JSON object. When all
places are taken, the slowest connection gives way to a new one. One page is made at a time, after which the loop does
other work for as long as the page took; only health checks skip this wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import socket
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Final

import h11

from tamis.router.access.client_rights import ClientRights
from tamis.router.admin.allowed import asker_of, check_level
from tamis.router.admin.answers import Answer, BadRequest
from tamis.router.admin.guard import OPEN, Headers, Local, bearer_of, check_addressed, check_origin, has_token
from tamis.router.admin.pages import Request, answer
from tamis.router.admin.view import RouterView
from tamis.router.clients.slowing import HELD_S
from tamis.router.connections.admissions import Reason
from tamis.router.connections.limits import ReserveDescriptor
from tamis.router.connections.listeners import Acceptor, Listener
from tamis.router.daemon.addresses import address_of
from tamis.serving.waiting import WaitingRoom, unread_bytes

BODY_BYTES_MAX: Final = 131_072
"""Bytes of the largest body: more than two strings of the largest size; parsing it takes a few milliseconds."""
UNREAD_BYTES_MAX: Final = 16 * 1_048_576
HEAD_S: Final = 2.0
"""Seconds from the first byte of a request to the end of its head."""
IDLE_S: Final = 15.0
_READ_BYTES: Final = 65_536
_FULL: Final = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

_log = logging.getLogger(__name__)


class AdminServer:
    """The Opener (listeners.py) of the connections of administration."""

    def __init__(self, running: RouterView) -> None:
        self.running = running
        self.room = WaitingRoom(running.connections.places.admin, time.monotonic)
        self.turn = asyncio.Lock()
        self._conversations: set[_Conversation] = set()
        self._acceptor: Acceptor | None = None

    def start(self, listener: Listener, spare: ReserveDescriptor | None = None) -> None:
        self._acceptor = Acceptor(listener, self, self.running.connections.loop, spare, full=_FULL)

    def close(self) -> None:
        if self._acceptor is not None:
            self._acceptor.close()
        for conversation in list(self._conversations):
            conversation.give_way()

    def open(self, descriptor: int, peer: str) -> object:
        conversation = _Conversation(self, socket.socket(fileno=descriptor), peer)
        self._conversations.add(conversation)
        self.room.enter(conversation, address_of(peer))
        return conversation

    def turned_away(self, reason: Reason, peer: str) -> None:
        _log.warning("administration connection refused", extra={"fields": {"why": reason.value, "peer": peer}})

    def over(self, conversation: _Conversation) -> None:
        self.room.leave(conversation)
        self._conversations.discard(conversation)


@dataclass(slots=True)
class _Head:
    """The head of a request whose body is still being read."""

    method: str
    target: str
    headers: Headers

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


class _Conversation:
    """The requests of one connection, one after the other."""

    def __init__(self, server: AdminServer, sock: socket.socket, peer: str) -> None:
        self._server, self._running, self._sock, self._peer = server, server.running, sock, peer
        self._http = h11.Connection(h11.SERVER)
        self._reader = asyncio.StreamReader()
        self._writer: asyncio.StreamWriter
        self._task = asyncio.get_running_loop().create_task(self._serve(), name="administration")

    def is_heard(self) -> bool:
        return bool(unread_bytes(self._sock.fileno()))

    def give_way(self) -> None:
        self._task.cancel()

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            protocol = asyncio.StreamReaderProtocol(self._reader)
            transport, _ = await loop.connect_accepted_socket(lambda: protocol, self._sock)
            self._writer = asyncio.StreamWriter(transport, protocol, self._reader, loop)
        except BaseException:
            self._sock.close()
            self._server.over(self)
            raise
        try:
            await self._hold()
        except (OSError, TimeoutError, h11.LocalProtocolError, asyncio.CancelledError):
            pass  # the client has left or is too slow, or this router stops
        finally:
            self._server.over(self)
            with contextlib.suppress(OSError):
                self._writer.close()

    async def _hold(self) -> None:
        while True:
            try:
                head, body = await self._request()
            except h11.RemoteProtocolError as error:
                await self._give_up(BadRequest(error.error_status_hint, str(error)))
                return
            except BadRequest as problem:
                await self._give_up(problem)
                return
            if head is None:
                return
            await self._send(await self._answer(head, body), head)
            self._server.room.leave(self)
            self._server.room.enter(self, address_of(self._peer))
            if self._http.our_state is h11.MUST_CLOSE:
                return
            self._http.start_next_cycle()

    # --- requests ----------------------------------------------------------------------------------------------------

    async def _request(self) -> tuple[_Head | None, bytes]:
        """Return the next request, its head and body; the head is None if the client has closed."""
        head: _Head | None = None
        body = bytearray()
        loop = asyncio.get_running_loop()
        has_begun = False
        async with asyncio.timeout(IDLE_S) as limit:
            while True:
                event = self._http.next_event()
                if event is h11.NEED_DATA:
                    if self._http.they_are_waiting_for_100_continue:
                        self._write(h11.InformationalResponse(status_code=100, headers=[]))
                    self._http.receive_data(await self._reader.read(_READ_BYTES))
                    self._server.room.spoke(self)
                    if not has_begun:
                        has_begun = True
                        limit.reschedule(loop.time() + HEAD_S)
                elif isinstance(event, h11.Request):
                    head = _Head(event.method.decode(), event.target.decode("latin-1"), _headers(event))
                    limit.reschedule(loop.time() + IDLE_S)
                elif isinstance(event, h11.Data):
                    body += event.data
                    if len(body) > BODY_BYTES_MAX:
                        raise BadRequest(413, f"a body may have at most {BODY_BYTES_MAX} bytes")
                else:
                    return (head if isinstance(event, h11.EndOfMessage) else None), bytes(body)

    async def _answer(self, head: _Head, body: bytes) -> Answer:
        try:
            rights = await self._check(head)
            if head.path in OPEN:
                return await self._whole(self._page(head, body, rights))
            async with self._server.turn:
                began_s = time.thread_time()
                made = self._page(head, body, rights)
                await asyncio.sleep(time.thread_time() - began_s)
            return await self._whole(made)
        except BadRequest as problem:
            return problem.answer

    async def _check(self, head: _Head) -> ClientRights | None:
        """Return the rights of who makes a request, None if they are not limited. Raise BadRequest if its host, origin
        or token is not accepted, or rules of access do not allow it."""
        running = self._running
        check_addressed(head.headers, self._local(), running.settings.admin_names)
        check_origin(head.headers)
        access = running.clients.access
        if (running.admin_token is None and access is None) or head.path in OPEN:
            return None
        address = address_of(self._peer)
        while (wait_s := running.admin_slowing.wait_s(address)) > 0:
            if wait_s > HELD_S:
                later = (("Retry-After", str(math.ceil(wait_s))),)
                raise BadRequest(429, "too many wrong tokens came from this address; try again later", later)
            await asyncio.sleep(wait_s)
        if running.admin_token is not None and has_token(head.headers, running.admin_token):
            return None
        rights = asker_of(access, bearer_of(head.headers)) if access is not None else None
        if rights is None:
            running.admin_slowing.failed(address)
            _log.warning(
                "administration request refused", extra={"fields": {"peer": self._peer, "path": head.path[:100]}}
            )
            raise BadRequest(401, "this router's administration requires its token", (("WWW-Authenticate", "Bearer"),))
        check_level(rights, head.path)
        return rights

    def _local(self) -> Local:
        if self._sock.family == socket.AF_UNIX:
            return None
        host, port = self._sock.getsockname()[:2]
        return host, port

    def _page(self, head: _Head, body: bytes, rights: ClientRights | None) -> Answer | Awaitable[Answer]:
        try:
            return answer(Request.of(head.method, head.target, body, rights), self._running)
        except BadRequest:
            raise
        except Exception:
            return _failed()

    async def _whole(self, made: Answer | Awaitable[Answer]) -> Answer:
        """Await a page that is read from the disk, without a turn; return other pages at once."""
        try:
            return made if isinstance(made, Answer) else await made
        except BadRequest:
            raise
        except Exception:
            return _failed()

    # --- answers -----------------------------------------------------------------------------------------------------

    async def _give_up(self, problem: BadRequest) -> None:
        """Send the answer, and read on for a while: closing a socket with unread bytes would discard the answer."""
        await self._send(problem.answer, None)
        self._writer.write_eof()
        left = UNREAD_BYTES_MAX
        async with asyncio.timeout(IDLE_S):
            while left > 0 and (data := await self._reader.read(_READ_BYTES)):
                left -= len(data)

    async def _send(self, answer: Answer, head: _Head | None) -> None:
        """Send an answer; `head` is None if the connection closes after it."""
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


def _failed() -> Answer:
    """Log the exception of a page and return the answer 500."""
    _log.exception("an administration page failed")
    return BadRequest(500, "this page has failed; see the router's log").answer


def _headers(request: h11.Request) -> Headers:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in request.headers}
