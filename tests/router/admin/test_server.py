"""Administration: each page, and each way to ask for it wrongly."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

from tamis.configs import Address
from tamis.native.switch_figures import DROP_REASONS
from tamis.router.admin.exposition import Exposition
from tamis.router.admin.server import AdminServer
from tamis.router.admin.view import RouterLife
from tamis.serving.listeners import bind


@pytest.fixture
async def asked(inside, tmp_path):
    """A router, and a function that asks it over HTTP: (status, headers, body)."""
    net = inside()
    [listener] = bind(Address("unix", path=str(tmp_path / "admin.sock")))
    server = AdminServer(net.running)
    server.start(listener)

    async def ask(target: str, method: str = "GET", body: bytes = b"", raw: bytes = b"") -> tuple[int, str, bytes]:
        reader, writer = await asyncio.open_unix_connection(str(tmp_path / "admin.sock"))
        head = f"{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(raw or head.encode() + body)
        async with asyncio.timeout(20):
            answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        headers, _, rest = answer.partition(b"\r\n\r\n")
        return int(headers.split()[1]), headers.decode(), rest

    yield net, ask
    server.close()


async def test_health_and_readiness(asked):
    net, ask = asked
    assert (await ask("/healthz"))[0] == (await ask("/readyz"))[0] == 200
    net.running.life = RouterLife.DRAINING
    assert (await ask("/healthz"))[0] == 200
    status, _, body = await ask("/readyz")
    assert (status, json.loads(body)) == (503, {"ready": False, "state": "draining", "in_step": True, "problems": {}})


async def test_a_problem_makes_the_router_unready_and_is_shown(asked):
    net, ask = asked
    net.connections.health.problem("twin", "there are two")
    net.connections.health.alarm("look at this")
    status, _, body = await ask("/readyz")
    assert (status, json.loads(body)["problems"]) == (503, {"twin": "there are two"})
    shown = json.loads((await ask("/status"))[2])
    assert (shown["state"], shown["ready"], shown["problems"]) == ("serving", False, {"twin": "there are two"})
    assert ([alarm["text"] for alarm in shown["alarms"]], shown["exceptions"]) == (["look at this"], 0)
    metrics = (await ask("/metrics"))[2].decode().splitlines()
    assert {"tamis_ready 0", "tamis_alarms_total 1", "tamis_exceptions_total 0"} <= set(metrics)
    net.connections.health.mended("twin")
    assert (await ask("/readyz"))[0] == (await ask("/healthz"))[0] == 200


async def test_metrics_follow_the_format_and_count(asked):
    net, ask = asked
    alice = await net.client("alice")
    await alice.subscribe(1, "x = 1", own=True)
    await alice.publish({"x": 1})
    await alice.publish({"x": 2})
    assert await alice.delivered() == {"x": 1}
    await net.until(lambda: net.connections.switch.figures().messages_in == 2)
    _, headers, body = await ask("/metrics")
    assert "text/plain; version=0.0.4" in headers
    lines = body.decode().splitlines()
    samples = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}
    assert samples["tamis_messages_received_total"] == 2
    assert samples["tamis_messages_delivered_total"] == 1
    assert samples['tamis_messages_dropped_total{reason="unmatched"}'] == 1
    assert samples["tamis_filters"] == samples["tamis_clients"] == samples["tamis_ready"] == 1
    assert samples['tamis_match_duration_seconds_bucket{le="+Inf"}'] == samples["tamis_match_duration_seconds_count"]
    assert samples["process_resident_memory_bytes"] > 1_000_000
    declared = {}
    for line in lines:
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            assert name not in declared
            declared[name] = kind
    for name in samples:
        family = re.sub(r"(_bucket|_sum|_count)?(\{.*)?$", "", name)
        assert family in declared
        assert (declared[family] == "counter") is family.endswith("_total")


def test_every_drop_has_its_reason():
    assert DROP_REASONS[:2] == ("queue_full", "too_large")
    assert len(DROP_REASONS) == len(set(DROP_REASONS)) == 24


def test_a_histogram_is_cumulative_and_labels_are_escaped():
    page = Exposition()
    page.histogram("h_seconds", "H.", [0.1, 2.0], [1, 2, 3], 7.5)
    page.family("g", "gauge", "G.", [({"a": 'x"\\\n'}, 1)])
    assert str(page).splitlines()[2:7] == [
        'h_seconds_bucket{le="0.1"} 1',
        'h_seconds_bucket{le="2.0"} 3',
        'h_seconds_bucket{le="+Inf"} 6',
        "h_seconds_sum 7.5",
        "h_seconds_count 6",
    ]
    assert str(page).splitlines()[-1] == r'g{a="x\"\\\n"} 1'


async def test_status(asked):
    net, ask = asked
    await net.client("alice")
    status = json.loads((await ask("/status"))[2])
    assert (status["router"], status["state"], status["clients"], status["engine"]) == ("a", "serving", 1, "tamis")
    assert status["table"]["filters"] == 0
    assert set(status["dropped"]) == set(DROP_REASONS)


async def test_filters_and_connections_come_in_pages(asked):
    net, ask = asked
    for name in ("alice", "bob", "carol"):
        client = await net.client(name)
        await client.subscribe(7, f'name = "{name}" or not (x > 3)')
    for what in ("filters", "connections"):
        seen, cursor = [], 0
        while cursor is not None:
            page = json.loads((await ask(f"/{what}?limit=2&cursor={cursor}"))[2])
            assert len(page[what]) <= 2
            seen += page[what]
            cursor = page["next"]
        assert sorted({item["client"] for item in seen}) == ["alice", "bob", "carol"]
        assert len(seen) == (6 if what == "filters" else 3)
    assert {item["state"] for item in seen} == {"open"}
    assert {item["filters"] for item in seen} == {2}
    first = json.loads((await ask("/filters?limit=1"))[2])["filters"]
    assert first == [
        {
            "handle": first[0]["handle"],
            "interface": 0,
            "client": "alice",
            "subscription": 7,
            "own_messages": False,
            "group": None,
            "durable": None,
            "keep": None,
            "filter": first[0]["filter"],
            "dialect": None,
            "exact": True,
        }
    ]
    assert first[0]["filter"] in ('name = "alice"', "not (x > 3)")


async def test_explain_says_where_a_message_would_go_and_why(asked):
    net, ask = asked
    alice, bob = await net.client("alice"), await net.client("bob")
    await alice.subscribe(3, 'price < 500 and dest = "MXP"')
    await bob.subscribe(4, "price > 500")
    _, _, body = await ask("/explain", "POST", b'{"price": 300, "dest": "MXP"}')
    told = json.loads(body)
    assert told["clients"] == ["alice"]
    assert (told["matching_filters"], told["complete"]) == (1, True)
    [found] = told["filters"]
    assert (found["client"], found["subscription"]) == ("alice", 3)
    assert found["filter"] in ('price < 500 and dest = "MXP"', 'dest = "MXP" and price < 500')


async def test_a_client_has_one_number_on_all_pages(asked):
    net, ask = asked
    net.clients.open(-1, "somebody who does not greet")
    alice = await net.client("alice")
    await alice.subscribe(3, "price < 500")
    [client] = json.loads((await ask("/connections?cursor=1"))[2])["connections"]
    [filter_] = json.loads((await ask("/filters"))[2])["filters"]
    told = json.loads((await ask("/explain", "POST", b'{"price": 300}'))[2])
    assert client["interface"] == filter_["interface"] == told["filters"][0]["interface"] == 1
    assert (told["interfaces"], told["clients"]) == ([1], ["alice"])


@pytest.mark.parametrize(
    ("target", "method", "body", "status", "said"),
    [
        ("/nope", "GET", b"", 404, "pages: /healthz"),
        ("/status", "POST", b"", 405, "requires GET"),
        ("/explain", "GET", b"", 405, "requires POST"),
        ("/explain", "POST", b"x", 400, "JSON object"),
        ("/explain", "POST", b'{"x": null}', 400, "JSON object"),
        ("/explain", "POST", b"\xff", 400, "UTF-8"),
        ("/filters?limit=0", "GET", b"", 400, "limit must be from 1 to 500"),
        ("/filters?limit=x", "GET", b"", 400, "limit must be"),
        ("/filters?cursor=-1", "GET", b"", 400, "cursor must be"),
        ("/explain", "POST", bytes(140_000), 413, "at most 131072 bytes"),
    ],
)
async def test_a_wrong_request_is_answered_in_a_sentence(asked, target, method, body, status, said):
    got, headers, answer = await asked[1](target, method, body)
    assert got == status
    assert said in json.loads(answer)["error"]
    assert "application/json" in headers


@pytest.mark.parametrize("raw", [b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"G" * 100_000])
async def test_what_is_no_http_is_answered_too(asked, raw):
    status, _, body = await asked[1]("", raw=raw)
    assert status in (400, 431)
    assert json.loads(body)["error"]


async def test_head_has_no_body(asked):
    status, headers, body = await asked[1]("/healthz", "HEAD")
    assert (status, body) == (200, b"")
    assert "content-length: " in headers.lower()
