"""Durable subscriptions with several homes, over real routers: the disk of one may burn."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import tamis
from tamis import DurableRefused
from tamis.cli.main import main
from tamis.protocol.wire.codes import RefusalCode
from tamis.testing import RouterNetwork, line, ring, running
from tests.router.durable.test_anywhere import client_at, publish
from tests.router.durable.test_homes import DURABLE_KEYS, PATIENCE_S, known, until

pytestmark = pytest.mark.slow
FAILOVER_S = 20.0
OLDER_S = 3.5
"""A copy that was made this much later counts as made again."""


@asynccontextmanager
async def with_copies(
    folder: Path, homes: tuple[str, ...] = ("a", "b"), copies_min: int | None = None
) -> AsyncIterator[RouterNetwork]:
    """Three routers, of which `homes` have the durable subscription `orders`."""
    async with running(folder, ring("a", "b", "c", durable=DURABLE_KEYS)) as network:
        await network.until_linked()
        async with client_at(network, homes[0]) as client:
            at = await client.durable("orders", "n >= 0", homes=homes, copies_min=copies_min)
        assert at.lacking == ()
        await network.until_at_rest(0.5, PATIENCE_S)
        yield network


async def burn(network: RouterNetwork, at: str) -> None:
    """Kill a router, and delete its folder."""
    folder = network[at].file.with_suffix("")
    await network[at].kill()
    shutil.rmtree(folder)


async def has_copy(network: RouterNetwork, at: str) -> bool:
    return any(each["durable"] == "orders" for each in (await network[at].ask("/durables"))["durables"])


async def consumers_at(network: RouterNetwork, at: str) -> int:
    (form,) = (await network[at].ask("/durables"))["durables"]
    return int(form["consumers"])


async def until_waiting(network: RouterNetwork, at: str, count: int) -> None:
    """Wait until as many messages wait in the copy of a router."""
    async with asyncio.timeout(FAILOVER_S):
        while True:
            (form,) = (await network[at].ask("/durables"))["durables"]
            if form["depth"] == count:
                return
            await asyncio.sleep(0.05)


async def until_consumed_at(network: RouterNetwork, at: str) -> None:
    async with asyncio.timeout(FAILOVER_S):
        while not await consumers_at(network, at):
            await asyncio.sleep(0.1)


async def anything(work: tamis.Consumer) -> tamis.StoredMessage | None:
    """Return the next message, acknowledged; None if there is none for a second."""
    try:
        while isinstance(message := await work.receive(1.0), tamis.Gap):
            assert message.reason in (tamis.GapReason.ROUTE_CHANGED, tamis.GapReason.ENTRY_LOST)
    except TimeoutError:
        return None
    assert isinstance(message, tamis.StoredMessage)
    message.ack()
    return message


async def all_of(work: tamis.Consumer, count: int) -> list[int]:
    found: list[int] = []
    async with asyncio.timeout(FAILOVER_S):
        while len(found) < count:
            message = await anything(work)
            found += [message["n"]] if message is not None else []
    return found


async def test_the_disk_of_the_first_home_burns_and_every_confirmed_message_comes(tmp_path: Path) -> None:
    async with with_copies(tmp_path) as network:
        async with client_at(network, "c") as client, client.consume("orders") as work:
            await publish(network, "c", range(20))
            assert await all_of(work, 10) == [*range(10)]
            assert (await consumers_at(network, "a"), await consumers_at(network, "b")) == (1, 0)
            await asyncio.sleep(OLDER_S)
            await burn(network, "a")
            await publish(network, "c", range(20, 30))
            assert sorted(await all_of(work, 20)) == [*range(10, 30)]

            await network["a"].start()
            await network.until_linked()
            await until(network, "c", lambda names: names == {"orders@a", "orders@b"}, FAILOVER_S)
            await publish(network, "c", range(30, 35))
            assert await all_of(work, 5) == [*range(30, 35)]
            await asyncio.sleep(2)  # the copy that was made again serves behind the older one
            assert (await consumers_at(network, "a"), await consumers_at(network, "b")) == (0, 1)

            await burn(network, "b")  # what came after the first disk burnt is on the new one
            await publish(network, "c", range(35, 40))
            assert await all_of(work, 5) == [*range(35, 40)]


async def test_what_is_acknowledged_leaves_the_other_copy_too(tmp_path: Path) -> None:
    async with with_copies(tmp_path) as network:
        async with client_at(network, "c") as client, client.consume("orders") as work:
            await publish(network, "c", range(20))
            assert await all_of(work, 12) == [*range(12)]
            await until_waiting(network, "b", 8)
        await network["a"].kill()
        await asyncio.sleep(2)
        async with client_at(network, "c", "another") as client, client.consume("orders") as work:
            assert await all_of(work, 8) == [*range(12, 20)]
            assert await anything(work) is None


async def test_a_home_that_was_away_hears_what_is_acknowledged(tmp_path: Path) -> None:
    async with with_copies(tmp_path) as network:
        async with client_at(network, "c") as client, client.consume("orders") as work:
            await publish(network, "c", range(20))
            await until_waiting(network, "b", 20)
            await network["b"].kill()
            await publish(network, "c", range(20, 25))
            assert await all_of(work, 22) == [*range(22)]
            await network["b"].start()
            await until_waiting(network, "b", 3)
            assert (await consumers_at(network, "a"), await consumers_at(network, "b")) == (1, 0)


async def test_both_copies_are_consumed_while_their_homes_cannot_reach_each_other(tmp_path: Path) -> None:
    """What consumers at one side have finished is finished at the other one, once it is in reach again."""
    async with running(tmp_path, line("a", "c", "b", durable=DURABLE_KEYS)) as network:
        await network.until_linked()
        async with client_at(network, "a") as client:
            assert (await client.durable("orders", "n >= 0", homes=("a", "b"))).lacking == ()
        await network.until_at_rest(0.5, PATIENCE_S)
        await publish(network, "c", range(20))
        await until_waiting(network, "a", 20)
        await until_waiting(network, "b", 20)
        await network["c"].kill()
        await asyncio.sleep(2)
        async with client_at(network, "a") as at_a, client_at(network, "b") as at_b:
            async with at_a.consume("orders") as one, at_b.consume("orders") as two:
                assert await all_of(one, 5) == [*range(5)]
                assert await all_of(two, 9) == [*range(9)]
        await network["c"].start()
        await network.until_linked()
        for at in "ab":
            await until_waiting(network, at, 11)


async def test_consumers_go_back_to_the_first_home_when_it_is_there_again(tmp_path: Path) -> None:
    async with with_copies(tmp_path) as network:
        async with (
            client_at(network, "b", "one") as one,
            client_at(network, "c", "two") as two,
            one.consume("orders") as first,
            two.consume("orders@b") as second,
        ):
            await until_consumed_at(network, "a")
            await network["a"].kill()
            await until_consumed_at(network, "b")
            await network["a"].start()
            async with asyncio.timeout(FAILOVER_S):
                while await consumers_at(network, "a") < 2:
                    await asyncio.sleep(0.1)
            assert await consumers_at(network, "b") == 0
            await publish(network, "b", range(10))
            found: list[int] = []
            async with asyncio.timeout(FAILOVER_S):
                for work in (first, second):
                    while len(found) < 10 and (message := await anything(work)):
                        found.append(message["n"])
            assert sorted(found) == [*range(10)]


async def test_what_is_removed_is_removed_at_every_home_or_stays(tmp_path: Path) -> None:
    async with with_copies(tmp_path) as network:
        await network["b"].kill()
        await asyncio.sleep(2)
        for at in "ac":
            async with client_at(network, at) as client:
                with pytest.raises(DurableRefused, match="'orders' has copies at a and b, and b is out of reach"):
                    await client.remove_durable("orders")
        await network["b"].start()
        await network.until_linked()
        await until(network, "c", lambda names: names == {"orders@a", "orders@b"}, PATIENCE_S)
        async with client_at(network, "c") as client:
            await client.remove_durable("orders")
            with pytest.raises(DurableRefused, match="no durable subscription 'orders'"):
                await client.consume("orders").start()
        for at in "ab":
            assert not await has_copy(network, at)
            await network[at].kill()
            await network[at].start()
        await network.until_linked()
        await network.until_at_rest(1.0, PATIENCE_S)
        assert await known(network, "c") == set()


async def test_a_home_that_is_away_is_named_and_makes_its_copy_later(tmp_path: Path) -> None:
    async with running(tmp_path, ring("a", "b", "c", durable=DURABLE_KEYS)) as network:
        await network.until_linked()
        await network["b"].kill()
        async with client_at(network, "a") as client:
            assert (await client.durable("orders", "n >= 0", homes=["a", "b"])).lacking == ("b",)
            with pytest.raises(DurableRefused, match="each has positions of its own: consume without `after`"):
                await client.consume("orders", after=5).start()
            (info,) = await client.durables()
            assert info.homes == ("a", "b")
        await network["b"].start()
        await until(network, "c", lambda names: names == {"orders@a", "orders@b"}, PATIENCE_S)


@pytest.mark.parametrize(
    ("homes", "match"),
    [
        (("a", "b"), "router c is no home of 'orders', as are routers a and b: connect to one of them"),
        (("c", "rome"), "copies stay in the domain of router c, which has no router rome"),
    ],
)
async def test_a_router_that_is_no_home_refuses(tmp_path: Path, homes: tuple[str, ...], match: str) -> None:
    async with running(tmp_path, ring("a", "b", "c", durable=DURABLE_KEYS)) as network:
        async with client_at(network, "c") as client:
            with pytest.raises(DurableRefused, match=match):
                await client.durable("orders", "n >= 0", homes=homes)


async def test_a_copy_of_another_owner_or_policy_is_refused(tmp_path: Path) -> None:
    async with with_copies(tmp_path) as network:
        async with client_at(network, "b") as client:
            assert (await client.durable("orders", "n >= 0", homes=("a", "b"))).lacking == ()
            with pytest.raises(DurableRefused, match="the existing one differs in homes"):
                await client.durable("orders", "n >= 0")
        async with client_at(network, "c") as client:
            with pytest.raises(DurableRefused, match="routers a and b have a durable subscription 'orders'"):
                await client.durable("orders", "n >= 0", homes=("c", "b"))


async def until_away(network: RouterNetwork, at: str, router: str) -> None:
    """Wait until a home is out of reach of router `at`."""
    async with asyncio.timeout(FAILOVER_S):
        while True:
            stated = (await network[at].ask("/durables/elsewhere"))["elsewhere"]
            if not any(each["is_in_reach"] for each in stated if each["router"] == router):
                return
            await asyncio.sleep(0.05)


async def held(client: tamis.Client, n: int) -> tamis.Receipt:
    """Publish a message to be held, again where it is refused because a home has no copy now."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                return await client.publish({"n": n}, confirm="held")
            except tamis.PublishRefused as refused:
                if refused.code != RefusalCode.NOT_HELD:
                    raise
            await asyncio.sleep(0.1)


