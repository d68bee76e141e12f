"""Durable subscriptions consumed at a router that is not their home, over real routers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import tamis
from tamis.testing import RouterNetwork, line, running
from tests.router.durable.test_homes import DURABLE_KEYS, PATIENCE_S, create

pytestmark = pytest.mark.slow


async def publish(network: RouterNetwork, at: str, numbers: range, payload: bytes = b"") -> None:
    async with tamis.connect(network[at].address, name=f"publisher at {at}", patience_s=PATIENCE_S) as client:
        for n in numbers:
            await client.publish({"n": n}, payload, confirm="stored", retry=True)


async def test_consumed_two_routers_away(tmp_path: Path) -> None:
    async with running(tmp_path, line("a", "b", "c", durable=DURABLE_KEYS)) as network:
        await network.until_linked()
        await create(network, "c", "orders")
        await network.until_at_rest(0.5, PATIENCE_S)
        await publish(network, "a", range(50), bytes(40_000))
        found = []
        async with (
            tamis.connect(network["a"].address, name="maker", patience_s=PATIENCE_S) as client,
            client.consume("orders") as work,
        ):
            while len(found) < 50:
                message = await work.receive(10)
                found.append(message["n"])
                message.ack()
        assert found == [*range(50)]
