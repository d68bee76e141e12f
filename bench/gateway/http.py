"""What a message costs by the gateway for HTTP: `python -m tamis.bench.gateway.http`.

Law: router and gateway are processes of their own, joined by a Unix socket, and CPU is what both have used together
between the first byte and the last answer, by the system's account (10 ms). The other ends are in this process, which
shares the machine with them. Every message is counted at its end.

    lines    a stream of lines in, confirmed         posts    single confirmed messages on many connections
    events   Server-Sent Events to 1 and many        idle     streams without messages: bytes of both for each
"""

from __future__ import annotations

import json
import os
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import click

from tamis.bench.tables import tell
from tamis.blocking import connect
from tamis.testing import blocking

LINE: Final = b'{"attributes":{"class":"alert","severity":6,"host":"web-17"},"payload":"disk full on /var"}\n'
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_READ: Final = 262_144
_WAIT_S: Final = 120.0


class Pair(NamedTuple):
    """A router and a gateway for it, which run."""

    router: str
    at: tuple[str, int]
    pids: tuple[int, int]

    def cpu_s(self) -> float:
        return sum(_cpu_s(pid) for pid in self.pids)

    def resident(self) -> list[int]:
        return [_resident(pid) for pid in self.pids]

    def dialled(self, method: str, target: str, body: bytes = b"", more: str = "") -> socket.socket:
        """Return a connection that has made a request."""
        sock = socket.create_connection(self.at, timeout=_WAIT_S)
        head = f"{method} {target} HTTP/1.1\r\nHost: localhost:{self.at[1]}\r\n{more}"
        length = f"Content-Length: {len(body)}\r\n" if method == "POST" else ""
        sock.sendall(f"{head}{length}\r\n".encode() + body)
        return sock


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def running() -> Iterator[Pair]:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        file = Path(folder) / "one.yaml"
        file.write_text('limits: {connections: 12000}\nrouters: {a: {clients: "unix:clients", admin: "unix:admin"}}\n')
        router = stack.enter_context(blocking.started(file, "a"))
        command = [sys.executable, "-m", "tamis.cli.main", "gateway", router.address, "--http", "127.0.0.1:0"]
        gateway = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))  # noqa: S603
        stack.callback(gateway.terminate)
        assert gateway.stdout  # noqa: S101
        host, _, port = gateway.stdout.readline().split()[-1].removeprefix("http://").rpartition(":")
        yield Pair(router.address, (host, int(port)), (router.pid, gateway.pid))


def _until(sock: socket.socket, end: bytes) -> bytes:
    got = b""
    while end not in got:
        data = sock.recv(_READ)
        if not data:
            raise ConnectionError("the gateway has closed")
        got += data
    return got


def lines(pair: Pair, count: int) -> dict[str, object]:
    with pair.dialled("POST", "/v1/messages", LINE * 10, "Content-Type: application/x-ndjson\r\n") as sock:
        _until(sock, b"}\n")
    began_s, cpu_s = time.perf_counter(), pair.cpu_s()
    with pair.dialled("POST", "/v1/messages", LINE * count, "Content-Type: application/x-ndjson\r\n") as sock:
        said = json.loads(_until(sock, b"}\n").partition(b"\r\n\r\n")[2])
    if said["published"] != count:
        raise RuntimeError(f"not all lines were published: {said}")
    return _row("lines", 1, count, time.perf_counter() - began_s, pair.cpu_s() - cpu_s)


def events(pair: Pair, streams: int, count: int) -> dict[str, object]:
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        for _ in range(streams):
            sock = stack.enter_context(pair.dialled("GET", "/v1/messages?where=severity+%3E+2"))
            _until(sock, b"}\n\n")  # of `subscribed`
            selector.register(sock, selectors.EVENT_READ)
        client = stack.enter_context(connect(pair.router))
        began_s, cpu_s, braces, seen, sent = time.perf_counter(), pair.cpu_s(), 0, 0, 0
        while seen < count * streams:
            for _ in range(min(200, count - sent) if sent * streams - seen < 100_000 else 0):
                client.publish({"class": "alert", "severity": 6, "host": "web-17"}, b"disk full on /var")
                sent += 1
            for key, _ in selector.select(0 if sent < count else 1):
                assert isinstance(key.fileobj, socket.socket)  # noqa: S101
                data = key.fileobj.recv(_READ)
                if not data or b"event: gap" in data:
                    raise RuntimeError("messages were lost")
                braces += data.count(b"{")  # two a message; a word could be cut by the end of a read
                seen = braces // 2
        return _row("events", streams, seen, time.perf_counter() - began_s, pair.cpu_s() - cpu_s)


def posts(pair: Pair, connections: int, count: int) -> dict[str, object]:
    one = b"POST /v1/messages HTTP/1.1\r\nHost: localhost:%d\r\nContent-Type: application/json\r\n" % pair.at[1]
    one += b"Content-Length: %d\r\n\r\n" % (len(LINE) - 1) + LINE[:-1]
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        for _ in range(connections):
            sock = stack.enter_context(socket.create_connection(pair.at, timeout=_WAIT_S))
            sock.sendall(one)
            _until(sock, b"}\n")
            selector.register(sock, selectors.EVENT_READ)
        began_s, cpu_s, answered = time.perf_counter(), pair.cpu_s(), 0
        for key in list(selector.get_map().values()):
            assert isinstance(key.fileobj, socket.socket)  # noqa: S101
            key.fileobj.sendall(one)
        while answered < count:
            for key, _ in selector.select(_WAIT_S):
                assert isinstance(key.fileobj, socket.socket)  # noqa: S101
                if b" 202 " not in _until(key.fileobj, b"}\n"):
                    raise RuntimeError("a message was refused")
                answered += 1
                key.fileobj.sendall(one)
        return _row("posts", connections, answered, time.perf_counter() - began_s, pair.cpu_s() - cpu_s)


def idle(pair: Pair, streams: int) -> dict[str, object]:
    before = pair.resident()
    began_s, cpu_s = time.perf_counter(), pair.cpu_s()
    with ExitStack() as stack:
        for _ in range(streams):
            _until(stack.enter_context(pair.dialled("GET", "/v1/messages?where=severity+%3E+2")), b"}\n\n")
        row = _row("idle", streams, streams, time.perf_counter() - began_s, pair.cpu_s() - cpu_s)
        each = [round((now - then) / streams) for now, then in zip(pair.resident(), before, strict=True)]
        return row | {"router bytes": each[0], "gateway bytes": each[1]}


def _row(what: str, width: int, count: int, seconds: float, cpu_s: float) -> dict[str, object]:
    return {"what": what, "clients": width, "a second": round(count / seconds), "cpu us": round(cpu_s / count * 1e6, 2)}


@click.command(help=__doc__)
@click.option("--scale", default=1.0, show_default=True, help="Of the numbers of messages and streams.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
def main(scale: float, rounds: int, as_json: bool) -> None:
    def of(number: int) -> int:
        return max(1, round(number * scale))

    with running() as pair:
        measures: list[Callable[[], dict[str, object]]] = [
            partial(lines, pair, of(200_000)),
            partial(events, pair, 1, of(100_000)),
            partial(events, pair, 100, of(5_000)),
            partial(posts, pair, 64, of(6_000)),
            partial(idle, pair, of(1_000)),
        ]
        for measure in measures:
            rows = [measure() for _ in range(rounds)]
            best = min(rows, key=lambda row: float(str(row["cpu us"])))
            tell(best | {"median cpu us": median(float(str(row["cpu us"])) for row in rows)}, as_json)


if __name__ == "__main__":
    main()
