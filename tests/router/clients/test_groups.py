"""Groups: each message that they satisfy goes to one member, over a real router and in random runs beside an oracle."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest

import tamis
from tamis.testing.router import RouterProcess, started

pytestmark = pytest.mark.slow

PATIENCE_S = 30.0
TOPOLOGY = """
name: one
routers:
  rome:
    clients: unix:{path}
"""


@pytest.fixture
async def rome(tmp_path: Path) -> AsyncIterator[RouterProcess]:
    file = tmp_path / "one.yaml"
    file.write_text(TOPOLOGY.format(path=tmp_path / "clients"))
    async with started(file, "rome") as router:
        yield router


async def taken(subscription: tamis.Subscription) -> list[int]:
    """The numbers of all messages that have come; the router has confirmed the last of them before."""
    numbers: list[int] = []
    with contextlib.suppress(TimeoutError):
        while True:
            item = await subscription.receive(0.5)
            assert isinstance(item, tamis.Message)
            numbers.append(int(item["n"]))
    return numbers


async def test_each_message_goes_to_one_of_three_workers_and_to_everybody_else(rome: RouterProcess) -> None:
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(tamis.connect(rome.address)) for _ in range(5)]
        workers = [await client.subscribe("n >= 0", group="workers") for client in clients[:3]]
        others = [await clients[3].subscribe("n >= 0", group="other"), await clients[4].subscribe("n >= 0")]
        async with tamis.connect(rome.address) as publisher:
            await publisher.publish_many(({"n": number} for number in range(900)), confirm=True)
        shares = [await taken(worker) for worker in workers]
        assert sorted(number for share in shares for number in share) == list(range(900))
        assert all(share == sorted(share) for share in shares), "in order at each member"
        assert min(map(len, shares)) > 200
        assert [await taken(other) for other in others] == [list(range(900))] * 2


async def test_questions_are_shared_by_responders(rome: RouterProcess) -> None:
    async def serve(questions: tamis.Responder, who: int) -> None:
        async for question in questions:
            served[question["n"]] += 1
            await question.answer({"who": who})

    served: Counter[object] = Counter()
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(tamis.connect(rome.address)) for _ in range(3)]
        serving = [
            asyncio.create_task(serve(await client.respond("n >= 0", group="workers"), who))
            for who, client in enumerate(clients)
        ]
        async with tamis.connect(rome.address) as asker:
            who = [(await asker.request({"n": number}, timeout_s=PATIENCE_S))["who"] for number in range(60)]
    await asyncio.gather(*serving)
    assert set(who) == {0, 1, 2}
    assert served == dict.fromkeys(range(60), 1)


async def test_members_come_and_go(rome: RouterProcess) -> None:
    """Never two members; one, if a member was subscribed all the while. What an oracle of sets says, operation by
    operation."""
    random = Random(7)
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(tamis.connect(rome.address)) for _ in range(4)]
        publisher = await stack.enter_async_context(tamis.connect(rome.address))
        members: dict[tuple[int, str], tamis.Subscription] = {}
        got: Counter[tuple[int, str]] = Counter()
        due: Counter[tuple[int, str]] = Counter()
        for number in range(300):
            key = random.randrange(4), random.choice(["odd", "all"])
            predicate = "odd = true" if key[1] == "odd" else "n >= 0"
            if key in members and random.random() < 0.5:
                await drained(members.pop(key), key[1], got)
            elif key not in members:
                members[key] = await clients[key[0]].subscribe(predicate, group=key[1])
            await publisher.publish({"n": number, "odd": number % 2 == 1}, confirm=True)
            for group in {group for _, group in members}:
                due[number, group] += group == "all" or number % 2 == 1
        for (_, group), subscription in members.items():
            await drained(subscription, group, got)
    assert got == +due


async def drained(subscription: tamis.Subscription, group: str, got: Counter[tuple[int, str]]) -> None:
    with contextlib.suppress(TimeoutError):
        while True:
            item = await subscription.receive(0.05)
            assert isinstance(item, tamis.Message)
            got[int(item["n"]), group] += 1
    await subscription.unsubscribe()


async def test_a_slow_member_gets_less(rome: RouterProcess) -> None:
    async with (
        tamis.connect(rome.address, inbox_messages=1) as slow,
        tamis.connect(rome.address) as quick,
        tamis.connect(rome.address) as publisher,
        slow.subscribe("n >= 0", group="workers") as sleeping,
        quick.subscribe("n >= 0", group="workers") as working,
    ):
        numbers: list[int] = []
        for first in range(0, 4_000, 100):
            batch = [({"n": number}, bytes(2_000)) for number in range(first, first + 100)]
            await publisher.publish_many(batch, confirm=True)
            numbers += await at_hand(working)
        slow_share = await taken(sleeping)
        numbers += await taken(working)
    assert sorted(slow_share + numbers) == list(range(4_000))
    assert len(slow_share) < 0.4 * 4_000


async def at_hand(subscription: tamis.Subscription) -> list[int]:
    numbers: list[int] = []
    with contextlib.suppress(TimeoutError):
        while True:
            item = await subscription.receive(0.01)
            assert isinstance(item, tamis.Message)
            numbers.append(int(item["n"]))
    return numbers
