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
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
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


async def answered(router: RouterProcess, patience_s: float) -> dict[str, Any]:
    """Return the router's page /status; TimeoutError after `patience_s`. A router at work may leave several questions
    unanswered before that."""
    async with asyncio.timeout(patience_s):
        while True:
            try:
                status: dict[str, Any] = await router.ask("/status")
            except OSError:  # TimeoutError is one
                if not router.is_running:
                    raise
                await asyncio.sleep(POLL_S)
            else:
                return status


@dataclass(slots=True)
class Contender:
    """A router with its subscribers and its publisher."""

    name: str
    router: RouterProcess
    patience_s: float
    clients: list[Client] = field(default_factory=list)
    subscribed_s: float = 0.0
    silent_while: str = ""
    """What it did when it stopped to answer: "subscribing" or "filtering"; "" if it always answered."""
    rounds_of: int = 1
    """How often a round publishes each message of the load: about --seconds long, as the first, uncounted pass says."""
    passes: list[Pass] = field(default_factory=list)

    @property
    def publisher(self) -> Client:
        return self.clients[-1]

    async def subscribe(self, load: Load) -> None:
        """Connect all clients; return when each subscriber's filters are acknowledged."""
        async with self._heard("subscribing"):
            began_s = time.monotonic()
            for number in range(len(load.subscribe)):
                self.clients.append(await asyncio.to_thread(self._client, f"subscriber{number}"))
            with ThreadPoolExecutor(len(load.subscribe)) as pool:
                await asyncio.to_thread(lambda: list(pool.map(Client.subscribe, self.clients, load.subscribe)))
            self.subscribed_s = time.monotonic() - began_s
            self.clients.append(await asyncio.to_thread(self._client, "publisher"))

    async def probe(self, load: Load, seconds: float) -> None:
        """Publish each message once, uncounted; a round of so many seconds follows from what that took."""
        async with self._heard("filtering"):
            probe = await self._passed(load, 1)
            times = round(min(probe.messages * seconds / probe.elapsed_s, MESSAGES_MAX) / probe.messages)
            self.rounds_of = max(times, 1)

    async def take_round(self, load: Load) -> None:
        async with self._heard("filtering"):
            self.passes.append(await self._passed(load, self.rounds_of))

    @asynccontextmanager
    async def _heard(self, what: str) -> AsyncIterator[None]:
        """Note that the router did not answer while it did `what`, and end it, instead of an error."""
        try:
            yield
        except TimeoutError:
            self.silent_while = what
            await self.router.kill()

    def _client(self, name: str) -> Client:
        return Client(self.router, name, self.patience_s)

    async def _passed(self, load: Load, times: int) -> Pass:
        """Publish each message of the load so many times; return when all are delivered."""
        messages = times * len(load.attributes)
        before = await answered(self.router, self.patience_s)
        taken_s, began_s = cpu_s(self.router), time.monotonic()
        await asyncio.to_thread(self._publish, load.attributes * times)
        async with asyncio.timeout(self.patience_s):
            while True:
                after = await answered(self.router, self.patience_s)
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


def _read_some(fd: int) -> bool:
    """Return whether more may come."""
    try:
        return bool(os.read(fd, 1 << 20))
    except ConnectionError:
        return False


@contextmanager
def drained(clients: Sequence[Client]) -> Iterator[None]:
    """A process reads what comes for these clients and drops it, until the block ends; a router may end before that."""
    child = os.fork()
    if child == 0:
        selector = selectors.DefaultSelector()
        for client in clients:
            selector.register(client.socket, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if not _read_some(key.fd):
                    selector.unregister(key.fd)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)  # what handles signals here is handed down to it
        os.waitpid(child, 0)


async def measured(
    load: Load, folder: Path, other: Path | None, rounds: int, seconds: float, patience_s: float = PATIENCE_S
) -> list[Contender]:
    """Both builds, or this one alone, each with the passes of its rounds."""
    environments: dict[str, dict[str, str]] = {"this": {}} | (
        {"other": {"PYTHONPATH": str(other.resolve())}} if other else {}
    )
    async with AsyncExitStack() as stack:
        contenders = []
        for name, environment in environments.items():
            plan = NetworkPlan((name,), keys=KEYS, environments={name: environment})
            (folder / name).mkdir()
            router = (await stack.enter_async_context(running(folder / name, plan)))[name]
            contenders.append(Contender(name, router, patience_s))
        await _measure(contenders, load, rounds, seconds)
        for contender in contenders:
            for client in contender.clients:
                client.close()
    return contenders


