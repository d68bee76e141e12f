"""Connections of a server: answers in order, bodies, streams, upgrades, and clients that would hurt others."""

from __future__ import annotations

import asyncio
import json
import socket
import time

import pytest

from tamis.serving.answers import Answer
from tamis.serving.http import (
    READ_AHEAD_BYTES,
    REQUESTS_PER_TURN,
    ClientLeft,
    HttpConnection,
    HttpServer,
    Request,
    Times,
    Watcher,
)
from tamis.serving.problem import refused
from tests.serving.conftest import Raw

GET = b"GET %b HTTP/1.1\r\nHost: a\r\n\r\n"


def echo(request: Request) -> Answer:
    """A handler that is no coroutine."""
    return Answer(f"{request.method} {request.target}".encode(), content_type="text/plain")


async def upload(request: Request) -> Answer:
    return Answer(await request.whole_body(100_000))


async def test_answers_come_in_order_whoever_takes_longer(serving) -> None:
    async def handler(request: Request) -> Answer:
        await asyncio.sleep(0.02 if request.path == "/slow" else 0)
        return echo(request)

    _, connect = await serving(handler)
    raw = await connect()
    await raw.send(GET % b"/slow" + GET % b"/fast?x=1")
    assert [(await raw.answer())[2] for _ in range(2)] == [b"GET /slow", b"GET /fast?x=1"]


async def test_a_future_is_an_answer_too(serving) -> None:
    waiting = []

    def handler(_: Request) -> asyncio.Future[Answer]:
        waiting.append(asyncio.get_running_loop().create_future())
        return waiting[-1]

    _, connect = await serving(handler)
    raw = await connect()
    await raw.send(GET % b"/")
    while not waiting:
        await asyncio.sleep(0)
    waiting[0].set_result(Answer(b"late"))
    assert (await raw.answer())[2] == b"late"


async def test_thousands_of_requests_in_one_write_leave_the_loop_to_others(serving) -> None:
    _, connect = await serving(echo)
    flood, honest = await connect(), await connect()
    served = 0

    def handler_turns() -> None:
        nonlocal served
        served += 1
        if served < 100:
            asyncio.get_running_loop().call_soon(handler_turns)

    await flood.send(GET % b"/flood" * 5_000)
    handler_turns()
    began_s = time.monotonic()
    await honest.send(GET % b"/honest")
    assert (await honest.answer())[2] == b"GET /honest"
    assert time.monotonic() - began_s < 1
    for _ in range(5_000):
        assert (await flood.answer())[2] == b"GET /flood"


async def test_a_turn_answers_few_requests(serving) -> None:
    turns: list[int] = []

    def handler(_: Request) -> Answer:
        turns[-1] += 1
        return Answer(b"")

    def turn() -> None:
        turns.append(0)
        handle.append(asyncio.get_running_loop().call_soon(turn))
        del handle[:-1]

    handle: list[asyncio.Handle] = []
    _, connect = await serving(handler)
    raw = await connect()
    turn()
    await raw.send(GET % b"/" * 1_000)
    for _ in range(1_000):
        await raw.answer()
    handle[0].cancel()
    assert max(turns) <= 2 * REQUESTS_PER_TURN  # what was read, and the turn that was due
    assert sum(turns) == 1_000


@pytest.mark.parametrize(
    "framing", [b"Content-Length: 6\r\n\r\nabcdef", b"Transfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n0\r\n\r\n"]
)
async def test_a_body_in_either_framing(serving, framing) -> None:
    _, connect = await serving(upload)
    raw = await connect()
    for byte in b"POST / HTTP/1.1\r\nHost: a\r\n" + framing:
        await raw.send(bytes([byte]))
    assert (await raw.answer())[2] == b"abcdef"
    await raw.send(GET % b"/")
    assert (await raw.answer())[2] == b""


