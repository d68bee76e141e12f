"""Filters under a pair of names: both tests stand in the entry, of whatever kind they are; further ones in a body."""

from __future__ import annotations

import random

import pytest

from tamis.native import InterfaceKind, Table
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value
from tests.native.twin import TwinTable

WORDS = ("a", "ab", "abc", "b", "ba", "c")
NUMBERS = (0, 1, 2, 3, 2**31, 2**31 + 1, 0.5, 1.5, 1e300)
INTERFACES = (1, 7, 300, 301, 302, 2)
CLIENT = 2


def test_both_tests_decide() -> None:
    table = Table()
    handle = table.add(Filter((Constraint("x", Op.GT, (1,)), Constraint("y", Op.LT, ("m",)))), 300)
    table.validate()
    assert table.match({"x": 2, "y": "l"}) == [300]
    assert table.match({"x": 1, "y": "l"}) == []
    assert table.match({"x": 2, "y": "m"}) == []
    assert table.match({"x": "2", "y": "l"}) == []
    assert table.match_which({"x": 2, "y": "l"}) == {300: handle}


@pytest.mark.parametrize("seed", range(8))
def test_every_kind_of_test_under_a_pair(seed: int) -> None:
    rng = random.Random(seed)
    table, twin = Table(), TwinTable(clients=frozenset({CLIENT}))
    table.set_interface(CLIENT, InterfaceKind.CLIENT)
    for _ in range(2):
        for _ in range(40):
            _add(table, twin, _filter(rng), rng.choice(INTERFACES))
        table.validate()
        _compare(table, twin, [_message(rng) for _ in range(8)])
        for handle in rng.sample(sorted(twin.held), len(twin.held) // 2):
            table.remove(handle)
            del twin.held[handle]
        table.settle(1000)
        table.validate()
        _compare(table, twin, [_message(rng) for _ in range(5)])


def test_a_large_pair_with_an_interface_each() -> None:
    rng = random.Random(1)
    table, twin = Table(), TwinTable()
    for interface in range(256, 456):
        _add(table, twin, _filter(rng), interface)
    table.validate()
    _compare(table, twin, [_message(rng) for _ in range(5)])


@pytest.mark.parametrize("seed", range(4))
def test_a_message_of_many_names_with_many_partners(seed: int) -> None:
    """Names whose bits as partners are equal are told apart: of 64 names, each paired with most others, some are."""
    rng = random.Random(seed)
    tables = [Table(), Table("linear")]
    names = [f"name {number}" for number in range(64)]
    for number in range(4_000):
        one, other = rng.sample(names, 2)
        chosen = Filter((_wide_or_word(rng, one), _wide_or_word(rng, other)))
        for table in tables:
            table.add(chosen, 256 + number)
    tables[0].validate()
    for _ in range(6):
        asked = rng.sample(names, rng.choice((3, 40, 64)))
        message = {name: rng.choice((*WORDS, *NUMBERS)) for name in asked}
        found, expected = (sorted(table.match(message)) for table in tables)
        assert found == expected
        assert found or len(asked) == 3


def _wide_or_word(rng: random.Random, name: str) -> Constraint:
    """A test with no bucket: an order, or `!=`, of a word or of a number with a code or without."""
    kind = rng.choice((WORDS, NUMBERS))
    return Constraint(name, rng.choice((Op.GT, Op.LE, Op.NE)), (rng.choice(kind),))


@pytest.mark.slow
def test_a_table_whose_steps_go_together() -> None:
    """With so many filters a message's probes and runs are looked at together: the answers are those of `linear`."""
    rng = random.Random(2)
    tables = [Table(), Table("linear")]
    for number in range(51_000):
        chosen = _filter(rng) if number % 3 else _single(rng, number)
        for table in tables:
            table.add(chosen, 256 + number)
    tables[0].validate()
    for _ in range(6):
        message = {**_message(rng), "m": rng.randrange(40_000), "w": f"word {rng.randrange(100)}"}
        found, expected = (table.match(message) for table in tables)
        assert found == expected


def _single(rng: random.Random, number: int) -> Filter:
    op = rng.choice((Op.GT, Op.LE, Op.EQ))
    return Filter((Constraint("m", op, (number,)),) if number % 2 else (Constraint("w", op, (f"word {number % 97}",)),))


def _filter(rng: random.Random) -> Filter:
    """Two or three constraints; equalities are rare, so that most filters stand under a pair."""
    names = rng.sample("uvxyz", rng.choice((2, 2, 2, 3)))
    return Filter(tuple(_constraint(rng, name) for name in names))


def _constraint(rng: random.Random, name: str) -> Constraint:
    texts = rng.random() < 0.4
    op = rng.choice((Op.LT, Op.LE, Op.GT, Op.GE, Op.NE, Op.LT, Op.GE, Op.BETWEEN, Op.EQ, Op.PREFIX, Op.EXISTS))
    if op is Op.EXISTS:
        return Constraint(name, op, ())
    if op is Op.PREFIX:
        return Constraint(name, op, (rng.choice(WORDS)[:1],))
    values: list[Value] = sorted(rng.choices(WORDS, k=2)) if texts else sorted(rng.choices(NUMBERS, k=2))
    return Constraint(name, op, tuple(values if op is Op.BETWEEN else values[:1]), rng.random() < 0.1)


def _message(rng: random.Random) -> dict[str, Value]:
    names = rng.sample("uvxyz", rng.randint(2, 5))
    return {name: rng.choice((*WORDS, "bb")) if rng.random() < 0.4 else rng.choice((*NUMBERS, 5)) for name in names}


def _add(table: Table, twin: TwinTable, chosen: Filter, interface: int) -> None:
    twin.held[table.add(chosen, interface)] = (chosen, interface)


def _compare(table: Table, twin: TwinTable, messages: list[dict[str, Value]]) -> None:
    for message in messages:
        assert table.match(message) == twin.match(message)
        assert table.match(message, candidates=[1, 300, 302]) == twin.match(message, [1, 300, 302])
        which = table.match_which(message)
        assert sorted(which) == twin.match(message)
        assert all((interface, handle) in twin.match_all(message) for interface, handle in which.items())
