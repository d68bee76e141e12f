"""The five-router ring with its chord as real processes that record everything, under traffic and churn.

    a-b-c-d-e-a and a-c; at each router two clients that stay, one that changes its mind, and a publisher

Law: what clients who stay have got is counted here, by nobody's records.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from random import Random
from typing import Final

import tamis
from tamis.analysis.study import SETTLE_US
from tamis.router.daemon.fault_injection import VARIABLE
from tamis.testing import NetworkPlan, RouterNetwork, running

ROUTERS: Final = tuple("abcde")
LINKS: Final = ("ab", "bc", "cd", "de", "ea", "ac")
RECORDS: Final = "records"
REST_S: Final = SETTLE_US / 1e6 + 1
PUBLISH_EVERY_S: Final = 0.01
CHURN_EVERY_S: Final = 0.3
WISHES: Final = (
    "x < 30",
    'kind = "k1" or x > 90',
    'kind ^= "k" and x between 20 and 40',
    'not (kind = "k2") and x >= 60',
)
Act = Callable[[RouterNetwork], Awaitable[None]]


async def recorded(folder: Path, act: Act, churn: Sequence[str], planted: Mapping[str, str]) -> Counter[str]:
    """Let `act` happen under traffic, and all routers end. What each client that stays has got, by its name.

    `churn`: the routers at which clients change their minds; `planted`: bugs of some routers.
    """
    wanted = NetworkPlan(
        ROUTERS,
        tuple((link[0], link[1], 1) for link in LINKS),
        keys={"records": {"folder": str(folder / RECORDS), "messages": "all"}},
        environments={name: {VARIABLE: bug} for name, bug in planted.items()},
    )
    got: Counter[str] = Counter()
    async with running(folder, wanted) as network:
        await network.until_linked()
        async with _traffic(network, churn, got):
            await act(network)
        await asyncio.gather(*(router.leave() for router in network.routers.values()))
    return got


@asynccontextmanager
async def _traffic(network: RouterNetwork, churn: Sequence[str], got: Counter[str]) -> AsyncIterator[None]:
    """Who stays is there for a while before and after, so that it is certain what he must get."""
    async with AsyncExitStack() as stack:
        stopped = asyncio.Event()
        waiting: list[Coroutine[None, None, None]] = []
        listening = []
        for number, router in enumerate(network.routers.values()):
            for which in (0, 1):
                client = await stack.enter_async_context(
                    tamis.connect(router.address, name=f"stays-{router.name}{which}")
                )
                wanted = await client.subscribe(WISHES[(number + which) % len(WISHES)], wait="network").start()
                listening.append(asyncio.create_task(_listen(client.name, wanted, got)))
            publisher = await stack.enter_async_context(tamis.connect(router.address, name=f"publishes-{router.name}"))
            waiting.append(_publish(publisher, Random(number), stopped))
            if router.name in churn:
                waiting.append(_change(router.address, Random(-number), stopped))
        await asyncio.sleep(REST_S)
        publishing = [asyncio.create_task(each) for each in waiting]
        yield
        stopped.set()
        await asyncio.gather(*publishing)
        await asyncio.sleep(REST_S)
        for task in listening:
            task.cancel()
        await asyncio.gather(*listening, return_exceptions=True)


async def _listen(name: str, wanted: tamis.Subscription, got: Counter[str]) -> None:
    async for item in wanted:
        got[name] += isinstance(item, tamis.Message)


async def _publish(client: tamis.Client, random: Random, stopped: asyncio.Event) -> None:
    while not stopped.is_set():
        client.try_publish({"kind": f"k{random.randrange(4)}", "x": random.randrange(100)})
        await asyncio.sleep(PUBLISH_EVERY_S)


async def _change(address: str, random: Random, stopped: asyncio.Event) -> None:
    """Subscribe and unsubscribe, and leave now and then without a word to do so."""
    while not stopped.is_set():
        async with tamis.connect(address, name=f"changes-{address}", patience_s=30) as client:
            for _ in range(5):
                wanted = await client.subscribe(random.choice(WISHES)).start()
                await asyncio.sleep(CHURN_EVERY_S * random.random() * 2)
                if random.random() < 0.7:
                    await wanted.unsubscribe()


async def until_met(network: RouterNetwork) -> None:
    """All know of all again, whatever clients change meanwhile."""
    async with asyncio.timeout(60):
        while any(each["network"]["routers"] != len(ROUTERS) for each in (await network.status()).values()):
            await asyncio.sleep(0.05)