async def test_a_body_at_hand_needs_no_coroutine(serving) -> None:
    def handler(request: Request):
        body = request.body_at_hand(1_000)
        return upload(request) if body is None else Answer(b"at hand: " + body)

    _, connect = await serving(handler)
    raw = await connect()
    await raw.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" + GET % b"/")
    assert [(await raw.answer())[2] for _ in range(2)] == [b"at hand: abc", b"at hand: "]
    await raw.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n")
    await asyncio.sleep(0.01)
    await raw.send(b"abc")
    assert (await raw.answer())[2] == b"abc"


async def test_expect_is_answered_when_the_body_is_wanted(serving) -> None:
    async def handler(request: Request) -> Answer:
        return Answer(b"") if request.path == "/no" else await upload(request)

    head = b"POST %b HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
    _, connect = await serving(handler)
    raw = await connect()
    await raw.send(head % b"/yes")
    assert await raw.until(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    await raw.send(b"abc")
    assert (await raw.answer())[2] == b"abc"
    await raw.send(head % b"/no")
    status, headers, _ = await raw.answer()
    assert (status, headers["connection"]) == (200, "close")
    await raw.close()


async def test_a_handler_that_reads_slowly_stops_its_client(serving) -> None:
    gate, got = asyncio.Event(), 0

    async def handler(request: Request) -> Answer:
        nonlocal got
        await gate.wait()
        async for piece in request.body():
            got += len(piece)
        return Answer(str(got).encode())

    server, connect = await serving(handler)
    raw = await connect()
    size = 8_000_000
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size
    sending = asyncio.create_task(raw.send(head + bytes(size)))
    await asyncio.sleep(0.1)
    [connection] = server.connections
    assert not sending.done()
    assert connection._reader.unread_bytes <= 2 * READ_AHEAD_BYTES
    gate.set()
    assert (await raw.answer())[2] == str(size).encode()
    await sending


@pytest.mark.parametrize("framing", [b"Content-Length: 300000", b"Transfer-Encoding: chunked"])
async def test_a_body_that_is_too_large_is_answered_while_it_comes(serving, framing) -> None:
    _, connect = await serving(upload)
    raw = await connect()
    await raw.send(b"POST / HTTP/1.1\r\nHost: a\r\n" + framing + b"\r\n\r\n")
    await raw.send(b"493e0\r\n" + bytes(300_000) + b"\r\n0\r\n\r\n" if framing.startswith(b"T") else bytes(300_000))
    status, headers, body = await raw.answer()
    assert (status, headers["connection"], headers["content-type"]) == (413, "close", "application/problem+json")
    assert json.loads(body) == {
        "type": "urn:tamis:problem:too-large",
        "title": "Content Too Large" if "Content Too" in json.loads(body)["title"] else "Request Entity Too Large",
        "status": 413,
        "detail": "a body may have at most 100000 bytes",
    }
    assert await raw.rest() == b""


async def test_an_answer_without_reading_the_body_closes_unless_the_body_is_there(serving) -> None:
    _, connect = await serving(echo)
    raw = await connect()
    await raw.send(b"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" + GET % b"/b")
    assert [(await raw.answer())[2] for _ in range(2)] == [b"POST /a", b"GET /b"]
    await raw.send(b"POST /c HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n")
    status, headers, _ = await raw.answer()
    assert (status, headers["connection"]) == (200, "close")


async def test_head_and_answers_without_a_body(serving) -> None:
    _, connect = await serving(lambda request: Answer(b"", 204) if request.path == "/none" else echo(request))
    raw = await connect()
    await raw.send(b"HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n" + GET % b"/none" + GET % b"/y")
    assert b"Content-Length: 7\r\n" in await raw.until(b"\r\n\r\n")
    none = await raw.until(b"\r\n\r\n")
    assert none.startswith(b"HTTP/1.1 204 No Content\r\n")
    assert b"Content-Length" not in none
    assert (await raw.answer())[2] == b"GET /y"


async def test_a_stream_comes_in_chunks_and_the_connection_goes_on(serving) -> None:
    async def handler(request: Request) -> Answer | None:
        if request.path != "/stream":
            return echo(request)
        stream = request.stream("text/event-stream", headers=(("Cache-Control", "no-store"),))
        for piece in (b"one", b"", b"three"):
            await stream.write(piece)
        return None

    _, connect = await serving(handler)
    raw = await connect()
    await raw.send(GET % b"/stream" + GET % b"/next")
    head = await raw.until(b"\r\n\r\n")
    assert b"Transfer-Encoding: chunked\r\n" in head
    assert b"Cache-Control: no-store\r\n" in head
    assert await raw.until(b"0\r\n\r\n") == b"3\r\none\r\n5\r\nthree\r\n0\r\n\r\n"
    assert (await raw.answer())[2] == b"GET /next"
    await raw.send(b"HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n" + GET % b"/next")
    await raw.until(b"\r\n\r\n")
    assert (await raw.answer())[2] == b"GET /next"
    await raw.send(b"GET /stream HTTP/1.0\r\n\r\n")
    rest = await raw.rest()
    assert b"chunked" not in rest
    assert rest.endswith(b"\r\n\r\nonethree")


async def test_who_leaves_ends_its_stream(serving) -> None:
    ends: list[str] = []

    async def handler(request: Request) -> None:
        stream = request.stream("text/event-stream")
        await stream.write(b"hello")
        try:
            await asyncio.sleep(20)
        except asyncio.CancelledError:
            ends.append("cancelled")
            raise

    _, connect = await serving(handler)
    raw = await connect()
    await raw.send(GET % b"/")
    await raw.until(b"hello\r\n")
    await raw.close()
    async with asyncio.timeout(5):
        while not ends:
            await asyncio.sleep(0.005)


async def test_a_stream_that_nobody_reads_waits_then_is_cut(serving) -> None:
    sent, ends = 0, []

    async def handler(request: Request) -> None:
        nonlocal sent
        stream = request.stream("application/x-ndjson")
        try:
            while True:
                await stream.write(bytes(50_000))
                sent += 50_000
        finally:
            ends.append(sent)

    server, connect = await serving(handler, times=Times(stalled_s=0.15))
    raw = await connect()
    raw._reader._transport.pause_reading()
    await raw.send(GET % b"/")
    await asyncio.sleep(0.05)
    assert (len(server.connections), ends) == (1, [])
    waiting = sent
    await asyncio.sleep(0.05)
    assert sent == waiting < 2_000_000
    async with asyncio.timeout(5):
        while not ends or server.connections:
            await asyncio.sleep(0.01)
    assert ends == [waiting]


async def test_a_stream_that_does_not_look_whether_it_is_full_is_cut(serving) -> None:
    failed = []

    async def handler(request: Request) -> None:
        stream = request.stream("application/x-ndjson")
        try:
            for _ in range(100):
                stream.send(bytes(100_000))
        except ClientLeft as error:
            failed.append(error)
            raise

    server, connect = await serving(handler)
    raw = await connect()
    raw._reader._transport.pause_reading()
    await raw.send(GET % b"/")
    async with asyncio.timeout(5):
        while not failed or server.connections:
            await asyncio.sleep(0.01)


async def test_whole_answers_that_nobody_reads_are_bounded_and_cut(serving) -> None:
    made = 0

    def handler(_: Request) -> Answer:
        nonlocal made
        made += 1
        return Answer(bytes(50_000))

    server, connect = await serving(handler, times=Times(idle_s=0.15))
    raw = await connect()
    raw._reader._transport.pause_reading()
    await raw.send(GET % b"/" * 1_000)
    await asyncio.sleep(0.05)
    assert made < 40
    async with asyncio.timeout(5):
        while server.connections:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HT", 408),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc", 408),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na", 408),
    ],
)
async def test_what_is_never_finished_is_told_so(serving, sent, status) -> None:
    server, connect = await serving(upload, times=Times(head_s=0.08, body_s=0.08, idle_s=0.1))
    raw = await connect()
    began_s = time.monotonic()
    for byte in sent:
        await raw.send(bytes([byte]))
    assert (await raw.answer())[0] == status
    assert 0.05 < time.monotonic() - began_s < 3
    assert await raw.rest() == b""
    async with asyncio.timeout(5):
        while server.connections:
            await asyncio.sleep(0.01)


