"""Durable subscriptions whose filter needs a residual program, over real routers.

Their home runs the program, wherever a message enters, after a restart as well; the router of the entry sends what the
filters match.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import tamis
from tamis.client.messages.pending import DecidedPredicate
from tamis.protocol.language import parse
from tamis.testing import line, running
from tests.router.durable.test_anywhere import client_at
from tests.router.durable.test_homes import DURABLE_KEYS, PATIENCE_S

pytestmark = pytest.mark.slow
WANTED = "kind = 'order' AND price * qty > 1000"


async def publish(at: tamis.Client, first: int) -> None:
    """Publish ten orders of which every other one is wanted, and what the filters do not match."""
    for n in range(first, first + 10):
        await at.publish({"kind": "order", "n": n, "price": 7, "qty": 200 if n % 2 else 100}, confirm="held")
        await at.publish({"kind": "offer", "n": n, "price": 7, "qty": 200}, confirm="held")


async def take(work: tamis.Consumer, count: int) -> list[int]:
    found: list[int] = []
    while len(found) < count:
        message = await work.receive(PATIENCE_S)
        if isinstance(message, tamis.StoredMessage):
            await message.ack()
            found.append(int(str(message["n"])))
    return found


async def test_the_home_runs_the_program_wherever_a_message_enters(tmp_path: Path) -> None:
    async with running(tmp_path, line("a", "b", durable=DURABLE_KEYS)) as network:
        await network.until_linked()
        async with client_at(network, "b") as maker:
            await maker.durable("orders", WANTED, dialect="jms")
        await network.until_at_rest(0.5, PATIENCE_S)
        for first, restarts in ((0, False), (20, True)):
            if restarts:
                await network["b"].kill()
                await network["b"].start()
                await network.until_linked()
            async with client_at(network, "a", "here") as here, client_at(network, "b", "there") as there:
                await publish(here, first)
                await publish(there, first + 10)
            async with client_at(network, "a") as maker, maker.consume("orders") as work:
                assert sorted(await take(work, 10)) == [n for n in range(first, first + 20) if n % 2]
        async with client_at(network, "b") as maker:
            [info] = await maker.durables()
            assert (info.depth, bool(info.residual)) == (0, True)


async def test_bytes_that_are_no_program_are_refused_with_their_reason(tmp_path: Path) -> None:
    async with running(tmp_path, line("a", durable=DURABLE_KEYS)) as network:
        async with client_at(network, "a") as maker:
            bad = DecidedPredicate("x > y", parse("exists x and exists y"), b"\x01\x00\x00\x00")
            with pytest.raises(tamis.DurableRefused, match="the residual program: a program has 1 to 256 instructions"):
                await maker.durable("bad", bad)  # type: ignore[arg-type]
            with pytest.raises(tamis.DurableRefused, match="the residual program: a program has 1 to 256 instructions"):
                await maker.replay(bad).start()  # type: ignore[arg-type]
            assert await maker.durables() == []
