"""A server of `serving/http.py` on a Unix socket, on both loops that routers and gateways run on."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import ssl
import subprocess

import pytest
import uvloop

from tamis.serving.http import HttpServer


def pytest_asyncio_loop_factories():
    """Every asynchronous test on both loops."""
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


class Raw:
    """A client that writes and reads bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()

    def half_close(self) -> None:
        self._writer.write_eof()

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()

    async def until(self, end: bytes) -> bytes:
        async with asyncio.timeout(10):
            return await self._reader.readuntil(end)

    async def answer(self) -> tuple[int, dict[str, str], bytes]:
        """The next answer with Content-Length."""
        async with asyncio.timeout(10):
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode()
            lines = head.split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in lines[1:-2])
            return int(lines[0].split()[1]), headers, await self._reader.readexactly(int(headers["content-length"]))

    async def rest(self) -> bytes:
        """All bytes until the server closes; a cut connection ends them, too."""
        got = b""
        async with asyncio.timeout(10):
            with contextlib.suppress(ConnectionError):
                while data := await self._reader.read(65_536):
                    got += data
        return got


@pytest.fixture
async def serving(tmp_path):
    """A function that serves a handler, and returns the server and a function that connects to it."""
    opened, servers = [], []

    async def serve(handler, **settings):
        server = HttpServer(handler, **settings)
        path = str(tmp_path / f"{len(servers)}.sock")
        listener = await asyncio.get_running_loop().create_unix_server(server.connection, path)
        servers.append((server, listener))

        async def connect() -> Raw:
            raw = Raw(*await asyncio.open_unix_connection(path))
            opened.append(raw)
            return raw

        return server, connect

    yield serve
    for raw in opened:
        await raw.close()
    for server, listener in servers:
        listener.close()
        server.close()
    await asyncio.sleep(0.02)
    assert not any(server.connections for server, _ in servers)


@pytest.fixture(scope="session")
def tls_contexts(tmp_path_factory):
    """Contexts of a server and of its clients, with a certificate for localhost that signs itself."""
    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl command")
    folder = tmp_path_factory.mktemp("tls")
    made, key = folder / "certificate.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(key), "-out", str(made), "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603
    accepting = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    accepting.load_cert_chain(made, key)
    return accepting, ssl.create_default_context(cafile=made)
