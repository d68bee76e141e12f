"""Names: 10,000 that look alike, in messages of as many attributes as there may be."""

from __future__ import annotations

import random

from tamis.bench.matching.adversary.shapes import MESSAGES, Family, Knobs, Shape, attributes, letters, numbered, where
from tamis.bench.matching.workloads.pieces import unordered
from tamis.protocol.filters import Op
from tamis.protocol.limits import ATTRIBUTES_MAX

_TESTS: dict[str, tuple[Op, tuple[int, ...], int]] = {
    "= 1": (Op.EQ, (1,), 0),
    "> 1": (Op.GT, (1,), 0),
    "!= 0": (Op.NE, (0,), 0),
    "exists": (Op.EXISTS, (), 0),
}
"""Operator, operands, and the value in messages: but for the last, it holds nowhere."""


def _made(knobs: Knobs, names: list[str], strangers: list[str], rng: random.Random) -> Shape:
    op, operands, value = _TESTS[knobs["test"]]
    filters = [unordered(where(name, op, *operands)) for name in names]
    asked = strangers if knobs["asked"] == "unknown" else names
    count = min(knobs["attributes"], len(asked))
    messages = [attributes((name, value) for name in rng.sample(asked, count)) for _ in range(MESSAGES)]
    return Shape(filters, messages)


def _hostile(knobs: Knobs, count: int, rng: random.Random) -> Shape:
    both = [numbered(number, knobs["length"], knobs["varied"]) for number in range(2 * count)]
    return _made(knobs, both[:count], both[count:], rng)


def _plain(knobs: Knobs, count: int, rng: random.Random) -> Shape:
    both = list({letters(rng, knobs["length"]): None for _ in range(2 * count)})
    return _made(knobs, both[:count], both[count:], rng)


NAMES = Family(
    about="10,000 names that differ in six digits",
    knobs={
        "length": (8, 16, 17, 24, 40, 100, 256),
        "varied": ("begin", "middle", "end", "spread"),
        "test": tuple(_TESTS),
        "attributes": (1, 8, ATTRIBUTES_MAX),
        "asked": ("known", "unknown"),
    },
    hostile=_hostile,
    plain=_plain,
    known=({"length": 24, "varied": "middle", "test": "> 1", "attributes": 64, "asked": "known"},),
)
