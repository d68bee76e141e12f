"""Three ways of moving bytes through the switch, side by side: `python -m tamis.bench.router.moving`.

    epoll      the loop watches one descriptor, the switch's own epoll set
    reader     the loop watches each socket, C reads and writes
    protocol   the loop reads and writes (a BufferedProtocol), C is fed and asked for output

Law: the same switch, the same frames, one publisher and one subscriber in processes of their own; only who calls recv
and send differs. Every run is bounded in messages and ends by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import statistics
import struct
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

import uvloop

from tamis.native import Admission, Switch, SwitchOptions, Table
from tamis.native.subscribe_frame import SubscribeFrame
from tamis.protocol.language import parse
from tamis.protocol.values import Value
from tamis.protocol.wire.client_bodies import Reach, Subscribe, SubscriptionItem
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.header import ID_OFFSET
from tamis.protocol.wire.packed_filters import encode_filter

PUBLISHER, SUBSCRIBER = 77, 78
BLOCK_MESSAGES = 400
ATTRIBUTES: dict[str, Value] = {
    "symbol": "S7",
    "side": "buy",
    "price": 1000,
    "venue": "X",
    "qty": 100,
    "lot": 3,
    "flag": True,
    "trader": "bob",
    "region": "eu",
    "urgent": False,
}
POLL_BUDGET_US = 4_000
_COUNTER = struct.Struct("<Q")


def publish(sock: socket.socket, messages: int) -> None:
    frame = encode_publish(PUBLISHER, 1, 0, ATTRIBUTES, b"xxxx")
    block, counter = bytearray(frame * BLOCK_MESSAGES), 0
    for _ in range(messages // BLOCK_MESSAGES):
        for at in range(ID_OFFSET + 8, len(block), len(frame)):
            counter += 1
            _COUNTER.pack_into(block, at, counter)
        sock.sendall(block)
    sock.shutdown(socket.SHUT_WR)
    consume(sock, messages)  # a socket closed with unread bytes takes those it sent along


def consume(sock: socket.socket, _messages: int) -> None:
    while sock.recv(1 << 18):
        pass


@contextmanager
def process(work: Callable[[socket.socket, int], None], family: str, messages: int) -> Iterator[socket.socket]:
    """Our end of a connection whose other end `work` has, in a process of its own."""
    ours, theirs = connected(family)
    child = os.fork()
    if child == 0:
        ours.close()
        work(theirs, messages)
        os._exit(0)
    theirs.close()
    ours.setblocking(False)
    try:
        yield ours
    finally:
        ours.close()
        os.waitpid(child, 0)


def connected(family: str) -> tuple[socket.socket, socket.socket]:
    if family == "unix":
        return socket.socketpair()
    with socket.create_server(("127.0.0.1", 0)) as server:
        theirs = socket.create_connection(server.getsockname())
        ours, _ = server.accept()
    for sock in (ours, theirs):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return ours, theirs


class _Fed(asyncio.BufferedProtocol):
    """A connection whose bytes the loop moves."""

    def __init__(self, switch: Switch, connection: int, flush: Callable[[], None]) -> None:
        self._switch, self._connection, self._flush = switch, connection, flush
        self._buffer = memoryview(bytearray(1 << 18))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def get_buffer(self, _sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._switch.feed(self._connection, self._buffer[:nbytes])
        self.write_output()
        self._flush()

    def write_output(self) -> None:
        while data := self._switch.output(self._connection, 1 << 18):
            self.transport.write(data)


class _Run:
    """One switch with one subscription and two admitted connections."""

    def __init__(self, messages: int) -> None:
        self.messages = messages
        self.table = Table()
        self.switch = Switch(
            self.table, SwitchOptions(number=1, epoch=1, connections_max=4, publishers_max=4, hop_limit=1)
        )

    def admit(self, number: int, descriptor: int) -> int:
        connection = self.switch.open(descriptor)
        if connection is None:
            raise RuntimeError("no room for a connection")
        admission = Admission(
            number=number,
            queue_bytes_max=1 << 28,
            credit_bytes=1 << 50,
            credit_frames=1 << 31,
            frame_bytes_max=1 << 20,
            filters_max=10,
        )
        self.switch.admit(connection, admission)
        return connection

    def subscribe(self, connection: int) -> None:
        (wanted,) = parse('symbol = "S7" and side = "buy" and price < 2000000').filters
        batch = Subscribe(1, (SubscriptionItem(1, (encode_filter(wanted),)),), False, Reach.HOME, False)
        if self.switch.subscribe(self.switch.subscriber_of(connection), SubscribeFrame(encode(batch)), 10):
            raise RuntimeError("the subscription was refused")

    async def finished(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        while self.switch.figures().deliveries < self.messages or self.switch.figures().queued_bytes:
            await asyncio.sleep(0.005)
            meanwhile()

    def close(self) -> None:
        self.switch.close()
        self.table.close()


async def _by_epoll(run: _Run, publisher: socket.socket, subscriber: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    run.subscribe(run.admit(SUBSCRIBER, subscriber.detach()))
    run.admit(PUBLISHER, publisher.detach())
    loop.add_reader(run.switch.descriptor, run.switch.poll, POLL_BUDGET_US)
    await run.finished()
    loop.remove_reader(run.switch.descriptor)


async def _by_reader(run: _Run, publisher: socket.socket, subscriber: socket.socket) -> None:
    """The publisher's socket wakes the loop; the subscriber's, when it was full, is seen to by a timer."""
    loop = asyncio.get_running_loop()
    descriptor = publisher.detach()
    run.subscribe(run.admit(SUBSCRIBER, subscriber.detach()))
    run.admit(PUBLISHER, descriptor)
    loop.add_reader(descriptor, run.switch.poll, POLL_BUDGET_US)
    await run.finished(lambda: run.switch.poll(POLL_BUDGET_US))
    loop.remove_reader(descriptor)


async def _by_protocol(run: _Run, publisher: socket.socket, subscriber: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    to_subscriber = run.admit(SUBSCRIBER, -1)
    run.subscribe(to_subscriber)
    transports = []
    sink = _Fed(run.switch, to_subscriber, lambda: None)
    source = _Fed(run.switch, run.admit(PUBLISHER, -1), sink.write_output)
    for sock, protocol in ((subscriber, sink), (publisher, source)):
        transport, _ = await loop.connect_accepted_socket(lambda protocol=protocol: protocol, sock)  # type: ignore[misc]
        transports.append(transport)
    await run.finished()
    for transport in transports:
        transport.close()


WAYS = {"epoll": _by_epoll, "reader": _by_reader, "protocol": _by_protocol}


def measure(way: str, family: str, messages: int) -> dict[str, float]:
    run = _Run(messages)
    with (
        process(consume, family, messages) as subscriber,
        process(publish, family, messages) as publisher,
    ):
        started, busy = time.perf_counter(), time.process_time()
        uvloop.run(WAYS[way](run, publisher, subscriber))
        elapsed, cpu = time.perf_counter() - started, time.process_time() - busy
        run.close()
    return {"msgs_per_s": messages / elapsed, "cpu_us": cpu * 1e6 / messages}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tamis.bench.router.moving", description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=1_000_000, help="for each run (1,000,000)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each way, in turns (5)")
    parser.add_argument("--json", action="store_true", help="one object a line")
    arguments = parser.parse_args()
    messages = arguments.messages // BLOCK_MESSAGES * BLOCK_MESSAGES
    found: dict[tuple[str, str], list[dict[str, float]]] = {}
    for number in range(arguments.rounds):
        for family in ("tcp", "unix"):
            for way in WAYS:
                print(f"round {number + 1}: {way} over {family}", file=sys.stderr, end="\r", flush=True)
                found.setdefault((way, family), []).append(measure(way, family, messages))
    print(" " * 40, file=sys.stderr, end="\r")
    for (way, family), runs in found.items():
        print(_row(way, family, runs, arguments.json))


def _row(way: str, family: str, runs: list[dict[str, float]], as_json: bool) -> str:
    rate = statistics.median(run["msgs_per_s"] for run in runs)
    costs = sorted(run["cpu_us"] for run in runs)
    cost = statistics.median(costs)
    if as_json:
        row = {"way": way, "socket": family, "msgs_per_s": rate, "cpu_us": cost}
        return json.dumps(row | {"cpu_us_min": costs[0], "cpu_us_max": costs[-1]})
    range_ = f"({costs[0]:.3f} to {costs[-1]:.3f})"
    return f"{way:9} {family:5} {rate / 1e6:6.2f} M msg/s   {cost:6.3f} us of CPU a message {range_}"


if __name__ == "__main__":
    main()
