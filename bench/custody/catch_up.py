"""A home that was away: how fast it takes what was stored for it meanwhile, and what live messages notice of that.

    a  entry ──────── b  home, away while messages are stored for it
     └── live ── c    messages that no router stores, before and meanwhile

Law: the time begins before the first has come, at most a poll, so a start and a link are no part of it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import tamis
from tamis.bench.custody.clusters import DURABLE, MEMBERS, QUIET_S, READY_S, depth
from tamis.bench.router.brokers.run import SETUP_S, LoadFailed, load
from tamis.testing import RouterNetwork, ring, running

LIVE_RATE: Final = 2_000
LIVE_S: Final = 1.0
WARM_S: Final = 0.1
BATCH: Final = 512
_POLL_S: Final = 0.01


@dataclass(frozen=True, slots=True)
class Absence:
    """What is stored for a home that is away."""

    mib: int
    payload_bytes: int

    @property
    def messages(self) -> int:
        return max(1, self.mib * 2**20 // self.payload_bytes)


def caught_up(folder: Path, files: Mapping[str, str], absence: Absence) -> dict[str, float]:
    """Return the bytes and seconds of one catching up, and the p99 of live messages without and with it."""

    async def taken() -> dict[str, float]:
        async with asyncio.timeout(SETUP_S):
            return await _caught_up(folder, files, absence)

    try:
        return asyncio.run(taken())
    except TimeoutError:
        raise LoadFailed(f"not done within {SETUP_S} s") from None


async def _caught_up(folder: Path, files: Mapping[str, str], absence: Absence) -> dict[str, float]:
    async with running(folder, ring(*MEMBERS, durable=DURABLE)) as network:
        await network.until_linked()
        await network.until_at_rest(QUIET_S, READY_S)
        async with tamis.connect(network["b"].address, name="owner") as owner:
            await owner.durable("load", "n >= 0", bytes=8 << 30)
        alone = await _live(network, files)
        await network["b"].kill()
        await _store(network, absence)
        await network["b"].start()
        began_s = time.monotonic()
        while not await depth(network, "b"):
            began_s = time.monotonic()
            await asyncio.sleep(_POLL_S)
        live = asyncio.create_task(_live(network, files))
        while (found := await depth(network, "b")) < absence.messages:
            await asyncio.sleep(_POLL_S)
        seconds = time.monotonic() - began_s
        seen = await live
    if found != absence.messages:
        raise LoadFailed(f"{absence.messages} messages were confirmed, and {found} came")
    overlap = min(1.0, max(0.0, seconds - WARM_S) / LIVE_S)
    taken = {"bytes": float(found * absence.payload_bytes), "seconds": seconds, "overlap": overlap}
    return taken | {"p99_s": seen["p99_s"], "alone_p99_s": alone["p99_s"], "frame_bytes": seen["frame_bytes"]}


async def _store(network: RouterNetwork, absence: Absence) -> None:
    payload = b"x" * absence.payload_bytes
    async with tamis.connect(network["a"].address, name="publisher") as client:
        for first in range(0, absence.messages, BATCH):
            numbers = range(first, min(first + BATCH, absence.messages))
            receipts = await asyncio.gather(*(client.publish({"n": n}, payload, confirm="stored") for n in numbers))
            if not all(receipt.is_stored for receipt in receipts):
                raise LoadFailed("the entry does not store what the home wants")


async def _live(network: RouterNetwork, files: Mapping[str, str]) -> dict[str, float]:
    """Return what the load generator sees that publishes at a, for a subscriber at c."""
    options = {
        **files,
        "protocol": "tamis",
        "port": str(network["c"].port),
        "publish-at": str(network["a"].port),
        "pid": str(network["a"].pid),
        "rate": str(LIVE_RATE),
        "window": "4096",
        "warm": str(WARM_S),
        "seconds": str(LIVE_S),
    }
    return await asyncio.to_thread(load, options, SETUP_S)
