"""The client against a real router, where there is one: `tamis router` as a process of its own."""

from __future__ import annotations

import asyncio
import importlib.util
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

import tamis
from tamis import Client, Gap, GapReason, Message, testing
from tamis.testing import blocking
from tamis.testing.blocking import BlockingRouter

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("tamis.router") is None, reason="needs tamis.router"),
    pytest.mark.slow,
]
PATIENCE_S = 20.0
TOPOLOGY = """
name: one
routers:
  rome:
    clients: unix:{path}
"""


@pytest.fixture
def rome(tmp_path: Path) -> Iterator[BlockingRouter]:
    file = tmp_path / "one.yaml"
    file.write_text(TOPOLOGY.format(path=tmp_path / "clients"))
    with blocking.started(file, "rome") as router:
        yield router


@pytest.fixture
async def alice(rome: BlockingRouter) -> AsyncIterator[Client]:
    async with tamis.connect(rome.address, name="alice", patience_s=PATIENCE_S) as client:
        yield client


@pytest.fixture
async def bob(rome: BlockingRouter) -> AsyncIterator[Client]:
    async with tamis.connect(rome.address, name="bob", patience_s=PATIENCE_S) as client:
        yield client


async def taken(subscription: tamis.Subscription, count: int) -> list[object]:
    async with asyncio.timeout(PATIENCE_S):
        items = [await anext(subscription) for _ in range(count)]
    return [item["n"] if isinstance(item, Message) else item for item in items]


async def test_messages_by_content(alice: Client, bob: Client) -> None:
    async with bob.subscribe("n > 2", 'class = "alert"') as wanted, bob.subscribe("n = 4") as four:
        await alice.publish_many([{"n": number} for number in range(5)], confirm=True)
        await alice.publish({"n": 0, "class": "alert"}, b"payload", confirm=True)
        assert await taken(wanted, 3) == [3, 4, 0]
        assert await taken(four, 1) == [4]


async def test_each_message_once_with_all_it_satisfies(alice: Client, bob: Client) -> None:
    async with bob.subscribe("n > 0", "n > 1", "n > 2") as wanted:
        await alice.publish({"n": 2}, b"payload")
        message = await anext(wanted)
        assert isinstance(message, Message)
        assert sorted(message.matched) == list(wanted.ids[:2])
        assert (message.payload, message.own) == (b"payload", False)
        assert (message.is_from("alice"), message.is_from("bob")) == (True, False)
        await alice.publish({"n": 9}, confirm=True)
        assert await taken(wanted, 1) == [9]


async def test_own_messages_are_asked_for(alice: Client) -> None:
    async with alice.subscribe("n > 0") as others, alice.subscribe("n > 1", own_messages=True) as own:
        await alice.publish_many([{"n": 1}, {"n": 2}], confirm=True)
        message = await anext(own)
        assert isinstance(message, Message)
        assert (message["n"], message.own) == (2, True)
        await others.unsubscribe()
        assert [item async for item in others] == []


async def test_many_messages_in_order(alice: Client, bob: Client) -> None:
    count = 20_000
    async with bob.subscribe("n >= 0") as wanted:
        sending = asyncio.create_task(alice.publish_many({"n": number} for number in range(count)))
        assert await taken(wanted, count) == list(range(count))
        await sending


async def test_thousands_of_predicates_at_once(alice: Client, bob: Client) -> None:
    predicates = [f"n = {number}" for number in range(2_000)]
    async with bob.subscribe(*predicates) as wanted:
        await alice.publish({"n": 1_234})
        message = await anext(wanted)
        assert isinstance(message, Message)
        assert message.matched == (wanted.ids[1_234],)


async def test_nothing_after_unsubscribing(alice: Client, bob: Client) -> None:
    async with bob.subscribe("n > 0") as first, bob.subscribe("n > 0") as second:
        await first.unsubscribe()
        await alice.publish({"n": 1}, confirm=True)
        assert await taken(second, 1) == [1]
        assert [item async for item in first] == []


