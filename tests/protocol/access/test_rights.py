"""Decisions of a class: what decided, and in which words; conditions of one right are those of one role."""

from __future__ import annotations

import pytest

from tamis.protocol.access.decision import Verb
from tamis.protocol.access.patterns import read_pattern
from tamis.protocol.access.rights import ClassRights, DurableTerms
from tamis.protocol.access.role import AccessRole, AdminLevel, ConsumeRight, DurableRight, Permission, Quota, Rate
from tamis.protocol.access.rule import compile_rule
from tamis.protocol.language import format_constraint, parse


def permission(allow: str | None = None, deny: str | None = None) -> Permission:
    return Permission(allow and compile_rule(allow), deny and compile_rule(deny))


SENSOR = AccessRole(
    "sensor", publish=permission('kind = "reading" and plant = "rome"', "exists test"), stamp={"device": "${name}"}
)
READER = AccessRole("reader", subscribe=permission('kind in {"reading", "alert"}', "exists salary"))
NO_SECRETS = AccessRole("no-secrets", subscribe=permission(deny='class = "secret"'))
REPLAYER = AccessRole("replayer", replay=permission("exists kind"), replay_since_s=100)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"kind": "reading", "plant": "rome"}, 'role sensor allows publish where kind = "reading" and plant = "rome"'),
        (
            {"kind": "reading", "plant": "oslo"},
            'role sensor allows publish where kind = "reading" and plant = "rome", and plant is "oslo"',
        ),
        ({"plant": 3}, 'role sensor allows publish where kind = "reading" and plant = "rome", and kind is absent'),
        ({"kind": "reading", "plant": "rome", "test": 1}, "role sensor denies it where exists test"),
        ({"kind": "reading", "device": "x"}, "role sensor stamps device, which a client may not set"),
    ],
)
def test_the_door_says_what_decided(message: dict, reason: str) -> None:
    decision = ClassRights([SENSOR]).publish("press-1", message)
    assert decision.reason == reason
    assert decision.allowed is (message == {"kind": "reading", "plant": "rome"})
    assert decision.role == "sensor"


def test_rules_of_the_door_are_about_the_stamped_message() -> None:
    role = AccessRole("r", publish=permission('device = "n1"'), stamp={"device": "${name}"})
    rights = ClassRights([role])
    assert rights.publish("n1", {})
    assert not rights.publish("n2", {})
    assert rights.stamped("n1", {"a": 1}) == {"a": 1, "device": "n1"}


def test_a_stamp_that_makes_a_message_too_large_is_refused() -> None:
    rights = ClassRights([AccessRole("r", publish=permission("true"), stamp={"device": "${name}"})])
    assert rights.publish("n", {f"a{at}": at for at in range(63)})
    refused = rights.publish("n", {f"a{at}": at for at in range(64)})
    assert refused.reason == "with its stamps the message has more than 64 attributes"


def test_a_denial_of_one_role_wins_at_every_hand() -> None:
    rights = ClassRights([READER, NO_SECRETS, REPLAYER])
    open_, secret = {"kind": "alert"}, {"kind": "alert", "class": "secret"}
    for hand in (rights.sees, rights.sees_again, lambda own, message: rights.sees_of("d", own, message)):
        assert hand("n", open_)
        refused = hand("n", secret)
        assert not refused
        assert refused.reason == 'role no-secrets denies it where class = "secret"'
        assert format_constraint(refused.constraint) == 'class = "secret"'


def test_nothing_is_allowed_that_no_role_allows() -> None:
    rights = ClassRights([])
    for decision in (
        *(
            rights.publish("n", {}),
            rights.sees("n", {}),
            rights.sees_again("n", {}),
            rights.subscribe("n", parse("true")),
        ),
        *(rights.group("n", "g"), rights.make("n", DurableTerms("d")), rights.consume("n", "d", is_owner=True)),
        *(rights.skip("n", "d", is_owner=True), rights.inspect("n", "d", is_owner=False)),
        *(rights.remove("n", "d", is_owner=False), rights.admin(AdminLevel.VIEWER), rights.replay("n", parse("a = 1"))),
    ):
        assert not decision
        assert decision.reason.startswith("no role allows ")
        assert decision.role == ""


@pytest.mark.parametrize(
    ("wanted", "allowed", "narrowed", "reason"),
    [
        ('kind = "alert" and not exists salary', True, False, "role reader allows it"),
        ('kind = "alert"', True, True, "role reader allows a part of it"),
        ("true", True, True, "role reader allows a part of it"),
        ('kind = "x"', False, False, "no message satisfies the request and what role reader allows"),
        ('kind = "alert" and salary > 3', False, False, "role reader denies all of it where exists salary"),
    ],
)
def test_a_subscription_is_refused_only_if_it_contradicts(
    wanted: str, allowed: bool, narrowed: bool, reason: str
) -> None:
    decision = ClassRights([READER]).subscribe("n", parse(wanted))
    assert (decision.allowed, decision.narrowed, decision.reason) == (allowed, narrowed, reason)