async def test_a_head_that_drips_has_no_more_time_than_another(serving) -> None:
    _, connect = await serving(echo, times=Times(head_s=0.1))
    raw = await connect()
    waiting = asyncio.create_task(raw.answer())
    for byte in GET % b"/" * 10:
        if waiting.done():
            break
        await raw.send(bytes([byte]))
        await asyncio.sleep(0.02)
    assert (await waiting)[0] == 408


async def test_a_body_that_drips_has_no_more_time_than_another(serving) -> None:
    _, connect = await serving(upload, times=Times(body_s=0.1))
    raw = await connect()
    waiting = asyncio.create_task(raw.answer())
    await raw.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n")
    while not waiting.done():
        await raw.send(b"x")
        await asyncio.sleep(0.02)
    assert (await waiting)[0] == 408


async def test_silence_is_closed_without_an_answer(serving) -> None:
    _, connect = await serving(echo, times=Times(idle_s=0.1))
    raw = await connect()
    assert await raw.rest() == b""


async def test_a_wrong_head_is_answered_although_more_was_sent(serving) -> None:
    _, connect = await serving(echo)
    raw = await connect()
    await raw.send(b"nonsense\r\n\r\n" + bytes(500_000))
    status, headers, _ = await raw.answer()
    assert (status, headers["connection"]) == (400, "close")
    raw.half_close()
    assert await raw.rest() == b""