async def test_a_message_is_held_by_the_homes_in_reach_if_they_are_enough(tmp_path: Path) -> None:
    async with with_copies(tmp_path, ("b", "c"), copies_min=1) as network, client_at(network, "a") as client:
        assert (await held(client, 0)).is_stored
        await network["b"].kill()
        await until_away(network, "a", "b")
        for n in range(1, 20):
            assert (await asyncio.wait_for(client.publish({"n": n}, confirm="held"), PATIENCE_S)).is_stored
        await until_waiting(network, "c", 20)
        await network["b"].start()
        await network.until_linked()
        assert (await held(client, 20)).is_stored
        for home in "bc":
            await until_waiting(network, home, 21)


async def test_a_burnt_disk_delays_no_publisher_while_the_other_home_is_enough(tmp_path: Path) -> None:
    async with with_copies(tmp_path, ("b", "c"), copies_min=1) as network, client_at(network, "a") as client:
        assert (await held(client, 0)).is_stored
        await burn(network, "b")
        for n in range(1, 10):
            assert (await asyncio.wait_for(client.publish({"n": n}, confirm="held"), PATIENCE_S)).is_stored
        await network["b"].start()
        await network.until_linked()
        assert (await asyncio.wait_for(client.publish({"n": 10}, confirm="held"), PATIENCE_S)).is_stored
        await until(network, "a", lambda names: names == {"orders@b", "orders@c"}, FAILOVER_S)
        assert (await held(client, 11)).is_stored
        await until_waiting(network, "c", 12)


