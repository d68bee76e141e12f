"""A publisher that waits until a message is held: on disk at each home that wants it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import tamis
from tamis import PublishRefused
from tamis.protocol.wire.codes import RefusalCode
from tamis.testing import RouterNetwork, line, running
from tests.router.durable.test_chains import consumed
from tests.router.durable.test_homes import DURABLE_KEYS, PATIENCE_S, create

pytestmark = pytest.mark.slow
AWAY_S = 1.5
SMALL = {**DURABLE_KEYS, "custody": {"bytes": 1 << 20}}


@asynccontextmanager
async def stored_at(folder: Path, *homes: str, durable: object = DURABLE_KEYS) -> AsyncIterator[RouterNetwork]:
    """Run routers a, b and c in a line, with a durable subscription at each of `homes` that wants all."""
    async with running(folder, line("a", "b", "c", durable=durable)) as network:
        await network.until_linked()
        await network.until_at_rest(0.5, PATIENCE_S)
        for home in homes:
            await create(network, home, f"of {home}")
        await network.until_at_rest(1.0, PATIENCE_S)
        yield network


@asynccontextmanager
async def publisher(network: RouterNetwork) -> AsyncIterator[tamis.Client]:
    async with tamis.connect(network["a"].address, name="publisher", patience_s=60) as client:
        yield client


async def held(client: tamis.Client, n: int, payload: bytes = b"", *, retry: bool = False) -> tamis.Receipt:
    return await client.publish({"n": n}, payload, confirm="held", retry=retry)


async def numbers(network: RouterNetwork, home: str) -> list[int]:
    """Return the messages that a consumer at `home` gets, without the Gaps between them."""
    return [each for each in await consumed(network, home, f"of {home}") if isinstance(each, int)]


async def test_a_message_is_held_once_all_its_homes_have_it(tmp_path: Path) -> None:
    async with stored_at(tmp_path, "a", "b", "c") as network, publisher(network) as client:
        receipts = await asyncio.gather(*(held(client, n) for n in range(50)))
        assert all(each.is_stored for each in receipts)
        figures = (await network["a"].ask("/status"))["durable"]["held"]
        assert figures == {"waiting": 0, "confirmed": 50, "refused": 0}
        await network["c"].kill()
        waiting = asyncio.create_task(held(client, 50))
        assert (await client.publish({"n": 51}, confirm="stored")).is_stored
        await asyncio.sleep(AWAY_S)
        assert not waiting.done()
        await network["c"].start()
        assert (await waiting).is_stored
        await network["a"].kill()  # its disk is not needed any longer
        for home in ("b", "c"):
            assert [n for n in await numbers(network, home) if n <= 50] == [*range(51)]


async def test_a_message_for_nobody_elsewhere_is_held_where_it_is_stored(tmp_path: Path) -> None:
    async with stored_at(tmp_path, "a") as network, publisher(network) as client:
        assert (await held(client, 1)).is_stored
        assert (await client.publish({"m": 1}, confirm="held")).is_stored is False


async def test_a_publisher_that_tries_again_is_answered_and_its_message_comes_once(tmp_path: Path) -> None:
    async with stored_at(tmp_path, "c") as network, publisher(network) as client:
        await network["c"].kill()
        waiting = [asyncio.create_task(held(client, n, retry=True)) for n in range(20)]
        await asyncio.sleep(AWAY_S)
        await network["a"].kill()
        await network["a"].start()
        await asyncio.sleep(AWAY_S)
        assert not any(each.done() for each in waiting)
        await network["c"].start()
        assert all(each.is_stored for each in await asyncio.gather(*waiting))
        assert await numbers(network, "c") == [*range(20)]


async def test_a_message_that_is_given_up_is_not_held_until_it_is_published_again(tmp_path: Path) -> None:
    async with stored_at(tmp_path, "b", "c", durable=SMALL) as network, publisher(network) as client:
        await network["c"].kill()
        waiting = [asyncio.create_task(held(client, n, bytes(60_000))) for n in range(40)]
        await asyncio.wait(waiting[:10], timeout=PATIENCE_S)
        await network["c"].start()
        answers = enumerate(await asyncio.gather(*waiting, return_exceptions=True))
        refused = {n: each for n, each in answers if isinstance(each, PublishRefused)}
        assert {each.code for each in refused.values()} == {RefusalCode.NOT_HELD}
        assert set(range(10)) <= refused.keys() < set(range(40))
        for each in refused.values():
            await asyncio.wait_for(client.publish_again(each), PATIENCE_S)
        assert sorted(await numbers(network, "c")) == [*range(40)]
        assert await numbers(network, "b") == [*range(40)]


async def test_a_message_that_a_durable_subscription_refuses_is_not_held_until_that_has_room(tmp_path: Path) -> None:
    async with stored_at(tmp_path, "b") as network, publisher(network) as client:
        async with tamis.connect(network["c"].address, name="maker") as maker:
            await maker.durable("of c", "n >= 0", count=5, overflow="refuse")
        await network.until_at_rest(1.0, PATIENCE_S)
        for n in range(5):
            assert (await asyncio.wait_for(held(client, n), PATIENCE_S)).is_stored
        with pytest.raises(PublishRefused, match="a durable subscription at a home") as refused:
            await asyncio.wait_for(held(client, 5), PATIENCE_S)
        assert refused.value.code == RefusalCode.NOT_HELD
        with pytest.raises(PublishRefused, match="a durable subscription at a home"):
            await asyncio.wait_for(client.publish_again(refused.value), PATIENCE_S)
        assert await numbers(network, "c") == [*range(5)]
        await asyncio.wait_for(client.publish_again(refused.value), PATIENCE_S)
        assert await numbers(network, "c") == [5]
        assert await numbers(network, "b") == [*range(6)]