async def _measure(contenders: Sequence[Contender], load: Load, rounds: int, seconds: float) -> None:
    for contender in contenders:
        await contender.subscribe(load)
    with drained([client for contender in contenders for client in contender.clients[: len(load.subscribe)]]):
        for turn in range(1 + rounds):
            for contender in [each for each in contenders if not each.silent_while]:
                await (contender.take_round(load) if turn else contender.probe(load, seconds))


def row_of(contender: Contender) -> dict[str, Any]:
    """What is printed of one router: minima over rounds, and the spread of CPU in percent of its minimum."""
    row: dict[str, Any] = {"build": contender.name, "subscribed_s": round(contender.subscribed_s, 2)}
    if contender.silent_while:
        return row | {"no_answer_s": contender.patience_s, "while": contender.silent_while}
    us = [each.cpu_s * 1e6 / each.messages for each in contender.passes]
    return row | {
        "messages": contender.passes[0].messages,
        "deliveries_a_message": round(contender.passes[0].deliveries / contender.passes[0].messages, 2),
        "cpu_us": round(min(us), 2),
        "spread_percent": round(100 * (max(us) - min(us)) / max(min(us), 1e-9)),
        "match_us": round(min(each.match_us for each in contender.passes), 2),
        "messages_per_s": round(max(each.messages / each.elapsed_s for each in contender.passes)),
    }


def rows_of(contenders: Sequence[Contender]) -> list[dict[str, Any]]:
    """The rows of all routers; that of another build says how many times the CPU of this one it took."""
    rows = [row_of(contender) for contender in contenders]
    for row in rows[1:]:
        if "cpu_us" in row and rows[0].get("cpu_us"):
            row["times"] = round(row["cpu_us"] / rows[0]["cpu_us"], 2)
    return rows


def _told(row: Mapping[str, Any]) -> str:
    cells = {key: cell for key, cell in row.items() if key not in ("no_answer_s", "while")}
    told = "  ".join(f"{key} {cell}" for key, cell in cells.items())
    silent = f"  did not answer within {row['no_answer_s']:g} s while {row['while']}" if "no_answer_s" in row else ""
    return told + silent


@click.command()
@click.option(
    "--workload", default="sigcomm03,alerts,geo,market,telemetry", show_default=True, help="Workloads of the gallery."
)
@click.option("--filters", default="10000,1000000", show_default=True, help="Total numbers of filters.")
@click.option(
    "--subscribers",
    type=click.IntRange(1, 1000),
    default=20,
    show_default=True,
    help="Subscribers that share the filters.",
)
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Rounds of each router.")
@click.option(
    "--seconds", type=click.FloatRange(min=0.1), default=2.0, show_default=True, help="Approximate duration of a round."
)
@click.option(
    "--patience-s",
    type=click.FloatRange(min=1),
    default=PATIENCE_S,
    show_default=True,
    help="Time limit for an answer.",
)
@click.option("--other", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Folder of another build.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def main(
    workload: str,
    filters: str,
    subscribers: int,
    rounds: int,
    seconds: float,
    patience_s: float,
    other: Path | None,
    as_json: bool,
) -> None:
    """Print what a message costs a live router that filters by the workloads of the gallery."""
    is_equal = True
    for name, count in itertools.product(workload.split(","), map(int, filters.split(","))):
        try:
            load = Load.of(name, count, subscribers)
        except ValueError as error:
            raise click.UsageError(f"--workload: {error}") from None
        with scratch_folder() as folder:
            found = asyncio.run(measured(load, folder, other, rounds, seconds, patience_s))
        is_equal &= len({each.deliveries / each.messages for one in found for each in one.passes}) <= 1
        for told in rows_of(found):
            row = {"workload": name, "filters": count, **told}
            click.echo(json.dumps(row) if as_json else _told(row))
    if not is_equal:
        click.echo("the two builds delivered a message to different numbers of subscribers", err=True)
    sys.exit(not is_equal)


if __name__ == "__main__":
    main()