async def test_a_killed_router_comes_back_and_so_does_the_subscription(rome: BlockingRouter, alice: Client) -> None:
    async with alice.subscribe("n > 0", own_messages=True) as wanted:
        await asyncio.to_thread(rome.kill)
        rome.start()
        [gap] = await taken(wanted, 1)
        assert isinstance(gap, Gap)
        assert gap.reason is GapReason.RECONNECTED
        async with asyncio.timeout(PATIENCE_S):
            await alice.publish({"n": 1}, confirm=True, retry=True)
        assert await taken(wanted, 1) == [1]


async def test_a_router_that_is_told_to_stop_lets_the_client_finish(rome: BlockingRouter, alice: Client) -> None:
    await alice.publish_many([{"n": number} for number in range(1_000)], confirm=True)
    await asyncio.to_thread(rome.leave)
    rome.start()
    async with asyncio.timeout(PATIENCE_S):
        await alice.publish({"n": 1}, confirm=True, retry=True)


def test_the_blocking_client(rome: BlockingRouter) -> None:
    with tamis.blocking.connect(rome.address, patience_s=PATIENCE_S) as client:
        with client.subscribe("n > 0", own_messages=True) as wanted:
            client.publish({"n": 1}, b"payload", confirm=True)
            message = wanted.receive(PATIENCE_S)
            assert isinstance(message, Message)
            assert (message["n"], message.payload) == (1, b"payload")


async def test_of_two_clients_with_one_name_the_later_stays(rome: BlockingRouter, alice: Client) -> None:
    async with alice.subscribe("n > 0") as wanted, tamis.connect(rome.address, name="alice") as later:
        with pytest.raises(tamis.NotAdmitted, match="alice"):
            await anext(wanted)
        await later.publish({"n": 1}, confirm=True)


async def test_the_program_of_the_readme_ends_with_ctrl_c_and_says_nothing(rome: BlockingRouter, alice: Client) -> None:
    readme = (Path(__file__).parent.parent.parent / "README.md").read_text()
    program = readme.partition("```python\n")[2].partition("```")[0].replace("tamis://127.0.0.1:7400", rome.address)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-u", "-c", program),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    first = asyncio.create_task(process.stdout.readline())
    async with asyncio.timeout(PATIENCE_S):
        while not first.done():  # until it has subscribed
            await alice.publish({"class": "alert", "severity": 6}, b"disk full", confirm=True)
            await asyncio.wait([first], timeout=0.05)
        process.send_signal(signal.SIGINT)
        assert await first == b"6 b'disk full'\n"
        assert (await process.wait(), await process.stderr.read()) == (0, b"")


async def test_questions_are_answered_across_routers_and_after_the_responders_router_was_killed(tmp_path: Path) -> None:
    async with testing.running(tmp_path, testing.line("a", "b", "c")) as network:
        await network.until_linked()
        async with (
            tamis.connect(network["a"].address, name="asker") as asker,
            tamis.connect(network["c"].address, name="adder") as adder,
            adder.respond('do = "add"') as questions,
        ):

            async def serve() -> None:
                async for question in questions:
                    await question.answer(json=question["a"] + question["b"])  # type: ignore[operator]

            serving = asyncio.create_task(serve())
            assert (await answered(asker)).json() == 5
            await network["c"].kill()
            with pytest.raises(tamis.Unanswered):
                await asker.request({"do": "add", "a": 2, "b": 3}, timeout_s=0.2)
            await network["c"].start()
            assert (await answered(asker)).json() == 5
            await questions.stop()
            await serving


async def answered(asker: Client) -> Message:
    """Ask until somebody answers, who may not be known to all routers yet."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                return await asker.request({"do": "add", "a": 2, "b": 3}, timeout_s=0.5)
            except tamis.Unanswered:
                continue
