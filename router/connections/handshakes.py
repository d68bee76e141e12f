"""TLS handshakes of accepted connections.

Law: a connection in its handshake is pending: it waits in the room of connections that have not greeted, has the time
limit of the greeting, and gives way as they do, but without an error frame, since none can be sent yet. A handshake
begins with the first byte of the peer.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import TYPE_CHECKING

from tamis.router.connections.admissions import Admissions, Reason, Side
from tamis.router.connections.listeners import Opener
from tamis.router.connections.peer import Peer
from tamis.router.connections.tls import TlsConnection
from tamis.router.daemon.addresses import address_of
from tamis.serving.waiting import WaitingRoom, unread_bytes

if TYPE_CHECKING:
    from tamis.router.connections.connections import Connections


class TlsAcceptor:
    """Opens connections of `side` over TLS for `opener`. `opened`: makes the peer after a handshake; returns None if
    there is no room."""

    def __init__(
        self,
        connections: Connections,
        side: Side,
        opener: Opener,
        context: ssl.SSLContext,
        opened: Callable[[TlsConnection], Peer | None],
    ) -> None:
        self.connections, self.side, self.context, self.opened = connections, side, context, opened
        self._opener = opener

    @property
    def room(self) -> WaitingRoom:
        return self._opener.room

    @property
    def admissions(self) -> Admissions:
        return self.connections.admissions

    @property
    def greeting_s(self) -> float:
        return self.connections.settings.limits.greeting_ms / 1000

    def turned_away(self, reason: Reason, peer: str) -> None:
        self._opener.turned_away(reason, peer)

    def open(self, descriptor: int, peer: str) -> object:
        return _Handshake(self, socket.socket(fileno=descriptor), peer)


class _Handshake:
    """One connection from its acceptance to the end of its handshake, which begins with its first byte."""

    def __init__(self, door: TlsAcceptor, sock: socket.socket, peer: str) -> None:
        self._door, self._sock, self._peer = door, sock, peer
        self._task: asyncio.Task[None] | None = None
        self._has_begun = False
        self._loop = door.connections.loop
        self._timer = self._loop.call_later(door.greeting_s, self._too_late)
        self._loop.add_reader(sock, self._heard)
        door.room.enter(self, address_of(peer))

    def is_heard(self) -> bool:
        return bool(self._task is None and unread_bytes(self._sock.fileno()))

    def give_way(self) -> None:
        self._refuse(Reason.GAVE_WAY, "its handshake was not complete, and another connection needed the place")
        self._end()

    def _heard(self) -> None:
        if not unread_bytes(self._sock.fileno()):  # readable without bytes: the peer has closed
            self._door.room.leave(self)
            self._refuse(Reason.LEFT, "the peer closed the connection")
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
        self._refuse(Reason.TIMEOUT, "no byte was received in time")
        self._end()

    async def _shake(self) -> None:
        """Run the handshake; the transport owns the socket from here on."""
        door, self._has_begun = self._door, True
        try:
            await self._loop.connect_accepted_socket(
                lambda: TlsConnection(door.connections, self._over),
                self._sock,
                ssl=door.context,
                ssl_handshake_timeout=door.greeting_s,
                ssl_shutdown_timeout=door.greeting_s,
            )
        except (OSError, EOFError) as error:  # TimeoutError and ssl.SSLError are OSErrors
            self._refuse(Reason.TLS, f"the TLS handshake failed: {error}")
        finally:
            door.room.leave(self)

    def _over(self, connection: TlsConnection) -> Peer | None:
        self._door.room.leave(self)
        return self._door.opened(connection)

    def _refuse(self, reason: Reason, problem: str) -> None:
        self._door.admissions.refuse(self._door.side, reason, peer=self._peer, reason=problem)

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
