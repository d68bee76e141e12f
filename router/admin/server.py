"""Administration over HTTP.

Law: head, body and time of a request are bounded (serving/http.py); a request that is refused is answered with the
error as a JSON object. When all places are taken, the slowest connection gives way to a new one. One page is made at a
time, after which the loop does other work for as long as the page took; only health checks skip this wait.
"""

from __future__ import annotations

import asyncio
import logging
import math
import socket
import time
from collections.abc import Awaitable
from typing import Final

from tamis.configs.address import Address
from tamis.router.access.client_rights import ClientRights
from tamis.router.admin.allowed import asker_of, check_level
from tamis.router.admin.answers import BadRequest, refusal
from tamis.router.admin.guard import OPEN, has_token
from tamis.router.admin.pages import Request, answer
from tamis.router.admin.view import RouterView
from tamis.router.connections.admissions import Reason
from tamis.serving import http
from tamis.serving.addresses import address_of
from tamis.serving.answers import Answer
from tamis.serving.bearer import bearer_of
from tamis.serving.listeners import Acceptor, Listener, ReserveDescriptor
from tamis.serving.origin import check_host, check_origin
from tamis.serving.slowing import HELD_S
from tamis.serving.waiting import WaitingRoom

BODY_BYTES_MAX: Final = 131_072
"""Bytes of the largest body: more than two strings of the largest size; parsing it takes a few milliseconds."""
TIMES: Final = http.Times(head_s=2.0, body_s=15.0, idle_s=15.0)
_FULL: Final = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

_log = logging.getLogger(__name__)


class _Places(http.Watcher):
    """Keeps connections in the waiting room to their end; their time begins again with each answer."""

    def __init__(self, room: WaitingRoom) -> None:
        self._room = room

    def opened(self, connection: http.HttpConnection) -> None:
        self._room.enter(connection, address_of(connection.peer))

    def heard(self, connection: http.HttpConnection) -> None:
        self._room.spoke(connection)

    def answered(self, connection: http.HttpConnection) -> None:
        self._room.leave(connection)
        self._room.enter(connection, address_of(connection.peer))

    def over(self, connection: http.HttpConnection) -> None:
        self._room.leave(connection)


class AdminServer:
    """The Opener (listeners.py) of the connections of administration."""

    def __init__(self, running: RouterView) -> None:
        self.running = running
        self.room = WaitingRoom(running.connections.places.admin, time.monotonic)
        self.turn = asyncio.Lock()
        self._http = http.HttpServer(self._handle, TIMES, refusal, _Places(self.room))
        self._acceptor: Acceptor | None = None

    def start(self, listener: Listener[Address], spare: ReserveDescriptor | None = None) -> None:
        self._acceptor = Acceptor(listener, self, self.running.connections.loop, _FULL, spare)

    def close(self) -> None:
        if self._acceptor is not None:
            self._acceptor.close()
        self._http.close()

    def open(self, descriptor: int, peer: str) -> object:
        return self._http.open(socket.socket(fileno=descriptor), peer)

    def out_of_descriptors(self) -> None:
        _log.warning("administration connection refused", extra={"fields": {"why": Reason.DESCRIPTORS.value}})

    def _handle(self, request: http.Request) -> Awaitable[Answer]:
        check_host(request.headers, request.connection.local, self.running.settings.admin_names, "admin_names")
        check_origin(request.headers)
        return self._healthy(request) if request.path in OPEN else self._guarded(request)

    async def _healthy(self, request: http.Request) -> Answer:
        return await self._whole(self._page(request, await request.whole_body(BODY_BYTES_MAX), None))

    async def _guarded(self, request: http.Request) -> Answer:
        rights = await self._check(request)
        body = await request.whole_body(BODY_BYTES_MAX)
        async with self.turn:
            began_s = time.thread_time()
            made = self._page(request, body, rights)
            await asyncio.sleep(time.thread_time() - began_s)
        return await self._whole(made)

    async def _check(self, request: http.Request) -> ClientRights | None:
        """Return the rights of who makes a request, None if they are not limited. Raise BadRequest if its token is not
        accepted, or rules of access do not allow it."""
        running, peer = self.running, request.connection.peer
        access = running.clients.access
        if running.admin_token is None and access is None:
            return None
        address = address_of(peer)
        while (wait_s := running.admin_slowing.wait_s(address)) > 0:
            if wait_s > HELD_S:
                later = (("Retry-After", str(math.ceil(wait_s))),)
                raise BadRequest(429, "too many wrong tokens came from this address; try again later", later)
            await asyncio.sleep(wait_s)
        if running.admin_token is not None and has_token(request.headers, running.admin_token):
            return None
        rights = asker_of(access, bearer_of(request.headers)) if access is not None else None
        if rights is None:
            running.admin_slowing.failed(address)
            _log.warning("administration request refused", extra={"fields": {"peer": peer, "path": request.path[:100]}})
            raise BadRequest(401, "this router's administration requires its token", (("WWW-Authenticate", "Bearer"),))
        check_level(rights, request.path)
        return rights

    def _page(self, request: http.Request, body: bytes, rights: ClientRights | None) -> Answer | Awaitable[Answer]:
        try:
            return answer(Request.of(request.method, request.target, body, rights), self.running)
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


def _failed() -> Answer:
    """Log the exception of a page and return the answer 500."""
    _log.exception("an administration page failed")
    return refusal(BadRequest(500, "this page has failed; see the router's log").problem)
