"""Custody on real routers: what enters anywhere and is confirmed as stored comes to the durable subscription, whatever
is killed meanwhile."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

import tamis
from tamis.testing import RouterNetwork, line, running
from tests.router.durable.test_homes import DURABLE_KEYS, PATIENCE_S, create, remove

pytestmark = pytest.mark.slow
QUIET_S = 3.0


async def publish(network: RouterNetwork, at: str, numbers: range, payload: bytes = b"") -> list[tamis.Receipt]:
    async with tamis.connect(network[at].address, name=f"publisher at {at}", patience_s=PATIENCE_S) as client:
        return [await client.publish({"n": n}, payload, confirm="stored", retry=True) for n in numbers]


async def consumed(network: RouterNetwork, at: str, name: str) -> list[object]:
    found: list[object] = []
    async with (
        tamis.connect(network[at].address, name="maker", patience_s=PATIENCE_S) as client,
        client.consume(name, dedup=0) as work,
    ):
        while True:
            try:
                item = await work.receive(QUIET_S)
            except TimeoutError:
                return found
            if isinstance(item, tamis.StoredMessage):
                found.append(item["n"])
                item.ack()
            else:
                found.append(str(item))


async def test_what_is_stored_elsewhere_comes_when_its_home_is_back(tmp_path: Path) -> None:
    async with running(tmp_path, line("a", "b", "c", durable=DURABLE_KEYS)) as network:
        await network.until_linked()
        await network.until_at_rest(0.5, PATIENCE_S)
        await create(network, "c", "orders")
        await network.until_at_rest(1.0, PATIENCE_S)
        receipts = await publish(network, "a", range(20))
        assert all(each.is_stored for each in receipts)
        await network["c"].kill()
        await publish(network, "a", range(20, 40))
        await network["a"].kill()
        await network["c"].start()
        await network["a"].start()
        await network.until_linked()
        await asyncio.sleep(2)
        await publish(network, "a", range(40, 60))
        assert await consumed(network, "c", "orders") == [*range(60)]


async def test_an_entry_that_lost_its_disk_confirms_nothing_before_it_knows_the_homes(tmp_path: Path) -> None:
    async with running(tmp_path, line("a", "b", "c", durable=DURABLE_KEYS)) as network:
        await network.until_linked()
        await create(network, "c", "orders")
        await network["a"].kill()
        await network["b"].kill()
        shutil.rmtree(network["a"].file.with_suffix(""))
        await network["a"].start()
        with pytest.raises(tamis.PublishRefused, match="does not know yet what durable subscriptions elsewhere want"):
            await publish(network, "a", range(1))
        await network["b"].start()
        await network.until_linked()
        await publish(network, "a", range(1, 3))
        found = await consumed(network, "c", "orders")
        assert [each for each in found if isinstance(each, int)] == [1, 2]


async def test_an_entry_stores_for_a_home_what_is_wanted_there_now(tmp_path: Path) -> None:
    async with running(tmp_path, line("a", "b", durable=DURABLE_KEYS)) as network:
        await network.until_linked()
        await create(network, "b", "orders")
        await create(network, "b", "few", "n = 3")
        assert [each.is_stored for each in await publish(network, "a", range(2))] == [True, True]
        await remove(network, "b", "orders")
        await network.until_at_rest(0.5, PATIENCE_S)
        assert [each.is_stored for each in await publish(network, "a", range(2, 5))] == [False, True, False]
        assert await consumed(network, "b", "few") == [3]
