"""A run of an entry and a home whose logs are recorded, and what its publisher and its consumer were told, and when.

Law: a tick is read after an answer has come, so what it confirms was done before that tick. A run may begin from what a
cut of another one has left.
"""

from __future__ import annotations

import asyncio
import contextlib
import mmap
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

import tamis
from tamis.protocol.errors import TamisError
from tamis.testing import line, running
from tests.power.pairs.folders import built_recorder, recorded

ENTRY, HOME = "a", "b"
DURABLE: Final = "orders"
DURABLE_KEYS: Final = {"bytes": 268435456, "segment_bytes": 1048576}
BURST: Final = (1, 2, 5, 20)
PAUSES_S: Final = (0.0, 0.01, 0.05, 0.1)
SIZES: Final = ((10, 300), (100, 4_000), (2_000, 15_000))
PATIENCE_S: Final = 20.0
AWAY_S: Final = 0.3


@dataclass(slots=True)
class Recording:
    """`folder` has the logs as they were at first (`before`), and the records. `confirmed`, `got`: ticks and numbers.
    `due`: confirmed and not consumed in runs before this one."""

    folder: Path
    due: frozenset[int]
    confirmed: list[tuple[int, int]] = field(default_factory=list)
    got: list[tuple[int, int]] = field(default_factory=list)
    first_tick: int = 0
    last_tick: int = 0

    def record(self, name: str) -> Path:
        return self.folder / f"{name}.record"

    def before(self, name: str) -> Path:
        """Return the folder of a router as it was when the run began."""
        return self.folder / "before" / name


class Clock:
    """The clock that all recorded processes share."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(bytes(8))
        self.path = path
        with path.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), 8)

    @property
    def tick(self) -> int:
        return int.from_bytes(self._shared[:8], "little")


async def record(
    folder: Path, seed: int, seconds: float, first: int, start: Path | None, due: frozenset[int], *, has_sync: bool
) -> Recording:
    """Record a run of `seconds`, which publishes numbers from `first` on. `start` has the folders of both routers."""
    dice, run = Random(seed), Recording(folder, due)
    clock, library = Clock(folder / "clock"), built_recorder(folder)
    for name in (ENTRY, HOME) if start is not None else ():
        shutil.copytree(start / name, folder / name)
        shutil.copytree(start / name / "log", run.before(name))
    environments = {
        name: recorded(library, folder / name / "log", run.record(name), clock.path, has_sync=has_sync)
        for name in (ENTRY, HOME)
    }
    plan = line(ENTRY, HOME, durable=DURABLE_KEYS)
    plan.environments.update(environments)
    async with running(folder, plan) as network:
        await network.until_linked()
        addresses = {name: network[name].address for name in (ENTRY, HOME)}
        async with tamis.connect(addresses[HOME], name="consumer", patience_s=PATIENCE_S) as client:
            await client.durable(DURABLE, "n >= 0", idle=None)
        async with _load(run, clock, addresses, dice, first):
            run.first_tick = clock.tick
            await asyncio.sleep(seconds)
            run.last_tick = clock.tick
    return run


@contextlib.asynccontextmanager
async def _load(
    run: Recording, clock: Clock, addresses: dict[str, str], dice: Random, first: int
) -> AsyncIterator[None]:
    """Publish at the entry, and consume at the home now and then, until the end."""
    tasks = [asyncio.create_task(_publish(run, clock, addresses[ENTRY], Random(dice.random()), first))]
    if dice.random() < 0.5:
        tasks.append(asyncio.create_task(_consume(run, clock, addresses[HOME], Random(dice.random()))))
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        for each in ended:
            if isinstance(each, Exception) and not isinstance(each, TamisError):
                raise each


async def _publish(run: Recording, clock: Clock, address: str, dice: Random, n: int) -> None:
    sizes = dice.choice(SIZES)

    async def one(client: tamis.Client, n: int) -> None:
        await client.publish({"n": n}, dice.randbytes(dice.randint(*sizes)), confirm="stored", retry=True)
        run.confirmed.append((clock.tick, n))

    async with tamis.connect(address, name="publisher", patience_s=PATIENCE_S) as client:
        while True:
            count = dice.choice(BURST)
            await asyncio.gather(*(one(client, n + at) for at in range(count)))
            n += count
            await asyncio.sleep(dice.choice(PAUSES_S))


async def _consume(run: Recording, clock: Clock, address: str, dice: Random) -> None:
    while True:
        async with (
            tamis.connect(address, name="consumer", patience_s=PATIENCE_S) as client,
            client.consume(DURABLE, dedup=0) as work,
        ):
            for _ in range(dice.randint(1, 300)):
                item: Any = await work.receive(PATIENCE_S)
                if isinstance(item, tamis.StoredMessage):
                    run.got.append((clock.tick, int(item["n"])))  # type: ignore[arg-type]
                    item.ack()
        await asyncio.sleep(dice.uniform(0, AWAY_S))
