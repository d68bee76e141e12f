"""What an acknowledgement says, with real routers as processes: it was delivered elsewhere, or refused."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import tamis
from tamis import Client, Gap, PublishRefused
from tamis.client.shells import clock
from tamis.testing import NetworkPlan, RouterNetwork, running

HOUR_NS = 3_600 * 10**9
RING = (("a", "b", 1), ("b", "c", 1), ("c", "d", 1), ("d", "e", 1), ("a", "e", 1), ("b", "e", 1))
LINE = (("a", "b", 1), ("b", "c", 1))

pytestmark = pytest.mark.slow


@contextlib.asynccontextmanager
async def network_of(folder: Path, names: str, links: tuple[tuple[str, str, int], ...]) -> AsyncIterator[RouterNetwork]:
    wanted = NetworkPlan(tuple(names), links)
    async with running(folder, wanted) as network:
        await network.until_linked()
        yield network


class Heard:
    """A client that keeps what it gets, by the number in it."""

    def __init__(self, client: Client) -> None:
        self.counts: dict[int, int] = {}
        self._client = client
        self._task: asyncio.Task[None]

    async def start(self, predicate: str = "n >= 0") -> None:
        subscription = self._client.subscribe(predicate, wait="network")
        await subscription.start()
        self._task = asyncio.create_task(self._listen(subscription))

    async def _listen(self, subscription: tamis.Subscription) -> None:
        async for item in subscription:
            if not isinstance(item, Gap):  # the way may have changed, and nothing been lost by that
                number = item["n"]
                assert isinstance(number, int)
                self.counts[number] = self.counts.get(number, 0) + 1

    async def has(self, *numbers: int, patience_s: float = 5.0) -> bool:
        end_s = time.monotonic() + patience_s
        while not self.counts.keys() >= set(numbers) and time.monotonic() < end_s:
            await asyncio.sleep(0.02)
        return self.counts.keys() >= set(numbers)


@contextlib.asynccontextmanager
async def listening(network: RouterNetwork, router: str) -> AsyncIterator[Heard]:
    async with tamis.connect(network.routers[router].address, name=f"at-{router}") as client:
        heard = Heard(client)
        await heard.start()
        yield heard


async def test_a_clock_an_hour_back_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the same router, and at another that has carried nothing of this publisher."""
    now = time.time_ns()
    async with network_of(tmp_path, "abc", LINE) as network, listening(network, "c") as heard:
        for number, (at, router) in enumerate(((now, "a"), (now - HOUR_NS, "a"), (now - 2 * HOUR_NS, "b"))):
            monkeypatch.setattr(clock.time, "time_ns", lambda at=at: at)
            async with tamis.connect(network.routers[router].address, name="pi-7") as client:
                await client.publish({"n": number}, confirm=True)
        assert await heard.has(0, 1, 2)
        assert set(heard.counts.values()) == {1}


async def test_a_confirmation_right_after_a_restart_is_kept(tmp_path: Path) -> None:
    """Acknowledged is delivered at the other routers, or it is refused."""
    async with network_of(tmp_path, "abcde", RING) as network, contextlib.AsyncExitStack() as stack:
        heard = [await stack.enter_async_context(listening(network, router)) for router in "ce"]
        acknowledged: list[int] = []
        for life in range(3):
            await network.routers["a"].kill()
            await network.routers["a"].start()
            async with tamis.connect(network.routers["a"].address, name=f"early-{life}", patience_s=5) as client:
                for number in range(100 * life, 100 * life + 15):
                    with contextlib.suppress(PublishRefused):
                        await client.publish({"n": number}, confirm=True)
                        acknowledged.append(number)
        assert len(acknowledged) >= 30, "a ring is in step in less than five seconds"
        for each in heard:
            assert await each.has(*acknowledged), sorted(set(acknowledged) - each.counts.keys())
            assert set(each.counts.values()) == {1}


# --- leaving ---------------------------------------------------------------------------------------------------------

RATE = 1_000
"""Messages a second in all; each is for every router."""
CHORD = (("a", "b", 1), ("b", "c", 1), ("c", "d", 1), ("d", "e", 1), ("a", "e", 1), ("b", "d", 1))


async def steadily(client: Client, numbers: range, publishers: int) -> None:
    """Its share of RATE, in small bursts."""
    begun_s = time.monotonic()
    for sent, number in enumerate(numbers):
        await client.publish({"n": number})
        if sent % 5 == 4:
            await asyncio.sleep(max(0.0, begun_s + sent * publishers / RATE - time.monotonic()))


async def restarted(network: RouterNetwork, router: str) -> int | None:
    """As an operator does it; the exit code."""
    each = network.routers[router]
    await each.leave()
    code = each.process.returncode if each.process else None
    await each.start()
    await network.until_linked()
    return code


async def one_leaves(network: RouterNetwork, router: str) -> None:
    others = [name for name in network.routers if name != router]
    async with contextlib.AsyncExitStack() as stack:
        heard = {name: await stack.enter_async_context(listening(network, name)) for name in others}
        publishers = [
            await stack.enter_async_context(tamis.connect(network.routers[name].address, name=f"from-{name}"))
            for name in others
        ]
        each = 8 * RATE // len(others)
        sending = [
            asyncio.create_task(steadily(client, range(index * 1_000_000, index * 1_000_000 + each), len(others)))
            for index, client in enumerate(publishers)
        ]
        await asyncio.sleep(1)
        assert await restarted(network, router) == 0
        await asyncio.gather(*sending)
        due = [index * 1_000_000 + at for index in range(len(others)) for at in range(each)]
        for name, one in heard.items():
            assert await one.has(*due), f"{router} left: {len(set(due) - one.counts.keys())} lost at {name}"
            assert set(one.counts.values()) == {1}


async def test_a_router_that_stops_costs_the_others_no_message(tmp_path: Path) -> None:
    async with network_of(tmp_path, "abcde", CHORD) as network:
        await one_leaves(network, "b")


@pytest.mark.long
async def test_a_rolling_restart_costs_no_message(tmp_path: Path) -> None:
    async with network_of(tmp_path, "abcde", CHORD) as network:
        for router in "abcde":
            await one_leaves(network, router)


async def test_a_publisher_of_a_router_that_stops_loses_nothing_that_is_tried_again(tmp_path: Path) -> None:
    async with network_of(tmp_path, "abcde", CHORD) as network, contextlib.AsyncExitStack() as stack:
        heard = [await stack.enter_async_context(listening(network, name)) for name in "ce"]
        addresses = [network.routers[name].address for name in "ba"]
        publisher = await stack.enter_async_context(tamis.connect(*addresses, name="pi-7"))
        leaving = asyncio.create_task(restarted(network, "b"))
        number = 0
        while not leaving.done():
            await asyncio.gather(*(publisher.publish({"n": number + at}, retry=True) for at in range(20)))
            number += 20
        assert await leaving == 0
        for each in heard:
            assert await each.has(*range(number)), sorted(set(range(number)) - each.counts.keys())
            assert set(each.counts.values()) == {1}
