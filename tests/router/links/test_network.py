"""Routers in a network: who wants what becomes known, messages cross, and what fails is gone round."""

from __future__ import annotations

import msgpack
import pytest

from tamis.protocol.wire import client_bodies as bodies
from tamis.router.admin.routes import interface_forms, known_routers, router_form, routes_head
from tamis.router.links.routes import EXPIRED_WITHIN_S
from tests.router.links.conftest import linked, network
from tests.router.wire_client import WireClient, subscription

ALL = 100


def routes_form(network, broadcast, limit, cursor):
    """A page of `/routes`, whatever it costs."""
    known = known_routers(network, cursor)
    return routes_head(network, broadcast) | {
        "interfaces": interface_forms(network),
        "routers": [router_form(network.core, router) for router in known[:limit]],
        "next": known[limit] if len(known) > limit else None,
    }


async def subscribe(client: WireClient, *subscriptions: bodies.SubscriptionItem) -> bodies.Ack:
    """Until the whole network holds it."""
    await client.send(bodies.Subscribe(1, subscriptions, False, bodies.Reach.NETWORK, False))
    return await client.next(bodies.Ack)


async def test_a_message_crosses_to_whom_it_concerns_and_comes_once(nodes):
    made = await network(nodes, "ab", "bc", "ca")
    alice, bob, carol = [await made[name[0]].client(name) for name in ("alice", "bob", "carol")]
    assert (await subscribe(bob, subscription(1, "x > 1"))).ranges == (bodies.Range(1, 1),)
    await subscribe(carol, subscription(1, "x > 2"))
    for x in (1, 2, 3):
        await alice.publish({"x": x})
    assert [await bob.delivered() for _ in range(2)] == [{"x": 2}, {"x": 3}]
    assert await carol.delivered() == {"x": 3}
    await carol.publish({"x": 9})
    assert await bob.delivered() == {"x": 9}


@pytest.mark.slow
async def test_what_is_wanted_no_more_is_taken_out_everywhere(nodes):
    made = await network(nodes, "ab", "bc")
    a, c = made["a"], made["c"]
    carol, chris = await c.client("carol"), await c.client("chris")
    await subscribe(carol, subscription(1, "x = 1"), subscription(2, "y = 1"))
    await subscribe(chris, subscription(1, "z = 1 or z = 2"))
    assert a.status()["remote_filters"] == 4
    await carol.send(bodies.Unsubscribe(2, (1,)))
    await carol.next(bodies.Ack)
    await chris.close()
    await a.until(lambda: a.status()["remote_filters"] == 1)
    assert a.connections.tables[1].stats().filters == 1


async def test_when_a_router_is_killed_messages_go_another_way(nodes):
    made = await network(nodes, "ab", "bd", "ac", "cd")
    alice, dora = await made["a"].client("alice"), await made["d"].client("dora")
    await subscribe(dora, subscription(1, "exists x"))
    await alice.publish({"x": 0})
    assert await dora.delivered() == {"x": 0}
    towards = made["a"].network.core.core_state.trees.next_hop(made["d"].network.core.me)
    [transit] = [node for node in made.values() if node.network.core.me == towards]
    transit.kill()
    await made["a"].knows("b", "d")
    await made["d"].knows("a", "b")
    await alice.publish({"x": 1})
    assert await dora.delivered() == {"x": 1}
    await transit.start()
    await made["a"].knows("b", "c", "d")
    await alice.publish({"x": 2})
    assert await dora.delivered() == {"x": 2}
    assert transit.network.core.epoch > 0


async def test_many_filters_reach_the_others_in_parts(nodes):
    long = "n" * 40
    filters = (msgpack.packb([["x", 1, number], ["name", 1, f"{long}{number}"]]) for number in range(3_000))
    many = [bodies.SubscriptionItem(number, (packed,)) for number, packed in enumerate(filters)]
    made = await network(nodes, "ab", more=", keepalive: {hold_ms: 20000}")  # who is cut off is not waited for
    b = await made["b"].client("bob")
    await subscribe(b, *many)
    assert made["a"].status()["remote_filters"] == 3_000
    made["a"].kill()
    await made["b"].knows()
    await made["a"].start()
    await made["a"].until(lambda: made["a"].status()["remote_filters"] == 3_000)
    await made["a"].until(lambda: made["a"].network.step.is_in_step)  # before, a message may find no link
    alice = await made["a"].client("alice")
    await alice.publish({"x": 2_999, "name": long + "2999"})
    assert await b.delivered() == {"x": 2_999, "name": long + "2999"}


