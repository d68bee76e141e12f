"""The event logs of a real ring of five routers with a chord, 10,000 filters and a few thousand messages.

Law: all that is asked for is asked for to the end, and every router is killed at once: the logs say nothing of an end,
so that the same messages may come again and again behind it (`tamis.analysis.multiply`). What is said is drawn from a
fixed seed; the times are the routers' own.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Final

import tamis
from tamis.protocol.errors import TamisError
from tamis.protocol.values import Value
from tamis.testing import NetworkPlan, RouterNetwork, running

ROUTERS: Final = tuple("abcde")
LINKS: Final = ("ab", "bc", "cd", "de", "ea", "ac")
CLIENTS: Final = 20
"""At each router."""
MESSAGES: Final = 2_000
SYMBOLS: Final = 1_000
PRICES: Final = 1_000
VENUES: Final = 8
REST_S: Final = 7.0
"""Before and after the messages: longer than a change of the network leaves deliveries undecided."""
PAUSE_S: Final = 0.002
LOGS: Final = "logs"


def predicates(count: int) -> Iterator[str]:
    """Of a message some five in 10,000 want it."""
    rng = Random("filters of the ring")
    for number in range(count):
        symbol, price = f"S{rng.randrange(SYMBOLS)}", rng.randrange(PRICES)
        if number % 10 < 7:
            yield f'symbol = "{symbol}" and price < {price}'
        elif number % 10 < 9:
            yield f'symbol = "{symbol}" and venue = "V{rng.randrange(VENUES)}"'
        else:
            yield f"price between {price} and {price + 1} and qty >= {rng.randrange(100)}"


def messages() -> Iterator[tuple[str, dict[str, Value]]]:
    """Where each is published, and what it says."""
    rng = Random("messages of the ring")
    for _ in range(MESSAGES):
        said: dict[str, Value] = {"symbol": f"S{rng.randrange(SYMBOLS)}", "price": rng.randrange(PRICES)}
        yield rng.choice(ROUTERS), said | {"venue": f"V{rng.randrange(VENUES)}", "qty": rng.randrange(100)}


async def recorded(folder: Path, filters: int) -> Path:
    """The folder of the logs."""
    logs = folder / LOGS
    keys: dict[str, object] = {"records": {"folder": str(logs), "messages": "all"}}
    wanted = NetworkPlan(ROUTERS, tuple((link[0], link[1], 1) for link in LINKS), keys=keys)
    logging.getLogger("tamis.client").addHandler(logging.NullHandler())  # it would say of each that it has gone
    async with running(folder, wanted) as network:
        await network.until_linked()
        async with contextlib.AsyncExitStack() as stack:
            await _ask(network, stack, list(predicates(filters)))
            await asyncio.sleep(REST_S)
            await _publish(network, stack)
            await asyncio.sleep(REST_S)
            await _end(network)
            with contextlib.suppress(TamisError, OSError):  # nobody is there to say goodbye to
                await stack.aclose()
    return logs


async def _ask(network: RouterNetwork, stack: contextlib.AsyncExitStack, texts: Sequence[str]) -> None:
    """In turn, as so many clients."""
    clients = [(router, number) for number in range(CLIENTS) for router in ROUTERS]
    for place, (router, number) in enumerate(clients):
        address = network.routers[router].address
        client = await stack.enter_async_context(tamis.connect(address, name=f"{router}{number}"))
        for text in texts[place :: len(clients)]:
            await client.subscribe(text, wait="home").start()


async def _publish(network: RouterNetwork, stack: contextlib.AsyncExitStack) -> None:
    publishers = {
        name: await stack.enter_async_context(tamis.connect(router.address, name=f"publisher-{name}"))
        for name, router in network.routers.items()
    }
    for router, said in messages():
        await publishers[router].publish(said)
        await asyncio.sleep(PAUSE_S)


async def _end(network: RouterNetwork) -> None:
    """Standing still, none of them sees another go."""
    for router in network.routers.values():
        router.pause()
    await asyncio.gather(*(router.kill() for router in network.routers.values()))