async def test_errors_of_handlers_are_answers(serving, caplog) -> None:
    def handler(request: Request) -> Answer:
        if request.path == "/refused":
            raise refused("slow-down", 429, "too fast", (("Retry-After", "3"),))
        if request.path == "/broken":
            return Answer(b"", headers=(("X", "a\r\nSet-Cookie: b"),))
        raise LookupError("a bug")

    async def later(request: Request) -> Answer:
        await asyncio.sleep(0)
        return handler(request)

    for each in (handler, later):
        _, connect = await serving(each)
        raw = await connect()
        await raw.send(GET % b"/refused" + GET % b"/failed" + GET % b"/broken")
        status, headers, _ = await raw.answer()
        assert (status, headers["retry-after"]) == (429, "3")
        status, _, body = await raw.answer()
        assert (status, json.loads(body)["type"]) == (500, "urn:tamis:problem:failed")
        assert b"a bug" not in body
        assert await raw.rest() == b""
    assert "a bug" in caplog.text


async def test_a_stream_that_fails_has_no_last_chunk(serving) -> None:
    async def handler(request: Request) -> None:
        await request.stream("text/plain").write(b"begun")
        raise LookupError("a bug")

    _, connect = await serving(handler)
    raw = await connect()
    await raw.send(GET % b"/")
    assert not (await raw.rest()).endswith(b"0\r\n\r\n")


async def test_a_client_that_has_closed_its_half_gets_its_answers(serving) -> None:
    async def handler(request: Request) -> Answer:
        await asyncio.sleep(0.02)
        return echo(request)

    _, connect = await serving(handler)
    raw = await connect()
    await raw.send(GET % b"/1" + GET % b"/2")
    raw.half_close()
    assert [(await raw.answer())[2] for _ in range(2)] == [b"GET /1", b"GET /2"]
    assert await raw.rest() == b""


