"""What a request over HTTP costs with a written answer: `python -m tamis.bench.router.http_requests`.

Law: each server is a process of its own on a Unix socket, with uvloop, and answers the same bytes to the same requests.
Its CPU is its own clock's, between its first and its last request; `pipelined` requests come 32 a write.

    written    serving/http.py with a handler that is no coroutine     coroutine  with one, a task a request
    body       a POST whose JSON body the handler has at hand          h11        h11 over streams of asyncio
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import socket
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import h11
import uvloop

from tamis.serving.answers import Answer
from tamis.serving.http import Handler, HttpServer, Request

HEADERS: Final = b"Host: localhost:8080\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\nAuthorization: Basic ZGVzazp0\r\n"
BODY: Final = b'{"attributes": {"class": "alert", "severity": 6}, "payload": "disk full"}'
GET: Final = b"GET /v1/messages?class=alert HTTP/1.1\r\n" + HEADERS + b"\r\n"
TYPE: Final = b"Content-Type: application/json\r\n"
LENGTH: Final = b"Content-Length: %d\r\n\r\n" % len(BODY)
POST: Final = b"POST /v1/messages HTTP/1.1\r\n" + HEADERS + TYPE + LENGTH + BODY
ANSWER: Final = Answer(b'{"id": "9933345172075899469-17"}\n', 202)
PIPELINED: Final = 32


def written(_: Request) -> Answer:
    return ANSWER


async def coroutine(_: Request) -> Answer:
    return ANSWER


def body(request: Request) -> Answer:
    if request.body_at_hand(len(BODY)) is None:
        raise ValueError("the body is not at hand")
    return ANSWER


async def by_h11(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve a connection as a server by h11 over streams does."""
    http = h11.Connection(h11.SERVER)
    headers = [("Content-Type", ANSWER.content_type), ("Content-Length", str(len(ANSWER.body)))]
    while True:
        event = http.next_event()
        if event is h11.NEED_DATA:
            http.receive_data(await reader.read(65_536))
        elif isinstance(event, h11.EndOfMessage):
            writer.write(http.send(h11.Response(status_code=ANSWER.status, headers=headers)) or b"")
            writer.write(http.send(h11.Data(data=ANSWER.body)) or b"")
            writer.write(http.send(h11.EndOfMessage()) or b"")
            await writer.drain()
            http.start_next_cycle()
        elif isinstance(event, h11.ConnectionClosed):
            writer.close()
            return


Listen = Callable[[str], Awaitable[asyncio.Server]]
SERVERS: Final = ("written", "coroutine", "body", "h11")


def _listen(name: str) -> Listen:
    if name == "h11":
        return lambda path: asyncio.start_unix_server(by_h11, path)
    handlers: dict[str, Handler] = {"written": written, "coroutine": coroutine, "body": body}
    server = HttpServer(handlers[name])
    return lambda path: asyncio.get_running_loop().create_unix_server(server.connection, path)


def _serve(name: str, path: str, parent: Connection) -> None:
    """Serve until the parent says so; tell it the CPU time each time it asks."""

    async def life() -> None:
        async with await _listen(name)(path):
            parent.send(None)
            loop, over = asyncio.get_running_loop(), asyncio.Event()

            def asked() -> None:
                if parent.recv():
                    over.set()
                else:
                    parent.send(time.process_time())

            loop.add_reader(parent.fileno(), asked)
            await over.wait()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(life())


def _ask(sock: socket.socket, sent: bytes, requests: int) -> int:
    """Send `requests` requests in one write and read their answers; return the bytes of an answer."""
    sock.sendall(sent * requests)
    got, size = bytearray(), 0
    while size == 0 or len(got) < size * requests:
        data = sock.recv(262_144)
        if not data:
            raise ConnectionError("the server has closed")
        got += data
        end = got.find(ANSWER.body)
        size = end + len(ANSWER.body) if end >= 0 else 0
    return size


def measure(name: str, requests: int, pipelined: int) -> dict[str, object]:
    sent = POST if name == "body" else GET
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "http.sock")
        ours, theirs = multiprocessing.Pipe()
        child = multiprocessing.get_context("fork").Process(target=_serve, args=(name, path, theirs), daemon=True)
        child.start()
        ours.recv()
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(path)
            for _ in range(200):
                _ask(sock, sent, pipelined)
            ours.send(False)
            cpu_s, began_s = ours.recv(), time.monotonic()
            for _ in range(requests // pipelined):
                _ask(sock, sent, pipelined)
            ours.send(False)
            cpu_s, took_s = ours.recv() - cpu_s, time.monotonic() - began_s
        ours.send(True)
        child.join(10)
    made = requests // pipelined * pipelined
    return {
        "server": name,
        "pipelined": pipelined,
        "requests": made,
        "cpu_us": round(cpu_s / made * 1e6, 2),
        "per_s": round(made / took_s),
    }


def main(arguments: Sequence[str]) -> int:
    """Print a line of JSON for each server and way to ask; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=20_000)
    requests = parser.parse_args(arguments).requests
    for name in SERVERS:
        for pipelined in (1, PIPELINED):
            print(json.dumps(measure(name, requests, pipelined)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
