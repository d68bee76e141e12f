"""The messages and filters of a run: few contents, which can all be tried, and filters of every kind over them.

Law: a content is a number; its attributes are `CONTENTS[number]`. A filter has a plain form (tuples, which the oracle
reads by itself) and the packed form made from it by `tamis.protocol`, which the routers read.
"""

from __future__ import annotations

from itertools import product
from random import Random
from typing import NamedTuple

from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.residual import Program
from tamis.protocol.values import Value
from tamis.protocol.wire.packed_filters import encode_filter

Plain = tuple[tuple[str, str, tuple[Value, ...], bool], ...]
"""Constraints, each as (name, operator, operands, negated)."""


class Expression(NamedTuple):
    """What a residual program says: an operator with its parts (tuples, which the oracle reads by itself)."""

    op: str
    parts: tuple[Expression | Value, ...]


LEVELS = tuple(range(8))
PLACES = ("ab", "abc", "b", "bc")
CONTENTS: tuple[dict[str, Value], ...] = tuple(
    {"level": level, "place": place, **({} if urgent is None else {"urgent": urgent})}
    for level, place, urgent in product(LEVELS, PLACES, (None, True, False))
)


class Wish(NamedTuple):
    """One filter to which clients may subscribe."""

    plain: Plain
    packed: bytes
    program: Program | None = None
    """Decides about what the filter matches; None: all of it is wanted."""
    expression: Expression | None = None
    """What a program says, for the oracle."""


def wishes(count: int, random: Random) -> tuple[Wish, ...]:
    """Draw `count` wishes: narrow ones, wide ones, some that cover others, and rarely one for everything."""
    return tuple(_wish(random) for _ in range(count))


def _wish(random: Random) -> Wish:
    parts = random.choice((_narrow, _narrow, _middling, _wide))(random)
    plain: Plain = tuple((name, op, operands, negated) for name, op, operands, negated in parts)
    filter_ = Filter(tuple(Constraint(name, Op(op), operands, negated) for name, op, operands, negated in plain))
    return Wish(plain, encode_filter(filter_))


def _narrow(random: Random) -> Plain:
    level = ("level", "=", (random.choice(LEVELS),), False)
    place = ("place", random.choice(("=", "prefix", "suffix")), (random.choice(PLACES),), False)
    urgent = ("urgent", "=", (random.random() < 0.5,), False)
    return tuple(random.sample((level, place, urgent), random.choice((2, 2, 3))))


def _middling(random: Random) -> Plain:
    low = random.choice(LEVELS[:-1])
    levels: tuple[Plain, ...] = (
        (("level", "between", (low, low + 1), False),),
        (("level", "in", tuple(random.sample(LEVELS, 2)), False),),
        (("level", "=", (low,), False),),
        (("level", ">", (low,), False), ("urgent", "exists", (), True)),
        (("place", "=", (random.choice(PLACES),), False), ("level", "<=", (low,), False)),
    )
    return random.choice(levels)


def _wide(random: Random) -> Plain:
    if random.random() < 0.1:
        return ()
    choices: tuple[Plain, ...] = (
        (("level", random.choice(("<", ">=")), (random.choice(LEVELS[1:]),), False),),
        (("level", "!=", (random.choice(LEVELS),), False),),
        (("place", "contains", (random.choice("abc"),), random.random() < 0.3),),
        (("urgent", "exists", (), random.random() < 0.5),),
    )
    return random.choice(choices)