async def test_a_message_that_needs_both_homes_waits_for_the_one_that_is_away(tmp_path: Path) -> None:
    async with with_copies(tmp_path, ("b", "c"), copies_min=2) as network, client_at(network, "a") as client:
        assert (await held(client, 0)).is_stored
        await network["b"].kill()
        await until_away(network, "a", "b")
        waiting = asyncio.create_task(client.publish({"n": 1}, confirm="held"))
        assert (await client.publish({"n": 2}, confirm="stored")).is_stored
        await asyncio.sleep(1.5)
        assert not waiting.done()
        await network["b"].start()
        assert (await asyncio.wait_for(waiting, PATIENCE_S)).is_stored
        for home in "bc":
            await until_waiting(network, home, 3)


async def test_a_message_is_refused_while_fewer_homes_have_a_copy_than_it_needs(tmp_path: Path) -> None:
    async with running(tmp_path, ring("a", "b", "c", durable=DURABLE_KEYS)) as network:
        await network.until_linked()
        await network["b"].kill()
        async with client_at(network, "c") as client, client_at(network, "a", "publisher") as publisher:
            at = await client.durable("orders", "n >= 0", homes=("c", "b"), copies_min=2)
            assert at.lacking == ("b",)
            await until(network, "a", lambda names: names == {"orders@c"}, PATIENCE_S)
            for each in (client, publisher):
                with pytest.raises(tamis.PublishRefused, match="fewer routers than copies_min have a copy") as refused:
                    await asyncio.wait_for(each.publish({"n": 1}, confirm="held"), PATIENCE_S)
                assert refused.value.code == RefusalCode.NOT_HELD
            await network["b"].start()
            await until(network, "a", lambda names: names == {"orders@b", "orders@c"}, PATIENCE_S)
            assert (await asyncio.wait_for(publisher.publish_again(refused.value), PATIENCE_S)).is_stored
            (info,) = await client.durables()
            assert info.policy["copies_min"] == 2


async def test_the_command_line_makes_and_shows_copies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with running(tmp_path, ring("a", "b", "c", durable=DURABLE_KEYS)) as network:
        await network.until_linked()
        command = ["durable", "create", network["a"].address, "orders", "n >= 0", "--homes", "a,b", "--json"]
        assert await asyncio.to_thread(main, [*command, "--name", "maker", "--copies-min", "3"]) == 2
        assert "copies_min is a whole number from 1 to 2, the number of homes, not 3" in capsys.readouterr().err
        assert await asyncio.to_thread(main, [*command, "--name", "maker", "--copies-min", "1"]) == 0
        made = json.loads(capsys.readouterr().out)
        assert (made["homes"], made["lacking"], made["copies_min"]) == (["a", "b"], [], 1)
        assert await asyncio.to_thread(main, ["durable", "info", network["b"].admin, "orders", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["policy"]["copies_min"] == 1
        assert await asyncio.to_thread(main, ["durable", "ls", network["b"].admin]) == 0
        assert "idle, homes a,b" in capsys.readouterr().out