async def test_a_handler_may_take_the_connection(serving) -> None:
    class Shout(asyncio.Protocol):
        def __init__(self, transport: asyncio.Transport) -> None:
            self.transport = transport

        def data_received(self, data: bytes) -> None:
            self.transport.write(data.upper())

    async def handler(request: Request) -> None:
        await asyncio.sleep(0)
        assert request.headers["upgrade"] == "shout"
        transport, behind = request.take(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
        protocol = Shout(transport)
        transport.set_protocol(protocol)
        protocol.data_received(behind)
        transport.resume_reading()

    server, connect = await serving(handler)
    raw = await connect()
    await raw.send(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\nearly ")
    assert await raw.until(b"EARLY ") == b"HTTP/1.1 101 Switching Protocols\r\n\r\nEARLY "
    assert server.connections == set()
    await raw.send(b"late")
    assert await raw.until(b"LATE") == b"LATE"


async def test_draining_ends_idle_connections_now_and_others_after_their_answer(serving) -> None:
    gate = asyncio.Event()

    async def handler(request: Request) -> Answer:
        await gate.wait()
        return echo(request)

    server, connect = await serving(handler)
    idle, busy = await connect(), await connect()
    await busy.send(GET % b"/")
    await asyncio.sleep(0.02)
    server.drain()
    assert await idle.rest() == b""
    gate.set()
    _, headers, body = await busy.answer()
    assert (headers["connection"], body) == ("close", b"GET /")
    assert await busy.rest() == b""


# --- accepted sockets, and TLS ----------------------------------------------------------------------------------------


class Places(Watcher):
    def __init__(self) -> None:
        self.told: list[str] = []

    def opened(self, connection: HttpConnection) -> None:
        self.told.append(f"opened {connection.peer}")

    def heard(self, connection: HttpConnection) -> None:
        self.told.append(f"heard {connection.peer}")

    def answered(self, connection: HttpConnection) -> None:
        self.told.append(f"answered {connection.peer}")

    def over(self, connection: HttpConnection) -> None:
        self.told.append(f"over {connection.peer}")


async def reader_of(sock: socket.socket) -> tuple[Raw, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection(sock=sock)
    return Raw(reader, writer), writer


async def test_an_accepted_socket_counts_from_its_acceptance_to_its_end() -> None:
    places = Places()
    server = HttpServer(echo, watcher=places)
    ours, theirs = socket.socketpair()
    connection = server.open(theirs, "10.0.0.1:5")
    assert (places.told, connection.is_heard()) == (["opened 10.0.0.1:5"], False)
    raw, _ = await reader_of(ours)
    await raw.send(GET % b"/x")
    assert (await raw.answer())[2] == b"GET /x"
    connection.give_way()
    assert await raw.rest() == b""
    await raw.close()
    assert places.told == [f"{what} 10.0.0.1:5" for what in ("opened", "heard", "answered", "over")]
    assert not server.connections


async def test_a_socket_that_gives_way_before_it_is_served_is_closed() -> None:
    for end in (lambda _, connection: connection.give_way(), lambda server, _: server.close()):
        places = Places()
        server = HttpServer(echo, watcher=places)
        ours, theirs = socket.socketpair()
        with ours:
            end(server, server.open(theirs, "a:1"))
            assert places.told == ["opened a:1", "over a:1"]
            assert not server.connections
            ours.settimeout(5)
            assert await asyncio.to_thread(ours.recv, 1) == b""
        await asyncio.sleep(0)
        assert theirs.fileno() == -1 or not server._opening


async def test_tls_serves_who_shakes_hands_and_ends_who_does_not(tls_contexts) -> None:
    accepting, connecting = tls_contexts
    server = HttpServer(echo, Times(head_s=0.3, idle_s=0.3), tls=accepting)
    pairs = [socket.socketpair() for _ in range(3)]
    for _, theirs in pairs:
        theirs.setblocking(False)
        server.open(theirs, "a:1")
    (honest, _), (silent, _), (wrong, _) = pairs
    reader, writer = await asyncio.open_connection(sock=honest, ssl=connecting, server_hostname="localhost")
    raw = Raw(reader, writer)
    await raw.send(GET % b"/tls" + b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab")
    assert [(await raw.answer())[2] for _ in range(2)] == [b"GET /tls", b"POST /"]
    unread, _ = await reader_of(wrong)
    await unread.send(GET % b"/")
    await unread.rest()
    mute, _ = await reader_of(silent)
    assert await mute.rest() == b""
    for each in (raw, unread, mute):
        await each.close()
    async with asyncio.timeout(5):
        while server.connections or server._opening:
            await asyncio.sleep(0.01)


async def test_a_connection_that_is_cut_while_its_handler_reads(serving) -> None:
    async def handler(request: Request) -> Answer:
        request.connection.give_way()
        return await upload(request)

    server, connect = await serving(handler)
    raw = await connect()
    await raw.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n" + bytes(150_000))
    assert await raw.rest() == b""
    assert not server.connections
