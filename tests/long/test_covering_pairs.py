"""A million pairs of filters, each judged by a hundred messages: is covering ever wrongly claimed?

Filters come in groups built from one handful of constraints, so that claims are frequent; messages are drawn at and
beside the operands of the group. Normal forms and merges of the same filters are judged on the way. Seeded and without
Hypothesis, for speed; `make long` prints the counts. A denial that no message of the group explains is not an error
(covering is allowed to miss some), but its count shows what completeness costs.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

from tamis.protocol.covering import covers
from tamis.protocol.covering.merge import merge
from tamis.protocol.errors import NeverMatches
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import PATTERN_OPS, Constraint, Filter, Op
from tamis.protocol.normal import normalize
from tamis.protocol.values import Value, identity
from tests.strategies import ALPHABET, AWKWARD_NUMBERS, AWKWARD_STRINGS, values_near

SEED = 2_003
PAIRS = 1_000_000
GROUP_FILTERS = 16
GROUP_MESSAGES = 100
GROUP_CONSTRAINTS = 7


def text(rng: random.Random) -> str:
    if rng.random() < 0.1:
        return rng.choice(AWKWARD_STRINGS)
    return "".join(rng.choices(ALPHABET, k=rng.randrange(4)))


def number(rng: random.Random) -> int | float:
    return rng.choice(AWKWARD_NUMBERS) if rng.random() < 0.3 else rng.randrange(-2, 5)


def value(rng: random.Random) -> Value:
    return rng.choice((text, text, number, number, lambda rng: rng.random() < 0.5))(rng)


def operands(rng: random.Random, op: Op) -> tuple[Value, ...]:
    if op is Op.EXISTS:
        return ()
    if op is Op.IN:
        return tuple(value(rng) for _ in range(rng.randint(1, 4)))
    draw = text if op in PATTERN_OPS else rng.choice((text, number))
    if op is Op.BETWEEN:
        return tuple(sorted((draw(rng), draw(rng)), key=identity))
    return (value(rng) if op in (Op.EQ, Op.NE) else draw(rng),)


def constraint(rng: random.Random, names: str) -> Constraint:
    op = rng.choice(list(Op))
    return Constraint(rng.choice(names), op, operands(rng, op), rng.random() < 0.3)


def group(rng: random.Random) -> list[Filter]:
    names = rng.choice(("a", "a", "ab"))
    pool = [constraint(rng, names) for _ in range(GROUP_CONSTRAINTS)]
    return [Filter(tuple(rng.sample(pool, rng.randint(1, 3)))) for _ in range(GROUP_FILTERS)]


def messages(rng: random.Random, filters: list[Filter]) -> list[dict[str, Value]]:
    near = values_near(*filters)
    found: list[dict[str, Value]] = []
    for _ in range(GROUP_MESSAGES):
        present = [name for name in near if rng.random() < 0.9]
        found.append({name: rng.choice(near[name]) if rng.random() < 0.9 else value(rng) for name in present})
    return found


def matched(filter_: Filter, attributes: list[dict[str, Value]]) -> int:
    """The messages that match, as the bits of a number."""
    return sum(1 << at for at, message in enumerate(attributes) if filter_matches(filter_, message))


def judge(filters: list[Filter], attributes: list[dict[str, Value]], counts: Counter[str]) -> None:
    seen = [matched(filter_, attributes) for filter_ in filters]
    for filter_, sees in zip(filters, seen, strict=True):
        judge_normal_form(filter_, sees, attributes, counts)
    for (a, sees_a), (b, sees_b) in itertools.permutations(zip(filters, seen, strict=True), 2):
        contradicted = sees_b & ~sees_a != 0
        claimed = covers(a, b)
        assert not (claimed and contradicted), (a, b)
        counts["claimed" if claimed else "denied, and explained" if contradicted else "denied, unexplained"] += 1
    for (a, sees_a), (b, sees_b) in itertools.pairwise(zip(filters, seen, strict=True)):
        judge_merge(a, b, sees_a | sees_b, attributes, counts)


def judge_normal_form(filter_: Filter, sees: int, attributes: list[dict[str, Value]], counts: Counter[str]) -> None:
    try:
        normal = normalize(filter_)
    except NeverMatches:
        assert sees == 0, filter_
        counts["never match"] += 1
        return
    assert normalize(normal) == normal, filter_
    assert matched(normal, attributes) == sees, filter_
    counts["normal forms"] += 1


def judge_merge(a: Filter, b: Filter, sees: int, attributes: list[dict[str, Value]], counts: Counter[str]) -> None:
    try:
        merged = merge(a, b)
    except NeverMatches:
        return
    admitted = matched(merged.filter, attributes)
    assert sees & ~admitted == 0, (a, b)
    assert merged.widening > 0 or sees == admitted, (a, b)
    counts["exact merges" if merged.widening == 0 else "widening merges"] += 1


@pytest.mark.long
def test_a_million_pairs():
    rng = random.Random(SEED)
    counts: Counter[str] = Counter()
    while counts["pairs"] < PAIRS:
        filters = group(rng)
        attributes = messages(rng, filters)
        judge(filters, attributes, counts)
        counts["pairs"] += GROUP_FILTERS * (GROUP_FILTERS - 1)
    print(f"\nseed {SEED}:", ", ".join(f"{count:,} {what}" for what, count in sorted(counts.items())))
    assert counts["claimed"] > PAIRS // 20
