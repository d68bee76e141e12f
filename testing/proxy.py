"""A process that links run through: `python -m tamis.testing.proxy`.

    stdin    {"name": "r0-r1", "target": 12001, "state": "open"} a line: makes a link, or changes its state
    stdout   {"name": ..., "port": N}                            once for each link
             {"name": ..., "is": "up" | "down" | STATE, "at": S} sessions come and go, states are changed; S: monotonic

    open    bytes pass
    cut     both sides are reset, and so is each new connection
    dark    bytes vanish

Law: a connection that lost a byte is reset before any other byte passes. The process ends with its input.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import sys
import time
from typing import Any, Final, cast

import uvloop

WAITING_BYTES_MAX: Final = 65_536
_NO_LINGER: Final = struct.pack("ii", 1, 0)


class ProxiedLink:
    def __init__(self, name: str, target: int, state: str) -> None:
        self.name, self.target, self.state = name, target, state
        self.sessions: set[Session] = set()

    async def listen(self) -> None:
        server = await asyncio.get_running_loop().create_server(lambda: Session(self).near, "127.0.0.1", 0)
        _say(name=self.name, port=server.sockets[0].getsockname()[1])

    def change(self, state: str) -> None:
        is_whole = self.state == state or (self.state, state) == ("open", "dark")
        self.state = state
        for session in () if is_whole else list(self.sessions):
            session.reset()
        self.say(state)

    def say(self, what: str) -> None:
        _say(name=self.name, **{"is": what}, at=time.monotonic())


class Session:
    """Two connections: `near` from the client to the proxy, `far` from the proxy to the target."""

    def __init__(self, link: ProxiedLink) -> None:
        self.link = link
        self.near, self.far = End(self), End(self)
        self.near.other, self.far.other = self.far, self.near
        self.early = bytearray()
        """Bytes that arrived before the connection to the target was made: a greeting at most."""
        self._dialling: asyncio.Task[None] | None = None
        self.is_up = self._is_over = False

    def begin(self) -> None:
        self.link.sessions.add(self)
        if self.link.state == "cut":
            self.reset()
        else:
            self._dialling = asyncio.get_running_loop().create_task(self._dial())

    async def _dial(self) -> None:
        try:
            await asyncio.get_running_loop().create_connection(lambda: self.far, "127.0.0.1", self.link.target)
        except OSError:
            self.reset()
            return
        if self._is_over:
            self.far.reset()
            return
        self.is_up = True
        self.link.say("up")
        self.far.transport.write(bytes(self.early))

    def reset(self) -> None:
        if not self._is_over:
            self._is_over = True
            self.link.sessions.discard(self)
            self.near.reset()
            self.far.reset()
            if self.is_up:
                self.link.say("down")


class End(asyncio.Protocol):
    transport: asyncio.Transport
    other: End

    def __init__(self, session: Session) -> None:
        self._session = session

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.transport.set_write_buffer_limits(WAITING_BYTES_MAX)
        _socket_of(transport).setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self is self._session.near:
            self._session.begin()

    def data_received(self, data: bytes) -> None:
        if self._session.link.state != "open":
            return
        if self._session.is_up:
            self.other.transport.write(data)
        else:
            self._session.early += data

    def pause_writing(self) -> None:
        self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        self.other.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the signature is asyncio's
        """Reset the session; while bytes vanish, the end of a connection is hidden, too."""
        if self._session.link.state != "dark":
            self._session.reset()

    def reset(self) -> None:
        if hasattr(self, "transport") and not self.transport.is_closing():
            _socket_of(self.transport).setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
            self.transport.abort()


def _socket_of(transport: asyncio.BaseTransport) -> socket.socket:
    return cast("socket.socket", transport.get_extra_info("socket"))


def _say(**words: object) -> None:
    print(json.dumps(words), flush=True)


async def _serve() -> None:
    links: dict[str, ProxiedLink] = {}
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        asked: dict[str, Any] = json.loads(line)
        if asked["name"] in links:
            links[asked["name"]].change(asked["state"])
        else:
            links[asked["name"]] = link = ProxiedLink(asked["name"], asked["target"], asked["state"])
            await link.listen()


if __name__ == "__main__":
    uvloop.run(_serve())
