"""Durable subscriptions of a router whose neighbours store nothing: they get what enters there, and unknown ranges
where some of it may be missing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

import tamis
from tamis import Gap, GapReason
from tamis.testing import RouterNetwork, line, running

pytestmark = pytest.mark.slow
DURABLE_KEYS = {"bytes": 268435456, "segment_bytes": 1048576}
PATIENCE_S = 20.0
QUIET_S = 0.5
HOLD_S = 3.5
"""Behind it a change of ways is told: trees are held for two seconds, and a little for the rest."""


@asynccontextmanager
async def network_of(folder: Path, *names: str, strategy: str = "advertise") -> AsyncIterator[RouterNetwork]:
    """Run a line of routers, of which the last one alone has a log."""
    keys_of = {name: {"durable": False} for name in names[:-1]}
    plan = line(*names, durable=DURABLE_KEYS, strategy={"name": strategy})
    async with running(folder, replace(plan, keys_of=keys_of)) as network:
        await network.until_linked()
        yield network


async def durable_at(network: RouterNetwork, name: str, durable: str = "numbers") -> None:
    async with tamis.connect(network[name].address, name="consumer", patience_s=PATIENCE_S) as client:
        await client.durable(durable, "n >= 0")
        async with client.subscribe("n >= 0", wait="network"):
            pass  # from then on all routers know the predicate
    await network.until_at_rest(QUIET_S, PATIENCE_S)


async def publish_at(network: RouterNetwork, name: str, *numbers: int) -> None:
    async with tamis.connect(network[name].address, name=f"publisher at {name}", patience_s=PATIENCE_S) as client:
        has_log = name not in network.plan.keys_of
        for n in numbers:
            await client.publish({"n": n}, confirm="stored" if has_log else True)


async def consumer(network: RouterNetwork, name: str, count: int, *, acknowledged: bool = True) -> list[object]:
    """Return what a consumer gets until it has `count` messages and it is quiet: numbers, and Gaps in their places."""
    items: list[object] = []
    async with (
        tamis.connect(network[name].address, name="consumer", patience_s=PATIENCE_S) as client,
        client.consume("numbers") as work,
    ):
        reading = aiter(work)
        while True:
            is_all = sum(isinstance(item, int) for item in items) >= count
            try:
                item = await asyncio.wait_for(anext(reading), QUIET_S if is_all else PATIENCE_S)
            except TimeoutError:
                assert is_all, items
                return items
            if isinstance(item, Gap):
                items.append(item)
            else:
                items.append(item["n"])
                if acknowledged:
                    await item.ack()


def kinds(items: list[object]) -> list[object]:
    """Return the numbers, and the reason of each Gap."""
    return [item.reason if isinstance(item, Gap) else item for item in items]


@pytest.mark.parametrize("strategy", ["advertise", "flood", "link-matching", "match-first", "profile", "rendezvous"])
async def test_a_durable_gets_what_enters_at_another_router(tmp_path: Path, strategy: str) -> None:
    async with network_of(tmp_path, "a", "b", "c", strategy=strategy) as network:
        await durable_at(network, "c")
        await publish_at(network, "a", 1, 2, 3)
        assert await consumer(network, "c", 3) == [1, 2, 3]


def unknowns(items: list[object]) -> list[Gap]:
    return [item for item in items if isinstance(item, Gap)]


def positions(gap: Gap) -> tuple[int, int]:
    assert gap.positions is not None
    return gap.positions


async def test_what_was_missed_during_a_restart_is_an_unknown_range_in_its_place(tmp_path: Path) -> None:
    async with network_of(tmp_path, "a", "b") as network:
        await durable_at(network, "b")
        await publish_at(network, "a", 1, 2)
        assert await consumer(network, "b", 2, acknowledged=False) == [1, 2], "b has them on its disk"
        await network["b"].kill()
        await publish_at(network, "a", 3)
        await network["b"].start()
        await network.until_linked()
        await network.until_at_rest(QUIET_S, PATIENCE_S)
        await publish_at(network, "a", 4)
        items = await consumer(network, "b", 3)
        assert kinds(items) == [1, 2, GapReason.ROUTE_CHANGED, 4]
        [gap] = unknowns(items)
        assert gap.positions is not None
        assert (gap.count, gap.unknown_ranges, gap.positions[0] < gap.positions[1]) == (None, 1, True)
        assert kinds(await consumer(network, "b", 0)) == [], "what came behind it was acknowledged"


async def test_an_unknown_range_is_told_until_a_message_behind_it_is_acknowledged(tmp_path: Path) -> None:
    async with network_of(tmp_path, "a", "b", "c") as network:
        await durable_at(network, "c")
        await publish_at(network, "a", 1)
        assert await consumer(network, "c", 1, acknowledged=False) == [1]
        await network["b"].kill()
        await asyncio.sleep(HOLD_S)
        assert kinds(await consumer(network, "c", 1)) == [1, GapReason.ROUTE_CHANGED]
        assert kinds(await consumer(network, "c", 0)) == [GapReason.ROUTE_CHANGED]
        await publish_at(network, "c", 2)
        assert kinds(await consumer(network, "c", 1, acknowledged=False)) == [GapReason.ROUTE_CHANGED, 2]
        assert kinds(await consumer(network, "c", 1)) == [GapReason.ROUTE_CHANGED, 2]
        assert kinds(await consumer(network, "c", 0)) == []


async def test_many_changes_at_one_place_are_one_unknown_range(tmp_path: Path) -> None:
    async with network_of(tmp_path, "a", "b") as network:
        await durable_at(network, "b")
        await publish_at(network, "b", 1)
        for _ in range(3):
            await network["a"].kill()
            await asyncio.sleep(HOLD_S)
            await network["a"].start()
            await network.until_linked()
            await asyncio.sleep(HOLD_S)
        await publish_at(network, "b", 2)
        await network["b"].kill()
        await network["b"].start()
        await network.until_linked()
        await asyncio.sleep(HOLD_S)  # a start is doubted again until all routers know what b wants: see the next test
        items = await consumer(network, "b", 2)
        assert kinds(items) == [1, GapReason.ROUTE_CHANGED, 2, GapReason.ROUTE_CHANGED]
        first, last = (positions(gap) for gap in unknowns(items))
        assert first[0] < last[0]
        assert first[1] < last[1]


async def test_who_is_attached_during_a_start_sees_one_unknown_range_grow(tmp_path: Path) -> None:
    async with network_of(tmp_path, "a", "b") as network:
        await durable_at(network, "b")
        await publish_at(network, "b", 1)
        await network["a"].kill()
        await network["b"].kill()
        await network["b"].start()
        async with (
            tamis.connect(network["b"].address, name="consumer", patience_s=PATIENCE_S) as client,
            client.consume("numbers") as work,
        ):
            reading = aiter(work)
            items = [await asyncio.wait_for(anext(reading), PATIENCE_S) for _ in range(3)]
            await network["a"].start()
            items.append(await asyncio.wait_for(anext(reading), PATIENCE_S))
        while_down, until_wanted_is_known, of_new_trees = (positions(gap) for gap in unknowns(items))
        assert while_down[0] == until_wanted_is_known[0] == of_new_trees[0]
        assert while_down[1] < until_wanted_is_known[1] < of_new_trees[1]
        assert [positions(gap) for gap in unknowns(await consumer(network, "b", 1))] == [of_new_trees]


async def test_a_durable_made_a_moment_ago_has_no_unknown_range_where_all_routers_store(tmp_path: Path) -> None:
    plan = line("a", "b", "c", durable=DURABLE_KEYS)
    async with running(tmp_path, plan) as network:
        await network.until_linked()
        async with tamis.connect(network["c"].address, name="consumer", patience_s=PATIENCE_S) as client:
            await client.durable("numbers", "n >= 0")
        await network["c"].leave()
        await publish_at(network, "a", 1, 2)
        await network["c"].start()
        assert await consumer(network, "c", 2) == [1, 2]


async def test_a_durable_whose_router_stands_still_at_once_has_no_unknown_range(tmp_path: Path) -> None:
    async with running(tmp_path, line("a", "b", "c", durable=DURABLE_KEYS)) as network:
        await network.until_linked()
        async with tamis.connect(network["c"].address, name="consumer", patience_s=PATIENCE_S) as client:
            await client.durable("numbers", "n >= 0")
        network["c"].pause()
        await asyncio.sleep(2 * HOLD_S)
        network["c"].resume()
        await network.until_linked()
        await publish_at(network, "a", 1)
        await asyncio.sleep(HOLD_S)
        await publish_at(network, "a", 2)
        assert await consumer(network, "c", 2) == [1, 2]


async def test_a_start_where_all_store_doubts_what_was_before_and_nothing_that_follows(tmp_path: Path) -> None:
    async with running(tmp_path, line("a", "b", "c", durable=DURABLE_KEYS)) as network:
        await network.until_linked()
        await network["a"].kill()
        async with tamis.connect(network["c"].address, name="consumer", patience_s=PATIENCE_S) as client:
            made = await client.durable("numbers", "n >= 0")
        assert made.unknown == ("a",)
        await asyncio.sleep(HOLD_S)
        await network["a"].start()
        await network.until_linked()
        while (await network["c"].ask("/status"))["durable"]["best_effort"]:
            await asyncio.sleep(0.05)
        await network["c"].kill()  # a loss before the chain of a began may still be noticed
        await network["c"].start()
        told: list[Gap] = []
        async with (
            tamis.connect(network["c"].address, name="consumer", patience_s=PATIENCE_S) as client,
            client.consume("numbers") as work,
        ):
            with suppress(TimeoutError):
                while True:
                    item = await work.receive(3 * HOLD_S)
                    assert isinstance(item, Gap)
                    told.append(item)
        assert [gap.reason for gap in told] == [GapReason.ROUTE_CHANGED]


async def test_logs_that_are_opened_for_a_durable_store_for_it_when_it_is_made(tmp_path: Path) -> None:
    data = {name: {"data": str(tmp_path / f"data-{name}")} for name in "abcdef"}
    async with running(tmp_path, replace(line(*data), keys_of=data)) as network:
        await network.until_linked()
        async with tamis.connect(network["f"].address, name="consumer", patience_s=PATIENCE_S) as client:
            made = await client.durable("numbers", "n >= 0")
        assert (made.known, made.is_best_effort) == (tuple("abcde"), False)


async def test_the_filters_of_an_owner_are_bounded(tmp_path: Path) -> None:
    plan = line("a", "b", durable=DURABLE_KEYS, limits={"filters_per_client": 3})
    async with running(tmp_path, plan) as network:
        async with tamis.connect(network["a"].address, name="consumer", patience_s=PATIENCE_S) as client:
            await client.durable("two", "n = 1 or n = 2")
            await client.durable("one", "n = 3")
            with pytest.raises(tamis.DurableRefused, match="3 filters"):
                await client.durable("none", "n = 4")
            await client.remove_durable("one")
            await client.durable("again", "n = 4")


async def test_a_router_that_stands_alone_has_no_unknown_ranges(tmp_path: Path) -> None:
    async with network_of(tmp_path, "a") as network:
        async with tamis.connect(network["a"].address, name="consumer", patience_s=PATIENCE_S) as client:
            await client.durable("numbers", "n >= 0")
        await publish_at(network, "a", 1)
        await network["a"].kill()
        await network["a"].start()
        await publish_at(network, "a", 2)
        assert await consumer(network, "a", 2) == [1, 2]


async def test_a_durable_that_is_forgotten_asks_for_nothing_any_more(tmp_path: Path) -> None:
    async with network_of(tmp_path, "a", "b") as network:
        await durable_at(network, "b")
        await publish_at(network, "a", 1)
        async with tamis.connect(network["b"].address, name="consumer", patience_s=PATIENCE_S) as client:
            await client.remove_durable("numbers")
        await asyncio.sleep(HOLD_S)  # R7: a filter that nobody wants any more stays for two seconds
        before = (await network["a"].ask("/status"))["forwarded"]
        await publish_at(network, "a", 2)
        after = (await network["a"].ask("/status"))["forwarded"]
        assert (before, after) == (1, 1)
