"""TLS handshakes of accepted connections.

Law: a connection in its handshake is pending: it waits in the room of connections that have not greeted, has a time
limit, and gives way as they do, but without an error, since none can be sent yet. A handshake begins with the first
byte of the peer.
"""

from __future__ import annotations

import asyncio
import enum
import socket
import ssl
from collections.abc import Callable

from tamis.serving.addresses import address_of
from tamis.serving.listeners import Opener
from tamis.serving.waiting import WaitingRoom, unread_bytes


class Failure(enum.Enum):
    """Why a connection ended before its handshake did."""

    TLS = enum.auto()
    TIMEOUT = enum.auto()
    GAVE_WAY = enum.auto()
    LEFT = enum.auto()


class TlsAcceptor:
    """Opens connections over TLS for `opener`. `within_s`: returns the seconds for a handshake, and before it for its
    first byte; `protocol`: makes the protocol of a connection, which calls its argument once the handshake is over;
    `failed`: told why a handshake failed, of which peer, and in a sentence."""

    def __init__(
        self,
        opener: Opener,
        loop: asyncio.AbstractEventLoop,
        context: ssl.SSLContext,
        within_s: Callable[[], float],
        protocol: Callable[[Callable[[], None]], asyncio.BaseProtocol],
        failed: Callable[[Failure, str, str], None],
    ) -> None:
        self.loop, self.context, self.within_s, self.protocol, self.failed = loop, context, within_s, protocol, failed
        self._opener = opener

    @property
    def room(self) -> WaitingRoom:
        return self._opener.room

    def out_of_descriptors(self) -> None:
        self._opener.out_of_descriptors()

    def open(self, descriptor: int, peer: str) -> object:
        return _Handshake(self, socket.socket(fileno=descriptor), peer)


class _Handshake:
    """One connection from its acceptance to the end of its handshake, which begins with its first byte."""

    def __init__(self, door: TlsAcceptor, sock: socket.socket, peer: str) -> None:
        self._door, self._sock, self._peer = door, sock, peer
        self._task: asyncio.Task[None] | None = None
        self._has_begun = False
        self._loop = door.loop
        self._timer = self._loop.call_later(door.within_s(), self._too_late)
        self._loop.add_reader(sock, self._heard)
        door.room.enter(self, address_of(peer))

    def is_heard(self) -> bool:
        return bool(self._task is None and unread_bytes(self._sock.fileno()))

    def give_way(self) -> None:
        self._refuse(Failure.GAVE_WAY, "its handshake was not complete, and another connection needed the place")
        self._end()

    def _heard(self) -> None:
        if not unread_bytes(self._sock.fileno()):  # readable without bytes: the peer has closed
            self._door.room.leave(self)
            self._refuse(Failure.LEFT, "the peer closed the connection")
            self._end()
            return
        self._quiet()
        self._door.room.spoke(self)
        self._task = self._loop.create_task(self._shake(), name="TLS handshake")

    def _too_late(self) -> None:
        if self.is_heard():
            self._heard()
            return
        self._door.room.leave(self)
        self._refuse(Failure.TIMEOUT, "no byte was received in time")
        self._end()

    async def _shake(self) -> None:
        """Run the handshake; the transport owns the socket from here on."""
        door, self._has_begun = self._door, True
        try:
            await self._loop.connect_accepted_socket(
                lambda: door.protocol(self._over),
                self._sock,
                ssl=door.context,
                ssl_handshake_timeout=door.within_s(),
                ssl_shutdown_timeout=door.within_s(),
            )
        except (OSError, EOFError) as error:  # TimeoutError and ssl.SSLError are OSErrors
            self._refuse(Failure.TLS, f"the TLS handshake failed: {error}")
        finally:
            door.room.leave(self)

    def _over(self) -> None:
        self._door.room.leave(self)

    def _refuse(self, why: Failure, problem: str) -> None:
        self._door.failed(why, self._peer, problem)

    def _quiet(self) -> None:
        self._timer.cancel()
        self._loop.remove_reader(self._sock)

    def _end(self) -> None:
        if self._task is None:
            self._quiet()
        else:
            self._task.cancel()
        if not self._has_begun:
            self._sock.close()
