"""Administration under rules: who may ask for which page, and what a page shows to whom."""

from __future__ import annotations

import json

import pytest

from tamis.protocol.wire import client_bodies as bodies
from tests.router.access.rules import token_of, written
from tests.router.access.test_admission import asked
from tests.router.admin.test_guard import ask, port_of
from tests.router.wire_client import WireClient, subscription

ROLES = {
    "viewer": {"admin": "viewer"},
    "operator": {"admin": "operator", "subscribe": {"allow": "kind = 1", "deny": "exists salary"}},
    "admin": {"admin": "admin"},
    "client": {"publish": "true"},
}
LEVELS = ("viewer", "operator", "admin")
TOPOLOGY = {
    "routers": {"a": {"clients": "127.0.0.1:0", "admin": "127.0.0.1:0"}},
    "access": json.loads(written(ROLES, {role: role for role in ROLES})),
    "unmatched": {"share": 1},
}


def bearer(name: str, token: bytes = b"") -> str:
    return f"Bearer {name}:{(token or token_of(name)).decode()}"


@pytest.mark.slow
async def test_pages_need_a_level(process) -> None:
    router = process(json.dumps(TOPOLOGY))
    assert router.ready, router.errors
    port = port_of(router)
    assert ask(port, "/healthz")[0] == 200
    assert ask(port, "/status")[0] == 401
    assert ask(port, "/status", authorization=bearer("viewer", b"wrong"))[0] == 401
    needed = {"/status": 0, "/connections": 0, "/metrics": 0, "/durables": 0, "/filters": 1, "/unmatched": 1}
    for path, least in needed.items():
        for level, name in enumerate(LEVELS):
            assert ask(port, path, authorization=bearer(name))[0] == (200 if level >= least else 403), (path, name)
        assert ask(port, path, authorization=bearer("client"))[0] == 403
    put = {level: ask(port, "/spaces/put", "POST", b"{", authorization=bearer(level))[0] for level in LEVELS}
    assert (put["viewer"], put["operator"]) == (403, 403)
    assert put["admin"] not in (401, 403)
    _, text = ask(port, "/filters", authorization=bearer("viewer"))
    assert "role viewer is viewer; this needs operator" in text


@pytest.mark.slow
async def test_unmatched_messages_are_shown_to_who_might_get_them(process) -> None:
    router = process(json.dumps(TOPOLOGY))
    client = await WireClient.greeted(router.where, "client", token_of("client"))
    for attributes in {"kind": 1, "n": 1}, {"kind": 2, "n": 2}, {"kind": 1, "salary": 1, "n": 3}:
        assert await asked(client, attributes) == []

    def shown(name: str) -> list[object]:
        page = json.loads(ask(port_of(router), "/unmatched", authorization=bearer(name))[1])
        return [each["attributes"]["n"] for each in page["unmatched"]]

    assert (shown("operator"), shown("admin")) == ([1], [])
    page = json.loads(ask(port_of(router), "/unmatched", authorization=bearer("operator"))[1])
    assert page["left_out"] == 2


@pytest.mark.slow
async def test_an_explanation_names_who_gets_the_message_by_the_rules(process) -> None:
    router = process(json.dumps(TOPOLOGY))
    operator = await WireClient.greeted(router.where, "operator", token_of("operator"))
    await operator.subscribe(1, "exists n")
    for attributes, clients in (
        ({"kind": 1, "n": 1}, ["operator"]),
        ({"kind": 2, "n": 1}, []),
        ({"kind": 1, "salary": 1, "n": 1}, []),
    ):
        asked_about = json.dumps(attributes).encode()
        answer = ask(port_of(router), "/explain", "POST", asked_about, authorization=bearer("operator"))[1]
        page = json.loads(answer)
        assert page["clients"] == clients
        assert (page["matching_filters"], page["withheld"], len(page["filters"])) == (1, not clients, len(clients))
        assert page["complete"]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["enforce", "observe"])
async def test_metrics_count_what_rules_do_not_allow(process, mode: str) -> None:
    rules = json.loads(written(ROLES | {"client": {"publish": "kind = 1"}}, {role: role for role in ROLES}))
    router = process(json.dumps(TOPOLOGY | {"access": rules | {"mode": mode}}))
    assert router.ready, router.errors
    client = await WireClient.greeted(router.where, "client", token_of("client"))
    board = await WireClient.greeted(router.where, "operator", token_of("operator"))
    assert (await board.subscribe(1, "exists kind")).refusals == ()
    assert bool((await client.subscribe(1, "true")).refusals) is (mode == "enforce")
    await board.send(bodies.Subscribe(7, (subscription(2, "kind = 1"),), False, bodies.Reach.HOME, False, "g"))
    assert bool((await board.next(bodies.Ack)).refusals) is (mode == "enforce")
    for kind in 1, 2, 2:
        assert bool(await asked(client, {"kind": kind})) is (mode == "enforce" and kind == 2)
    page = ask(port_of(router), "/metrics", authorization=bearer("viewer"))[1]
    assert 'tamis_access_refused_total{verb="subscribe",role=""} 1' in page
    assert 'tamis_access_refused_total{verb="group",role=""} 1' in page
    assert 'tamis_access_messages_refused_total{at="door"} 2' in page
    assert f'tamis_access_messages_refused_total{{at="hand"}} {0 if mode == "enforce" else 5}' in page
