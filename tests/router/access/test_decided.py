"""A subscription that C finds covered by a rule is decided as the definition decides it (protocol/access/rights.py)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tamis.configs.access.load import parse_access
from tamis.native.covering import FilterCovers
from tamis.protocol.access.rights import ANSWER_TO, ClassRights, is_for_answers
from tamis.protocol.errors import ConfigError, FrameError
from tamis.protocol.filters import Constraint, Filter, Op, Predicate
from tamis.protocol.language.format import format_filter
from tamis.protocol.wire.packed_filters import decode_filter, encode_filter
from tamis.router.access.class_guards import ClassGuards

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


@pytest.mark.parametrize("seed", range(4))
def test_covered_subscriptions_are_decided_as_by_the_rights(seed: int) -> None:
    rng, covers = random.Random(seed), FilterCovers()
    by_c = others = 0
    for _ in range(150):
        rights = _rights(rng)
        if rights is None:
            continue
        guards = ClassGuards(None, rights, covers, observes=False)  # type: ignore[arg-type]
        for _ in range(20):
            packed = tuple(encode_filter(_drawn(rng, 0, 3)) for _ in range(rng.randint(1, 2)))
            wanted = Predicate(tuple(map(decode_filter, packed)))
            found = guards.asked("client", packed)
            assert found.decision == rights.subscribe("client", wanted), (rights.roles, wanted)
            assert found.is_for_answers == is_for_answers(wanted)
            by_c, others = by_c + (found.wanted is None), others + (found.wanted is not None)
    assert min(by_c, others) > 100


def test_a_malformed_filter_is_no_covered_one() -> None:
    rights = ClassRights(parse_access("roles: {r: {subscribe: 'kind = \"a\"'}}").rules.roles.values())
    guards = ClassGuards(None, rights, FilterCovers(), observes=False)  # type: ignore[arg-type]
    with pytest.raises(FrameError):
        guards.asked("client", (b"\xc1",))
