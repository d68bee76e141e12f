"""Cuts of a recorded run of an entry and a home, both at one tick, and the judge of what comes to the consumer then.

Law: what was confirmed as stored at a tick that is not after the cut, and was not consumed by then, comes to the
consumer at the home once both routers run again: once, without a Gap, and each number that was published once.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

import tamis
from tamis.protocol.errors import TamisError
from tests.power.pairs.folders import RecordedFolder, read_record
from tests.power.pairs.recording import DURABLE, DURABLE_KEYS, ENTRY, HOME, Recording, record
from tests.power.pairs.restart import running_pair

IN_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a folder of a random name is made in it
AT_ONCE: Final = 6
SECONDS: Final = 1.5
"""Of a recorded run."""
QUIET_S: Final = 6.0
PATIENCE_S: Final = 20.0


@dataclass(slots=True)
class Found:
    """What came to light in pairs."""

    pairs: int = 0
    due: int = 0
    """Messages that had to come, in all pairs."""
    missing: int = 0
    wrong: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Came:
    numbers: list[int] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)


async def cut_pairs(seed: int, pairs: int, *, has_sync: bool = True) -> Found:
    """Record a run, and a second one that begins from a cut of the first; judge `pairs` cuts of both."""
    found, dice = Found(), Random(seed)
    scratch = IN_MEMORY if IN_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="pairs-", dir=scratch) as name:
        folder = Path(name)
        start, due, first = None, frozenset[int](), 0
        for life in range(2):
            place = folder / str(life)
            place.mkdir()
            run = await record(place, seed * 2 + life, SECONDS, first, start, due, has_sync=has_sync)
            first = max((n for _, n in run.confirmed), default=first) + 1_000_000
            ticks = sorted(dice.randrange(run.first_tick, run.last_tick) for _ in range(pairs // 2))
            last = await _judge_cuts(run, ticks, dice, found, f"seed {seed}, life {life}")
            start, due = last, _due(run, ticks[-1])
            shutil.rmtree(place)
    return found


async def _judge_cuts(run: Recording, ticks: list[int], dice: Random, found: Found, what: str) -> Path:
    """Judge cuts at these ticks; return the folders that the last one left."""
    changes = sorted((change, name) for name in (ENTRY, HOME) for change in read_record(run.record(name)))
    folders = {name: RecordedFolder(run.before(name)) for name in (ENTRY, HOME)}
    room, judging, at = asyncio.Semaphore(AT_ONCE), set[asyncio.Task[None]](), 0
    last = run.folder.with_name("start")
    for number, tick in enumerate(ticks):
        while at < len(changes) and changes[at][0].tick < tick:
            folders[changes[at][1]].take(changes[at][0])
            at += 1
        await room.acquire()
        place = run.folder / f"cut{number}"
        for name, folder in folders.items():
            folder.cut(place / name / "log", dice)
        if number == len(ticks) - 1:
            shutil.rmtree(last, ignore_errors=True)
            shutil.copytree(place, last)
        task = asyncio.create_task(_judge(run, tick, place, found, f"{what}, cut at {tick}", room.release))
        judging.add(task)
        task.add_done_callback(judging.discard)
        if task.done():
            task.result()
    await asyncio.gather(*judging)
    return last


def _due(run: Recording, tick: int) -> frozenset[int]:
    """Return what has been confirmed by then, and not consumed."""
    return (run.due | {n for at, n in run.confirmed if at <= tick}) - {n for at, n in run.got if at <= tick}


async def _judge(run: Recording, tick: int, place: Path, found: Found, what: str, ended: Callable[[], None]) -> None:
    due = _due(run, tick)
    try:
        with running_pair(place, (ENTRY, HOME), DURABLE_KEYS) as addresses:
            came = Came()
            try:
                await _consume(addresses[HOME], due, came)
            except TamisError as error:
                found.wrong.append(f"{what}: {error}")
        logs = "".join((place / f"{name}.log").read_text() for name in (ENTRY, HOME))
        shutil.rmtree(place)
    finally:
        ended()
    found.pairs, found.due = found.pairs + 1, found.due + len(due)
    missing, doubled = due - {*came.numbers}, len(came.numbers) - len({*came.numbers})
    found.missing += len(missing)
    if missing:
        found.wrong.append(f"{what}: {len(missing)} of {len(due)} are missing, such as {sorted(missing)[:3]}")
    if doubled:
        found.wrong.append(f"{what}: {doubled} came twice")
    found.wrong += [f"{what}: {gap}" for gap in came.gaps]
    if "Traceback" in logs:
        found.wrong.append(f"{what}: {logs[logs.index('Traceback') :][:1_000]}")


async def _consume(address: str, due: frozenset[int], came: Came) -> None:
    """Consume until all that is due has come, or nothing comes any longer."""
    open_ = set(due)
    async with (
        tamis.connect(address, name="consumer", patience_s=PATIENCE_S) as client,
        client.consume(DURABLE, dedup=0, credit=1_000) as work,
    ):
        while open_:
            try:
                item = await work.receive(QUIET_S)
            except TimeoutError:
                return
            if isinstance(item, tamis.StoredMessage):
                came.numbers.append(int(item["n"]))  # type: ignore[arg-type]
                open_.discard(came.numbers[-1])
                item.ack()
            else:
                came.gaps.append(str(item))
