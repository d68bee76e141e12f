"""Long table work is sliced: nobody notices that somebody else subscribes a hundred thousand filters."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.session_bodies import Error, Ping, Pong
from tests.router.wire_client import WireClient, subscribe, subscription

MANY = 100_000
BATCH = 10_000
NET = """\
limits: {filters_per_client: 100_000}
routers: {a: {clients: 'unix:a.sock', admin: 'unix:admin.sock'}}
"""

pytestmark = pytest.mark.slow


async def status(path: str) -> dict[str, object]:
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(b"GET /status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return json.loads(answer.partition(b"\r\n\r\n")[2])


async def test_a_hundred_thousand_filters_hold_nobody_up(process):
    router = process(NET)
    bystander = await WireClient.greeted(router.where, "bystander")
    await bystander.subscribe(1, "beat > 0", own=True)
    greedy = await WireClient.greeted(router.where, "greedy")
    shape = subscription(0, "price < 123456 and symbol = 'S99999'".replace("'", '"'))
    frames = [
        encode(
            subscribe(
                first,
                *(
                    bodies.SubscriptionItem(number, (shape.filters[0].replace(b"S99999", b"S%05d" % number),))
                    for number in range(first, first + BATCH)
                ),
            )
        )
        for first in range(0, MANY, BATCH)
    ]
    began_s = time.monotonic()
    beats = asyncio.create_task(_beat_until_cancelled(bystander))
    writing = asyncio.create_task(greedy.send_bytes(b"".join(frames)))
    for first in range(0, MANY, BATCH):
        assert await greedy.next(bodies.Ack) == bodies.Ack(
            bodies.AckOf.SUBSCRIBE, first, (bodies.Range(first, first + BATCH - 1),)
        )
    await writing
    beats.cancel()
    whole_ms = (time.monotonic() - began_s) * 1_000
    counted = await status(router.admin)
    assert counted["filters"] == MANY + 1
    assert counted["longest_stall_ms"] < whole_ms / 2
    await greedy.close()
    while (await status(router.admin))["filters"] > 1:
        await bystander.publish({"beat": 1})
        await bystander.delivered()
    assert (await status(router.admin))["longest_stall_ms"] < whole_ms / 2


async def _beat_until_cancelled(client: WireClient) -> None:
    while True:
        await client.publish({"beat": 1})
        await client.delivered()


async def test_a_flood_of_requests_holds_nobody_up(process):
    router = process(NET)
    bystander = await WireClient.greeted(router.where, "bystander")
    await bystander.subscribe(1, "beat > 0", own=True)
    flooding = await WireClient.greeted(router.where, "flooding")
    await flooding.send_bytes(encode(Error(ErrorCode.BAD_PARTS, "", 0, False)) * 20_000)
    await flooding.send(Ping(5))
    await bystander.publish({"beat": 1})
    await bystander.delivered()
    while await flooding.next() != Pong(5):
        pass
    assert (await status(router.admin))["longest_stall_ms"] < 100  # 30 ms alone; 50 under a sanitizer
