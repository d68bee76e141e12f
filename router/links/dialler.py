"""Repeated attempts to connect to a neighbour.

Law: there is one attempt at a time, and none while a link is up. The greeting is read from the socket to its last byte
and no further: bytes that the neighbour sends directly behind it are left to the switch, which has admitted the link by
then. No attempt takes longer than `limits.greeting_ms`, and no failure ends the attempts.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import socket
import ssl
from contextlib import suppress
from typing import Final, Protocol, cast

from tamis.configs.address import Address
from tamis.protocol.errors import FrameError
from tamis.protocol.limits import UNAUTHENTICATED_BYTES_MAX
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.prefix import PREFIX_BYTES, read_prefix
from tamis.protocol.wire.session_bodies import Error
from tamis.router.connections.tls import TlsConnection
from tamis.router.connections.wires import PlainWire, TlsWire
from tamis.router.links.backoff import MOST_S, Backoff
from tamis.router.links.greeting import Certified, Dialling, Greeted
from tamis.router.links.link import Link
from tamis.router.links.neighbour import Neighbour
from tamis.router.links.neighbours import Neighbours
from tamis.router.links.tls import names_in

_LENGTH_BYTES: Final = 4

_log = logging.getLogger(__name__)


class GreetingStream(Protocol):
    """The stream on which the dialling end of a greeting sends and receives."""

    async def send(self, data: bytes) -> None: ...

    async def receive(self, size: int) -> bytes:
        """Return exactly `size` bytes; OSError or EOFError if fewer arrive."""


class TurnedAway(EOFError):
    """Raised when the neighbour replies with an ERROR."""

    def __init__(self, error: Error) -> None:
        super().__init__(f"it reports: {error.text}")
        self.code, self.text = error.code, error.text


class Dialler:
    """Keep the link to one neighbour up, from `start` to `close`."""

    def __init__(self, neighbours: Neighbours, neighbour: Neighbour) -> None:
        self._neighbours, self._neighbour = neighbours, neighbour
        self._backoff = Backoff(random.random)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        name = f"dial {self._neighbour.expected.name}"
        self._task = asyncio.get_running_loop().create_task(self._run(), name=name)

    def close(self) -> None:
        """Make no further attempts; a link that is up stays."""
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                link = await self._attempt()
                began_s = loop.time()
                await asyncio.shield(link.over)
                if loop.time() - began_s > MOST_S:
                    self._backoff.reset()
            except (OSError, EOFError, FrameError) as error:
                self._neighbour.failed(_shown(error))
                if isinstance(error, TurnedAway) and error.code == ErrorCode.REPLACED:
                    self._neighbours.is_twin(self._neighbour.expected.name, error.text, is_refused=True)
            except Exception:  # a bug: it is logged, and the next attempt may succeed
                self._neighbours.connections.health.caught("failed to dial", neighbour=self._neighbour.expected.name)
            await asyncio.sleep(self._backoff.next_s())

    async def _attempt(self) -> Link:
        address = self._neighbour.settings.dial
        assert address is not None  # noqa: S101 - a neighbour without an address has no dialler
        async with asyncio.timeout(self._neighbours.connections.settings.limits.greeting_ms / 1000):
            sock = await _connected(address)
            tls = self._neighbours.tls
            if tls is None or address.kind == "unix":
                return await self._over_socket(sock, str(address))
            return await self._over_tls(sock, str(address), tls.dialling)

    async def _over_socket(self, sock: socket.socket, peer: str) -> Link:
        with sock:
            dialling, other = await self._greet(_Socket(sock), None)
            wire = PlainWire(sock.fileno(), asyncio.get_running_loop())
            link = self._neighbours.opened(dialling, other, sock.fileno(), peer, wire)
            if link is None:
                raise OSError("this router has no room for another connection")
            sock.detach()
            return link

    async def _over_tls(self, sock: socket.socket, peer: str, context: ssl.SSLContext) -> Link:
        loop = asyncio.get_running_loop()
        transport, stream = await loop.create_connection(_TlsStream, sock=sock, ssl=context, server_hostname="")
        try:
            dialling, other = await self._greet(stream, names_in(transport))
        except BaseException:
            transport.abort()
            raise
        link: list[Link | None] = []

        def opened(connection: TlsConnection) -> Link | None:
            link.append(self._neighbours.opened(dialling, other, -1, peer, TlsWire(connection)))
            return link[0]

        connection = TlsConnection(self._neighbours.connections, opened)
        transport.set_protocol(connection)
        connection.connection_made(transport)
        connection.take(stream.rest)
        if link[0] is None:
            raise OSError("this router has no room for another connection")
        return link[0]

    async def _greet(self, stream: GreetingStream, certified: Certified) -> tuple[Dialling, Greeted]:
        dialling = Dialling(self._neighbours.local_identity(), self._neighbour.expected, certified)
        await stream.send(dialling.begin())
        while dialling.other is None:
            frame = await _frame(stream)
            try:
                await stream.send(_answer(dialling, frame))
            except FrameError as error:
                with suppress(OSError):
                    await stream.send(encode(Error(error.code, error.problem, frame[_LENGTH_BYTES], True)))
                raise
        return dialling, dialling.other


def _answer(dialling: Dialling, frame: bytes) -> bytes:
    """Return the reply to `frame`; TurnedAway if `frame` is an ERROR."""
    kind = read_prefix(frame).kind
    body = decode(frame)
    if isinstance(body, Error):
        raise TurnedAway(body)
    return dialling.receive(frame, FrameKind(kind))


async def _connected(address: Address) -> socket.socket:
    """Connect to the first address of a name that accepts; raise the last failure if none does."""
    loop = asyncio.get_running_loop()
    if address.kind == "unix":
        return await _connect(socket.AF_UNIX, address.path)
    found = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    for family, _, _, _, where in found[:-1]:
        with suppress(OSError):
            return await _connect(family, where)
    return await _connect(found[-1][0], found[-1][4])


async def _connect(family: int, where: str | tuple[object, ...]) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, where)
    except BaseException:
        sock.close()
        raise
    return sock


async def _frame(stream: GreetingStream) -> bytes:
    head = await stream.receive(_LENGTH_BYTES)
    length = int.from_bytes(head, "little")
    if not PREFIX_BYTES <= length <= UNAUTHENTICATED_BYTES_MAX:
        raise FrameError(ErrorCode.UNAUTHENTICATED, f"a frame of {length} bytes is too large for a greeting")
    return head + await stream.receive(length - _LENGTH_BYTES)


class _Socket:
    """A plain socket as a GreetingStream."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._loop = asyncio.get_running_loop()

    async def send(self, data: bytes) -> None:
        await self._loop.sock_sendall(self._socket, data)

    async def receive(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = await self._loop.sock_recv(self._socket, size - len(data))
            if not more:
                raise EOFError("the connection was closed during the greeting")
            data += more
        return data


class _TlsStream(asyncio.Protocol):
    """A connection behind TLS as a GreetingStream; `rest` has the bytes after the greeting."""

    def __init__(self) -> None:
        self.rest = bytearray()
        self._transport: asyncio.WriteTransport
        self._changed = asyncio.Event()
        self._is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)  # uvloop's transport is no subclass of it

    def data_received(self, data: bytes) -> None:
        self.rest += data
        self._changed.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the signature is asyncio's
        self._is_lost = True
        self._changed.set()

    async def send(self, data: bytes) -> None:
        self._transport.write(data)

    async def receive(self, size: int) -> bytes:
        while len(self.rest) < size:
            if self._is_lost:
                raise EOFError("the connection was closed during the greeting")
            self._changed.clear()
            await self._changed.wait()
        data = bytes(self.rest[:size])
        del self.rest[:size]
        return data


def _shown(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no reply in time"
    if isinstance(error, FrameError):
        return error.problem
    if isinstance(error, OSError) and error.errno and not isinstance(error, ssl.SSLError | socket.gaierror):
        return os.strerror(error.errno)
    return str(error) or type(error).__name__
