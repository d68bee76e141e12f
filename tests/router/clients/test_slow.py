"""One slow subscriber among a hundred: the others lose nothing, memory keeps its bound, and the slow one is told."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys

import pytest

import tamis
from tamis.protocol.limits import FRAME_BYTES_MAX
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.codes import LossReason
from tamis.protocol.wire.data_frames import DataFrame
from tests.router.wire_client import WireClient, opened, subscription
from tests.routers import running_line

pytestmark = pytest.mark.slow

FAST = 99
MESSAGES = 1_500
BATCH = 50
PAYLOAD = bytes(2_000)
QUEUE_BYTES = 1_048_576
TOPOLOGY = """
limits: {{connection_queue_bytes: {queue_bytes}}}
keepalive: {{hold_ms: 600000}}
slow_consumer: {{policy: {policy}, block_ms: 300}}
routers: {{a: {{clients: ['unix:a.sock'], admin: 'unix:admin.sock'}}}}
"""


class Fast:
    """A subscriber that reads what comes and counts it."""

    def __init__(self, client: WireClient) -> None:
        self._client = client
        self.messages = 0
        self.lost = 0
        self.arrived = asyncio.Event()
        self.task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for frame in self._client.frames():
            self.messages += isinstance(frame, DataFrame)
            self.lost += isinstance(frame, bodies.Lost)
            self.arrived.set()

    async def until(self, count: int) -> None:
        while self.messages < count and not self.lost:
            self.arrived.clear()
            await self.arrived.wait()


async def publish_to(where: str, fast: list[Fast]) -> None:
    """Everything, a batch at a time, so that nobody is slow for want of a turn in this process."""
    async with tamis.connect(where, name="publisher") as publisher:
        for sent in range(0, MESSAGES, BATCH):
            for number in range(sent, sent + BATCH):
                await publisher.publish({"n": number}, payload=PAYLOAD)
            async with asyncio.timeout(30):
                await asyncio.gather(*(one.until(sent + BATCH) for one in fast))


async def memory_and_queues(router) -> dict[str, object]:
    reader, writer = await asyncio.open_unix_connection(router.admin)
    writer.write(b"GET /status HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    answer = await reader.read()
    writer.close()
    return json.loads(answer.partition(b"\r\n\r\n")[2])


async def fast_ones(router) -> list[Fast]:
    fast = []
    for number in range(FAST):
        client = await WireClient.greeted(router.where, f"fast{number}")
        await client.subscribe(1, "exists n")
        fast.append(Fast(client))
    return fast


def check_the_others(fast: list[Fast], status: dict[str, object], policy: str = "drop-newest") -> None:
    """With `block` the queue of the slow one holds besides what the publisher had credit for: a frame at least."""
    for one in fast:
        one.task.cancel()
    assert [(one.messages, one.lost) for one in fast] == [(MESSAGES, 0)] * FAST
    assert status["queued_bytes"] <= QUEUE_BYTES + 300_000 + (FRAME_BYTES_MAX if policy == "block" else 0)
    assert status["switch_memory_bytes"] <= 40_000_000


@pytest.mark.parametrize("policy", ["drop-newest", "drop-oldest", "block"])
async def test_one_that_stops_reading(process, policy):
    router = process(TOPOLOGY.format(queue_bytes=QUEUE_BYTES, policy=policy))
    slow = await WireClient.greeted(router.where, "slow")
    await slow.subscribe(1, "exists n")
    fast = await fast_ones(router)
    await publish_to(router.where, fast)
    check_the_others(fast, await memory_and_queues(router), policy)
    arrived, lost, last = 0, 0, -1
    while arrived + lost < MESSAGES:  # it reads again, and is told of every gap
        frame = await slow.next()
        if isinstance(frame, bodies.Lost):
            lost += frame.messages
        elif isinstance(frame, DataFrame):
            arrived += 1
            assert frame.message.attributes["n"] > last
            last = frame.message.attributes["n"]
    assert arrived + lost == MESSAGES
    assert lost > 0
    assert (last == MESSAGES - 1) == (policy == "drop-oldest")


async def test_one_that_reads_a_little_now_and_then(process):
    router = process(TOPOLOGY.format(queue_bytes=QUEUE_BYTES, policy="drop-newest"))
    slow = await WireClient.greeted(router.where, "slow")
    await slow.subscribe(1, "exists n")
    fast = await fast_ones(router)
    publishing = asyncio.create_task(publish_to(router.where, fast))
    while not publishing.done():
        await slow._reader.read(100)
        await asyncio.sleep(0.1)
    await publishing
    check_the_others(fast, await memory_and_queues(router))


async def test_one_that_is_to_be_disconnected(process):
    router = process(TOPOLOGY.format(queue_bytes=QUEUE_BYTES, policy="disconnect"))
    slow = await WireClient.greeted(router.where, "slow")
    await slow.subscribe(1, "exists n")
    fast = await fast_ones(router)
    await publish_to(router.where, fast)
    check_the_others(fast, await memory_and_queues(router))
    assert len(await slow.until_closed()) < MESSAGES  # it was cut off, unread messages and all


@pytest.mark.parametrize("policy", ["drop-newest", "drop-oldest", "disconnect", "block"])
async def test_a_process_that_is_stopped(process, policy):
    router = process(TOPOLOGY.format(queue_bytes=QUEUE_BYTES, policy=policy))
    command = [sys.executable, "-m", "tamis.cli.main", "sub", router.where, "exists n", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as stopped:  # noqa: S603
        try:
            async with asyncio.timeout(20):
                while (await memory_and_queues(router))["subscriptions"] != 1:
                    await asyncio.sleep(0.02)
            stopped.send_signal(signal.SIGSTOP)
            fast = await fast_ones(router)
            await publish_to(router.where, fast)
            check_the_others(fast, await memory_and_queues(router), policy)
        finally:
            stopped.kill()
    assert opened


PATIENT = "slow_consumer: {policy: block, block_ms: 60000}\nkeepalive: {hold_ms: 600000}"
MANY = 30_000


async def publish_many(where: str) -> None:
    """17 MB: twice what a queue holds. Every message is confirmed."""
    async with tamis.connect(where, name="publisher", patience_s=10) as publisher:
        await publisher.publish_many([({"n": n}, bytes(480)) for n in range(MANY)], confirm=True)


async def read_all(client: WireClient) -> tuple[int, list[bodies.Lost]]:
    """How many messages come, and what is told besides, until all is said."""
    arrived, lost, last = 0, [], -1
    while last < MANY - 1 and arrived + sum(each.messages for each in lost) < MANY:
        frame = await client.next()
        if isinstance(frame, bodies.Lost):
            lost.append(frame)
        elif isinstance(frame, DataFrame):
            arrived, last = arrived + 1, frame.message.attributes["n"]
    return arrived, lost


async def test_publishers_wait_for_a_slow_one_and_nothing_is_lost(process):
    """By the defaults of credit and queues."""
    router = process(PATIENT + "\nrouters: {a: {clients: ['unix:a.sock'], admin: 'unix:admin.sock'}}")
    slow = await WireClient.greeted(router.where, "slow")
    await slow.subscribe(1, "exists n")
    publishing = asyncio.create_task(publish_many(router.where))
    await asyncio.sleep(2.0)
    assert not publishing.done()
    assert await read_all(slow) == (MANY, [])
    await publishing


async def test_a_publisher_at_another_router_does_not_wait_and_each_loss_is_told(tmp_path):
    """Nobody is held back over a link: the home router drops what does not fit, and says how many."""
    with running_line(tmp_path, "ab", PATIENT) as (at_a, at_b):
        slow = await WireClient.greeted(at_b.client, "slow")
        await slow.send(bodies.Subscribe(1, (subscription(1, "exists n"),), False, bodies.Reach.NETWORK, False))
        await slow.next(bodies.Ack)
        async with tamis.connect(at_a.client, name="eve") as eve:
            while len((await eve.route({"n": 1})).reports) < 2:  # the routers are linked
                await asyncio.sleep(0.05)
        await publish_many(at_a.client)
        arrived, lost = await read_all(slow)
        assert arrived < MANY
        assert {each.reason for each in lost} <= {LossReason.QUEUE_FULL, LossReason.ROUTE_CHANGED}
        told = sum(each.messages for each in lost)
        on_the_way = [each for each in lost if each.reason == LossReason.QUEUE_FULL and each.messages == 0]
        assert arrived + told == MANY or on_the_way
