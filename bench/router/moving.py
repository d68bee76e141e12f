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
import socket
import statistics
import sys
import time
from collections.abc import Callable
from typing import cast

import uvloop

from tamis.bench.router.switches import (
    BLOCK_MESSAGES,
    POLL_BUDGET_US,
    PUBLISHER,
    SUBSCRIBER,
    WANTED,
    admit,
    consume,
    packed,
    process,
    publish,
    subscribe,
)
from tamis.bench.tables import tell
from tamis.native import Switch, SwitchOptions, Table


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

    async def finished(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        while self.switch.figures().deliveries < self.messages or self.switch.figures().queued_bytes:
            await asyncio.sleep(0.005)
            meanwhile()

    def close(self) -> None:
        self.switch.close()
        self.table.close()


async def _by_epoll(run: _Run, publisher: socket.socket, subscriber: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    subscribe(run.switch, admit(run.switch, SUBSCRIBER, subscriber.detach()), [packed(WANTED)])
    admit(run.switch, PUBLISHER, publisher.detach())
    loop.add_reader(run.switch.descriptor, run.switch.poll, POLL_BUDGET_US)
    await run.finished()
    loop.remove_reader(run.switch.descriptor)


async def _by_reader(run: _Run, publisher: socket.socket, subscriber: socket.socket) -> None:
    """The publisher's socket wakes the loop; the subscriber's, when it was full, is seen to by a timer."""
    loop = asyncio.get_running_loop()
    descriptor = publisher.detach()
    subscribe(run.switch, admit(run.switch, SUBSCRIBER, subscriber.detach()), [packed(WANTED)])
    admit(run.switch, PUBLISHER, descriptor)
    loop.add_reader(descriptor, run.switch.poll, POLL_BUDGET_US)
    await run.finished(lambda: run.switch.poll(POLL_BUDGET_US))
    loop.remove_reader(descriptor)


async def _by_protocol(run: _Run, publisher: socket.socket, subscriber: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    to_subscriber = admit(run.switch, SUBSCRIBER)
    subscribe(run.switch, to_subscriber, [packed(WANTED)])
    transports = []
    sink = _Fed(run.switch, to_subscriber, lambda: None)
    source = _Fed(run.switch, admit(run.switch, PUBLISHER), sink.write_output)
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
    parser.add_argument("--messages", type=int, default=1_000_000, help="messages of each run (1,000,000)")
    parser.add_argument("--rounds", type=int, default=5, help="alternating runs of each way (5)")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
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
        tell(_row(way, family, runs), arguments.json)


def _row(way: str, family: str, runs: list[dict[str, float]]) -> dict[str, str | float]:
    rate = statistics.median(run["msgs_per_s"] for run in runs)
    costs = sorted(run["cpu_us"] for run in runs)
    row = {"msgs_per_s": rate, "cpu_us": statistics.median(costs), "cpu_us_min": costs[0], "cpu_us_max": costs[-1]}
    return {"way": way, "socket": family, **row}


if __name__ == "__main__":
    main()
