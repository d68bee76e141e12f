"""One gateway, from its start to its end.

Law: without TLS of its own it listens on loopback and on Unix sockets, unless told otherwise. SIGTERM drains: no new
request, streams end whole, messages on their way are answered; a second signal ends at once.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Final, cast

from tamis.configs.address import Address
from tamis.gateway.http.surface import Surface
from tamis.gateway.posters import Posters
from tamis.gateway.upstream import Upstreams
from tamis.serving.addresses import address_of
from tamis.serving.answers import Answer
from tamis.serving.cannot_start import CannotStart
from tamis.serving.http import HttpConnection, HttpServer, Times, Watcher
from tamis.serving.listeners import Acceptor, Listener, ReserveDescriptor, bind
from tamis.serving.request import Request
from tamis.serving.waiting import WaitingRoom

CONNECTIONS_MAX: Final = 10_000
PENDING_MAX: Final = 1_024
"""Connections without a request; the slowest gives way to a new one."""
TIMES: Final = Times(head_s=15.0, body_s=15.0, idle_s=60.0, stalled_s=60.0)
DRAIN_S: Final = 10.0
_FULL: Final = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """`router`: address of the router; `names`: further hosts by which it is reached; `origins`: of pages that may use
    it."""

    router: str
    listen: Address
    names: Collection[str] = ()
    origins: Collection[str] = ()
    is_insecure: bool = False


class _Places(Watcher):
    """Connections are in the waiting room while they have no request."""

    def __init__(self, room: WaitingRoom) -> None:
        self._room = room

    def heard(self, connection: HttpConnection) -> None:
        self._room.spoke(connection)

    def answered(self, connection: HttpConnection) -> None:
        self._room.leave(connection)
        self._room.enter(connection, address_of(connection.peer))

    def over(self, connection: HttpConnection) -> None:
        self._room.leave(connection)


class Gateway:
    """The Opener (listeners.py) of its connections."""

    def __init__(self, settings: GatewaySettings) -> None:
        _check_exposure(settings)
        shared = Upstreams(settings.router)
        self._posters = Posters(shared)
        self.surface = Surface(shared, self._posters, settings.names, settings.origins)
        self.room = WaitingRoom(PENDING_MAX, time.monotonic)
        self._http = HttpServer(self._handle, TIMES, watcher=_Places(self.room))
        loop = asyncio.get_running_loop()
        self._listeners: list[Listener[Address]] = bind(settings.listen)
        self._spare = ReserveDescriptor()
        self._acceptors = [Acceptor(each, self, loop, _FULL, self._spare) for each in self._listeners]

    @property
    def addresses(self) -> list[str]:
        return [str(listener.address) for listener in self._listeners]

    def open(self, descriptor: int, peer: str) -> object | None:
        if len(self._http.connections) >= CONNECTIONS_MAX:
            return None
        connection = self._http.open(socket.socket(fileno=descriptor), peer)
        self.room.enter(connection, address_of(peer))
        return connection

    def out_of_descriptors(self) -> None:
        _log.warning("connection refused: no descriptor is left")

    def _handle(self, request: Request) -> Answer | Awaitable[Answer | None]:
        self.room.leave(cast("HttpConnection", request.connection))
        return self.surface.handle(request)

    async def drain(self) -> bool:
        """Finish what was begun, at most DRAIN_S; return whether all was."""
        self.surface.drain()
        for acceptor in self._acceptors:
            acceptor.close()
        self._http.drain()
        try:
            async with asyncio.timeout(DRAIN_S):
                while self._http.connections:
                    await asyncio.sleep(0.02)
        except TimeoutError:
            _log.warning("connections were cut", extra={"fields": {"connections": len(self._http.connections)}})
        is_done = not self._http.connections
        await self.close()
        return is_done

    async def close(self) -> None:
        self._http.close()
        self._spare.close()
        await self._posters.close()


def _check_exposure(settings: GatewaySettings) -> None:
    listen = settings.listen
    if listen.kind == "unix" or listen.host in ("localhost", "127.0.0.1", "::1"):
        return
    if not settings.is_insecure:
        raise CannotStart(
            f"{listen} is open to other machines, and credentials would cross the network unencrypted: listen on "
            "loopback or a Unix socket, behind a proxy with TLS, or start with --insecure"
        )
    _log.warning("credentials cross the network unencrypted", extra={"fields": {"address": str(listen)}})


async def serve(settings: GatewaySettings, ready: Callable[[list[str]], object]) -> bool:
    """Run a gateway until SIGTERM or SIGINT; return whether it has finished all that was begun."""
    gateway = Gateway(settings)
    loop, stop, at_once = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

    def signalled() -> None:
        (at_once if stop.is_set() else stop).set()

    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, signalled)
    ready(gateway.addresses)
    await stop.wait()
    drained = loop.create_task(gateway.drain())
    ended = loop.create_task(at_once.wait())
    await asyncio.wait([drained, ended], return_when=asyncio.FIRST_COMPLETED)
    ended.cancel()
    if not drained.done():
        drained.cancel()
        await gateway.close()
        return False
    return drained.result()
