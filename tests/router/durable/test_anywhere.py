"""Durable subscriptions consumed and read at a router that is not their home, over real routers.

What is published comes to the consumers, each message to one of them and in order to one that is alone, whatever is cut
or killed meanwhile; what comes twice is known by its id.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import tamis
from tamis import DurableRefused
from tamis.cli.main import main
from tamis.testing import NetworkPlan, RouterNetwork, line, ring, running
from tests.router.durable.test_homes import DURABLE_KEYS, PATIENCE_S, create

pytestmark = pytest.mark.slow
QUIET_S = 2.0
CUT_S = 30.0
"""How long a consumer may wait for what was out when a session broke."""


@asynccontextmanager
async def with_orders(folder: Path, plan: NetworkPlan, **policy: object) -> AsyncIterator[RouterNetwork]:
    """Routers of which `c` has the durable subscription `orders`."""
    async with running(folder, plan) as network:
        await network.until_linked()
        async with tamis.connect(network["c"].address, name="maker", patience_s=PATIENCE_S) as client:
            await client.durable("orders", "n >= 0", **policy)
        await network.until_at_rest(0.5, PATIENCE_S)
        yield network


def client_at(network: RouterNetwork, at: str, name: str = "maker") -> tamis.Client:
    return tamis.connect(network[at].address, name=name, patience_s=PATIENCE_S)


async def publish(network: RouterNetwork, at: str, numbers: range, payload: bytes = b"") -> None:
    async with client_at(network, at, f"publisher at {at}") as client:
        for n in numbers:
            await client.publish({"n": n}, payload, confirm="stored", retry=True)


async def take(work: tamis.Consumer, count: int, within_s: float = 10.0) -> list[int]:
    """Return the numbers of the next messages, which are acknowledged. Doubts of the home about what routes have lost
    may stand between them."""
    found: list[int] = []
    while len(found) < count:
        message = await work.receive(within_s)
        if isinstance(message, tamis.Gap) and message.reason is tamis.GapReason.ROUTE_CHANGED:
            continue
        assert isinstance(message, tamis.StoredMessage), message
        found.append(message["n"])
        confirmed = message.ack()
    await confirmed
    return found


async def test_all_come_in_order_two_routers_away(tmp_path: Path) -> None:
    async with with_orders(tmp_path, line("a", "b", "c", durable=DURABLE_KEYS)) as network:
        await publish(network, "a", range(100), bytes(40_000))  # 4 MB: sixteen windows
        async with client_at(network, "a") as client, client.consume("orders") as work:
            assert await take(work, 100) == [*range(100)]
            await publish(network, "b", range(100, 110))
            assert await take(work, 10) == [*range(100, 110)]


async def test_members_at_several_routers_share_the_work(tmp_path: Path) -> None:
    async with with_orders(tmp_path, line("a", "b", "c", durable=DURABLE_KEYS)) as network:
        async with (
            client_at(network, "a", "one") as one,
            client_at(network, "b", "two") as two,
            client_at(network, "c", "three") as three,
            one.consume("orders", credit=10) as first,
            two.consume("orders", credit=10) as second,
            three.consume("orders", credit=10) as third,
        ):
            found: list[list[int]] = [[], [], []]

            async def work(consumer: tamis.Consumer, taken: list[int]) -> None:
                while True:
                    taken += await take(consumer, 1, PATIENCE_S)

            workers = [asyncio.create_task(work(*each)) for each in zip((first, second, third), found, strict=True)]
            await publish(network, "a", range(30))
            end_s = time.monotonic() + PATIENCE_S
            while sum(map(len, found)) < 30 and time.monotonic() < end_s:
                await asyncio.sleep(0.05)
            for each in workers:
                each.cancel()
            assert sorted(n for each in found for n in each) == [*range(30)]
            assert all(found)


async def test_a_message_that_is_returned_comes_again_and_one_that_is_rejected_is_a_gap(tmp_path: Path) -> None:
    async with with_orders(tmp_path, line("a", "b", "c", durable=DURABLE_KEYS)) as network:
        await publish(network, "a", range(2))
        async with client_at(network, "a") as client, client.consume("orders", dedup=0) as work:
            (await work.receive(10)).nack(delay_s=0.1)
            assert await take(work, 1) == [1]
            again = await work.receive(10)
            assert (again["n"], again.deliveries) == (0, 2)
            again.reject("never")
            gap = await work.receive(10)
            assert isinstance(gap, tamis.Gap)
            assert (gap.reason, gap.count) == (tamis.GapReason.UNDELIVERABLE, 1)


async def test_a_cut_path_is_replaced_by_another_one_and_nothing_comes_twice(tmp_path: Path) -> None:
    plan = ring("a", "b", "c", is_proxied=True, durable=DURABLE_KEYS)
    async with with_orders(tmp_path, plan) as network:
        async with client_at(network, "a") as client, client.consume("orders", dedup=0, credit=50) as work:
            await publish(network, "b", range(100), bytes(20_000))
            found = await take(work, 30)
            await network.set_link("a", "c", "cut")
            found += await take(work, 70, CUT_S)
            assert found == [*range(100)]


async def test_a_home_that_was_killed_is_consumed_again_when_it_is_back(tmp_path: Path) -> None:
    async with with_orders(tmp_path, line("a", "b", "c", durable=DURABLE_KEYS)) as network:
        async with client_at(network, "a") as client, client.consume("orders") as work:
            await publish(network, "b", range(20))
            assert await take(work, 10) == [*range(10)]
            await network["c"].kill()
            await publish(network, "b", range(20, 30))
            await asyncio.sleep(1)
            await network["c"].start()
            found = await take(work, 20, CUT_S)
            assert sorted(found) == [*range(10, 30)]


async def test_a_client_moves_to_another_router_when_its_own_is_killed(tmp_path: Path) -> None:
    async with with_orders(tmp_path, ring("a", "b", "c", durable=DURABLE_KEYS)) as network:
        addresses = [network[at].address for at in ("a", "b")]
        async with (
            tamis.connect(*addresses, name="maker", patience_s=PATIENCE_S) as client,
            client.consume("orders") as work,
        ):
            await publish(network, "c", range(20))
            assert await take(work, 10) == [*range(10)]
            await network["a"].kill()
            await publish(network, "c", range(20, 30))
            assert sorted(await take(work, 20, CUT_S)) == [*range(10, 30)]


async def test_refusals_name_the_home(tmp_path: Path) -> None:
    async with with_orders(tmp_path, line("a", "b", "c", durable=DURABLE_KEYS)) as network:
        async with client_at(network, "a") as client:
            with pytest.raises(DurableRefused, match="there is no durable subscription 'bills'"):
                await client.consume("bills").start()
            await network["c"].kill()
            await asyncio.sleep(2)
            with pytest.raises(DurableRefused, match="router c has the durable subscription 'orders', and is out"):
                await client.consume("orders").start()


async def test_a_name_at_two_routers_is_told_apart_by_the_router(tmp_path: Path) -> None:
    async with running(tmp_path, line("a", "b", "c", durable=DURABLE_KEYS)) as network:
        await network["b"].kill()
        await create(network, "a", "orders")
        await create(network, "c", "orders")
        await network["b"].start()
        await network.until_linked()
        await network.until_at_rest(1.0, PATIENCE_S)
        async with client_at(network, "b") as client:
            with pytest.raises(DurableRefused, match="routers a and c have a durable subscription 'orders': say which"):
                await client.consume("orders").start()
            async with client.consume("orders@c") as at_c, client.consume("orders@a") as at_a:
                await publish(network, "b", range(3))
                assert await take(at_a, 3) == await take(at_c, 3) == [0, 1, 2]


async def test_the_command_line_consumes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with with_orders(tmp_path, line("a", "b", "c", durable=DURABLE_KEYS)) as network:
        await publish(network, "b", range(3))
        command = ["sub", "--durable", "orders", "--count", "3", "--timeout", "20", "--json", network["a"].address]
        assert await asyncio.to_thread(main, command) == 0
        assert [json.loads(each)["attributes"]["n"] for each in capsys.readouterr().out.splitlines()] == [0, 1, 2]


async def test_the_newest_message_of_a_value_is_read_from_elsewhere(tmp_path: Path) -> None:
    async with running(tmp_path, line("a", "b", "c", durable=DURABLE_KEYS)) as network:
        await network.until_linked()
        async with client_at(network, "c") as maker:
            await maker.durable("prices", "exists symbol", latest_by="symbol")
            await maker.durable("jobs", "exists job")
            for n in range(3):
                for symbol in ("X", 7, True):
                    await maker.publish({"symbol": symbol, "n": n}, bytes(200_000), confirm="stored")
        await network.until_at_rest(0.5, PATIENCE_S)
        async with client_at(network, "a") as client, client.consume("jobs") as work:
            for symbol in ("X", 7, True):
                newest = await client.get("prices", symbol)
                assert newest is not None
                assert (newest["symbol"], newest["n"], len(newest.payload)) == (symbol, 2, 200_000)
            assert await client.get("prices@c", "Y") is None
            many = await asyncio.gather(*[client.get("prices", "X") for _ in range(60)])  # 12 MB
            assert [newest and newest["n"] for newest in many] == [2] * 60
            with pytest.raises(DurableRefused, match="durable subscription 'jobs' has no latest_by"):
                await client.get("jobs", "X")
            await client.publish({"job": 1}, confirm="stored")
            assert (await work.receive(10))["job"] == 1, "the consumer of the same session goes on"
            await network["c"].kill()
            await asyncio.sleep(2)
            with pytest.raises(DurableRefused, match="router c has the durable subscription 'prices', and is out of"):
                await client.get("prices", "X")


async def test_a_read_goes_on_over_another_path_when_one_is_cut(tmp_path: Path) -> None:
    plan = ring("a", "b", "c", is_proxied=True, durable=DURABLE_KEYS)
    async with running(tmp_path, plan) as network:
        await network.until_linked()
        async with client_at(network, "c") as maker:
            await maker.durable("prices", "exists symbol", latest_by="symbol")
            await maker.publish({"symbol": "X"}, confirm="stored")
        await network.until_at_rest(0.5, PATIENCE_S)
        async with client_at(network, "a") as client:
            for n in range(200):
                if n == 100:
                    await network.set_link("a", "c", "cut")
                assert await client.get("prices", "X") is not None


async def test_a_client_lists_those_of_other_routers(tmp_path: Path) -> None:
    plan = replace(line("a", "b", "c", durable=DURABLE_KEYS), keys_of={"a": {"durable": False}})
    async with running(tmp_path, plan) as network:
        await network.until_linked()
        async with client_at(network, "a") as client:
            assert await client.durables_elsewhere() == []
            await create(network, "b", "bills", "m >= 0")
            await create(network, "c", "orders", "n >= 0 or n = -5")
            await network.until_at_rest(0.5, PATIENCE_S)
            found = await client.durables_elsewhere()
            assert [(each.at, each.owner, each.predicate, each.is_in_reach) for each in found] == [
                ("bills@b", "maker", "m >= 0", True),
                ("orders@c", "maker", "n >= 0 or n = -5", True),
            ]
            await network["c"].kill()
            await asyncio.sleep(2)
            assert [(each.router, each.is_in_reach) for each in await client.durables_elsewhere()] == [
                ("b", True),
                ("c", False),
            ]
        async with client_at(network, "b") as client:
            assert [each.name for each in await client.durables_elsewhere()] == ["orders"]
            assert [each.name for each in await client.durables()] == ["bills"]


async def test_it_is_removed_from_elsewhere(tmp_path: Path) -> None:
    async with with_orders(tmp_path, line("a", "b", "c", durable=DURABLE_KEYS)) as network:
        async with client_at(network, "a") as client, client.consume("orders") as work:
            async with client_at(network, "b") as other:
                await other.remove_durable("orders")
            with pytest.raises(DurableRefused, match="was removed"):
                await work.receive(10)
