"""Loss is told: to clients whose ways have broken or for whom something was dropped on its way, and to nobody else."""

from __future__ import annotations

import asyncio
import time

import pytest

from tamis.protocol.errors import FrameError
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.codes import ErrorCode, LossReason
from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.header import Flags
from tests.router.links.conftest import network
from tests.router.wire_client import WireClient, subscription

pytestmark = pytest.mark.slow

HOLD_S = 2.0
RING = ("ab", "bc", "cd", "de", "ea")


class Stream:
    """What a client receives, as it comes."""

    def __init__(self, client: WireClient) -> None:
        self._client = client
        self.messages: list[dict] = []
        self.lost: list[bodies.Lost] = []
        self._task = asyncio.create_task(self._read())

    @classmethod
    async def of(cls, node, name: str) -> Stream:
        client = await node.client(name)
        await client.send(bodies.Subscribe(1, (subscription(1, "exists x"),), False, bodies.Reach.NETWORK, False))
        await client.next(bodies.Ack)
        return cls(client)

    async def _read(self) -> None:
        async for frame in self._client.frames():
            if isinstance(frame, bodies.Lost):
                self.lost.append(frame)
            elif isinstance(frame, DataFrame):
                self.messages.append(dict(frame.message.attributes))


async def confirmed(publisher: WireClient, x: int) -> None:
    counter = await publisher.publish({"x": x}, flags=Flags.CONFIRM)
    ack = await publisher.next(bodies.Ack)
    assert ack.ranges == (bodies.Range(counter, counter),)


async def until_told(streams: list[Stream], count: int, within_s: float = 4 * HOLD_S) -> None:
    async with asyncio.timeout(within_s):
        while any(len(stream.lost) < count for stream in streams):
            await asyncio.sleep(0.05)


async def test_a_line_that_is_broken_in_the_middle(nodes):
    """Confirmed messages are lost while b is away: the first gap says that it goes on, the second covers all of it."""
    made = await network(nodes, "ab", "bc")
    carol, alice = await Stream.of(made["c"], "carol"), await made["a"].client("alice")
    await confirmed(alice, 1)
    loop = asyncio.get_running_loop()
    gone_s = loop.time()
    made["b"].kill()
    for x in range(2, 10):
        await confirmed(alice, x)
    await until_told([carol], 1)
    [away] = carol.lost
    assert (away.messages, away.reason, away.goes_on) == (0, LossReason.ROUTE_CHANGED, True)
    assert away.span_ms > (loop.time() - gone_s) * 1_000 - 100
    await confirmed(alice, 10)
    await made["b"].start()
    await made["c"].knows("a", "b")
    await until_told([carol], 2)
    back = carol.lost[1]
    assert (back.reason, back.goes_on) == (LossReason.ROUTE_CHANGED, False)
    assert back.span_ms > (loop.time() - gone_s) * 1_000 - 100
    await confirmed(alice, 11)
    async with asyncio.timeout(5):
        while {"x": 11} not in carol.messages:
            await asyncio.sleep(0.01)
    assert carol.messages == [{"x": 1}, {"x": 11}]
    await asyncio.sleep(1.5 * HOLD_S)
    assert len(carol.lost) == 2


async def test_a_link_that_ends_behind_a_standstill_is_told_with_all_of_it(nodes):
    made = await network(nodes, "ab", "bc")
    carol = await Stream.of(made["c"], "carol")
    time.sleep(1.5)
    made["a"].neighbour("b").link.cut(FrameError(ErrorCode.SILENT, "for a test"))
    await until_told([carol], 1)
    unnoticed_us = made["c"].network.core.core_state.times.unnoticed_us
    assert carol.lost[0].span_ms > 1_400 + HOLD_S * 1_000 + unnoticed_us / 1_000


async def test_a_link_of_a_ring_that_ends_is_told_to_those_whose_way_it_was(nodes):
    made = await network(nodes, *RING)
    streams = {name: await Stream.of(node, f"client-{name}") for name, node in made.items()}
    await asyncio.sleep(1.5 * HOLD_S)
    assert [stream.lost for stream in streams.values()] == [[]] * 5, "a quiet network has no gaps"
    a, b = (made[name].network.core.me for name in "ab")
    trees = {name: node.network.core.core_state.trees for name, node in made.items()}
    concerned = {name for name, at in trees.items() if at.onward.get(a) == b or at.onward.get(b) == a}
    assert concerned == {"a", "b", "c", "e"}
    made["a"].neighbour("b").link.cut(FrameError(ErrorCode.SILENT, "for a test"))
    await until_told([streams[name] for name in concerned], 1)
    await asyncio.sleep(1.5 * HOLD_S)
    told = {name: [(lost.messages, lost.reason, lost.goes_on) for lost in streams[name].lost] for name in made}
    once = [(0, LossReason.ROUTE_CHANGED, False)]
    assert told == {name: once if name in concerned else [] for name in made}


async def test_a_router_of_a_ring_that_dies_is_told_to_all_others_once(nodes):
    """Its own messages go to everybody. It is back within the hold: one change."""
    made = await network(nodes, *RING)
    streams = {name: await Stream.of(made[name], f"client-{name}") for name in "acde"}
    made["b"].kill()
    await made["a"].knows("c", "d", "e")
    await made["b"].start()
    for name in "acde":
        await made[name].knows(*(other for other in made if other != name))
    await until_told(list(streams.values()), 1)
    await asyncio.sleep(1.5 * HOLD_S)
    assert [[lost.goes_on for lost in stream.lost] for stream in streams.values()] == [[False]] * 4


async def test_who_subscribes_after_the_change_is_not_told_of_it(nodes):
    made = await network(nodes, "ab", "bc")
    early = await Stream.of(made["c"], "early")
    made["b"].kill()
    await made["c"].knows()
    late = await made["c"].client("late")
    await late.subscribe(1, "exists x")
    late_stream = Stream(late)
    await until_told([early], 1)
    await asyncio.sleep(0.2)
    assert late_stream.lost == []


async def test_what_the_queue_of_a_link_has_no_room_for_is_told_behind_it(nodes):
    """Of the line a, b, c, d router b does not read from a for a while: clients of b, c and d are told, not of a."""
    small = "limits: {connection_queue_bytes: 1048576}\n"
    made = await network(nodes, "ab", "bc", "cd", head=small)
    streams = {name: await Stream.of(made[name], f"client-{name}") for name in "abcd"}
    alice = await made["a"].client("alice")
    link = made["b"].neighbour("a").link
    link.pause(True)
    for x in range(300):
        await alice.publish({"x": x}, payload=bytes(20_000))
        await asyncio.sleep(0)
    link.pause(False)
    await until_told([streams[name] for name in "bcd"], 1)
    a_to_b = made["a"].neighbour("b").carried
    assert a_to_b.dropped > 0
    await made["b"].until(lambda: made["b"].neighbour("a").carried.lost == a_to_b.dropped)
    for name in "bcd":
        reasons = {(lost.messages, lost.reason, lost.span_ms > 0) for lost in streams[name].lost}
        assert (0, LossReason.QUEUE_FULL, True) in reasons
    assert made["c"].neighbour("b").carried.lost == made["b"].neighbour("c").carried.dropped
    assert all(lost.messages > 0 for lost in streams["a"].lost), "only what its own queue had no room for"
