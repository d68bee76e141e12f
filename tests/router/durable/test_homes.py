"""R19 on real routers: each knows the durable subscriptions of all, over restarts and partitions, and a name is given
once where it is known."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import tamis
from tamis import DurableRefused, KnownRouters
from tamis.cli.main import main
from tamis.testing import RouterNetwork, line, running

pytestmark = pytest.mark.slow
DURABLE_KEYS = {"bytes": 268435456, "segment_bytes": 1048576}
PATIENCE_S = 20.0


@asynccontextmanager
async def three(folder: Path) -> AsyncIterator[RouterNetwork]:
    async with running(folder, line("a", "b", "c", durable=DURABLE_KEYS)) as network:
        await network.until_linked()
        await network.until_at_rest(0.5, PATIENCE_S)
        yield network


async def create(network: RouterNetwork, at: str, name: str, predicate: str = "n >= 0") -> KnownRouters:
    async with tamis.connect(network[at].address, name="maker", patience_s=PATIENCE_S) as client:
        return await client.durable(name, predicate)


async def remove(network: RouterNetwork, at: str, name: str) -> None:
    async with tamis.connect(network[at].address, name="maker", patience_s=PATIENCE_S) as client:
        await client.remove_durable(name)


async def known(network: RouterNetwork, at: str) -> set[str]:
    answer = await network[at].ask("/durables/elsewhere")
    return {each["at"] for each in answer["elsewhere"]}


async def owner(network: RouterNetwork, at: str, name: str) -> str:
    answer = await network[at].ask(f"/durables/elsewhere?name={name}")
    (stated,) = answer["elsewhere"]
    return str(stated["owner"])


async def until(network: RouterNetwork, at: str, is_so: Callable[[set[str]], bool], within_s: float) -> float:
    """Return after how many seconds what a router knows `is_so`."""
    began_s = time.monotonic()
    while not is_so(found := await known(network, at)):
        assert time.monotonic() - began_s < within_s, found
        await asyncio.sleep(0.02)
    return time.monotonic() - began_s


async def test_what_is_created_at_one_router_is_known_at_all_when_the_answer_comes(tmp_path):
    async with three(tmp_path) as network:
        names = set()
        for number in range(5):  # a machine that is busy may be late once
            names.add(f"orders{number}@a")
            at = await create(network, "a", f"orders{number}")
            if not at.unknown:
                break
        assert (at.known, at.unknown) == (("b", "c"), ())
        assert await known(network, "b") == await known(network, "c") == names
        assert await known(network, "a") == set()
        assert not at.is_best_effort
        assert (await network["a"].ask("/status"))["durable"]["best_effort"] == []
        assert not any(each["is_best_effort"] for each in (await network["b"].ask("/durables/elsewhere"))["elsewhere"])
        command = ["durable", "give", network["a"].admin, "orders0", "heir"]
        assert await asyncio.to_thread(main, command) == 0
        while await owner(network, "c", "orders0") != "heir":
            await asyncio.sleep(0.02)
        await remove(network, "a", "orders0")
        await until(network, "c", lambda found: found == names - {"orders0@a"}, PATIENCE_S)


async def test_what_is_known_outlives_a_kill_of_both_ends(tmp_path):
    async with three(tmp_path) as network:
        await create(network, "a", "orders")
        await network["a"].kill()
        await network["c"].kill()
        await network["b"].kill()
        await network["c"].start()
        assert await known(network, "c") == {"orders@a"}
        with pytest.raises(DurableRefused, match="router a has a durable subscription 'orders'"):
            await create(network, "c", "orders")
        await network["a"].start()
        await network["b"].start()
        await network.until_linked()
        assert await known(network, "b") == {"orders@a"}


async def test_the_answer_names_a_router_that_is_away_and_a_partition_gives_a_name_twice(tmp_path):
    async with three(tmp_path) as network:
        await network["b"].kill()
        at = await create(network, "a", "orders")
        assert (at.known, at.unknown) == ((), ("b", "c"))
        assert (await create(network, "c", "orders")).unknown == ("a", "b")
        await network["b"].start()
        await network.until_linked()
        await until(network, "b", lambda names: names == {"orders@a", "orders@c"}, PATIENCE_S)
        await until(network, "a", lambda names: names == {"orders@c"}, PATIENCE_S)
        with pytest.raises(DurableRefused, match="routers a and c have a durable subscription 'orders'"):
            await create(network, "b", "orders")
        await remove(network, "c", "orders")
        await until(network, "b", lambda names: names == {"orders@a"}, PATIENCE_S)
