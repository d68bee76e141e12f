"""Pages are bounded by bytes and by time, whatever clients have put into the tables."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

import tamis
from tamis.cli.main import main
from tamis.cli.reach.admin_http import asked as asked_over_http
from tamis.protocol import dialects
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.language import parse
from tamis.protocol.wire.client_bodies import Ack, Reach, Subscribe, SubscriptionItem
from tamis.protocol.wire.header import CONFIRM
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.router.admin.answers import PAGE_BYTES, Budget, Items
from tamis.router.admin.names import names_of_filter
from tamis.router.admin.pages import Request, answer
from tests.router.wire_client import WireClient, subscription
from tests.routers import running_line
from tests.slowdown import slowdown


def huge(number: int, strings: int = 15) -> bytes:
    """A filter of 49 kB whose text is five times as long."""
    constraints = (
        Constraint(f"n{k}", Op.IN, tuple("\x01" * 200 + f"{k}-{j}-{number}" for j in range(strings))) for k in range(16)
    )
    return encode_filter(Filter(tuple(constraints)))


async def subscribe_to_huge(client: WireClient, count: int) -> None:
    for number in range(count):
        await client.send(Subscribe(1, (SubscriptionItem(number, (huge(number),)),), False, Reach.HOME, False))
        assert (await client.next(Ack)).ranges


def page(net, target: str, method: str = "GET", body: bytes = b"") -> tuple[dict, float, int]:
    """Of a router in this process: the page, the milliseconds of this thread that it took, and its bytes."""
    began = time.thread_time()
    made = answer(Request.of(method, target, body), net.running)
    return json.loads(made.body), (time.thread_time() - began) * 1e3, len(made.body)


@pytest.mark.slow
async def test_pages_of_long_filters_are_short(inside):
    net = inside()
    await subscribe_to_huge(await net.client("alice"), 40)
    seen, cursor, took = [], 0, []
    while cursor is not None:
        form, ms, size = page(net, f"/filters?limit=500&cursor={cursor}")
        assert size <= PAGE_BYTES
        took.append(ms)
        seen += [item["subscription"] for item in form["filters"]]
        cursor = form["next"]
    assert sorted(seen) == list(range(40))
    assert sorted(took)[len(took) // 2] < 20 * slowdown()
    body = json.dumps({f"n{k}": "\x01" * 200 + f"{k}-0-7" for k in range(16)}).encode()
    form, ms, size = page(net, "/explain?limit=500", "POST", body)
    assert (form["clients"], form["matching_filters"], form["complete"], size <= PAGE_BYTES) == (
        ["alice"],
        1,
        True,
        True,
    )
    assert ms < 20 * slowdown()


async def test_an_item_longer_than_a_page_is_cut(inside):
    net = inside()
    alice = await net.client("alice")
    packed = huge(1, strings=19)
    await alice.send(Subscribe(1, (SubscriptionItem(1, (packed,)),), False, Reach.HOME, False))
    assert (await alice.next(Ack)).ranges
    form, _, size = page(net, "/filters")
    [item] = form["filters"]
    assert item["cut"]
    assert len(item["filter"]) < item["filter_length"] > PAGE_BYTES * 0.9
    assert (size < PAGE_BYTES, form["next"]) == (True, None)


async def test_programs_of_subscriptions_are_shown_and_asked(inside):
    net = inside()
    alice, bob = await net.client("alice"), await net.client("bob")
    found = dialects.get("jms").decided("symbol = 'A' AND price * qty > 1000")
    packed = (encode_filter(found.predicate.filters[0]),)
    item = SubscriptionItem(7, packed, found.residual.pack(), dialect="jms")
    await alice.send(Subscribe(1, (item, subscription(8, 'symbol = "A"')), False, Reach.HOME, False))
    assert (await alice.next(Ack)).ranges
    for price, qty in ((1, 2), (60, 20), (900, 3)):
        await bob.publish({"symbol": "A", "price": price, "qty": qty}, flags=CONFIRM)
        await bob.next(Ack)
    items = {item["subscription"]: item for item in page(net, "/filters")[0]["filters"]}
    assert "residual" not in items[8]
    assert (items[8]["exact"], items[8]["dialect"]) == (True, None)
    assert {key: items[7][key] for key in ("exact", "dialect", "residual", "candidates", "passed")} == {
        "exact": False,
        "dialect": "jms",
        "residual": 'symbol = "A" and price * qty > 1000',
        "candidates": 3,
        "passed": 2,
    }
    for price, ids, denied in ((1, [8], 1), (2_000, [7, 8], 0)):
        form, _, _ = page(net, "/explain", "POST", json.dumps({"symbol": "A", "price": price, "qty": 1}).encode())
        assert sorted(item["subscription"] for item in form["filters"]) == ids
        assert (form["denied"], form["complete"], form["clients"]) == (denied, True, ["alice"])
        not_let = form["denied_filters"]
        assert [item["subscription"] for item in not_let] == [7] * denied
        programs = [item["program"] for item in [*form["filters"], *not_let] if item["subscription"] == 7]
        assert programs == [found.residual.pack().hex()]


async def test_names_are_those_of_filters_and_programs(inside):
    net = inside()
    alice, versions = await net.client("alice"), []

    def names():
        form = page(net, "/names")[0]
        versions.append(form["version"])
        return form["names"], form["next"]

    assert names() == ([], None)
    await alice.subscribe(1, "price < 500 and not exists hidden")
    assert names() == (["hidden", "price"], None)
    program = dialects.get("jms").decided("a = 1 OR b * c > 2").residual
    item = SubscriptionItem(7, (encode_filter(parse("price > 1").filters[0]),), program.pack())
    await alice.send(Subscribe(1, (item,), False, Reach.HOME, False))
    assert (await alice.next(Ack)).ranges
    assert names() == (["a", "b", "c", "hidden", "price"], None)
    assert names()[0] == ["a", "b", "c", "hidden", "price"]
    assert len(set(versions)) == 3
    assert versions[2] == versions[3]
    assert page(net, "/names?cursor=1")[0]["names"] == ["a", "b", "c", "price"]


def test_a_filter_of_a_later_release_has_no_names():
    assert names_of_filter(encode_filter(parse("price > 1").filters[0])) == {"price"}
    assert names_of_filter(b"\x91\x93\xa1x\x7f\x01") == frozenset()


@pytest.mark.slow
@pytest.mark.usefixtures("daemons")
async def test_names_of_filters_at_other_routers(tmp_path, capsys, monkeypatch):
    with running_line(tmp_path, "ab") as (a, b):
        monkeypatch.setenv("TAMIS_ADMIN", a.admin)
        event = json.dumps({"detail": {f"n{number}": number for number in range(80)}})
        async with (
            tamis.connect(b.client, name="alice") as alice,
            alice.subscribe("`detail.n70` = 70 and not exists hidden", wait="network") as wanted,
        ):
            form = json.loads(await asyncio.to_thread(lambda: asked_over_http(a.admin, "GET", "/names", None)[1]))
            assert form["names"] == ["detail.n70", "hidden"]
            monkeypatch.setenv("TAMIS_DIALECT", "eventbridge")
            assert await asyncio.to_thread(main, ["pub", a.client, event]) == 0
            async with asyncio.timeout(10):
                found = await anext(item async for item in wanted if isinstance(item, tamis.Message))
            assert (found["detail.n0"], found["left-out"]) == (0, 17)
            assert "`left-out` says how many" in capsys.readouterr().err
            assert await asyncio.to_thread(main, ["trace", a.client, '{"detail": {"n70": 70}}']) == 0
            assert capsys.readouterr().out.splitlines()[-1].startswith("└─ b")


async def test_filters_of_the_index_on_folded_texts_are_shown_and_asked(inside):
    net = inside()
    alice, bob = await net.client("alice"), await net.client("bob")
    found = dialects.get("eventbridge").decided('{"name": [{"equals-ignore-case": "Bob"}], "age": [7]}')
    filters, indexed = (
        tuple(encode_filter(each) for each in predicate.filters) for predicate in (found.predicate, found.indexed)
    )
    item = SubscriptionItem(7, filters, found.residual.pack(), indexed)
    await alice.send(Subscribe(1, (item,), False, Reach.HOME, False))
    assert (await alice.next(Ack)).ranges
    for name in ("Eve", "BOB", "bob"):
        await bob.publish({"name": name, "age": 7}, flags=CONFIRM)
        await bob.next(Ack)
    shown = page(net, "/filters")[0]["filters"]
    assert 'age = 7 and `name~` = "bob"' in {item["filter"] for item in shown}
    assert {(item["candidates"], item["passed"]) for item in shown} == {(2, 2)}
    for message, clients in (
        ({"name": "boB", "age": 7}, ["alice"]),
        ({"name": "eve", "age": 7}, []),
        ({"name": "boB", "age": 8}, []),
    ):
        form, _, _ = page(net, "/explain", "POST", json.dumps(message).encode())
        assert (form["clients"], form["complete"]) == (clients, True)
    names = page(net, "/names")[0]["names"]
    assert {"age", "name"} < {*names}
    assert [name for name in names if name.endswith("~")] == []
    taken = {"name": "boB", "name~": "eve", "age": 7}
    assert page(net, "/explain", "POST", json.dumps(taken).encode())[0]["complete"] is False


def test_a_list_ends_where_its_time_is_over():
    items = Items(10, Budget(0))
    assert not items.is_full
    items.add({"a": 1})
    assert items.is_full
    assert json.loads(items.page("items", next=5).body) == {"next": 5, "items": [{"a": 1}]}


def test_a_list_ends_where_its_bytes_are():
    items = Items(10, Budget(9), bytes_max=30)
    assert items.add({"a": "x" * 10})
    assert not items.add({"a": "x" * 10})
    assert items.is_full
    assert json.loads(Items(1, Budget()).page("items").body) == {"items": []}


@pytest.mark.slow
@pytest.mark.usefixtures("daemons")
async def test_asking_for_all_filters_holds_no_link_up(tmp_path, capsys):
    with running_line(tmp_path, "ab") as (a, _):
        client = await WireClient.greeted(a.client, "alice")
        await subscribe_to_huge(client, 182)
        pings = asyncio.create_task(client.answer_pings())
        assert await asyncio.to_thread(main, ["filters", a.admin, "--json"]) == 0
        assert capsys.readouterr().out.count("\n") == 182
        crowd = [asyncio.to_thread(asked_over_http, a.admin, "GET", "/filters?limit=500", None) for _ in range(30)]
        pages = await asyncio.gather(*crowd)
        pings.cancel()
        assert max(len(body) for _, body in pages) <= PAGE_BYTES
        after = json.loads(asked_over_http(a.admin, "GET", "/status", None)[1])
        assert [link["sessions"] for link in after["network"]["links"]] == [1]
