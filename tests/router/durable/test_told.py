"""A consumer is told what an entry gave up for its home, and that an entry has lost its log."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import tamis
from tamis import Gap, GapReason
from tamis.protocol.wire.codes import RefusalCode
from tamis.testing import RouterNetwork, line, running
from tests.router.durable.test_chains import publish
from tests.router.durable.test_homes import DURABLE_KEYS, PATIENCE_S, create

pytestmark = pytest.mark.slow
QUIET_S = 3.0
ROUNDS = 20
"""How long a Gap is waited for, in rounds of QUIET_S."""


async def consumed(network: RouterNetwork, at: str, last: int) -> list[object]:
    """Return what a consumer gets, numbers and Gaps, until number `last` has come."""
    found: list[object] = []
    async with (
        tamis.connect(network[at].address, name="maker", patience_s=PATIENCE_S) as client,
        client.consume("orders", dedup=0) as work,
    ):
        while last not in found:
            item = await work.receive(ROUNDS * QUIET_S)
            found.append(item if isinstance(item, Gap) else item["n"])
            if not isinstance(item, Gap):
                await item.ack()
    return found


async def arrived(network: RouterNetwork, at: str, count: int) -> None:
    """Wait until a router has this many messages, which come to it by a chain."""
    while (await network[at].ask("/status"))["durable"]["depth"] < count:
        await asyncio.sleep(0.1)


async def ten_arrive_before_a_kill(network: RouterNetwork) -> None:
    """Make a durable subscription at c, let ten messages of a arrive there, and kill c."""
    await network.until_linked()
    await network.until_at_rest(0.5, PATIENCE_S)
    await create(network, "c", "orders")
    await network.until_at_rest(1.0, PATIENCE_S)
    await publish(network, "a", range(10))
    await arrived(network, "c", 10)
    await network["c"].kill()


def split(found: list[object]) -> tuple[list[object], list[Gap]]:
    """Return the numbers, and the Gaps of custody."""
    gaps = [item for item in found if isinstance(item, Gap)]
    told = [gap for gap in gaps if gap.reason in (GapReason.CUSTODY_FULL, GapReason.ENTRY_LOST)]
    return [item for item in found if not isinstance(item, Gap)], told


@pytest.mark.parametrize("is_by_default", [False, True])
async def test_an_entry_that_lost_its_log_is_told_as_such(tmp_path: Path, is_by_default: bool) -> None:
    plan = line("a", "b", "c") if is_by_default else line("a", "b", "c", durable=DURABLE_KEYS)
    data = {name: {"data": str(tmp_path / name)} for name in "abc"}
    async with running(tmp_path, replace(plan, keys_of=data)) as network:
        await ten_arrive_before_a_kill(network)
        await publish(network, "a", range(10, 20))
        await network["a"].kill()
        [log] = tmp_path.glob("a/log")
        shutil.rmtree(log)
        await network["c"].start()
        await network["a"].start()
        await network.until_linked()
        await asyncio.sleep(QUIET_S)
        await publish(network, "a", range(20, 30))
        found = await consumed(network, "c", 29)
        alarms = (await network["c"].ask("/status"))["alarms"]
        assert ["router a no longer has" in each["text"] for each in alarms].count(True) == 1
        numbers, [gap] = split(found)
        assert numbers == [*range(10), *range(20, 30)]
        assert (gap.reason, gap.count, gap.unknown_ranges) == (GapReason.ENTRY_LOST, None, 1)
        assert found.index(9) < found.index(gap) < found.index(20)


async def test_what_an_entry_gave_up_is_told_with_its_count_and_the_rest_comes_in_order(tmp_path: Path) -> None:
    small = DURABLE_KEYS | {"custody": {"bytes": 1 << 20}}
    async with running(tmp_path, line("a", "b", "c", durable=small)) as network:
        await ten_arrive_before_a_kill(network)
        await publish(network, "a", range(10, 310), b"x" * 10_000)
        while not (behind := (await network["a"].ask("/status"))["durable"]["behind"]):
            await asyncio.sleep(0.1)
        assert [(each["router"], each["given_up"] > 200) for each in behind] == [("c", True)]
        await network["c"].start()
        await network.until_linked()
        await publish(network, "a", range(310, 320))
        found = await consumed(network, "c", 319)
        while (await network["a"].ask("/status"))["durable"]["behind"]:
            await asyncio.sleep(0.1)
        numbers, gaps = split(found)
        assert {gap.reason for gap in gaps} == {GapReason.CUSTODY_FULL}
        given_up = sum(gap.count or 0 for gap in gaps)
        assert 200 < given_up < 300
        assert numbers == [*range(10), *range(10 + given_up, 320)]
        assert found.index(9) < found.index(gaps[0]) < found.index(10 + given_up)


async def test_what_has_waited_for_too_long_is_given_up_counted_and_not_held(tmp_path: Path) -> None:
    durable = {**DURABLE_KEYS, "custody": {"age": "2s"}}
    async with running(tmp_path, line("a", "b", "c", durable=durable)) as network:
        await ten_arrive_before_a_kill(network)
        await publish(network, "a", range(10, 30))
        async with tamis.connect(network["a"].address, name="held") as client:
            with pytest.raises(tamis.PublishRefused, match="given up for a home that is away") as refused:
                await asyncio.wait_for(client.publish({"n": 30}, confirm="held"), PATIENCE_S)
        assert refused.value.code == RefusalCode.NOT_HELD
        behind = (await network["a"].ask("/status"))["durable"]["behind"]
        assert [(each["bytes"], each["given_up"], each["given_up_old"]) for each in behind] in ([], [(0, 21, 21)])
        await network["c"].start()
        await network.until_linked()
        await publish(network, "a", range(31, 32))
        numbers, gaps = split(await consumed(network, "c", 31))
        assert numbers == [*range(10), 31]
        assert [(gap.reason, gap.count) for gap in gaps] == [(GapReason.CUSTODY_FULL, 21)]


async def test_with_refuse_publishers_are_told_of_a_home_without_room_and_nothing_is_given_up(tmp_path: Path) -> None:
    durable = {**DURABLE_KEYS, "custody": {"bytes": 1 << 20, "overflow": "refuse"}}
    async with running(tmp_path, line("a", "b", "c", durable=durable)) as network:
        await ten_arrive_before_a_kill(network)
        async with tamis.connect(network["b"].address, name="maker") as maker:
            await maker.durable("of b", "n >= 0")
        await network.until_at_rest(1.0, PATIENCE_S)
        async with tamis.connect(network["a"].address, name="publisher") as client:
            last = 10
            with pytest.raises(tamis.PublishRefused, match=r"stored in 1 of 2: .* no room for router c") as at:  # noqa: PT012
                while last < 200:
                    await client.publish({"n": last}, bytes(60_000), confirm="stored")
                    last += 1
            assert (at.value.code, 20 < last < 30) == (RefusalCode.LOG_FULL, True)
            for confirm in ("stored", "held"):
                with pytest.raises(tamis.PublishRefused, match="router c"):
                    await client.publish({"n": 1000}, bytes(60_000), confirm=confirm)
            await client.publish({"n": 1001}, bytes(60_000))
            assert (await client.publish({"m": 1}, confirm="stored")).is_stored is False
            await arrived(network, "b", last - 10 + 4)
            await asyncio.sleep(QUIET_S)
            [behind] = (await network["a"].ask("/status"))["durable"]["behind"]
            assert (behind["given_up"], behind["refused"]) == (0, 4)
            await network["c"].start()
            await arrived(network, "c", last)
            assert (await asyncio.wait_for(client.publish_again(at.value), PATIENCE_S)).is_stored
            numbers, gaps = split(await consumed(network, "c", last))
            assert (numbers, gaps) == ([*range(last + 1)], [])
            figures = (await network["b"].ask("/status"))["durable"]
            assert figures["depth"] == last - 10 + 4, "a home that had it gets it once"
