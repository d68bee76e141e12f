"""Transports of links: report when they are writable and how long a round trip takes.

Law: the switch owns a plain socket; a PlainWire owns a second descriptor of it, which is closed with the link.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Protocol

from tamis.router.connections.tls import TlsConnection, shown_certificate

NOTSENT_BYTES: Final = 128 * 1024
"""R12: most unsent bytes in the kernel before the next control frame."""
_TCP_NOTSENT_LOWAT: Final = 25
_RTT: Final = slice(68, 72)
"""Position of tcpi_rtt, in microseconds, in struct tcp_info."""


class Wire(Protocol):
    def when_writable(self, callback: Callable[[], None]) -> None:
        """Call `callback` once, when the transport is writable."""

    @property
    def certificate(self) -> bytes:
        """The certificate of the other end, in DER; b"" if it has shown none."""

    def rtt_us(self) -> int | None:
        """Return the round trip time that the kernel measured; None for a Unix socket."""

    def close(self) -> None:
        """Release the wire after the end of the link."""

    def abort(self) -> None:
        """Cut the connection, because the router ends."""


class PlainWire:
    def __init__(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        self._socket = socket.socket(fileno=os.dup(descriptor))
        self._loop = loop
        tune(self._socket)

    def when_writable(self, callback: Callable[[], None]) -> None:
        self._loop.add_writer(self._socket, self._writable, callback)

    def _writable(self, callback: Callable[[], None]) -> None:
        self._loop.remove_writer(self._socket)
        callback()

    def rtt_us(self) -> int | None:
        return _rtt_us(self._socket)

    def close(self) -> None:
        self._loop.remove_writer(self._socket)
        self._socket.close()

    abort = close

    @property
    def certificate(self) -> bytes:
        return b""


class TlsWire:
    """A connection over TLS, whose socket asyncio owns."""

    def __init__(self, connection: TlsConnection) -> None:
        self._connection = connection
        self._socket = connection.transport.get_extra_info("socket")
        tune(self._socket)

    def when_writable(self, callback: Callable[[], None]) -> None:
        self._connection.when_writable(callback)

    @property
    def certificate(self) -> bytes:
        return shown_certificate(self._connection.transport)

    def rtt_us(self) -> int | None:
        return _rtt_us(self._socket)

    def close(self) -> None:
        """Do nothing: the protocol closes the transport itself."""

    def abort(self) -> None:
        self._connection.transport.abort()


def tune(sock: Any) -> None:  # noqa: ANN401 - asyncio's substitute for a socket has no public type
    if sock.family != socket.AF_UNIX:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.IPPROTO_TCP, _TCP_NOTSENT_LOWAT, NOTSENT_BYTES)


def _rtt_us(sock: Any) -> int | None:  # noqa: ANN401
    with suppress(OSError):
        if sock.family != socket.AF_UNIX:
            return int.from_bytes(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 128)[_RTT], "little")
    return None
