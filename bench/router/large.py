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
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from tamis.bench.commands import chosen
from tamis.bench.router.sockets import PATIENCE_S, Client, cpu_s, subscribe_frames
from tamis.bench.scratch import scratch_folder
from tamis.bench.tables import tell
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.testing import NetworkPlan, RouterNetwork, RouterProcess, running

CLIENTS: Final = 10
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


def frames_of(shape: str, numbers: range) -> list[bytes]:
    make, _ = SHAPES[shape]
    return subscribe_frames((number, encode_filter(make(number))) for number in numbers)


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
        _publish(publisher, matching(wants.shape, number))
        told.append(client.is_told(2))
    publisher.close()
    return all(told)


def _publish(publisher: Client, attributes: dict[str, Value]) -> None:
    publisher.counter += 1
    frame = encode_publish(stable_number(publisher.name), publisher.counter, time.time_ns(), attributes)
    publisher.socket.sendall(frame)


@click.command()
@click.option("--only", default=",".join(SHAPES), show_default=True, help="Parts to measure.")
@click.option(
    "--share", type=click.FloatRange(0.0001, 10), default=1.0, show_default=True, help="Share of the filters to use."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def main(only: str, share: float, as_json: bool) -> None:
    """Subscribe, kill and start each router, see when all is routed."""
    for shape in chosen(only, SHAPES, "--only"):
        with scratch_folder() as folder:
            for row in asyncio.run(measured(shape, share, folder)):
                tell(row, as_json)


if __name__ == "__main__":
    main()
