"""POST /v1/messages: what arrives at subscribers is what was posted, and what is refused says why."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import quote

import pytest

import tamis
from tamis.gateway import bodies
from tamis.gateway.http import lines_in
from tests.gateway.conftest import WAIT_S, Caller, gateway_of, read_reply
from tests.routers import Running

JSON = "application/json"
LINES = "application/x-ndjson"


async def received(subscription: tamis.Subscription, count: int) -> list[tamis.Message]:
    found = []
    async with asyncio.timeout(WAIT_S):
        async for item in subscription:
            assert isinstance(item, tamis.Message), item
            found.append(item)
            if len(found) == count:
                return found
    raise AssertionError("the subscription has ended")


async def test_json_arrives_as_it_was_posted(router: Running, ask: Caller) -> None:
    attributes = {"class": "alert", "severity": 6, "ratio": 1.0, "ok": True, "é": "ü", "big": 2**62}
    async with await tamis.connect(router.client) as client, client.subscribe("severity = 6") as wanted:
        body = json.dumps({"attributes": attributes, "payload": "disk füll"}).encode()
        reply = await ask("POST", "/v1/messages", body, content_type=JSON)
        assert reply.status == 202
        [message] = await received(wanted, 1)
    assert dict(message.attributes) == attributes
    assert {name: type(value) for name, value in message.attributes.items()} == {
        name: type(value) for name, value in attributes.items()
    }
    assert message.payload == "disk füll".encode()
    assert (await reply.form())["id"] == f"{message.id.origin}-{message.id.counter}"


async def test_any_body_is_a_payload_with_the_attributes_of_the_query(router: Running, ask: Caller) -> None:
    payload = bytes(range(256))
    async with await tamis.connect(router.client) as client, client.subscribe('class = "alert2"') as wanted:
        target = (
            f"/v1/messages?class=alert2&severity=6&note={quote('two words')}&ok=true&zip=%220123%22&confirm=accepted"
        )
        reply = await ask("POST", target, payload, content_type="image/png")
        [message] = await received(wanted, 1)
    assert dict(message.attributes) == {
        "class": "alert2", "severity": 6, "note": "two words", "ok": True, "zip": "0123"
    }  # fmt: skip
    assert message.payload == payload
    assert reply.status == 202
    unstored = await ask("POST", "/v1/messages?class=alert2&confirm=stored")
    assert (unstored.status, (await unstored.form())["type"]) == (409, "urn:tamis:problem:no-log")


async def test_requests_of_one_connection_are_answered_in_order(router: Running, ask: Caller) -> None:
    reader, writer = await ask.open()
    async with await tamis.connect(router.client) as client, client.subscribe("pipelined > 0") as wanted:
        for number in range(1, 40):
            writer.write(
                f"POST /v1/messages?pipelined={number} HTTP/1.1\r\nHost: {ask.gateway.addresses[0]}\r\n"
                "Content-Length: 2\r\n\r\nhi".encode()
            )
        messages = await received(wanted, 39)
        for _ in range(39):
            assert b"202" in await reader.readline()
            await reader.readuntil(b"}\n")
    assert [message["pipelined"] for message in messages] == list(range(1, 40))


@pytest.mark.parametrize(
    ("target", "kind", "body", "status", "problem"),
    [
        ("", JSON, b'{"attributes": {"a": }}', 400, "json"),
        ("", JSON, b'{"attributes": {"a": null}}', 400, "json"),
        ("", JSON, b"", 400, "json"),
        ("", JSON, b'{"attributes": {"a": "\xff"}}', 400, "json"),
        ("", JSON, b'{"attributes": {"a": 1}, "payload": "' + b"x" * 983_040 + b'"}', 413, "too-large"),
        ("?a=1&a=2", "", b"", 400, "message"),
        ("?a=%22", "", b"", 400, "message"),
        ("?a=%FF", "", b"", 400, "query"),
        ("?" + "&".join(f"a{n}=1" for n in range(65)), "", b"", 400, "message"),
        ("?" + "&".join(f"a{n}=1" for n in range(200)), "", b"", 400, "query"),
        ("?a=1&confirm=never", "", b"", 400, "query"),
        ("?confirm=never", JSON, b"{}", 400, "query"),
        ("", "application/cloudevents+json", b"{}", 415, "media-type"),
    ],
)
async def test_what_is_no_message_is_refused(
    ask: Caller, target: str, kind: str, body: bytes, status: int, problem: str
) -> None:
    headers = {"content_type": kind} if kind else {}
    reply = await ask("POST", f"/v1/messages{target}", body, **headers)
    assert (reply.status, reply.headers["content-type"]) == (status, "application/problem+json")
    form = await reply.form()
    assert form["type"] == f"urn:tamis:problem:{problem}", form
    assert form["detail"]


async def test_a_mistake_in_json_has_its_place(ask: Caller) -> None:
    body = b'{\n  "attributes": {"severity": 3,\n    "x": nope}\n}'
    form = await (await ask("POST", "/v1/messages", body, content_type=JSON)).form()
    assert (form["line"], form["column"]) == (3, 10)
    assert form["caret"].splitlines() == ['    "x": nope}', "         ^"]


async def test_lines_are_published_in_order_and_refused_ones_are_named(router: Running, ask: Caller) -> None:
    count = 20_000
    good = [json.dumps({"attributes": {"line": number}}) for number in range(count)]
    lines = [*good[:5_000], "nonsense", *good[5_000:], "", '{"attributes": {"a": null}}']
    async with await tamis.connect(router.client) as client, client.subscribe("line >= 0") as wanted:
        posted = asyncio.ensure_future(ask("POST", "/v1/messages", "\n".join(lines).encode(), content_type=LINES))
        messages = await received(wanted, count)
        form = await (await posted).form()
    assert [message["line"] for message in messages] == list(range(count))
    assert (form["published"], form["refused_count"]) == (count, 2)
    assert [refused["line"] for refused in form["refused"]] == [5_001, count + 3]


async def test_lines_without_confirmation_are_all_read_by_the_router(router: Running, ask: Caller) -> None:
    body = b'{"attributes": {"unconfirmed": 1}}\n' * 3_000
    async with await tamis.connect(router.client) as client, client.subscribe("unconfirmed = 1") as wanted:
        form = await (await ask("POST", "/v1/messages?confirm=none", body, content_type=LINES)).form()
        await received(wanted, 3_000)
    assert form == {"published": 3_000, "refused_count": 0, "refused": []}


async def test_no_router_is_a_problem(tmp_path) -> None:
    async with gateway_of(f"tamis+unix:{tmp_path}/none") as ask:
        for kind in ("text/plain", LINES):
            reply = await ask("POST", "/v1/messages?" + ("a=1" if kind != LINES else ""), b"", content_type=kind)
            assert (reply.status, (await reply.form())["type"]) == (503, "urn:tamis:problem:no-router")
        reply = await ask("GET", "/v1/messages?where=true")
        assert reply.status == 503


async def test_bodies_together_have_a_bound(ask: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "BODIES_BYTES_MAX", 300_000)
    monkeypatch.setattr(bodies, "OF_ONE_BYTES_MAX", 200_000)
    slow = []
    for name in ("one", "two"):
        reader, writer = await ask.open()
        slow.append((reader, writer))
        head = f"POST /v1/messages?a=1 HTTP/1.1\r\nHost: {ask.gateway.addresses[0]}\r\nTamis-Name: {name}\r\n"
        writer.write(f"{head}Content-Length: 150001\r\n\r\n".encode() + bytes(140_000))
    held = ask.gateway.surface._bodies
    async with asyncio.timeout(WAIT_S):
        while held.bytes < 280_000:
            await asyncio.sleep(0.01)
    mine = await ask("POST", "/v1/messages?a=1", bytes(70_000), tamis_name="one")
    assert (mine.status, mine.headers["retry-after"]) == (429, "1")
    other = await ask("POST", "/v1/messages?a=1", bytes(10_000), tamis_name="three")
    assert other.status == 202
    for reader, writer in slow:
        writer.write(bytes(10_001))
        assert (await read_reply(reader)).status == 202
    assert held.bytes == 0


async def test_streams_of_lines_have_a_bound(ask: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_in, "STREAMS_MAX", 3)
    monkeypatch.setattr(lines_in, "OF_ONE_MAX", 2)
    head = f"POST /v1/messages HTTP/1.1\r\nHost: {ask.gateway.addresses[0]}\r\nContent-Type: {LINES}\r\n"
    held = []
    for name in ("one", "one", "two"):
        reader, writer = await ask.open()
        writer.write(f"{head}Tamis-Name: {name}\r\nContent-Length: 3\r\n\r\n".encode())
        held.append((reader, writer))
    shared = ask.gateway.surface._shared
    async with asyncio.timeout(WAIT_S):
        while shared.lines.total() < 3:
            await asyncio.sleep(0.01)
    for name in ("one", "three"):
        assert (await ask("POST", "/v1/messages", b"{}", content_type=LINES, tamis_name=name)).status == 429
    for reader, writer in held:
        writer.write(b"\n\n\n")
        assert (await read_reply(reader)).status == 200
    assert not shared.lines
    assert (await ask("POST", "/v1/messages", b"\n", content_type=LINES, tamis_name="one")).status == 200
