"""SUBSCRIBE under rules: what contradicts them is refused with the reason, and answers find who asked."""

from __future__ import annotations

import pytest

from tamis.configs.access.load import parse_access
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.client_bodies import Ack
from tamis.protocol.wire.codes import RefusalCode
from tests.router.access.rules import token_of, written
from tests.router.access.test_admission import asked
from tests.router.wire_client import subscribe, subscription

ROLES = {
    "board": {
        "subscribe": {"allow": 'kind in {"reading", "alert"}', "deny": "exists salary"},
        "groups": ["dash-*"],
    },
    "asker": {"requests": True, "subscribe": {"allow": "kind = 1", "deny": "exists salary"}},
    "all": {"publish": "true"},
}
RULES = written(ROLES, {"board": "board", "asker": "asker", "all": "all"})


def reasons(ack: Ack) -> dict[int, str]:
    assert all(each.code == RefusalCode.NOT_ALLOWED for each in ack.refusals)
    return {each.number: each.reason for each in ack.refusals}


@pytest.mark.parametrize(
    ("predicate", "reason"),
    [
        ('kind = "order"', "no message satisfies the request and what role board allows"),
        ('kind = "alert" and exists salary', "role board denies all of it where exists salary"),
    ],
)
async def test_a_predicate_that_contradicts_the_rules_is_refused(inside, predicate, reason) -> None:
    board = await inside(access=RULES).client("board", token=token_of("board"))
    assert reasons(await board.subscribe(1, predicate)) == {1: reason}


async def test_a_batch_has_its_allowed_subscriptions(inside) -> None:
    router = inside(access=RULES)
    board = await router.client("board", token=token_of("board"))
    publisher = await router.client("all", token=token_of("all"))
    wanted = 'kind = "order"', 'kind = "alert"', "exists salary", "n = 1"
    await board.send(subscribe(5, *(subscription(at, text) for at, text in enumerate(wanted, 1))))
    ack = await board.next(Ack)
    assert (list(reasons(ack)), list(ack.ranges)) == (
        [1, 3],
        [bodies.Range(2, 2), bodies.Range(4, 4)],
    )
    for attributes in {"kind": "order", "n": 1}, {"kind": "alert", "salary": 1}, {"kind": "alert", "n": 2}:
        assert await asked(publisher, attributes) == []
    assert await board.delivered() == {"kind": "alert", "n": 2}


async def test_one_class_decides_by_each_name(inside) -> None:
    """The decisions about filters are stored by class, and here each depends on who asks."""
    rules = written({"own": {"subscribe": 'owner = "${name}"'}}, {"fleet": "own"})
    router = inside(access=rules)
    one, two = [await router.client(f"fleet/{number}", token=token_of("fleet")) for number in (1, 2)]
    for number in (1, 4):
        assert reasons(await one.subscribe(number, 'owner = "fleet/1"')) == {}
        assert list(reasons(await two.subscribe(number + 1, 'owner = "fleet/1"'))) == [number + 1]
        assert reasons(await two.subscribe(number + 2, 'owner = "fleet/2"')) == {}


async def test_worker_groups_have_names(inside) -> None:
    board = await inside(access=RULES).client("board", token=token_of("board"))

    async def joined(group: str) -> dict[int, str]:
        item = subscription(len(group), 'kind = "alert"')
        await board.send(bodies.Subscribe(1, (item,), False, bodies.Reach.HOME, False, group))
        return reasons(await board.next(Ack))

    assert await joined("dash-1") == {}
    assert await joined("dashes") == {6: "role board allows group of dash-*"}


async def test_answers_reach_who_may_ask_and_denials_hold(inside) -> None:
    router = inside(access=RULES)
    asker = await router.client("asker", token=token_of("asker"))
    publisher = await router.client("all", token=token_of("all"))
    assert reasons(await asker.subscribe(1, 'answer-to = "here"')) == {}
    assert reasons(await asker.subscribe(2, "kind = 1")) == {}
    assert len(reasons(await asker.subscribe(3, "exists answer-to and kind = 2"))) == 1
    for attributes in (
        {"answer-to": "elsewhere", "n": 1},
        {"answer-to": "here", "salary": 1, "n": 2},
        {"answer-to": "here", "n": 3},
        {"kind": 1, "n": 4},
    ):
        assert await asked(publisher, attributes) == []
    assert [(await asker.delivered())["n"] for _ in range(2)] == [3, 4]


async def test_who_may_not_ask_gets_no_answers(inside) -> None:
    board = await inside(access=RULES).client("board", token=token_of("board"))
    assert len(reasons(await board.subscribe(1, 'answer-to = "here" and kind = 3'))) == 1


async def test_a_quota_that_a_reload_brings_counts_the_filters_of_before(inside) -> None:
    """Without a quota of filters nothing counts them."""
    router = inside(access=written({"board": {"subscribe": "true"}}, {"board": "board"}))
    board = await router.client("board", token=token_of("board"))
    for number in (1, 2, 3):
        assert not (await board.subscribe(number, f"n = {number}")).refusals
    limited = written({"board": {"subscribe": "true", "quotas": {"filters": 4}}}, {"board": "board"})
    router.clients.change_access(parse_access(limited).rules)
    [refused] = (await board.subscribe(4, "n = 4 or m = 4")).refusals
    assert (refused.code, refused.reason) == (
        RefusalCode.TOO_MANY_FILTERS,
        "board may have at most 4 filters (quotas.filters)",
    )
    assert not (await board.subscribe(5, "n = 5")).refusals
