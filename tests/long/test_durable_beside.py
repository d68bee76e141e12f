"""The cost of stored messages for a client without any: a slow, full or failing disk, and the largest CREATE_DURABLE.

Law: the other client's messages take the way that they take without all that; what they took, and how long the router
held its loop, is printed. A disk of this test takes a second for each sync, so whatever waits for it is seen.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis.protocol.filters import Constraint, Filter, Op, Predicate
from tamis.testing import RouterProcess, free_port
from tamis.testing.router import started

pytestmark = pytest.mark.long
DURABLE_KEYS = "durable: {bytes: 268435456, segment_bytes: 16777216, bytes_per_client: 1099511627776}"
STALL_MS = 50.0
SLOW_S = 1.0
"""What faulty_disk.c makes of an fdatasync."""
PAYLOAD = b"x" * 2_000
ROUNDS_S = 4.0


@dataclass(slots=True)
class Beside:
    """A router, and how long a client without stored messages waited for its own messages."""

    router: RouterProcess
    address: str
    faults: Path
    rounds_ms: list[float] = field(default_factory=list)

    async def rounds(self, seconds: float = ROUNDS_S) -> None:
        """Publish and receive a message of one's own, again and again."""
        async with (
            tamis.connect(self.address, name="other") as client,
            client.subscribe("other = true", own_messages=True) as items,
        ):
            end_s = time.monotonic() + seconds
            while time.monotonic() < end_s:
                began_s = time.monotonic()
                await client.publish({"other": True}, confirm=True)
                await anext(items)
                self.rounds_ms.append((time.monotonic() - began_s) * 1e3)
                await asyncio.sleep(0.005)

    async def stall_ms(self, what: str) -> float:
        """Return the longest that the router held its loop, and print how the other client fared."""
        status = await self.router.ask("/status")
        took = sorted(self.rounds_ms)
        print(
            f"{what}: {len(took):,} rounds of the other client, p50 {took[len(took) // 2]:.1f} ms, p99 "
            f"{took[len(took) * 99 // 100]:.1f} ms, longest {took[-1]:.1f} ms; loop held for "
            f"{status['longest_stall_ms']} ms at most, {status['stalls']} stalls"
        )
        return float(status["longest_stall_ms"])


@contextlib.asynccontextmanager
async def beside(folder: Path) -> AsyncIterator[Beside]:
    library, faults = folder / "faulty_disk.so", folder / "faults"
    faults.mkdir()
    source = Path(__file__).with_name("faulty_disk.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-Wall", "-Werror", "-o", library, source, "-ldl"], check=True)  # noqa: S603, S607 - the C compiler
    file = folder / "one.yaml"
    ports = f'clients: "127.0.0.1:{free_port()}", admin: "127.0.0.1:{free_port()}"'
    file.write_text(f"{DURABLE_KEYS}\nrouters: {{a: {{{ports}, data: data}}}}\n")
    environment = {**os.environ, "LD_PRELOAD": str(library), "DISK_FAULTS": str(faults)}
    async with started(file, "a", environment=environment) as router:
        yield Beside(router, router.said["clients"][0], faults)


async def publish_stored(address: str, outcomes: list[str]) -> None:
    """Publish stored messages until this task is cancelled, a hundred at a time; note the outcome of each."""

    async def one() -> None:
        try:
            await client.publish({"kept": True}, PAYLOAD, confirm="stored")
        except tamis.PublishRefused as error:
            outcomes.append(str(error))
        else:
            outcomes.append("")

    async with tamis.connect(address, name="keeping") as client:
        while True:
            await asyncio.gather(*(one() for _ in range(100)))
            await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def keeping(found: Beside, **policy: Any) -> AsyncIterator[list[str]]:
    async with tamis.connect(found.address, name="operator") as client:
        await client.durable("all", "kept = true", bytes="1 GiB", **policy)
    outcomes: list[str] = []
    publishing = asyncio.create_task(publish_stored(found.address, outcomes))
    try:
        await until(lambda: outcomes)
        yield outcomes
    finally:
        publishing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await publishing


async def until(is_so: Any, patience_s: float = 60.0) -> None:
    async with asyncio.timeout(patience_s):
        while not is_so():
            await asyncio.sleep(0.02)


