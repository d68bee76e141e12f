"""Runs and intervals of many chunks on few and on many interfaces: what is passed over has nothing to tell."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from tamis.native import InterfaceKind, Table
from tamis.protocol.filters import Constraint, Filter, Op

FILTERS = 6_000
VALUES = 5_000
MESSAGES = 12
CHANGES = 1_500

Draw = Callable[[random.Random], Constraint]


def _limit(rng: random.Random) -> Constraint:
    return Constraint("x", rng.choice([Op.LT, Op.GT, Op.LE, Op.GE]), (rng.randrange(VALUES),))


def _fraction(rng: random.Random) -> Constraint:
    return Constraint("x", rng.choice([Op.LT, Op.GT]), (rng.randrange(VALUES) + 0.5,))


def _band(rng: random.Random) -> Constraint:
    low = rng.randrange(VALUES)
    return Constraint("x", Op.BETWEEN, (low, low + rng.randrange(VALUES)))


def _text(rng: random.Random) -> Constraint:
    return Constraint("x", rng.choice([Op.LT, Op.GT]), (f"{rng.randrange(VALUES):05}",))


SHAPES: dict[str, Draw] = {"limits": _limit, "fractions": _fraction, "bands": _band, "texts": _text}


def _values(shape: str, rng: random.Random) -> Iterator[float | str]:
    yield "" if shape == "texts" else -1
    yield "99999" if shape == "texts" else 3 * VALUES
    for _ in range(MESSAGES):
        yield f"{rng.randrange(VALUES):05}" if shape == "texts" else rng.randrange(2 * VALUES) / 2


def _compare(tables: list[Table], value: float | str, interfaces: int, rng: random.Random) -> None:
    message = {"x": int(value) if isinstance(value, float) and value.is_integer() else value}
    some = rng.sample(range(interfaces), interfaces // 2)
    grouping = [None if interface % 7 == 0 else interface % 50 for interface in range(interfaces)]
    plain, twin = tables
    assert plain.match(message) == twin.match(message)
    assert plain.match(message, some) == twin.match(message, some)
    assert plain.match(message, None, grouping) == twin.match(message, None, grouping)
    assert list(plain.match_which(message)) == list(twin.match_which(message))
    assert [interface for interface, _ in plain.match_all(message)] == [
        interface for interface, _ in twin.match_all(message)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("interfaces", [300, 1_500, 5_000])
def test_what_has_matched_is_passed_over_and_nothing_else(shape: str, interfaces: int) -> None:
    rng = random.Random(f"{shape} {interfaces}")
    tables = [Table("tamis"), Table("linear")]
    for interface in range(0, interfaces, 9):
        for table in tables:
            table.set_interface(interface, InterfaceKind.CLIENT)
    held: list[tuple[int, ...]] = []

    def add() -> None:
        filter_, interface = Filter((SHAPES[shape](rng),)), rng.randrange(interfaces)
        held.append(tuple(table.add(filter_, interface) for table in tables))

    for _ in range(FILTERS):
        add()
    for turn in range(3):
        for value in _values(shape, rng):
            _compare(tables, value, interfaces, rng)
        tables[0].validate()
        for _ in range(CHANGES):
            handles = held.pop(rng.randrange(len(held)))
            for table, handle in zip(tables, handles, strict=True):
                table.remove(handle)
        for _ in range(CHANGES // 2 * turn):
            add()


@pytest.mark.slow
def test_a_match_ends_once_every_link_has_matched() -> None:
    """Steps are counted: of 200 chunks that hold for a value, few are looked at."""
    table, interfaces, filters = Table("tamis"), 100, 20_000
    for i in range(filters):
        table.add(Filter((Constraint("x", Op.GT, (i % 1_000,)),)), 256 + i % interfaces)
    before = table.stats().steps
    assert len(table.match({"x": 2_000})) == interfaces
    assert table.stats().steps - before < filters / 8
