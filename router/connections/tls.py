"""Connections over TLS 1.3: asyncio moves their bytes, the switch their frames.

Law: decrypted bytes are passed to the switch when they arrive; bytes to send are taken from the switch when the
transport accepts them. While the transport is full they stay in the switch, whose queue has a bound and a policy.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from tamis.router.connections.admissions import Reason, Side
from tamis.router.connections.peer import FULL, Peer
from tamis.serving.handshakes import Failure, TlsAcceptor
from tamis.serving.listeners import Opener

if TYPE_CHECKING:
    from tamis.router.connections.connections import Connections

CHUNK_BYTES: Final = 256 * 1024
# One buffer for all connections: its bytes are passed on before the next read. It is a memoryview because asyncio fills
# slices of the buffer, and a slice of a bytearray is a copy.
_receive: Final = memoryview(bytearray(CHUNK_BYTES))


def shown_certificate(transport: asyncio.BaseTransport) -> bytes:
    """Return the verified certificate of the other end, in DER; b"" if it has shown none."""
    behind = transport.get_extra_info("ssl_object")
    return (behind and behind.getpeercert(binary_form=True)) or b""


def certified_names(transport: asyncio.BaseTransport) -> frozenset[str]:
    """Return the names in the verified certificate of the other end that may prove a principal: its alternative names
    that are DNS names, in lower case, or URIs."""
    certificate: dict[str, Any] = transport.get_extra_info("peercert") or {}
    named = certificate.get("subjectAltName", ())
    return frozenset(value.lower() if kind == "DNS" else value for kind, value in named if kind in ("DNS", "URI"))


class FedSwitch(Protocol):
    """A switch with connections whose bytes its caller sends."""

    def output(self, connection: int, bytes_max: int) -> bytes:
        """Remove and return at most `bytes_max` bytes of the output queue of a connection."""


class FedConnections(Protocol):
    """The part of Connections that a connection without a socket in the switch uses."""

    @property
    def switch(self) -> FedSwitch: ...

    def feed(self, connection: int, data: bytes | bytearray | memoryview) -> None:
        """Process bytes received on a connection without a socket."""

    def when_caught_up(self, callback: Callable[[], None]) -> bool:
        """Return whether events wait to be handled; if they do, call `callback` once they are handled."""


class TlsConnection(asyncio.BufferedProtocol):
    """One connection. `opened`: makes its peer; returns None if there is no room."""

    def __init__(self, connections: FedConnections, opened: Callable[[TlsConnection], Peer | None]) -> None:
        self._connections, self._opened = connections, opened
        self._end: Peer | None = None
        self._writable: list[Callable[[], None]] = []
        self._transport: asyncio.Transport
        self._is_full = self._is_paused = self._is_ahead = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass of it
        transport.set_write_buffer_limits(high=CHUNK_BYTES)
        self._end = self._opened(self)
        if self._end is None:
            transport.write(FULL)
            transport.close()
            return
        self._end.on_output = self._send
        self._end.on_pause = self._pause
        self._send()

    @property
    def peer(self) -> str:
        """The address of the peer."""
        host, port, *_ = self._transport.get_extra_info("peername")
        return f"{host}:{port}"

    @property
    def transport(self) -> asyncio.Transport:
        return self._transport

    def when_writable(self, callback: Callable[[], None]) -> None:
        """Call `callback` once, when the transport accepts bytes."""
        self._writable.append(callback)
        if not self._is_full:
            asyncio.get_running_loop().call_soon(self._tell_writable)

    def _tell_writable(self) -> None:
        waiting, self._writable = self._writable, []
        for callback in waiting:
            callback()

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - the signature is asyncio's
        return _receive

    def buffer_updated(self, nbytes: int) -> None:
        self.take(_receive[:nbytes])

    def take(self, data: bytes | bytearray | memoryview) -> None:
        """Pass received bytes to the switch, and send its output."""
        if self._end is not None and self._end.is_there and data:
            self._connections.feed(self._end.connection, data)
            self._is_ahead = self._connections.when_caught_up(self._caught_up)
            self._regulate()
            self._send()

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        self._send()
        if not self._is_full:
            self._tell_writable()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        if self._end is not None:
            self._end.peer_left()

    def _pause(self, is_paused: bool) -> None:
        self._is_paused = is_paused
        self._regulate()

    def _caught_up(self) -> None:
        self._is_ahead = False
        self._regulate()

    def _regulate(self) -> None:
        """Stop reading while the peer is paused or events wait; resume otherwise."""
        if self._is_paused or self._is_ahead:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def _send(self) -> None:
        end = self._end
        while end is not None and end.is_there and not self._is_full:
            data = self._connections.switch.output(end.connection, CHUNK_BYTES)
            if not data:
                return
            self._transport.write(data)
        if end is not None and not end.is_there:
            self._end = None
            self._transport.close()


_REASONS: Final = {
    Failure.TLS: Reason.TLS,
    Failure.TIMEOUT: Reason.TIMEOUT,
    Failure.GAVE_WAY: Reason.GAVE_WAY,
    Failure.LEFT: Reason.LEFT,
}


def tls_acceptor(
    connections: Connections,
    side: Side,
    opener: Opener,
    context: ssl.SSLContext,
    opened: Callable[[TlsConnection], Peer | None],
) -> TlsAcceptor:
    """Return what opens connections of `side` over TLS for `opener`. `opened`: makes the peer after a handshake;
    returns None if there is no room."""

    def protocol(over: Callable[[], None]) -> TlsConnection:
        def made(connection: TlsConnection) -> Peer | None:
            over()
            return opened(connection)

        return TlsConnection(connections, made)

    def failed(why: Failure, peer: str, problem: str) -> None:
        connections.admissions.refuse(side, _REASONS[why], peer=peer, reason=problem)

    def within_s() -> float:
        return connections.settings.limits.greeting_ms / 1000

    return TlsAcceptor(opener, connections.loop, context, within_s, protocol, failed)
