"""What C finds to be left of subscriptions is what the definition leaves of them (protocol/access)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tamis.configs.access.load import parse_access
from tamis.native.covering import FilterCovers
from tamis.protocol.access.narrow import narrowed
from tamis.protocol.access.rights import ANSWER_TO, ClassRights, is_for_answers
from tamis.protocol.errors import ConfigError, FrameError
from tamis.protocol.evaluate import predicate_matches
from tamis.protocol.filters import Constraint, Filter, Op, Predicate
from tamis.protocol.language import parse
from tamis.protocol.language.format import format_filter
from tamis.protocol.wire.packed_filters import decode_filter, encode_filter
from tamis.router.access import subscriptions as subscriptions_of_a_class
from tamis.router.access.guard_rules import hand_rules
from tamis.router.access.subscriptions import HAND, ClassSubscriptions

NAMES = ("kind", "level", ANSWER_TO)
VALUES = {"kind": ("a", "ab", "b"), "level": (0, 1, 2), ANSWER_TO: ("x",)}


def _drawn(rng: random.Random, least: int, most: int) -> Filter:
    """A filter, which may contradict itself."""
    constraints = []
    for _ in range(rng.randint(least, most)):
        name = rng.choices(NAMES, (5, 5, 1))[0]
        ops = (Op.EQ, Op.NE, Op.GE, Op.LT) if name != ANSWER_TO else (Op.EQ, Op.EXISTS)
        op = rng.choice(ops)
        operands: tuple[Any, ...] = () if op is Op.EXISTS else (rng.choice(VALUES[name]),)
        constraints.append(Constraint(name, op, operands))
    return Filter(tuple(constraints))


def _rights(rng: random.Random) -> ClassRights | None:
    """The rights of a class of one or two roles; None where a drawn rule contradicts itself."""
    roles = ""
    for at in range(rng.randint(1, 2)):
        allow = " or ".join(f"({format_filter(_drawn(rng, 1, 1))})" for _ in range(rng.randint(1, 2)))
        deny = f", deny: '{format_filter(_drawn(rng, 1, 1))}'" if rng.random() < 0.2 else ""
        asks = ", requests: true" if rng.random() < 0.2 else ""
        roles += f"  r{at}: {{subscribe: {{allow: '{allow}'{deny}}}{asks}}}\n"
    try:
        rules = parse_access(f"roles:\n{roles}").rules
    except ConfigError:
        return None
    return ClassRights(rules.roles.values())


def _shown(filters: tuple[bytes, ...], rng: random.Random) -> list[bool]:
    """Whether each of some messages satisfies one of the filters; the messages depend on `rng` alone."""
    predicate = Predicate(tuple(map(decode_filter, filters)))
    return [
        predicate_matches(
            predicate, {name: rng.choice(values) for name, values in VALUES.items() if rng.random() < 0.7}
        )
        for _ in range(20)
    ]


@pytest.mark.parametrize("seed", range(4))
def test_subscriptions_are_decided_as_by_the_definition(seed: int) -> None:
    rng, covers = random.Random(seed), FilterCovers()
    whole = parts = refused = 0
    for _ in range(60):
        rights = _rights(rng)
        if rights is None:
            continue
        rules = hand_rules(rights)
        decided = ClassSubscriptions(rights, covers, lambda _hand, rules=rules: rules).decided
        for _ in range(20):
            packed = tuple(encode_filter(_drawn(rng, 0, 3)) for _ in range(rng.randint(1, 2)))
            wanted = Predicate(tuple(map(decode_filter, packed)))
            decision = rights.subscribe("client", wanted)
            found = decided(HAND, "client", packed)
            assert found.refusal == (None if decision.allowed else decision), (rights.roles, wanted)
            assert found.is_for_answers == is_for_answers(wanted)
            left = narrowed(wanted.filters, rules.allowed, rules.denied)
            assert left is not None
            assert found.in_force is not None
            of_messages = rng.random()
            expected = _shown(tuple(map(encode_filter, left)), random.Random(of_messages))
            assert _shown(found.in_force, random.Random(of_messages)) == expected, (rights.roles, wanted)
            is_whole = decision.allowed and not decision.narrowed and not found.is_for_answers
            assert not is_whole or found.in_force == packed or len(packed) > len(left)
            whole += found.in_force == packed
            parts += found.in_force != packed and decision.allowed
            refused += not decision.allowed
    assert min(whole, parts, refused) > 100


def test_a_malformed_filter_is_no_covered_one() -> None:
    rights = ClassRights(parse_access("roles: {r: {subscribe: 'kind = \"a\"'}}").rules.roles.values())
    subscriptions = ClassSubscriptions(rights, FilterCovers(), lambda _hand: hand_rules(rights))
    with pytest.raises(FrameError):
        subscriptions.decided(HAND, "client", (b"\xc1",))


def _asked(subscriptions: ClassSubscriptions, name: str, text: str) -> bytes | None:
    """The filter in force of a subscription to one filter."""
    found = subscriptions.decided(HAND, name, (packed_of(text),))
    return found.in_force[0] if found.in_force else None


def packed_of(text: str) -> bytes:
    return encode_filter(parse(text).filters[0])


@pytest.mark.parametrize(
    ("rule", "asked", "in_force"),
    [
        ('owner = "${name}"', "n = 1", 'n = 1 and owner = "{}"'),
        ('owner = "${name}" or exists n and owner = "all"', 'owner = "all"', 'exists n and owner = "all"'),
        ("n < 5", "n > 1", "n > 1 and n < 5"),
    ],
)
def test_filters_in_force_are_those_of_the_name(rule: str, asked: str, in_force: str) -> None:
    rights = ClassRights(parse_access(f"roles: {{r: {{subscribe: '{rule}'}}}}").rules.roles.values())
    subscriptions = ClassSubscriptions(rights, FilterCovers(), lambda _hand: hand_rules(rights))
    for _ in range(2):
        for name in ("one", "two"):
            assert _asked(subscriptions, name, asked) == packed_of(in_force.format(name))


def test_what_is_stored_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions_of_a_class, "STORED_BYTES_MAX", 20_000)
    rights = ClassRights(parse_access("roles: {r: {subscribe: 'n < 5'}}").rules.roles.values())
    subscriptions = ClassSubscriptions(rights, FilterCovers(), lambda _hand: hand_rules(rights))
    stored = []
    for number in range(-100, 0):
        assert _asked(subscriptions, "", f"n > {number}") == packed_of(f"n > {number} and n < 5")
        stored.append(len(subscriptions._stored))
    assert max(stored) < 40
    assert stored != sorted(stored)
