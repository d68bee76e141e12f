"""A link that is full of messages: how long control takes across it.

Measured as an application sees it: from a subscription at one end to the word that the other end holds it, which
travels back among the messages.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from typing import Final

import tamis
from tamis.bench.router.shapes.load import load_between
from tamis.testing import NetworkPlan, running

SAMPLES: Final = 10
_PUSH: Final = {"window": 6_000, "message-bytes": 1_000, "subscribers": 4}
"""The receiving router writes four times what it reads, so that the link fills; below what queues hold."""
_APART_S: Final = 1.0
"""Changes that follow each other sooner are held back on purpose."""


async def saturated(folder: Path) -> dict[str, object]:
    async with running(folder, NetworkPlan(("a", "b"), (("a", "b", 1),))) as network:
        await network.until_linked()
        a, b = network.routers["a"], network.routers["b"]
        async with tamis.connect(b.address) as client, AsyncExitStack() as stack:
            idle = await _delays(client, stack, 0)
            options = {"warm": 0, "seconds": 3 + 1.5 * SAMPLES * _APART_S, **_PUSH}
            pushing = asyncio.create_task(load_between(folder, a, b, b, **options))
            await asyncio.sleep(2)
            busy = await _delays(client, stack, SAMPLES)
            seen = await pushing
    return {
        "megabytes_per_s": round(seen["messages"] / seen["seconds"] / 1e3),
        "idle_p50_ms": _ms(median(idle)),
        "p50_ms": _ms(median(busy)),
        "worst_ms": _ms(max(busy)),
    }


async def _delays(client: tamis.Client, stack: AsyncExitStack, first: int) -> list[float]:
    """Subscriptions stay until the end: one that goes is a change, too, and the next waits for it."""
    delays = []
    for number in range(first, first + SAMPLES):
        start_s = time.monotonic()
        await stack.enter_async_context(client.subscribe(f"never = {number}", wait="network"))
        delays.append(time.monotonic() - start_s)
        await asyncio.sleep(_APART_S)
    return delays


def _ms(seconds: float) -> float:
    return round(1e3 * seconds, 1)
