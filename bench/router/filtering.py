"""Workloads of the gallery through live routers, two builds side by side: `python -m tamis.bench.router.filtering`.

    this     a router of this checkout
    other    a router of another build, whose importable `tamis` is in the folder of --other

Law: both routers get the same filters from the same number of subscribers, and the same messages from one publisher, in
rounds that alternate between them. CPU is that of a router's whole process while messages pass; a round ends when all
that it sent has come in and no queue holds a byte. Both must deliver each message equally often, or the exit code is 1.
A round is bounded in messages.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import selectors
import signal
import sys
import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click
import msgpack

from tamis.bench.matching import workloads
from tamis.bench.router.sockets import HOLD_MS, PATIENCE_S, Client, cpu_s, subscribe_frames
from tamis.bench.scratch import scratch_folder
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.numbers import stable_number
from tamis.testing import NetworkPlan, RouterProcess, running

SEED: Final = 2003
MESSAGES_MAX: Final = 500_000
"""Of a round."""
BLOCK: Final = 500
POLL_S: Final = 0.02
LARGE: Final = 100_000
KEYS: Final[dict[str, object]] = {
    "keepalive": {"hold_ms": HOLD_MS, "ping_ms": HOLD_MS},
    "slow_consumer": {"policy": "block", "block_ms": 60_000},
    "limits": {
        "filters_per_client": 1_000_000,
        "memory_bytes": 8 << 30,
        "credit_frames": 4_294_967_295,
        "credit_bytes": 1 << 30,
    },
}


@dataclass(frozen=True, slots=True)
class Load:
    """What the subscribers ask for, a list of SUBSCRIBE frames each, and the attributes of what is published."""

    subscribe: list[list[bytes]]
    attributes: list[dict[str, Any]]

    @classmethod
    def of(cls, workload: str, filters: int, subscribers: int) -> Load:
        messages = workloads.kind_of(workload).messages_measured[filters > LARGE]
        drawn = workloads.make(workload, filters, messages, workloads.NAMES, SEED)
        dealt = workloads.deal(workload, filters, subscribers, SEED)
        numbers = [array("I") for _ in range(subscribers)]
        for number, subscriber in enumerate(dealt):
            numbers[subscriber].append(number)
        return cls(
            [subscribe_frames((number, drawn.filters[number]) for number in each) for each in numbers],
            [msgpack.unpackb(drawn.messages[i]) for i in range(len(drawn.messages))],
        )


@dataclass(frozen=True, slots=True)
class Pass:
    """What some messages took: of CPU, on the clock, and of matching alone, as the router samples it."""

    messages: int
    cpu_s: float
    elapsed_s: float
    match_us: float
    deliveries: int


@dataclass(slots=True)
class Contender:
    """A router with its subscribers and its publisher."""

    name: str
    router: RouterProcess
    publisher: Client
    subscribed_s: float
    rounds_of: int = 1
    """How often a round publishes each message of the load: about --seconds long, as the first, uncounted pass says."""
    passes: list[Pass] = field(default_factory=list)

    async def passed(self, load: Load, times: int) -> Pass:
        """Publish each message of the load so many times; return when all are delivered."""
        messages = times * len(load.attributes)
        before, taken_s, began_s = await self.router.ask("/status"), cpu_s(self.router), time.monotonic()
        await asyncio.to_thread(self._publish, load.attributes * times)
        async with asyncio.timeout(PATIENCE_S):
            while True:
                after = await self.router.ask("/status")
                if after["messages_in"] - before["messages_in"] == messages and not after["queued_bytes"]:
                    break
                await asyncio.sleep(POLL_S)
        elapsed_s = time.monotonic() - began_s
        timed = max(after["matches_timed"] - before["matches_timed"], 1)
        return Pass(
            messages,
            cpu_s(self.router) - taken_s,
            elapsed_s,
            (after["match_ns_sum"] - before["match_ns_sum"]) / timed / 1e3,
            after["deliveries"] - before["deliveries"],
        )

    def _publish(self, attributes: Sequence[dict[str, Any]]) -> None:
        origin = stable_number(self.publisher.name)
        for first in range(0, len(attributes), BLOCK):
            numbered = enumerate(attributes[first : first + BLOCK], self.publisher.counter + 1)
            block = [encode_publish(origin, counter, 0, each) for counter, each in numbered]
            self.publisher.counter += len(block)
            self.publisher.socket.sendall(b"".join(block))


@contextmanager
def drained(clients: Sequence[Client]) -> Iterator[None]:
    """A process reads what comes for these clients and drops it, until the block ends."""
    child = os.fork()
    if child == 0:
        selector = selectors.DefaultSelector()
        for client in clients:
            selector.register(client.socket, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if not os.read(key.fd, 1 << 20):
                    os._exit(0)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)  # what handles signals here is handed down to it
        os.waitpid(child, 0)


def _subscribed(router: RouterProcess, load: Load) -> tuple[list[Client], float]:
    """Clients that have all of their filters, and the seconds until the last was acknowledged."""
    clients = [Client(router, f"subscriber{number}") for number in range(len(load.subscribe))]
    began_s = time.monotonic()
    with ThreadPoolExecutor(len(clients)) as pool:
        list(pool.map(Client.subscribe, clients, load.subscribe))
    return clients, time.monotonic() - began_s


async def measured(load: Load, folder: Path, other: Path | None, rounds: int, seconds: float) -> list[Contender]:
    """Both builds, or this one alone, each with the passes of its rounds."""
    environments: dict[str, dict[str, str]] = {"this": {}} | ({"other": {"PYTHONPATH": str(other)}} if other else {})
    async with AsyncExitStack() as stack:
        routers = {}
        for name, environment in environments.items():
            plan = NetworkPlan((name,), keys=KEYS, environments={name: environment})
            (folder / name).mkdir()
            routers[name] = (await stack.enter_async_context(running(folder / name, plan)))[name]
        return await _measured(routers, load, rounds, seconds)


async def _measured(routers: Mapping[str, RouterProcess], load: Load, rounds: int, seconds: float) -> list[Contender]:
    contenders, clients = [], []
    for name, router in routers.items():
        subscribers, subscribed_s = await asyncio.to_thread(_subscribed, router, load)
        clients += subscribers
        contenders.append(Contender(name, router, Client(router, "publisher"), subscribed_s))
    with drained(clients):
        for contender in contenders:
            probe = await contender.passed(load, 1)
            contender.rounds_of = round(min(probe.messages * seconds / probe.elapsed_s, MESSAGES_MAX) / probe.messages)
        for _ in range(rounds):
            for contender in contenders:
                contender.passes.append(await contender.passed(load, max(contender.rounds_of, 1)))
    for client in (*clients, *(contender.publisher for contender in contenders)):
        client.close()
    return contenders


def row_of(contender: Contender) -> dict[str, Any]:
    """What is printed of one router: minima over rounds, and the spread of CPU in percent of its minimum."""
    us = [each.cpu_s * 1e6 / each.messages for each in contender.passes]
    return {
        "build": contender.name,
        "subscribed_s": round(contender.subscribed_s, 2),
        "messages": contender.passes[0].messages,
        "deliveries_a_message": round(contender.passes[0].deliveries / contender.passes[0].messages, 2),
        "cpu_us": round(min(us), 2),
        "spread_percent": round(100 * (max(us) - min(us)) / max(min(us), 1e-9)),
        "match_us": round(min(each.match_us for each in contender.passes), 2),
        "messages_per_s": round(max(each.messages / each.elapsed_s for each in contender.passes)),
    }


@click.command()
@click.option("--workload", default="sigcomm03,alerts,geo,market,telemetry", show_default=True, help="Of the gallery.")
@click.option("--filters", default="10000,1000000", show_default=True, help="How many, in all.")
@click.option("--subscribers", type=click.IntRange(1, 1000), default=20, show_default=True, help="Share the filters.")
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Of each router.")
@click.option("--seconds", type=click.FloatRange(min=0.1), default=2.0, show_default=True, help="Of a round, about.")
@click.option("--other", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Another build.")
@click.option("--json", "as_json", is_flag=True, help="One object a line.")
def main(
    workload: str, filters: str, subscribers: int, rounds: int, seconds: float, other: Path | None, as_json: bool
) -> None:
    """Print what a message costs a live router that filters by the workloads of the gallery."""
    is_equal = True
    for name, count in itertools.product(workload.split(","), map(int, filters.split(","))):
        try:
            load = Load.of(name, count, subscribers)
        except ValueError as error:
            raise click.UsageError(f"--workload: {error}") from None
        with scratch_folder() as folder:
            found = asyncio.run(measured(load, folder, other, rounds, seconds))
        is_equal &= len({each.deliveries / each.messages for one in found for each in one.passes}) == 1
        for contender in found:
            row = {"workload": name, "filters": count, **row_of(contender)}
            click.echo(json.dumps(row) if as_json else "  ".join(f"{key} {value}" for key, value in row.items()))
    if not is_equal:
        click.echo("the two builds delivered a message to different numbers of subscribers", err=True)
    sys.exit(not is_equal)


if __name__ == "__main__":
    main()
