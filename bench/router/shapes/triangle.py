"""A triangle: a message published at one corner crosses two of the three links, once each."""

from __future__ import annotations

import contextlib
from pathlib import Path

import tamis
from tamis.bench.router.shapes.clients import of_links, receiving
from tamis.testing import NetworkPlan, running

MESSAGES = 10
HOLD_OVER_S = 2.5
"""After a change of the topology messages take the old and the new way for a while: rule R5b."""
PATIENCE_S = 30


async def triangle(folder: Path) -> dict[str, object]:
    wanted = NetworkPlan(("a", "b", "c"), (("a", "b", 1), ("a", "c", 1), ("b", "c", 1)))
    async with running(folder, wanted) as network, contextlib.AsyncExitStack() as stack:
        await network.until_linked()
        receivers = [await stack.enter_async_context(receiving(router.address)) for router in network.routers.values()]
        await network.until_quiet(HOLD_OVER_S, PATIENCE_S)
        before = await of_links(network, "messages_out")
        publisher = await stack.enter_async_context(tamis.connect(network.routers["a"].address))
        for number in range(MESSAGES):
            await publisher.publish({"number": number}, confirm=True)
        for receiver in receivers:
            await receiver.settled()
        after = await of_links(network, "messages_out")
    return {
        "messages": MESSAGES,
        "copies": [receiver.copies.total() for receiver in receivers],
        "duplicates": sum(receiver.duplicates for receiver in receivers),
        "frames": {f"{a}->{b}": count - before[a, b] for (a, b), count in after.items() if count - before[a, b]},
    }
