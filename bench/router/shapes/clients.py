"""Clients of the shapes: one that notes what arrives when, and one that publishes at a rate; and figures of links."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from typing import Final

import tamis
from tamis.testing import RouterNetwork

PREDICATE: Final = "exists number"
_ALL_ARRIVED_S: Final = 5.0
_CALM_S: Final = 0.5


class Arrivals:
    """`times` of each message by its number; `copies` of it."""

    def __init__(self) -> None:
        self.times: dict[int, float] = {}
        self.copies: Counter[int] = Counter()
        self.last_s = time.monotonic()

    @property
    def duplicates(self) -> int:
        return sum(count - 1 for count in self.copies.values())

    async def read(self, messages: tamis.Subscription) -> None:
        async for message in messages:
            if isinstance(message, tamis.Message):
                self.last_s = time.monotonic()
                number = int(message["number"])
                self.times.setdefault(number, self.last_s)
                self.copies[number] += 1

    async def settled(self) -> None:
        """Nothing has come for a while."""
        end_s = time.monotonic() + _ALL_ARRIVED_S
        while time.monotonic() < min(end_s, self.last_s + _CALM_S):
            await asyncio.sleep(0.05)

    def pause_s(self, since_s: float) -> float:
        """The longest time without an arrival, from then on."""
        moments = [since_s, *sorted(at for at in self.times.values() if at > since_s)]
        return max((after - before for before, after in pairwise(moments)), default=float("inf"))


@contextlib.asynccontextmanager
async def receiving(address: str) -> AsyncIterator[Arrivals]:
    """Every router knows of it from here on."""
    arrivals = Arrivals()
    async with tamis.connect(address) as client, client.subscribe(PREDICATE, wait="network") as messages:
        task = asyncio.create_task(arrivals.read(messages))
        try:
            yield arrivals
        finally:
            task.cancel()


async def publish_at_rate(client: tamis.Client, rate: float, seconds: float, published: Callable[[int], None]) -> None:
    """Evenly, as far as we are let run; `published` is called with each number."""
    start_s, number = time.monotonic(), 0
    while (now_s := time.monotonic()) < start_s + seconds:
        while number < (now_s - start_s) * rate:
            if client.try_publish({"number": number}):
                published(number)
            number += 1
        await asyncio.sleep(0.5 / rate)


async def of_links(network: RouterNetwork, figure: str) -> dict[tuple[str, str], int]:
    """One figure of each end of each link, by the router and its neighbour."""
    return {
        (name, link["neighbour"]): link[figure]
        for name, status in (await network.status()).items()
        for link in status["network"]["links"]
    }