async def test_a_subscription_that_waits_for_nobody_is_answered(nodes):
    made = nodes(linked("ab"))
    a = await made["a"].start()
    assert (await subscribe(await a.client("alice"), subscription(1, "x = 1"))).ranges == (bodies.Range(1, 1),)


async def test_a_filter_that_is_refused_is_not_told_to_the_others(nodes):
    made = await network(nodes, "ab")
    bob = await made["b"].client("bob")
    ack = await subscribe(bob, bodies.SubscriptionItem(1, (b"\xc1",)), subscription(2, "x = 1"))
    assert [item.number for item in ack.refusals] == [1]
    assert made["a"].status()["remote_filters"] == 1


async def test_routes_say_what_lies_where(nodes):
    made = await network(nodes, "ab", "bc")
    a, b, c = made["a"], made["b"], made["c"]
    carol = await c.client("carol")
    await subscribe(carol, subscription(1, "x = 1"))
    form = routes_form(a.network, "source-trees", ALL, 0)
    [way] = form["interfaces"]
    assert (way["neighbour"], way["child"], way["below"], way["routers"], way["filters"]) == ("b", True, 2, 2, 1)
    rows = {row["router"]: row for row in form["routers"]}
    assert (rows["c"]["next_hop"], rows["c"]["parent"], rows["c"]["filters"]) == ("b", "b", 1)
    assert rows["c"]["version"] == list(c.network.core.core_state.rib.entries[c.network.core.me].version)
    assert sorted(link["neighbour"] for link in rows["b"]["links"]) == ["a", "c"]
    assert rows["a"]["next_hop"] is None
    pages = routes_form(a.network, "source-trees", 2, 0)
    assert len(pages["routers"]) == 2
    rest = routes_form(a.network, "source-trees", 2, pages["next"])
    assert [row["number"] for row in pages["routers"] + rest["routers"]] == sorted(
        node.network.core.me for node in (a, b, c)
    )


async def test_an_audit_asks_everybody(nodes):
    made = await network(nodes, "ab", "bc")
    for node in made.values():
        await node.until(lambda node=node: node.network.step.is_in_step)
    a = made["a"]
    ticket = a.network.audit()
    await a.until(lambda: a.network.audits[ticket] is not None)
    assert (a.network.audits[ticket].answered, a.network.audits[ticket].differing) == (2, ())


async def test_it_gets_quiet(nodes):
    made = await network(nodes, "ab")
    a = made["a"]
    await a.until(lambda: a.network.quiet_s > 0.3)
    since = a.network.news_s
    bob = await made["b"].client("bob")
    await subscribe(bob, subscription(1, "x = 1"))
    assert a.network.news_s > since


@pytest.mark.parametrize("count", [1, 600])
async def test_a_client_that_goes_while_its_filters_are_told_leaves_nothing(nodes, count):
    many = tuple(subscription(number, f"x = {number}") for number in range(count))
    made = await network(nodes, "ab")
    a, b = made["a"], made["b"]
    bob = await b.client("bob")
    await bob.send(bodies.Subscribe(1, many, False, bodies.Reach.HOME, False))
    await bob.close()
    await b.until(lambda: not b.clients.by_connection and b.connections.work.is_idle)
    own = b.network.core.core_state.rib.entries
    await a.until(lambda: a.status()["remote_filters"] == 0 and not own[b.network.core.me].filters)


@pytest.mark.slow
async def test_status_says_how_long_messages_go_by_earlier_trees(nodes):
    """Until then a message may go where nobody wants it: what counts frames waits for it."""
    made = await network(nodes, "ab", "bc", "ca")
    a = made["a"]
    await a.until(lambda: a.status()["earlier_trees_s"] == 0)
    made["c"].kill()
    await a.knows("b")
    hold_s = a.network.core.core_state.times.tree_hold_us / 1_000_000
    assert hold_s - 1 < a.status()["earlier_trees_s"] <= hold_s + EXPIRED_WITHIN_S
    await a.until(lambda: a.status()["earlier_trees_s"] == 0)
    assert a.status()["unfinished"] == {}
