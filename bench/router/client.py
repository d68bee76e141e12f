"""How fast the Python client publishes and iterates, over a Unix socket, on one core.

    python -m tamis.bench.router.client [--messages 400000] [--rounds 5] [--json]

Law: the other end is a process of its own that costs nothing worth mentioning: it reads bytes and throws them away, or
writes frames that were made beforehand. Messages have two attributes and 16 bytes of payload. Rates are of wall time,
from the first call to the answer that everything was read; CPU is that of the client's process.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import socket
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import click

import tamis
from tamis.bench.tables import markdown, short
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.values import Value
from tamis.protocol.wire.client_bodies import Ack, AckOf, Credit, Range, Subscribe
from tamis.protocol.wire.data_frames import DataFrame, decode_data, encode_data
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.frames import Body, decode, encode
from tamis.protocol.wire.header import Transit
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.reader import FrameReader
from tamis.protocol.wire.session_bodies import Auth, Authenticated, AuthMethod, Hello, Welcome

ATTRIBUTES: Final[Mapping[str, Value]] = {"class": "alert", "severity": 6}
PAYLOAD: Final = b"sixteen bytes..."
NAME: Final = "bench"
_CHUNK: Final = 65_536
_FRAMES_PER_WRITE: Final = 512


@dataclass(frozen=True, slots=True)
class Rate:
    """Of several rounds: messages a second, and microseconds of CPU for each."""

    what: str
    loop: str
    messages: int
    median: float
    least: float
    most: float
    cpu_us: float


# --- the other end ---------------------------------------------------------------------------------------------------


def _accept(listener: socket.socket) -> tuple[socket.socket, FrameReader]:
    """Greet a client and let it publish as much as it likes."""
    wire, _ = listener.accept()
    reader = FrameReader()
    _next(wire, reader, Hello)
    _send(wire, Welcome("sink", 1, bytes(16), 1, (), 1 << 20, 60_000, 0, (AuthMethod.NONE,)))
    _next(wire, reader, Auth)
    reader.authenticated()
    _send(wire, Authenticated(b"", stable_number(NAME), 1))
    _send(wire, Credit(1 << 40, 1 << 50))
    return wire, reader


def _next(wire: socket.socket, reader: FrameReader, kind: type) -> Body | DataFrame:
    while True:
        for raw in reader:
            frame = decode(raw)
            assert isinstance(frame, kind), frame  # noqa: S101 - a benchmark's own peer
            return frame
        reader.feed(wire.recv(_CHUNK))


def _send(wire: socket.socket, body: Body) -> None:
    wire.sendall(encode(body))


def _sink(listener: socket.socket, octets: int) -> None:
    """Read `octets` bytes; the last frame of them is to be confirmed."""
    wire, _ = _accept(listener)
    room, left = bytearray(_CHUNK), octets
    tail = b""
    while left:
        got = wire.recv_into(room, min(_CHUNK, left))
        left -= got
        tail = (tail + bytes(room[:got]))[-_CHUNK:] if left < _CHUNK else b""
    last = decode_data(tail[-_PUBLISH_BYTES:]).message.id.counter
    _send(wire, Ack(AckOf.PUBLISH, 0, (Range(last, last),)))
    wire.recv(1)


def _source(listener: socket.socket, messages: int) -> None:
    """Answer one SUBSCRIBE, then send `messages` that satisfy it."""
    wire, reader = _accept(listener)
    asked = _next(wire, reader, Subscribe)
    _send(wire, Ack(AckOf.SUBSCRIBE, asked.request, (Range(1, 1),)))  # type: ignore[union-attr]
    chunk = _DELIVER * _FRAMES_PER_WRITE
    for _ in range(messages // _FRAMES_PER_WRITE):
        wire.sendall(chunk)
    wire.recv(1)


_DELIVER: Final = encode_data(
    DataFrame(
        FrameKind.DELIVER,
        Message(ATTRIBUTES, PAYLOAD, MessageId(7, 1)),
        hop_limit=8,
        transit=Transit(1, 1, 1),
        publish_time_ns=1,
        extensions={ExtensionType.SATISFIED: (1,)},
    )
)
_PUBLISH_BYTES: Final = len(_DELIVER) - 8  # without the extension


# --- the client ------------------------------------------------------------------------------------------------------


async def _publish(address: str, messages: int) -> None:
    async with tamis.connect(address, name=NAME) as client:
        _clock.start()
        for _ in range(messages - 1):
            await client.publish(ATTRIBUTES, PAYLOAD)
        await client.publish(ATTRIBUTES, PAYLOAD, confirm=True)
        _clock.stop()
        raise _Done


async def _iterate(address: str, messages: int) -> None:
    async with tamis.connect(address, name=NAME) as client:
        wanted = client.subscribe("severity > 2")
        _clock.start()
        await wanted.start()
        left = messages
        async for _ in wanted:
            left -= 1
            if not left:
                break
        _clock.stop()
        raise _Done


def _publish_blocking(address: str, messages: int) -> None:
    with tamis.blocking.connect(address, name=NAME) as client:
        _clock.start()
        for _ in range(messages - 1):
            client.publish(ATTRIBUTES, PAYLOAD)
        client.publish(ATTRIBUTES, PAYLOAD, confirm=True)
        _clock.stop()
        raise _Done


def _iterate_blocking(address: str, messages: int) -> None:
    with tamis.blocking.connect(address, name=NAME) as client:
        wanted = client.subscribe("severity > 2")
        _clock.start()
        wanted.start()
        left = messages
        for _ in wanted:
            left -= 1
            if not left:
                break
        _clock.stop()
        raise _Done


class _Done(Exception):
    """Leaves a client at once: there is nothing to drain, and nobody to answer."""


class _Clock:
    """Wall and CPU time of one round, started and stopped from within."""

    def start(self) -> None:
        self._began = time.perf_counter(), time.process_time()

    def stop(self) -> None:
        self.wall_s = time.perf_counter() - self._began[0]
        self.cpu_s = time.process_time() - self._began[1]


_clock: Final = _Clock()


@dataclass(frozen=True, slots=True)
class _Case:
    what: str
    loop: str
    peer: Callable[[socket.socket, int], None]
    size: int
    """What the peer counts for each message: bytes read, or messages sent."""
    run: Callable[[str, int], Awaitable[None] | None]


def _cases() -> list[_Case]:
    cases = []
    for loop in ("uvloop", "asyncio"):
        cases.append(_Case("publish", loop, _sink, _PUBLISH_BYTES, _publish))
        cases.append(_Case("iterate", loop, _source, 1, _iterate))
    cases.append(_Case("publish", "blocking", _sink, _PUBLISH_BYTES, _publish_blocking))
    cases.append(_Case("iterate", "blocking", _source, 1, _iterate_blocking))
    return cases


def _round(case: _Case, messages: int) -> tuple[float, float]:
    """Messages a second, and microseconds of CPU for each."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        path = str(Path(folder) / "peer")
        listener.bind(path)
        listener.listen()
        other = multiprocessing.get_context("fork").Process(target=case.peer, args=(listener, case.size * messages))
        other.start()
        try:
            _run(case, f"tamis+unix:{path}", messages)
        finally:
            other.kill()
            other.join()
    return messages / _clock.wall_s, _clock.cpu_s / messages * 1e6


