"""Listening addresses.

Law: addresses are bound before the router is ready; one that cannot be bound stops the start with a sentence. A
connection is accepted if there is a place for it, or to send it the error that there is none.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from tamis.configs.address import Address
from tamis.router.connections.admissions import Reason
from tamis.router.connections.limits import ReserveDescriptor, turn_away
from tamis.router.connections.peer import FULL
from tamis.router.daemon.cannot_start import CannotStart, CannotStartNow
from tamis.router.daemon.logs import fields
from tamis.serving.waiting import WaitingRoom

BACKLOG: Final = 4_096
"""Connections that may wait to be accepted; the system may allow fewer."""
ACCEPTS_PER_TURN: Final = 2
FULL_ROOM_PAUSE_S: Final = 0.002
OUT_OF_DESCRIPTORS_PAUSE_S: Final = 0.5

_log = logging.getLogger(__name__)


class Opener(Protocol):
    """Opens accepted connections; they wait in `room` until they have greeted."""

    @property
    def room(self) -> WaitingRoom: ...

    def open(self, descriptor: int, peer: str) -> object | None:
        """Open a connection over a socket and own the socket from here on. Return None if there is no room; the caller
        then still owns the socket."""

    def turned_away(self, reason: Reason, peer: str) -> None:
        """Count a connection from `peer` that could not be opened."""


@dataclass(frozen=True, slots=True)
class Listener:
    """A bound socket and its actual address."""

    sock: socket.socket
    address: Address

    def close(self) -> None:
        self.sock.close()
        if self.address.kind == "unix":
            Path(self.address.path).unlink(missing_ok=True)


def bind(address: Address) -> list[Listener]:
    """Bind `address`; return a listener for each address that its name resolves to. Raise CannotStart if one cannot be
    bound, CannotStartNow if a later try may succeed."""
    try:
        return [_bound_unix(address)] if address.kind == "unix" else _bound_tcp(address)
    except OSError as error:
        may_change = isinstance(error, socket.gaierror) or error.errno in (errno.EADDRINUSE, errno.EADDRNOTAVAIL)
        kind = CannotStartNow if may_change else CannotStart
        raise kind(f"cannot listen on {address}: {error.strerror or error}") from error


def _bound_unix(address: Address) -> Listener:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _remove_stale(address.path)
        sock.bind(address.path)
        return _listening(sock, address)
    except BaseException:
        sock.close()
        raise


def _remove_stale(path: str) -> None:
    """Remove the socket that a killed router left at `path`. Raise OSError if a process listens there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe, suppress(FileNotFoundError):
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            Path(path).unlink()
            return
        raise OSError(errno.EADDRINUSE, "another process listens there")


def _bound_tcp(address: Address) -> list[Listener]:
    found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    listeners: list[Listener] = []
    port = address.port
    try:
        for family, kind, protocol, _, where in dict.fromkeys(found):
            listeners.append(_bound(socket.socket(family, kind, protocol), (where[0], port)))
            port = listeners[0].address.port  # port 0: the system chooses it for the first; the others use that one
    except OSError:
        for listener in listeners:
            listener.close()
        raise
    return listeners


def _bound(sock: socket.socket, where: tuple[str | int, int]) -> Listener:
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # accepted sockets inherit it
        if sock.family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind(where)
        host, port = sock.getsockname()[:2]
        return _listening(sock, Address("tcp", host=host, port=port))
    except BaseException:
        sock.close()
        raise


def _listening(sock: socket.socket, address: Address) -> Listener:
    sock.listen(BACKLOG)
    sock.setblocking(False)
    return Listener(sock, address)


class Acceptor:
    """Accepts the connections of one listener and passes them to `opener`. A connection without a place is sent `full`.
    Without a `spare` descriptor accepting pauses while the system has none."""

    def __init__(
        self,
        listener: Listener,
        opener: Opener,
        loop: asyncio.AbstractEventLoop,
        spare: ReserveDescriptor | None = None,
        full: bytes = FULL,
    ) -> None:
        self._listener, self._opener, self._loop = listener, opener, loop
        self._spare, self._full = spare, full
        self._resuming: asyncio.TimerHandle | None = None
        self._start()

    def close(self) -> None:
        self._loop.remove_reader(self._listener.sock)
        if self._resuming is not None:
            self._resuming.cancel()
        self._listener.close()

    def _start(self) -> None:
        self._loop.add_reader(self._listener.sock, self._accept)

    def _accept(self) -> None:
        for _ in range(ACCEPTS_PER_TURN):
            if not self._opener.room.has_place():
                self._rest(FULL_ROOM_PAUSE_S)
                return
            try:
                sock, where = self._listener.sock.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if not self._accept_by_the_spare(error):
                    return
            else:
                self._hand_on(sock, f"{where[0]}:{where[1]}" if where else "unix")

    def _accept_by_the_spare(self, error: OSError) -> bool:
        """Accept and refuse one connection with the spare descriptor, because descriptors or memory are used up. Return
        False if that failed; accepting then pauses, since the socket stays readable."""
        if self._spare is not None and self._spare.accept(self._listener.sock, self._full):
            self._opener.turned_away(Reason.DESCRIPTORS, "unknown")
            return True
        _log.error("cannot accept connections", extra=fields(reason=os.strerror(error.errno or 0)))
        self._rest(OUT_OF_DESCRIPTORS_PAUSE_S)
        return False

    def _rest(self, pause_s: float) -> None:
        self._loop.remove_reader(self._listener.sock)
        self._resuming = self._loop.call_later(pause_s, self._start)

    def _hand_on(self, sock: socket.socket, peer: str) -> None:
        sock.setblocking(False)
        if self._opener.open(sock.fileno(), peer) is not None:
            sock.detach()
        else:
            turn_away(sock, self._full)
