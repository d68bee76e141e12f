"""Connections over TLS 1.3: asyncio moves their bytes, the switch their frames.

Law: decrypted bytes are passed to the switch when they arrive; bytes to send are taken from the switch when the
transport accepts them. While the transport is full they stay in the switch, whose queue has a bound and a policy.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol, cast

from tamis.configs.sections.connections import NeighbourTls, Tls
from tamis.router.connections.peer import FULL, Peer
from tamis.router.connections.revoked import RevokedCertificates
from tamis.router.daemon.cannot_start import CannotStart

PEM_BYTES_MAX: Final = 1_048_576
"""Most bytes read of a certificate or key file that cannot be used."""
_REASONS: Final = {"KEY_VALUES_MISMATCH": "the key belongs to another certificate"}
CHUNK_BYTES: Final = 256 * 1024
# One buffer for all connections: its bytes are passed on before the next read. It is a memoryview because asyncio fills
# slices of the buffer, and a slice of a bytearray is a copy.
_receive: Final = memoryview(bytearray(CHUNK_BYTES))


_ASKED: Final = {"none": ssl.CERT_NONE, "optional": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}


def server_context(tls: Tls, revoked: RevokedCertificates | None = None) -> ssl.SSLContext:
    """Return a context of client listeners; CannotStart if a file of `tls` cannot be used. `revoked`: its lists."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    load_certificate(context, tls)
    context.verify_mode = _ASKED[tls.clients]
    if tls.ca is not None:
        try:
            context.load_verify_locations(tls.ca)
        except (OSError, ssl.SSLError) as error:
            raise CannotStart(f"tls: {tls.ca} has no certificates: {error}") from error
    if revoked is not None:
        revoked.check_by(context)
    return context


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


def load_certificate(context: ssl.SSLContext, tls: Tls | NeighbourTls) -> None:
    """Use this certificate for later connections. Raise CannotStart, with nothing changed, if it cannot be used."""
    try:
        for target in (ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), context):  # a trial first
            target.load_cert_chain(tls.certificate, tls.key, password=_no_passphrase)
    except (OSError, ssl.SSLError, ValueError) as error:
        raise CannotStart(f"tls: {_unfit(tls, error)}") from error


def _unfit(tls: Tls | NeighbourTls, error: Exception) -> str:
    """Return a sentence on which of the two files cannot be used, and why."""
    for file, content in ((tls.certificate, "CERTIFICATE"), (tls.key, "PRIVATE KEY")):
        try:
            with Path(file).open("rb") as stream:
                is_there = f"{content}-----".encode() in stream.read(PEM_BYTES_MAX)
        except OSError as unreadable:
            return f"{file}: {unreadable.strerror}"
        if not is_there:
            return f"{file} has no PEM text that begins with -----BEGIN {content}-----"
    reason = "the key must have no passphrase" if isinstance(error, ValueError) else _REASONS.get(_reason(error), "")
    return f"{tls.certificate} and {tls.key} are not a certificate and its key{f': {reason}' if reason else ''}"


def _reason(error: Exception) -> str:
    return str(getattr(error, "reason", None))


def _no_passphrase() -> str:
    raise ValueError("the key must have no passphrase")


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
