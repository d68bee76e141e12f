"""Buckets: filters that share what an engine might find them by, and fail in a test that has no index."""

from __future__ import annotations

import random
from collections.abc import Callable

from tamis.bench.matching.adversary.shapes import MESSAGES, Family, Knobs, Shape, attributes, letters, where
from tamis.bench.matching.workloads.pieces import conjunction
from tamis.protocol.filters import Op
from tamis.protocol.values import Value

_TEXT = "the-value-of-the-message"

Shared = tuple[Op, Callable[[int], Value], Callable[[int], Value]]

_SHARED: dict[str, Shared] = {
    "= string": (Op.EQ, lambda value: f"v{value}", lambda value: f"v{value}"),
    "= integer": (Op.EQ, lambda value: value, lambda value: value),
    "= boolean": (Op.EQ, lambda _value: True, lambda _value: True),
    "prefix": (Op.PREFIX, lambda value: f"v{value}/", lambda value: f"v{value}/rest"),
    "contains": (Op.CONTAINS, lambda value: f"-v{value}-", lambda value: f"some-v{value}-text"),
    "> integer": (Op.GT, lambda _value: 0, lambda value: 1 + value),
}
"""Operator, its operand, and the value in messages, for which it holds, both by the number of the value."""


def _failing(test: str, name: str, number: int, rng: random.Random) -> bytes:
    """A test that the message's value, a text or (for numbers) 0, does not satisfy; operands differ."""
    if test == "=":
        return where(name, Op.EQ, f"{_TEXT[:-6]}{number:06d}")
    if test == "!=":
        return where(name, Op.NE, _TEXT)
    if test == ">":
        return where(name, Op.GT, number)
    if test == "> string":
        return where(name, Op.GT, f"u{number}")
    if test == "contains":
        return where(name, Op.CONTAINS, letters(rng, 6))
    if test == "in 10":
        return where(name, Op.IN, *(f"{number}-{k}" for k in range(10)))
    if test == "not prefix":
        return where(name, Op.PREFIX, _TEXT[: 1 + number % len(_TEXT)], negated=True)
    return where(name, Op.BETWEEN, 1 + number, 2 + 2 * number, negated=False)


_FAILING = ("=", "!=", ">", "> string", "contains", "in 10", "not prefix", "between")
_OF_NUMBERS = (">", "between")


def _hostile(knobs: Knobs, count: int, rng: random.Random) -> Shape:
    op, operand, value = _SHARED[knobs["shared by"]]
    first = "a" if knobs["shared sort"] == "first" else "z"
    shared = [f"{first}{k:02d}" for k in range(knobs["shared"])]
    tested = [f"m{k:02d}" for k in range(knobs["tested"])]
    filters = []
    for i in range(count):
        common = [where(name, op, operand(i % knobs["values"])) for name in shared]
        filters.append(conjunction(*common, _failing(knobs["fails by"], tested[i % len(tested)], i, rng)))
    told: Value = 0 if knobs["fails by"] in _OF_NUMBERS else _TEXT
    pairs = [*((name, value(0)) for name in shared), *((name, told) for name in tested)]
    return Shape(filters, [attributes(pairs)] * MESSAGES)


def _plain(knobs: Knobs, count: int, rng: random.Random) -> Shape:
    """As many names and tests, but every filter has values of its own."""
    shared = [f"a{k:02d}" for k in range(knobs["shared"])]
    tested = [f"m{k:02d}" for k in range(knobs["tested"])]
    filters = [
        conjunction(
            *(where(name, Op.EQ, f"v{rng.randrange(count)}") for name in shared),
            where(tested[i % len(tested)], Op.GT, rng.randrange(100)),
        )
        for i in range(count)
    ]
    messages = [
        attributes([*((name, f"v{rng.randrange(count)}") for name in shared), *((name, 50) for name in tested)])
        for _ in range(MESSAGES)
    ]
    return Shape(filters, messages)


BUCKETS = Family(
    about="10,000 filters that share equalities and fail another test",
    knobs={
        "shared by": tuple(_SHARED),
        "shared": (1, 2, 4, 12),
        "values": (1, 2, 8, 100),
        "shared sort": ("first", "last"),
        "fails by": _FAILING,
        "tested": (1, 8, 50),
    },
    hostile=_hostile,
    plain=_plain,
    known=tuple(
        dict(zip(("shared by", "shared", "values", "fails by", "tested"), each, strict=True)) | {"shared sort": "first"}
        for each in (
            ("= string", 1, 1, "=", 1),
            ("= integer", 12, 8, "!=", 50),
            ("contains", 12, 8, "!=", 50),
            ("prefix", 12, 1, "between", 50),
            ("prefix", 12, 1, ">", 50),
            ("prefix", 4, 8, "!=", 50),
            ("> integer", 4, 1, "!=", 50),
        )
    ),
)
