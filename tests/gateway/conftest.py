"""A router as a process, and a gateway for it in the loop of the test."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvloop

from tamis.configs.address import parse_address
from tamis.gateway.process import Gateway, GatewaySettings
from tests.routers import Running, running, started

WAIT_S = 20


def pytest_asyncio_loop_factories():
    """Every asynchronous test on both loops."""
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


class Reply:
    """An answer, of which the head is read."""

    def __init__(self, status: int, headers: dict[str, str], reader: asyncio.StreamReader) -> None:
        self.status, self.headers, self._reader = status, headers, reader

    async def body(self) -> bytes:
        async with asyncio.timeout(WAIT_S):
            if "content-length" in self.headers:
                return await self._reader.readexactly(int(self.headers["content-length"]))
            return b"".join([piece async for piece in self.pieces()])

    async def form(self) -> Any:
        return json.loads(await self.body())

    async def pieces(self) -> AsyncIterator[bytes]:
        """The chunks of a stream; it must end with the last chunk."""
        while True:
            async with asyncio.timeout(WAIT_S):
                size = int(await self._reader.readuntil(b"\r\n"), 16)
                piece = (await self._reader.readexactly(size + 2))[:-2]
            if not size:
                return
            yield piece

    async def parts(self, end: bytes) -> AsyncIterator[str]:
        """The events or lines of a stream."""
        text = b""
        async for piece in self.pieces():
            text += piece
            *whole, text = text.split(end)
            for part in whole:
                yield part.decode()


class Caller:
    """Makes requests, each over a connection of its own."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self._writers: list[asyncio.StreamWriter] = []

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host, _, port = self.gateway.addresses[0].rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        self._writers.append(writer)
        return reader, writer

    async def __call__(self, method: str, target: str, body: bytes = b"", **headers: str) -> Reply:
        reader, writer = await self.open()
        fields = {"host": self.gateway.addresses[0], "content-length": str(len(body))} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        writer.write(f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + body)
        return await read_reply(reader)

    async def close(self) -> None:
        for writer in self._writers:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


async def read_reply(reader: asyncio.StreamReader) -> Reply:
    async with asyncio.timeout(WAIT_S):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
    return Reply(int(first.split()[1]), dict(line.lower().split(": ", 1) for line in lines), reader)


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("router")) as found:
        yield found


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A router that requires tokens."""
    folder: Path = tmp_path_factory.mktemp("guarded")
    tokens = folder / "tokens"
    tokens.touch(mode=0o600)
    tokens.write_text("desk right\npress other\n")
    file = folder / "guarded.yaml"
    file.write_text('tokens: tokens\nrouters: {a: {clients: "unix:clients", admin: "unix:admin"}}\n')
    with started(file, "a") as found:
        yield found


@contextlib.asynccontextmanager
async def gateway_of(address: str, **settings: Any) -> AsyncIterator[Caller]:
    gateway = Gateway(GatewaySettings(address, parse_address("127.0.0.1:0"), **settings))
    caller = Caller(gateway)
    try:
        yield caller
    finally:
        await caller.close()
        assert gateway.surface.is_draining or await gateway.drain()


@pytest.fixture
async def ask(router: Running) -> AsyncIterator[Caller]:
    async with gateway_of(router.client) as caller:
        yield caller
