"""Listening addresses.

Law: addresses are bound before the process is ready; one that cannot be bound stops the start with a sentence. A
connection is accepted if there is a place for it, or to send it the error that there is none. One descriptor is a
reserve, to send that error when the system has no other.
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
from typing import Final, Generic, Protocol, Self, TypeVar

from tamis.serving.cannot_start import CannotStart, CannotStartNow
from tamis.serving.waiting import WaitingRoom

BACKLOG: Final = 4_096
"""Connections that may wait to be accepted; the system may allow fewer."""
ACCEPTS_PER_TURN: Final = 2
FULL_ROOM_PAUSE_S: Final = 0.002
OUT_OF_DESCRIPTORS_PAUSE_S: Final = 0.5
_READ_BYTES: Final = 4_096

_log = logging.getLogger(__name__)


class Opener(Protocol):
    """Opens accepted connections; they wait in `room` until they have greeted."""

    @property
    def room(self) -> WaitingRoom: ...

    def open(self, descriptor: int, peer: str) -> object | None:
        """Open a connection over a socket and own the socket from here on. Return None if there is no room; the caller
        then still owns the socket."""

    def out_of_descriptors(self) -> None:
        """Count a connection that was refused because the system has no open file left."""


class Address(Protocol):
    """Where to listen: a TCP address has a host and a port, a Unix socket (of kind `unix`) a path."""

    @property
    def kind(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def path(self) -> str: ...

    def bound_to(self, host: str, port: int) -> Self:
        """Return the address with what the system has resolved and chosen."""


Where = TypeVar("Where", bound=Address)
Where_co = TypeVar("Where_co", bound=Address, covariant=True)


@dataclass(frozen=True)
class Listener(Generic[Where_co]):
    """A bound socket and its actual address."""

    sock: socket.socket
    address: Where_co

    def close(self) -> None:
        self.sock.close()
        if self.address.kind == "unix":
            Path(self.address.path).unlink(missing_ok=True)


def bind(address: Where) -> list[Listener[Where]]:
    """Bind `address`; return a listener for each address that its name resolves to. Raise CannotStart if one cannot be
    bound, CannotStartNow if a later try may succeed."""
    try:
        return [_bound_unix(address)] if address.kind == "unix" else _bound_tcp(address)
    except OSError as error:
        may_change = isinstance(error, socket.gaierror) or error.errno in (errno.EADDRINUSE, errno.EADDRNOTAVAIL)
        kind = CannotStartNow if may_change else CannotStart
        raise kind(f"cannot listen on {address}: {error.strerror or error}") from error


def _bound_unix(address: Where) -> Listener[Where]:
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


def _bound_tcp(address: Where) -> list[Listener[Where]]:
    found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    listeners: list[Listener[Where]] = []
    port = address.port
    try:
        for family, kind, protocol, _, where in dict.fromkeys(found):
            listeners.append(_bound(socket.socket(family, kind, protocol), address, (where[0], port)))
            port = listeners[0].address.port  # port 0: the system chooses it for the first; the others use that one
    except OSError:
        for listener in listeners:
            listener.close()
        raise
    return listeners


def _bound(sock: socket.socket, address: Where, where: tuple[str | int, int]) -> Listener[Where]:
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # accepted sockets inherit it
        if sock.family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind(where)
        host, port = sock.getsockname()[:2]
        return _listening(sock, address.bound_to(host, port))
    except BaseException:
        sock.close()
        raise


def _listening(sock: socket.socket, address: Where) -> Listener[Where]:
    sock.listen(BACKLOG)
    sock.setblocking(False)
    return Listener(sock, address)


class Acceptor:
    """Accepts the connections of one listener and passes them to `opener`. A connection without a place is sent `full`.
    Without a `spare` descriptor accepting pauses while the system has none."""

    def __init__(
        self,
        listener: Listener[Address],
        opener: Opener,
        loop: asyncio.AbstractEventLoop,
        full: bytes,
        spare: ReserveDescriptor | None = None,
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
            self._opener.out_of_descriptors()
            return True
        _log.error("cannot accept connections", extra={"fields": {"reason": os.strerror(error.errno or 0)}})
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


class ReserveDescriptor:
    """A descriptor in reserve, for the time when the system has no other."""

    def __init__(self) -> None:
        self._descriptor = _any_descriptor()

    def accept(self, listener: socket.socket, said: bytes) -> bool:
        """Accept one connection, send it `said`, and close it. Return False if the reserve is in use or no connection
        waits."""
        if self._descriptor is None:
            self._descriptor = _any_descriptor()
            return False
        os.close(self._descriptor)
        self._descriptor = None
        try:
            turn_away(listener.accept()[0], said)
        except OSError:
            return False
        finally:
            self._descriptor = _any_descriptor()
        return True

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def turn_away(sock: socket.socket, said: bytes) -> None:
    """Send `said` to a connection that has just been accepted, if that does not block, and close it."""
    with sock, suppress(OSError):
        sock.setblocking(False)
        sock.send(said)
        sock.recv(_READ_BYTES)  # closing a socket with unread bytes would discard the sent ones


def _any_descriptor() -> int | None:
    try:
        return os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
