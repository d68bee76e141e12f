"""Tables where most filters match: every engine says what the plain one says, however a test is made the tenth time."""

from __future__ import annotations

import random

import pytest

from tamis.native import Table
from tamis.protocol.filters import Constraint, Filter, Op

FILTERS = 300
MESSAGES = 8
ORDERS = [Op.LT, Op.LE, Op.GT, Op.GE]
NUMBERS = [0.5, 1.5, 1.25, -0.5, 2**31, 2**31 + 1, 2**53, 2**53 + 1, float(2**53) + 2, -(2**40), 1e300, -1e300]
"""Bounds without a code, close to each other and far apart; what lies between them is asked for as well."""


def _number(rng: random.Random) -> float | int:
    drawn = rng.choice(NUMBERS)
    return int(drawn) if isinstance(drawn, float) and drawn.is_integer() and abs(drawn) < 2**62 else drawn


def _bound(name: str, rng: random.Random) -> Constraint:
    return Constraint(name, rng.choice(ORDERS), (_number(rng),), negated=rng.random() < 0.2)


@pytest.mark.parametrize("shape", ["two names", "behind an equality"])
@pytest.mark.parametrize("engine", Table.engines())
def test_many_tests_of_one_number(engine: str, shape: str) -> None:
    rng = random.Random(shape)
    table, twin = Table(engine), Table("linear")
    for interface in range(FILTERS):
        first = _bound("price", rng) if shape == "two names" else Constraint("kind", Op.EQ, ("order",))
        filter_ = Filter((first, _bound("qty", rng), _bound("weight", rng)))
        table.add(filter_, 1_000 + interface)
        twin.add(filter_, 1_000 + interface)
    for _ in range(MESSAGES):
        message = {"kind": "order", "price": _number(rng), "qty": _number(rng), "weight": rng.choice([0.75, 1, 2**40])}
        assert table.match(message) == twin.match(message)
        assert list(table.match_which(message)) == list(twin.match_which(message))
    table.validate()
