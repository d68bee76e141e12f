"""Large predicates over links: does everybody who has to know them know them soon, and what does it cost?

    wide     200 MB: 6,600 filters of 16 constraints, each `in` with 29 strings of 64 letters
    plain    1,000,000 filters of three constraints, 67 bytes each

All are those of ten clients of router a, first in the line a - b - c. They subscribe; then each router in turn is
killed and started, and the clients of a come back. Routed is what a router has in its table, as its status says, and a
message published at c is delivered at a. Counted from the last ACK where the clients subscribe, else from when the
port of the started router answers.

Run: python -m tamis.bench.router.large [--only wide,plain] [--share 1.0] [--json]. CPU is that of a router's process.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from tamis.bench.scratch import scratch_folder
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value
from tamis.protocol.wire.client_bodies import Ack, Reach, Subscribe, SubscriptionItem
from tamis.protocol.wire.data_frames import DataFrame, encode_publish
from tamis.protocol.wire.frames import Body, decode, encode
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.protocol.wire.reader import FrameReader
from tamis.protocol.wire.session_bodies import Auth, Authenticated, AuthMethod, Hello, Ping, Pong, Role
from tamis.testing import NetworkPlan, RouterNetwork, RouterProcess, running

CLIENTS: Final = 10
FRAME_BYTES: Final = 900_000
PATIENCE_S: Final = 300
LINE: Final = NetworkPlan(
    ("a", "b", "c"),
    (("a", "b", 1), ("b", "c", 1)),
    keys={
        "keepalive": {"hold_ms": 3_600_000, "ping_ms": 3_600_000},
        "limits": {"filters_per_client": 1_000_000, "memory_bytes": 8 << 30},
    },
)


def wide(number: int) -> Filter:
    def letters(constraint: int, value: int) -> str:
        return f"{number:08x}{constraint:04x}{value:04x}".ljust(64, "x")

    return Filter(
        tuple(
            Constraint(f"n{constraint}", Op.IN, tuple(letters(constraint, value) for value in range(29)))
            for constraint in range(16)
        )
    )


def plain(number: int) -> Filter:
    symbol = Constraint("symbol", Op.EQ, (f"{number:08d}.instrument.exchange",))
    return Filter((symbol, Constraint("side", Op.EQ, ("buy",)), Constraint("price", Op.LT, (100_000 + number,))))


SHAPES: Final = {"wide": (wide, 6_600), "plain": (plain, 1_000_000)}


def matching(shape: str, number: int) -> dict[str, Value]:
    """What one of the filters matches."""
    if shape == "plain":
        return {"symbol": f"{number:08d}.instrument.exchange", "side": "buy", "price": 1}
    return {f"n{constraint}": f"{number:08x}{constraint:04x}0000".ljust(64, "x") for constraint in range(16)}


class Client:
    """A socket, blocking."""

    def __init__(self, router: RouterProcess, name: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", router.port), timeout=PATIENCE_S)
        self._reader = FrameReader()
        self._frames: Iterator[bytes] = iter(())
        self._name, self._counter = name, time.time_ns()
        hello = Hello(Role.CLIENT, name, 0, os.urandom(16), 1, 2, (), 1 << 20, 3_600_000, 0)
        self._socket.sendall(encode(hello))
        self._next()
        self._socket.sendall(encode(Auth(AuthMethod.NONE, b"")))
        self._reader.authenticated()
        while not isinstance(self._next(), Authenticated):
            pass

    def subscribe(self, frames: list[bytes]) -> None:
        """Returns when all are acknowledged."""
        for frame in frames:
            self._socket.sendall(frame)
            while not isinstance(self._next(), Ack):
                pass

    def publish(self, attributes: dict[str, Value]) -> None:
        self._counter += 1
        self._socket.sendall(encode_publish(stable_number(self._name), self._counter, time.time_ns(), attributes))

    def is_told(self, within_s: float) -> bool:
        """Does a message come?"""
        self._socket.settimeout(within_s)
        try:
            while not isinstance(self._next(), DataFrame):
                pass
        except TimeoutError:
            return False
        finally:
            self._socket.settimeout(PATIENCE_S)
        return True

    def close(self) -> None:
        self._socket.close()

    def _next(self) -> Body | DataFrame:
        while True:
            for frame in self._frames:
                body = decode(frame)
                if not isinstance(body, Ping):
                    return body
                self._socket.sendall(encode(Pong(body.token)))
            data = self._socket.recv(1 << 20)
            if not data:
                raise EOFError("the router has closed the connection")
            self._reader.feed(data)
            self._frames = iter(list(self._reader))


def frames_of(shape: str, numbers: range) -> list[bytes]:
    make, _ = SHAPES[shape]
    frames: list[bytes] = []
    batch: list[SubscriptionItem] = []
    size = 0
    for number in numbers:
        packed = encode_filter(make(number))
        if batch and (size + len(packed) > FRAME_BYTES or len(batch) == 10_000):
            frames.append(encode(Subscribe(len(frames), tuple(batch), False, Reach.HOME, False)))
            batch, size = [], 0
        batch.append(SubscriptionItem(number, (packed,)))
        size += len(packed) + 12
    frames.append(encode(Subscribe(len(frames), tuple(batch), False, Reach.HOME, False)))
    return frames


@dataclass
class Wants:
    """What the clients of a ask for, again after each start of it."""

    shape: str
    count: int
    frames: list[list[bytes]]
    clients: list[Client]

    @classmethod
    def of(cls, shape: str, share: float) -> Wants:
        count = round(SHAPES[shape][1] * share)
        step = -(-count // CLIENTS)
        spans = [range(first, min(first + step, count)) for first in range(0, count, step)]
        return cls(shape, count, [frames_of(shape, span) for span in spans], [])

    @property
    def bytes(self) -> int:
        return sum(len(frame) for frames in self.frames for frame in frames)

    def close(self) -> None:
        for client in self.clients:
            client.close()

    def connect(self, router: RouterProcess) -> None:
        self.close()
        self.clients = [Client(router, f"c{number}") for number in range(len(self.frames))]
        with ThreadPoolExecutor(len(self.clients)) as pool:
            list(pool.map(Client.subscribe, self.clients, self.frames))


def cpu_s(router: RouterProcess) -> float:
    fields = Path(f"/proc/{router.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def measured(shape: str, share: float, folder: Path) -> list[dict[str, Any]]:
    rows = []
    wants = Wants.of(shape, share)
    async with running(folder, LINE) as network:
        await network.until_linked()
        for event in ("subscribe", "restart a", "restart b", "restart c"):
            rows.append({"shape": shape, "filters": wants.count, "megabytes": round(wants.bytes / 1e6, 1)})
            rows[-1] |= await _one(network, wants, event)
        wants.close()
    return rows


async def _one(network: RouterNetwork, wants: Wants, event: str) -> dict[str, Any]:
    started = event.rpartition(" ")[2] if event != "subscribe" else ""
    if started:
        await network.routers[started].kill()
    before = {name: cpu_s(router) if router.is_running else 0.0 for name, router in network.routers.items()}
    if started:
        await network.routers[started].start()
    begun_s = time.monotonic()
    if started in ("", "a"):
        await asyncio.to_thread(wants.connect, network.routers["a"])
    acked_s = time.monotonic()
    await _until_routed(network, wants.count)
    routed_s = time.monotonic()
    statuses = await network.status()
    return {
        "event": event,
        "load": round(os.getloadavg()[0], 1),
        "acked_s": round(acked_s - begun_s, 2),
        "routed_s": round(routed_s - acked_s, 2),
        "delivered": await asyncio.to_thread(_delivers, network, wants),
        "cpu_s": {name: round(cpu_s(router) - before[name], 2) for name, router in network.routers.items()},
        "stall_ms": {name: status["longest_stall_ms"] for name, status in statuses.items()},
        "memory_mib": {name: status["memory_bytes"] >> 20 for name, status in statuses.items()},
    }


async def _until_routed(network: RouterNetwork, count: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            status = await network.status()
            found = [status[name]["network"]["remote_filters"] for name in ("b", "c") if name in status]
            known = [each["network"]["routers"] for each in status.values()]
            if found == [count, count] and known == [3, 3, 3]:
                return
            await asyncio.sleep(0.05)


def _delivers(network: RouterNetwork, wants: Wants) -> bool:
    """Do the first and the last filter get what they ask for?"""
    publisher = Client(network.routers["c"], "publisher")
    told = []
    for number, client in ((0, wants.clients[0]), (wants.count - 1, wants.clients[-1])):
        publisher.publish(matching(wants.shape, number))
        told.append(client.is_told(2))
    publisher.close()
    return all(told)


@click.command()
@click.option("--only", default=",".join(SHAPES), show_default=True, help="Which.")
@click.option("--share", type=click.FloatRange(0.0001, 10), default=1.0, show_default=True, help="Of the filters.")
@click.option("--json", "as_json", is_flag=True, help="One object a line.")
def main(only: str, share: float, as_json: bool) -> None:
    """Subscribe, kill and start each router, see when all is routed."""
    for shape in only.split(","):
        if shape not in SHAPES:
            raise click.UsageError(f"--only: no {shape!r}; one of {', '.join(SHAPES)}")
        with scratch_folder() as folder:
            for row in asyncio.run(measured(shape, share, folder)):
                click.echo(json.dumps(row) if as_json else _text(row))


def _text(row: dict[str, Any]) -> str:
    return "  ".join(f"{name} {value}" for name, value in row.items())


if __name__ == "__main__":
    main()
