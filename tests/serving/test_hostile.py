"""Whatever comes, in whatever pieces, and however it ends: no exception of ours, no connection left, others served."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket

import pytest

from tamis.serving.answers import Answer
from tamis.serving.http import HttpServer, Request, Times
from tests.serving.test_against_h11 import mutated

TIMES = Times(head_s=0.05, body_s=0.05, idle_s=0.05, stalled_s=0.05)
HONEST = b"GET /honest HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


def handler_of(chance: random.Random):
    """A handler that does one of all that a handler may do."""

    async def reads(request: Request) -> Answer:
        return Answer(await request.whole_body(1_000))

    async def pieces(request: Request) -> Answer:
        return Answer(b"".join([piece async for piece in request.body()]))

    async def streams(request: Request) -> None:
        stream = request.stream("text/plain")
        for _ in range(5):
            await stream.write(bytes(chance.choice((1, 50_000))))

    async def waits(_: Request) -> Answer:
        await asyncio.sleep(0.01)
        return Answer(b"late")

    async def takes(request: Request) -> None:
        transport, _ = request.take(b"taken")
        transport.close()

    def at_hand(request: Request):
        body = request.body_at_hand(1_000)
        return reads(request) if body is None else Answer(body)

    ways = [reads, pieces, streams, waits, takes, at_hand, lambda _: Answer(bytes(40_000))]

    def handler(request: Request):
        return Answer(b"honest") if request.path == "/honest" else chance.choice(ways)(request)

    return handler


async def stranger(server: HttpServer, chance: random.Random) -> None:
    """Send mutated requests in pieces, read some of what comes, and leave in one of several ways."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    server.open(theirs, "stranger:1")
    reader, writer = await asyncio.open_connection(sock=ours)
    data = mutated(chance) * chance.choice((1, 1, 1, 50))
    with contextlib.suppress(ConnectionError):
        while data:
            at = chance.choice((1, 7, 100, 70_000))
            if writer.is_closing():
                break  # asyncio logs writes after the end
            writer.write(data[:at])
            data = data[at:] if chance.random() < 0.98 else b""
            if chance.random() < 0.2:
                await asyncio.sleep(0)
        match chance.randrange(4):
            case 0:
                writer.transport.abort()
            case 1:
                writer.write_eof()
                await reader.read(100_000)
            case 2:
                await reader.read(10)
            case 3:  # stays until it is closed
                while await reader.read(100_000):
                    pass
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


async def honest(server: HttpServer) -> bytes:
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    server.open(theirs, "honest:1")
    reader, writer = await asyncio.open_connection(sock=ours)
    writer.write(HONEST)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


async def attacked(seed: int, strangers: int) -> None:
    chance, problems = random.Random(seed), []
    server = HttpServer(handler_of(chance), TIMES)
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: problems.append(context))
    for _ in range(strangers // 20):
        async with asyncio.timeout(10):
            crowd = [asyncio.create_task(stranger(server, chance)) for _ in range(20)]
            assert (await honest(server)).endswith(b"\r\n\r\nhonest")
            await asyncio.gather(*crowd)
    async with asyncio.timeout(5):
        while server.connections:
            await asyncio.sleep(0.01)
    assert problems == []


@pytest.mark.parametrize("seed", range(2))
async def test_strangers_hurt_nobody(seed: int, caplog) -> None:
    await attacked(seed, 40)
    assert caplog.text == ""


@pytest.mark.slow
async def test_many_strangers_hurt_nobody(caplog) -> None:
    await attacked(random.randrange(1 << 30), 800)
    assert caplog.text == ""


async def test_who_sends_a_body_and_does_not_read_the_stream_of_answers_is_cut() -> None:
    ended = asyncio.Event()

    async def echoes(request: Request) -> None:
        try:
            stream = request.stream("text/plain")
            async for _ in request.body():
                await stream.write(bytes(1_000_000)) if stream.is_full else stream.send(bytes(1_000_000))
        finally:
            ended.set()

    server = HttpServer(echoes, TIMES)
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    server.open(theirs, "a:1")
    with ours:
        ours.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx")
        await asyncio.sleep(0.01)
        ours.sendall(b"y")
        async with asyncio.timeout(5):
            await ended.wait()
    while server.connections:
        await asyncio.sleep(0.01)
