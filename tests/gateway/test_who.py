"""Credentials, foreign pages, hosts, routes."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode

import pytest

import tamis
from tamis.configs.address import parse_address
from tamis.gateway import posters
from tamis.gateway.process import Gateway, GatewaySettings
from tamis.protocol.wire.numbers import stable_number
from tamis.serving.cannot_start import CannotStart
from tests.gateway.conftest import WAIT_S, Caller, gateway_of
from tests.routers import Running

POST = ("POST", "/v1/messages?a=1")


def basic(name: str, token: str) -> dict[str, str]:
    return {"authorization": "Basic " + b64encode(f"{name}:{token}".encode()).decode()}


async def test_a_client_comes_in_by_its_own_credential_alone(guarded: Running) -> None:
    async with gateway_of(guarded.client) as ask:
        assert (await ask(*POST, **basic("desk", "right"))).status == 202
        assert (await ask(*POST, authorization="Bearer right", tamis_name="desk")).status == 202
        assert (await ask("GET", "/v1/messages?where=true", **basic("desk", "right"))).status == 200
        for headers in ({}, basic("desk", "other"), basic("press/x", "right")):
            reply = await ask(*POST, **headers)
            assert (reply.status, reply.headers["www-authenticate"].split()[0]) == (401, "basic")
        page = await ask(*POST, **basic("desk", "wrong"), sec_fetch_site="same-origin")
        assert (page.status, "www-authenticate" in page.headers) == (401, False)
        for headers in ({"authorization": "Digest x"}, basic("\u202edesk", "right"), basic("d" * 300, "right")):
            assert (await ask(*POST, **headers)).status == 401


async def test_wrong_credentials_slow_their_address_down(guarded: Running) -> None:
    async with gateway_of(guarded.client) as ask:
        statuses = [(await ask(*POST, **basic("desk", f"guess-{n}"))).status for n in range(10)]
        assert statuses[:5] == [401] * 5
        assert statuses[-1] == 429
        assert int((await ask(*POST, **basic("desk", "right"))).headers["retry-after"]) >= 1


async def test_a_name_of_the_stream_is_a_part_of_its_owner(guarded: Running) -> None:
    async with (
        gateway_of(guarded.client) as ask,
        await tamis.connect(guarded.client, name="press", token=b"other") as client,
    ):
        reply = await ask("GET", "/v1/messages?where=true", **basic("desk", "right"))
        first = await anext(reply.parts(b"\n\n"))
        name = json.loads(first.partition("data: ")[2])["name"]
        assert name.startswith("desk/sse-")
        [report] = (await client.route({"a": 1})).reports
        assert [each.client for each in report.deliveries] == [stable_number(name)]


async def test_pages_of_others_are_refused_before_anything_is_read(router: Running) -> None:
    async with gateway_of(router.client, origins=("https://shop.example",)) as ask:
        for headers in ({"origin": "https://evil.example"}, {"sec_fetch_site": "cross-site"}):
            assert (await ask(*POST, **headers)).status == 403
            assert (await ask("GET", "/v1/messages?where=true", **headers)).status == 403
        mine = await ask(*POST, origin="https://shop.example")
        assert (mine.status, mine.headers["access-control-allow-origin"]) == (202, "https://shop.example")
        wrong = await ask("POST", "/v1/messages?a=%22", origin="https://shop.example")
        assert (wrong.status, wrong.headers["access-control-allow-origin"]) == (400, "https://shop.example")
        stream = await ask("GET", "/v1/messages?where=true", origin="https://shop.example")
        assert stream.headers["access-control-allow-origin"] == "https://shop.example"
        asked = await ask(
            "OPTIONS", "/v1/messages", origin="https://shop.example", access_control_request_method="POST"
        )
        assert (asked.status, asked.headers["access-control-allow-methods"]) == (204, "get, post")
        assert (await ask(*POST, host="rebound.example")).status == 421
    async with gateway_of(router.client, names=("rebound.example",)) as ask:
        assert (await ask(*POST, host="rebound.example")).status == 202


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/message", 404),
        ("DELETE", "/v1/messages", 405),
        ("GET", "/healthz", 200),
        ("GET", "/readyz", 200),
        ("POST", "/healthz", 405),
    ],
)
async def test_routes(ask: Caller, method: str, path: str, status: int) -> None:
    assert (await ask(method, path)).status == status


async def test_a_credential_has_one_connection_until_it_is_idle(
    router: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posters, "POSTERS_MAX", 3)
    monkeypatch.setattr(posters, "IDLE_S", 0.2)
    async with gateway_of(router.client) as ask:
        replies = await asyncio.gather(*(ask(*POST, tamis_name="one") for _ in range(20)))
        assert {reply.status for reply in replies} == {202}
        assert len(ask.gateway._posters) == 1
        for number in range(10):
            assert (await ask(*POST, tamis_name=f"name-{number}")).status == 202
            assert len(ask.gateway._posters) <= 3
        async with asyncio.timeout(WAIT_S):
            while len(ask.gateway._posters):
                await asyncio.sleep(0.01)


async def test_addresses_open_to_others_need_a_word() -> None:
    with pytest.raises(CannotStart, match="loopback or a Unix socket"):
        Gateway(GatewaySettings("tamis://127.0.0.1:1", parse_address("0.0.0.0:0")))