def test_what_is_replayed_is_as_recent_as_its_role_says() -> None:
    old = AccessRole("old", replay=permission('kind = "log"'))
    rights = ClassRights([REPLAYER, old])
    assert rights.sees_again("n", {"kind": "x"}, 100)
    assert not rights.sees_again("n", {"kind": "x"}, 101)
    assert rights.sees_again("n", {"kind": "log"}, 10**9)
    assert not ClassRights([REPLAYER]).replay("n", parse("true"), 101)
    assert (
        ClassRights([REPLAYER]).replay("n", parse("true"), 101).reason
        == "role replayer allows replay of the last 100 s"
    )
    assert rights.replay("n", parse('kind = "log"'), 10**9)
    assert not rights.replay("n", parse('kind = "x"'), 10**9)


def names(*texts: str) -> tuple:
    return tuple(map(read_pattern, texts))


WORKER = AccessRole(
    "worker",
    durable=DurableRight(names("orders-*"), compile_rule('kind = "order"'), bytes=1_000, idle_max_s=60),
    consume=ConsumeRight(names("bills")),
)


@pytest.mark.parametrize(
    ("terms", "reason"),
    [
        ({}, "role worker allows it"),
        ({"name": "x"}, "role worker allows make of orders-*"),
        ({"bytes": 0}, "role worker allows 1,000 bytes"),
        ({"bytes": 1_001}, "role worker allows 1,000 bytes"),
        ({"idle_s": 61}, "role worker allows 60 s without a consumer"),
        ({"idle_s": 0}, "role worker allows 60 s without a consumer"),
        ({"refuses": True}, "role worker allows no durable subscription that refuses messages when it is full"),
        ({"wanted": parse('kind = "bill"')}, "no message satisfies the request and what role worker allows"),
    ],
)
def test_terms_of_a_durable_subscription(terms: dict, reason: str) -> None:
    asked = {"name": "orders-1", "wanted": parse('kind = "order"'), "bytes": 1_000} | terms
    decision = ClassRights([WORKER]).make("n", DurableTerms(**asked))
    assert decision.reason == reason
    assert decision.allowed is (not terms)


def test_conditions_of_two_roles_do_not_mix() -> None:
    small = AccessRole("small", durable=DurableRight(names("a-*"), compile_rule("true"), bytes=10))
    large = AccessRole("large", durable=DurableRight(names("b-*"), compile_rule("true")))
    rights = ClassRights([small, large])
    assert rights.make("n", DurableTerms("b-1", bytes=99))
    assert not rights.make("n", DurableTerms("a-1", bytes=99))


def test_messages_of_a_durable_subscription_are_those_of_its_right() -> None:
    rights = ClassRights([WORKER])
    assert rights.sees_of("orders-1", "n", {"kind": "order"})
    assert not rights.sees_of("bills", "n", {"kind": "order"})
    assert not rights.sees("n", {"kind": "order"})


def test_one_that_may_not_be_consumed_is_hidden_and_a_skip_is_refused_openly() -> None:
    rights = ClassRights([WORKER])
    assert rights.consume("n", "x", is_owner=False).hides
    assert rights.skip("n", "x", is_owner=False).hides
    skip = rights.skip("n", "bills", is_owner=False)
    assert (skip.allowed, skip.hides, skip.verb) == (False, False, Verb.SKIP)
    assert rights.remove("n", "x", is_owner=False).hides
    assert not rights.remove("n", "bills", is_owner=False).hides
    assert rights.inspect("n", "x", is_owner=False).hides


def test_the_owner_always_sees_and_removes_and_consumes_by_its_right_of_now() -> None:
    rights = ClassRights([])
    assert rights.inspect("n", "orders-1", is_owner=True)
    assert rights.remove("n", "orders-1", is_owner=True)
    assert not rights.consume("n", "orders-1", is_owner=True)
    assert ClassRights([WORKER]).consume("n", "orders-1", is_owner=True)
    assert not ClassRights([WORKER]).consume("n", "orders-1", is_owner=False)


def test_answers_come_only_to_an_address_that_was_asked_with() -> None:
    asker = ClassRights([AccessRole("asker", requests=True)])
    assert asker.subscribe("n", parse('`answer-to` = "0a1b"'))
    assert not asker.subscribe("n", parse("exists `answer-to`"))
    assert not asker.subscribe("n", parse('`answer-to` = "0a1b" or kind = 1'))
    answer = {"answer-to": "0a1b", "sum": 5}
    assert asker.sees("n", answer, is_answer=True)
    assert not asker.sees("n", answer)
    assert not asker.sees("n", {"sum": 5}, is_answer=True)
    assert not ClassRights([AccessRole("x")]).sees("n", answer, is_answer=True)


def test_levels_of_administration_include_those_below() -> None:
    rights = ClassRights([AccessRole("v", admin=AdminLevel.VIEWER), AccessRole("o", admin=AdminLevel.OPERATOR)])
    assert [rights.admin(level).allowed for level in AdminLevel] == [True, True, False]
    assert rights.admin(AdminLevel.ADMIN).reason == "role o is operator; this needs admin"


def test_of_several_limits_the_largest_holds() -> None:
    some = AccessRole("some", rate=Rate(100, 200), quotas=Quota(connections=5, log=0.1))
    more = AccessRole("more", rate=Rate(300, 100, 10_000), quotas=Quota(connections=2, filters=7))
    none = AccessRole("none")
    rights = ClassRights([some, more, none])
    assert rights.rate == Rate(300, 200, 10_000)
    assert rights.quota == Quota(connections=5, durables=None, filters=7, log=0.1)
    assert ClassRights([none]).rate is None
    assert ClassRights([none]).quota == Quota()