def _run(case: _Case, address: str, messages: int) -> None:
    with contextlib.suppress(_Done):
        if case.loop == "blocking":
            case.run(address, messages)
        elif case.loop == "uvloop":
            import uvloop

            uvloop.run(case.run(address, messages))  # type: ignore[arg-type]
        else:
            asyncio.run(case.run(address, messages))  # type: ignore[arg-type]


def measure(case: _Case, messages: int, rounds: int) -> Rate:
    results = [_round(case, messages) for _ in range(rounds)]
    rates = [rate for rate, _ in results]
    cpu_us = min(cpu for _, cpu in results)
    return Rate(case.what, case.loop, messages, statistics.median(rates), min(rates), max(rates), cpu_us)


@click.command()
@click.option("--messages", type=click.IntRange(min=_FRAMES_PER_WRITE), default=409_600, show_default=True)
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True)
@click.option("--only", default="", help="Measure only cases whose name or loop contains this text.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def main(messages: int, rounds: int, only: str, as_json: bool) -> None:
    """Measure what a Python client can do."""
    messages -= messages % _FRAMES_PER_WRITE
    chosen = [case for case in _cases() if only in f"{case.what} {case.loop}"]
    rates = [measure(case, messages, rounds) for case in chosen]
    if as_json:
        print("\n".join(json.dumps(asdict(rate)) for rate in rates))
        return
    head = ["what", "loop", "msgs/s", "least", "most", "CPU us/msg"]
    rows = ([r.what, r.loop, f"{r.median:,.0f}", f"{r.least:,.0f}", f"{r.most:,.0f}", short(r.cpu_us)] for r in rates)
    print(markdown(head, rows))


if __name__ == "__main__":
    main()
