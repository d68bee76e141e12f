"""Worker groups over three real routers: one member gets a message wherever it enters, also when workers and routers
are killed."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import tamis
from tamis import testing
from tamis.testing.network import RouterNetwork

pytestmark = pytest.mark.slow

NAMES = ("a", "b", "c")
PATIENCE_S = 30.0
GROUP = "workers"
SETTLED_S = 3.0
"""The filters of members that have gone are held for 2 s (R7), and messages for them are passed on meanwhile."""


class Worker:
    """`tamis sub --group` as a process of its own, which may be killed."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.lines: list[int] = []
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def at(cls, address: str, name: str) -> Worker:
        words = ("sub", address, "n >= 0", "--group", GROUP, "--wait", "network", "--format", "{{n}} {{.payload}}")
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tamis.cli.main", *words, "--name", name),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stderr is not None
        assert await asyncio.wait_for(process.stderr.readline(), PATIENCE_S) == f"subscribed as {name}\n".encode()
        return cls(process)

    async def _read(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            self.lines.append(int(line.split()[0]))

    async def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        await self._reading


@pytest.fixture
async def network(tmp_path: Path) -> AsyncIterator[RouterNetwork]:
    async with testing.running(tmp_path, testing.ring(*NAMES)) as made:
        await made.until_linked()
        yield made


async def until(workers: list[Worker], count: int, patience_s: float = PATIENCE_S) -> None:
    """Wait until the workers have `count` messages together."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(patience_s):
            while sum(len(worker.lines) for worker in workers) < count:
                await asyncio.sleep(0.05)


async def published(network: RouterNetwork, numbers: range, at: tuple[str, ...] = NAMES) -> None:
    """Publish `numbers`, in turn at the routers `at`."""
    for index, name in enumerate(at):
        async with tamis.connect(network[name].address) as client:
            await client.publish_many(({"n": number} for number in numbers[index :: len(at)]), confirm=True)


async def test_each_message_goes_to_one_worker_of_the_network(network: RouterNetwork) -> None:
    workers = [await Worker.at(network[name].address, f"worker-{name}") for name in NAMES]
    async with (
        tamis.connect(network["b"].address) as plain,
        plain.subscribe("n >= 0", wait="network") as everything,
    ):
        await published(network, range(900))
        await until(workers, 900)
        got = [await everything.receive(PATIENCE_S) for _ in range(900)]
        assert sorted(int(item["n"]) for item in got if isinstance(item, tamis.Message)) == list(range(900))
    shares = [worker.lines for worker in workers]
    assert sorted(number for share in shares for number in share) == list(range(900))
    assert min(map(len, shares)) > 200

    # A worker is killed: nobody gets two, and once its router knows, the other two get all.
    await workers[2].kill()
    await asyncio.sleep(SETTLED_S)
    await published(network, range(900, 1_500))
    await until(workers, 1_500)
    everywhere = Counter(number for worker in workers for number in worker.lines)
    assert everywhere == Counter(range(1_500))

    # A router is killed, with its worker: the last one gets all that is published at the others.
    await network["b"].kill()
    await workers[1].kill()
    await asyncio.sleep(SETTLED_S)
    await published(network, range(1_500, 1_800), at=("a", "c"))
    await until(workers, 1_800)
    everywhere = Counter(number for worker in workers for number in worker.lines)
    assert everywhere == Counter(range(1_800))
    await workers[0].kill()


async def test_a_message_for_a_member_that_has_just_gone_is_passed_on(network: RouterNetwork) -> None:
    """Routers hold the filter of a member that has gone for two seconds, and choose its router meanwhile."""
    async with tamis.connect(network["c"].address) as leaving, tamis.connect(network["b"].address) as staying:
        gone = await leaving.subscribe("n >= 0", group=GROUP, wait="network")
        stays = await staying.subscribe("n >= 0", group=GROUP, wait="network")
        await gone.unsubscribe()
        async with tamis.connect(network["a"].address) as client:
            await client.publish_many(({"n": number} for number in range(200)), confirm=True)
        got = [await stays.receive(PATIENCE_S) for _ in range(200)]
    assert sorted(int(item["n"]) for item in got if isinstance(item, tamis.Message)) == list(range(200))
    switches = [await network[name].ask("/status") for name in NAMES]
    assert sum(switch["dropped"]["no_member"] for switch in switches) == 0


async def test_questions_are_shared_across_the_network(network: RouterNetwork) -> None:
    async def serve(questions: tamis.Responder, who: str) -> None:
        async for question in questions:
            served[question["n"]] += 1
            await question.answer({"who": who})

    served: Counter[object] = Counter()
    async with contextlib.AsyncExitStack() as stack:
        serving = []
        for name in ("b", "c"):
            client = await stack.enter_async_context(tamis.connect(network[name].address))
            serving.append(asyncio.create_task(serve(await client.respond("n >= 0", group=GROUP), name)))
        await asyncio.sleep(1)
        async with tamis.connect(network["a"].address) as asker:
            who = [(await asker.request({"n": number}, timeout_s=PATIENCE_S))["who"] for number in range(60)]
    await asyncio.gather(*serving)
    assert set(who) == {"b", "c"}
    assert served == dict.fromkeys(range(60), 1)
