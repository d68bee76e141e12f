"""GET /v1/messages: deliveries as events and lines, gaps, back-pressure."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from urllib.parse import urlencode

import pytest

import tamis
from tamis.gateway import feed
from tamis.protocol import dialects
from tamis.testing import started
from tests.gateway.conftest import WAIT_S, Caller, gateway_of
from tests.routers import Running

LINES = "application/x-ndjson"
EVENTS = "text/event-stream"


def where(*predicates: str, **more: str) -> str:
    return "/v1/messages?" + urlencode([*(("where", each) for each in predicates), *more.items()])


async def event(parts) -> tuple[str, str, dict]:
    """The next event that is no sign of life: its kind, its id, its data."""
    async with asyncio.timeout(WAIT_S):
        while (text := await anext(parts)) in ("", ":"):
            pass
    fields = dict(line.split(": ", 1) for line in text.split("\n"))
    return fields.get("event", "message"), fields.get("id", ""), json.loads(fields["data"])


async def test_events_have_what_was_published(router: Running, ask: Caller) -> None:
    reply = await ask("GET", where("e > 2", 'kind = "x"'), accept=EVENTS)
    assert (reply.status, reply.headers["content-type"]) == (200, EVENTS)
    parts = reply.parts(b"\n\n")
    kind, _, said = await event(parts)
    assert (kind, said["ids"], said["router"]) == ("subscribed", [1, 2], "a")
    async with await tamis.connect(router.client) as client:
        receipt = await client.publish({"e": 3, "kind": "x", "f": 1.0, "text": "a\nb\u2028"}, b"\xff\x00", confirm=True)
        await client.publish({"e": 2, "kind": "y"}, confirm=True)
        await client.publish({"e": 2**60}, "tï\n\n".encode(), confirm=True)
    kind, id_, said = await event(parts)
    assert (kind, id_) == ("message", f"{receipt.origin}-{receipt.counter}")
    assert said["attributes"] == {"e": 3, "kind": "x", "f": 1.0, "text": "a\nb\u2028"}
    assert isinstance(said["attributes"]["f"], float)
    assert (said["payload_base64"], sorted(said["matched"])) == ("/wA=", [1, 2])
    _, _, said = await event(parts)
    assert (said["attributes"], said["payload"], said["matched"]) == ({"e": 2**60}, "tï\n\n", [1])


async def test_lines_end_after_count_messages(router: Running, ask: Caller) -> None:
    reply = await ask("GET", where("counted > 0", count="700", integers="text"), accept=LINES)
    async with await tamis.connect(router.client) as client:
        for number in range(1, 1_001):
            await client.publish({"counted": number * 2**50})
        lines = [json.loads(line) async for line in reply.parts(b"\n")]
    assert "subscribed" in lines[0]
    assert len(lines) == 701
    assert lines[1]["attributes"] == {"counted": 2**50}
    last = [line["attributes"]["counted"] for line in lines[-2:]]
    assert last == [{"integer": str(number * 2**50)} for number in (699, 700)]


async def test_a_dialect_and_a_group(router: Running, ask: Caller) -> None:
    members = [
        (await ask("GET", where("jobs/#", dialect="mqtt", group="workers"), accept=LINES)).parts(b"\n")
        for _ in range(2)
    ]
    wide = await ask("GET", where("price * qty > 1000 AND s = 'x'", dialect="jms", count="1"), accept=LINES)
    ids: list[str] = []

    async def read(lines) -> None:
        async for line in lines:
            ids.extend(found for found in [json.loads(line).get("id")] if found)

    reading = [asyncio.ensure_future(read(lines)) for lines in members]
    async with await tamis.connect(router.client) as client:
        sent = [await client.publish(dialects.get("mqtt").attributes("jobs/print"), confirm=True) for _ in range(9)]
        await client.publish({"s": "x", "price": 10, "qty": 100}, confirm=True)
        await client.publish({"s": "x", "price": 10, "qty": 101}, confirm=True)
    assert [json.loads(line) async for line in wide.parts(b"\n")][1]["attributes"]["qty"] == 101
    async with asyncio.timeout(WAIT_S):
        while len(ids) < len(sent):
            await asyncio.sleep(0.01)
    for each in reading:
        each.cancel()
    assert sorted(ids) == sorted(f"{receipt.origin}-{receipt.counter}" for receipt in sent)


@pytest.mark.parametrize(
    ("query", "accept", "status", "problem"),
    [
        ([("where", "a >")], "*/*", 400, "predicate"),
        ([], "*/*", 400, "query"),
        ([("where", "true"), ("wheer", "x")], "*/*", 400, "query"),
        ([("where", "true"), ("count", "0")], "*/*", 400, "query"),
        ([("where", "true"), ("count", "1"), ("count", "2")], "*/*", 400, "query"),
        ([("where", "a/b+"), ("dialect", "mqtt")], "*/*", 400, "predicate"),
        ([("where", "a"), ("dialect", "mqt")], "*/*", 400, "predicate"),
        ([("where", "price * qty > 1"), ("dialect", "jms"), ("group", "g")], "*/*", 400, "predicate"),
        ([("where", "false")], "*/*", 400, "predicate"),
        ([("where", "true")], "image/png", 406, "not-acceptable"),
        ([("where", "true")] * 65, "*/*", 400, "query"),
    ],
)
async def test_what_is_no_stream_is_refused(ask: Caller, query, accept: str, status: int, problem: str) -> None:
    reply = await ask("GET", f"/v1/messages?{urlencode(query)}", accept=accept)
    form = await reply.form()
    assert (reply.status, form["type"]) == (status, f"urn:tamis:problem:{problem}"), form


async def test_a_client_that_does_not_read_holds_no_other_up(router: Running, ask: Caller) -> None:
    payload = b"x" * 100_000
    slow = await ask("GET", where("heavy > 0"), accept=EVENTS)
    quick = (await ask("GET", where("heavy > 0", count="400"), accept=LINES)).parts(b"\n")
    assert "subscribed" in json.loads(await anext(quick))
    async with await tamis.connect(router.client) as client:
        for number in range(1, 401):
            await client.publish({"heavy": number}, payload, confirm=True)
            assert json.loads(await anext(quick))["attributes"]["heavy"] == number
        assert [line async for line in quick] == []
        [held] = ask.gateway.surface.feeds
        assert held.is_full
        assert len(held._text) < 4_000_000
        parts = slow.parts(b"\n\n")
        kinds = [await event(parts)]
        while sum(item[2].get("count", 1) for item in kinds[1:]) < 400:
            kinds.append(await event(parts))
    assert kinds[0][0] == "subscribed"
    numbers = [item[2]["attributes"]["heavy"] for item in kinds if item[0] == "message"]
    assert numbers == sorted(numbers)
    assert len(numbers) + sum(item[2]["count"] for item in kinds if item[0] == "gap") == 400


async def test_text_that_waits_has_a_bound_and_cuts_who_does_not_read(
    router: Running, ask: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "WAITING_BYTES_MAX", 20_000)
    slow = await ask("GET", where("bulk > 0"), accept=EVENTS)
    quick = (await ask("GET", where("tick > 0", count="200"), accept=LINES)).parts(b"\n")
    await anext(quick)
    async with await tamis.connect(router.client) as client:
        for number in range(1, 201):
            await client.publish({"bulk": number}, b"x" * 100_000, confirm=True)
            await client.publish({"tick": number}, confirm=True)
            assert json.loads(await anext(quick))["attributes"]["tick"] == number
    async with asyncio.timeout(2 * WAIT_S):
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            _ = [part async for part in slow.parts(b"\n\n")]
        assert [line async for line in quick] == []
        while ask.gateway.surface.feeds:
            await asyncio.sleep(0.01)
    assert ask.gateway.surface._shared.waiting_bytes == 0


async def test_a_client_that_leaves_leaves_nothing(ask: Caller) -> None:
    for _ in range(20):
        reader, writer = await ask.open()
        writer.write(f"GET {where('true')} HTTP/1.1\r\nHost: {ask.gateway.addresses[0]}\r\n\r\n".encode())
        await reader.readuntil(b"subscribed")
        writer.close()
    async with asyncio.timeout(WAIT_S):
        while ask.gateway.surface.feeds or ask.gateway._http.connections:
            await asyncio.sleep(0.01)


async def test_a_killed_router_is_a_gap_in_the_stream(tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    file.write_text('routers: {a: {clients: "unix:a.sock", admin: "unix:a.admin"}}\n')
    async with gateway_of(f"tamis+unix:{tmp_path}/a.sock") as ask:
        async with started(file, "a") as first:
            reply = await ask("GET", where("n > 0"), accept=EVENTS)
            parts = reply.parts(b"\n\n")
            assert (await event(parts))[0] == "subscribed"
            await first.kill()
        async with started(file, "a") as again, await tamis.connect(again.address) as client:
            while not (await client.route({"n": 1})).reports[0].delivery_count:
                await asyncio.sleep(0.05)
            await client.publish({"n": 1}, confirm=True)
            kind, _, said = await event(parts)
            assert (kind, said["reason"]) == ("gap", "RECONNECTED")
            assert (await event(parts))[2]["attributes"] == {"n": 1}


async def test_streams_end_whole_when_the_gateway_drains(router: Running) -> None:
    async with gateway_of(router.client) as ask:
        reply = await ask("GET", where("true"), accept=EVENTS)
        parts = reply.parts(b"\n\n")
        assert (await event(parts))[0] == "subscribed"
        draining = asyncio.ensure_future(ask.gateway.drain())
        assert [part async for part in parts] == []
        assert await draining