async def test_a_slow_disk(tmp_path: Path) -> None:
    async with beside(tmp_path) as found, keeping(found) as outcomes:
        (found.faults / "slow").touch()
        await asyncio.sleep(SLOW_S)
        before = len(outcomes)
        await found.rounds()
        assert await found.stall_ms("slow disk") < STALL_MS
        assert max(found.rounds_ms) < SLOW_S * 1e3 / 2, "the other client waited for the disk"
        assert len(outcomes) - before <= 100 * (ROUNDS_S / SLOW_S + 2), "the disk was slow"
        (found.faults / "slow").unlink()


async def test_a_slow_disk_slows_who_publishes_what_is_kept_and_refuses_nobody(tmp_path: Path) -> None:
    """Three times as much as may wait for the disk (16 MiB) is published at once."""
    async with beside(tmp_path) as found, tamis.connect(found.address, name="flood") as client:
        await client.durable("all", "kept = true", bytes="200 MiB")
        (found.faults / "slow").touch()
        flood = asyncio.gather(*(client.publish({"kept": True}, PAYLOAD * 10, confirm="stored") for _ in range(2_500)))
        most = 0
        while not flood.done():
            await found.rounds(0.2)
            most = max(most, (await found.router.ask("/status"))["memory_bytes"])
        await flood  # raises what a refusal raises
        stall_ms = await found.stall_ms("flood on a slow disk")
        print(f"memory of the router {most / 2**20:.0f} MiB at most")
        assert stall_ms < STALL_MS
        assert max(found.rounds_ms) < SLOW_S * 1e3 / 2, "the other client waited for the disk"
        figures = await found.router.ask("/durables?name=all")
        assert (figures["durable"][0]["depth"], figures["durable"][0]["refused"]) == (2_500, 0)
        (found.faults / "slow").unlink()


async def test_a_full_log(tmp_path: Path) -> None:
    async with beside(tmp_path) as found, keeping(found) as outcomes:
        (found.faults / "full").touch()
        await until(lambda: "LOG_FULL" in outcomes[-1])
        await found.rounds()
        assert await found.stall_ms("full disk") < STALL_MS
        assert "LOG_FULL" in outcomes[-1]
        async with tamis.connect(found.address, name="consumer") as client, client.consume("all") as work:
            for _ in range(100):
                message = await work.receive(20.0)
                assert isinstance(message, tamis.StoredMessage)
            await message.ack()
        (found.faults / "full").unlink()
        await until(lambda: not outcomes[-1])


async def test_a_failing_disk(tmp_path: Path) -> None:
    async with beside(tmp_path) as found, keeping(found) as outcomes:
        (found.faults / "failing").touch()
        await until(lambda: "LOG_FAILED" in outcomes[-1])
        await found.rounds()
        assert await found.stall_ms("failing disk") < STALL_MS
        status = await found.router.ask("/status")
        assert status["durable"]["log"]["is_failed"]
        assert not status["ready"]
        async with tamis.connect(found.address, name="consumer") as client, client.consume("all") as work:
            assert isinstance(await work.receive(20.0), tamis.StoredMessage), "stored messages are still delivered"


async def test_the_largest_durable(tmp_path: Path) -> None:
    async with beside(tmp_path) as found, tamis.connect(found.address, name="operator") as client:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(found.rounds())
            await until(lambda: found.rounds_ms)
            for n in range(3):
                await client.durable(f"large-{n}", largest(n))
            await client.remove_durable("large-0")
        assert await found.stall_ms("largest CREATE_DURABLE") < STALL_MS
        await found.router.kill()
        await found.router.start()
        found.rounds_ms.clear()
        await found.rounds(2.0)
        assert await found.stall_ms("after a start with two of the largest subscriptions") < STALL_MS


def largest(number: int) -> Predicate:
    """A predicate of as many filters as a CREATE_DURABLE may have, which fill a frame."""
    return Predicate(
        tuple(
            Filter(
                tuple(
                    Constraint(f"n{k:02}", Op.IN, tuple(f"{k}-{j}-{at}-{number}".ljust(190, "\x01") for j in range(5)))
                    for k in range(16)
                )
            )
            for at in range(63)
        )
    )
