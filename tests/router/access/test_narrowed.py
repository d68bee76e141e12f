"""Filters AND-ed with rules: what clients are told of them, and what a router states to its neighbours."""

from __future__ import annotations

import pytest

from tamis.configs.access.load import parse_access
from tamis.protocol.filters import Predicate
from tamis.protocol.language import format_predicate
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.packed_filters import decode_filter
from tests.router.access.rules import token_of, written
from tests.router.links.conftest import linked, nodes, start_together
from tests.router.wire_client import subscribe, subscription

__all__ = ["nodes"]

DENIAL = "exists salary"
PRINCIPALS = {"writer": "writer", "board": "board", "other": "board"}


def rules(allow: str, deny: str = DENIAL, groups: str = "g") -> str:
    roles = {"writer": {"publish": "true"}, "board": {"subscribe": {"allow": allow, "deny": deny}, "groups": groups}}
    return written(roles, PRINCIPALS)


def in_force(ack: bodies.Ack) -> dict[int, str]:
    return {each.id: format_predicate(Predicate(tuple(map(decode_filter, each.filters)))) for each in ack.narrowed}


async def test_the_answer_tells_the_filter_in_force(inside) -> None:
    board = await inside(access=rules("kind = 1")).client("board", token=token_of("board"))
    await board.send(
        subscribe(5, *(subscription(at, text) for at, text in enumerate(("n = 1", "kind = 1", "x = 1"), 1)))
    )
    ack = await board.next(bodies.Ack)
    assert list(ack.ranges) == [bodies.Range(1, 3)]
    assert in_force(ack) == {
        1: "kind = 1 and n = 1 and not exists salary",
        2: "kind = 1 and not exists salary",
        3: "kind = 1 and not exists salary and x = 1",
    }


async def test_what_rules_leave_whole_or_only_observe_is_not_told(inside) -> None:
    board = await inside(access=rules("kind = 1", "kind = 2")).client("board", token=token_of("board"))
    assert (await board.subscribe(1, "kind = 1 and n = 1")).narrowed == ()


async def test_a_filter_in_force_of_too_many_alternatives_is_not_told(inside) -> None:
    allow = " or ".join(f"a{n} = 1" for n in range(64))
    board = await inside(access=rules(allow)).client("board", token=token_of("board"))
    assert (await board.subscribe(1, "n = 1 or m = 1")).narrowed == (bodies.Narrowed(1),)


async def linked_pair(nodes, allow: str) -> dict:
    made = nodes(linked("ab"))
    for node in made.values():
        node.rules = rules(allow)
    await start_together(made)
    for node, other in (made["a"], "b"), (made["b"], "a"):
        await node.knows(other)
    return made


async def subscribed(node, name: str, predicate: str, group: str = "") -> object:
    """A client with a subscription that the whole network has."""
    client = await node.client(name, token_of(name.partition("/")[0]))
    item = (subscription(1, predicate),)
    await client.send(bodies.Subscribe(1, item, False, bodies.Reach.NETWORK, False, group))
    assert not (await client.next(bodies.Ack)).refusals
    return client


def crossed(node) -> int:
    return node.connections.switch.figures().forwarded


@pytest.mark.parametrize("group", ["", "g"])
async def test_a_message_that_no_receiver_may_have_does_not_cross_a_link(nodes, group: str) -> None:
    made = await linked_pair(nodes, "kind = 1")
    board = await subscribed(made["b"], "board", "exists n", group)
    writer = await made["a"].client("writer", token_of("writer"))
    for attributes in {"kind": 2, "n": 1}, {"n": 2}, {"kind": 1, "n": 3, "salary": 1}, {"kind": 1, "n": 4}:
        await writer.publish(attributes)
    assert await board.delivered() == {"kind": 1, "n": 4}
    assert crossed(made["a"]) == 1


async def test_changed_rules_change_what_is_stated(nodes) -> None:
    made = await linked_pair(nodes, "kind = 1")
    board = await subscribed(made["b"], "board", "exists n")
    other = await subscribed(made["b"], "other", "exists n and kind = 2 or kind = 1")
    writer = await made["a"].client("writer", token_of("writer"))
    assert made["a"].status()["remote_filters"] == 1
    for node in made.values():
        node.clients.change_access(parse_access(rules("kind in {2, 3}")).rules)

    await subscribed(made["b"], "board/later", "exists m")  # all have what changed before they have this
    await made["a"].until(lambda: made["a"].status()["remote_filters"] == 2)
    for attributes in {"kind": 1, "n": 1}, {"kind": 2, "n": 2}, {"kind": 3, "n": 3}:
        await writer.publish(attributes)
    assert [(await board.delivered())["n"] for _ in range(2)] == [2, 3]
    assert (await other.delivered())["n"] == 2
    assert crossed(made["a"]) == 2
    await board.send(bodies.Unsubscribe(2, (1,)))
    await other.send(bodies.Unsubscribe(2, (1,)))
    await made["a"].until(lambda: made["a"].status()["remote_filters"] == 1)


async def test_past_the_bound_a_filter_is_stated_without_the_rules(nodes) -> None:
    made = await linked_pair(nodes, " or ".join(f"a{n} = 1" for n in range(64)))
    board = await subscribed(made["b"], "board", "exists n or exists m")
    writer = await made["a"].client("writer", token_of("writer"))
    assert made["a"].status()["remote_filters"] == 2
    for attributes in {"n": 1}, {"a63": 1, "m": 2}, {"a0": 1, "n": 3}:
        await writer.publish(attributes)
    assert [await board.delivered() for _ in range(2)] == [{"a63": 1, "m": 2}, {"a0": 1, "n": 3}]
    assert crossed(made["a"]) == 3
