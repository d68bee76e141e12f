"""Bytes made to hurt, memory that runs out: refused or survived, with the table as it was."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tamis.native import OutOfMemory, Table, TableStats
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.limits import MATCH_STEPS_MAX
from tamis.protocol.values import Value
from tamis.protocol.wire.attributes import encode_attributes
from tamis.protocol.wire.packed_filters import NEGATED, OPCODES, decode_filter, encode_filter
from tests.native.spelling import spell
from tests.native.test_attributes import damaged
from tests.slowdown import slowdown
from tests.strategies import attributes, attributes_near, filters

RICH = Filter(
    (
        Constraint("name", Op.CONTAINS, ("abc",)),
        Constraint("name", Op.PREFIX, ("a",)),
        Constraint("size", Op.BETWEEN, (1, 10)),
        Constraint("kind", Op.IN, ("x", 3, True)),
        Constraint("gone", Op.EXISTS, (), True),
    )
)
MATCHING: dict[str, Value] = {"name": "abcd", "size": 5, "kind": 3}


def outcome(table: Table, message: dict[str, Value]) -> tuple[list[int], int, int]:
    stats = table.stats()
    return table.match(message), stats.filters, stats.constraints


def logical(stats: TableStats) -> tuple[int, ...]:
    return stats.filters, stats.constraints, stats.active, stats.tombstones, stats.interfaces


# --- filters ---------------------------------------------------------------------------------------------------------


@given(
    data=filters().map(encode_filter).flatmap(damaged) | st.binary(),
    message=attributes(),
)
@example(data=b"\x91\x93\xa1a\x01\xc0", message={})
@example(data=b"\x91\x92\xa1a\x01", message={})
@example(data=b"\x91\x94\xa1a\x03\x02\x01", message={})
@example(data=b"\x91\x93\xa1a\x0c\x01", message={})
@example(data=b"\x91\x93\xa1a\xcd\x01\x01\x01", message={})
@example(data=b"\x91\x93\xa1a\xcb?\xf0\x00\x00\x00\x00\x00\x00\x01", message={})
@example(data=b"\xdd\xff\xff\xff\xff", message={})
@example(data=b"", message={})
def test_c_takes_exactly_the_filters_that_python_takes(engine: str, data: bytes, message: dict[str, Value]) -> None:
    table = Table(engine)
    table.add(RICH, 1)
    before = logical(table.stats())
    try:
        expected = decode_filter(data)
    except FrameError:
        with pytest.raises(Refused):
            table.add(data, 0)
        assert logical(table.stats()) == before
        assert table.match(MATCHING) == [1]
    else:
        table.add(data, 0)
        assert (0 in table.match(message)) == filter_matches(expected, message)
    table.validate()


@given(chosen=filters(), data=st.data())
def test_every_spelling_of_a_filter_is_that_filter(engine: str, chosen: Filter, data: st.DataObject) -> None:
    rows = [[c.name, OPCODES[c.op] | NEGATED * c.negated, *c.operands] for c in chosen.constraints]
    table = Table(engine)
    table.add(spell(rows, lambda spellings: data.draw(st.sampled_from(spellings))), 0)
    message = data.draw(attributes_near(chosen))
    assert table.match(message) == [0] * filter_matches(chosen, message)


def test_the_largest_filter(engine: str) -> None:
    """Sixteen constraints of the longest operands that a packed filter has room for."""
    many = tuple(f"{i:03}" for i in range(256))
    chosen = Filter(tuple(Constraint(f"{i:02}" + "n" * 254, Op.IN, many) for i in range(16)))
    table = Table(engine)
    handle = table.add(chosen, 0)
    assert table.match({constraint.name: "255" for constraint in chosen.constraints}) == [0]
    table.remove(handle)
    table.validate()


@pytest.mark.parametrize(
    "rows",
    [
        [["a", 0]] * 17,
        [["n" * 257, 0]],
        [["a", 1, "x" * 1_025]],
        [["a", 9, "x" * 129]],
        [["a", 2, *range(257)]],
    ],
    ids=["17 constraints", "long name", "long operand", "long pattern", "257 values"],
)
def test_a_filter_past_a_limit(engine: str, rows: list[list[object]]) -> None:
    table = Table(engine)
    with pytest.raises(Refused):
        table.add(spell(rows, lambda spellings: spellings[0]), 0)
    assert table.stats().filters == 0
    table.validate()


# --- messages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", [Op.PREFIX, Op.SUFFIX, Op.CONTAINS], ids=lambda op: op.value)
def test_64_kib_of_one_dead_letter(engine: str, op: Op) -> None:
    """The paper's substring lookup is quadratic in the value: 4 * 10^9 steps here, well over the bound."""
    table = Table(engine, match_steps=MATCH_STEPS_MAX)  # `sff` takes 128 steps a byte
    for length in range(1, 129):
        table.add(Filter((Constraint("a", op, ("a" * length,)),)), length)
    table.add(Filter((Constraint("a", op, ("a" * 127 + "b",)),)), 0)
    message: dict[str, Value] = {"a": "a" * 65_536}
    start = time.process_time()
    assert table.match(message) == list(range(1, 129))
    assert time.process_time() - start < 2 * slowdown()


def test_64_attributes_of_one_dead_letter(engine: str) -> None:
    table = Table(engine, match_steps=MATCH_STEPS_MAX)
    for length in range(1, 128):
        table.add(Filter((Constraint("a1", Op.CONTAINS, ("a" * length + "b",)),)), length)
    message: dict[str, Value] = {f"a{i}": "a" * 65_536 for i in range(64)}
    start = time.process_time()
    assert table.match(message) == []
    assert time.process_time() - start < 2 * slowdown()


def test_many_unseen_strings_do_not_grow_the_table(engine: str) -> None:
    table = Table(engine)
    table.add(Filter((Constraint("a", Op.CONTAINS, ("77",)),)), 0)
    found = [table.match({"a": f"value {i}"}) for i in range(2_000)]
    once = table.stats().memory_bytes
    assert sum(map(len, found)) == sum("77" in str(i) for i in range(2_000))
    table.match_batch([encode_attributes({"a": f"value {i}"}) for i in range(2_000, 20_000)])
    assert table.stats().memory_bytes <= max(2 * once, once + 2**20)
    table.validate()


# --- memory ----------------------------------------------------------------------------------------------------------


def test_an_add_survives_each_allocation_that_fails(engine: str) -> None:
    failures = 0
    for n in range(1, 1_000):
        table = Table(engine)
        table.add(Filter((Constraint("size", Op.GT, (0,)),)), 2)
        before = logical(table.stats()), table.match(MATCHING)
        table.fail_allocation(n)
        try:
            table.add(RICH, 1)
        except OutOfMemory:
            failures += 1
        else:
            break
        table.validate()
        table.fail_allocation(0)
        assert (logical(table.stats()), table.match(MATCHING)) == before
        table.add(RICH, 1)
        table.validate()
        assert table.match(MATCHING) == [1, 2]
    assert 0 < failures < 999


def test_growing_survives_each_allocation_that_fails(engine: str) -> None:
    """Every third allocation fails while hundreds of filters come: those refused left nothing behind."""
    table, held = Table(engine), 0
    for i in range(600):
        table.fail_allocation(3)
        try:
            table.add(Filter((Constraint(f"n{i % 40}", Op.EQ, (f"v{i}",)), Constraint("b", Op.LT, (i,)))), i % 7)
            held += 1
        except OutOfMemory:
            table.fail_allocation(0)
            table.add(Filter((Constraint("b", Op.LT, (i,)),)), i % 7)
            held += 1
        table.fail_allocation(0)
        if i % 50 == 0:
            table.validate()
    assert table.stats().filters == held
    table.validate()
    assert table.match({"b": -1}) != []


def test_a_match_does_not_mind_an_allocation_that_fails(engine: str) -> None:
    table = Table(engine)
    table.add(RICH, 1)
    for n in range(1, 12):
        table.fail_allocation(n)
        assert table.match(MATCHING | {"name": f"abc{n}"}) == [1]
        table.fail_allocation(0)
    table.validate()


def test_a_removal_survives_each_allocation_that_fails(engine: str) -> None:
    for n in range(1, 30):
        table = Table(engine)
        handles = [table.add(RICH, 1), table.add(Filter((Constraint("size", Op.GT, (0,)),)), 1)]
        table.fail_allocation(n)
        try:
            table.remove(handles[1])
            expected = 1
        except OutOfMemory:
            expected = 2
        table.fail_allocation(0)
        while table.settle(100):
            pass
        table.validate()
        assert table.stats().filters == expected
        assert table.match(MATCHING) == [1]


def filled(table: Table) -> list[int]:
    """Handles of what was added until the memory was used up."""
    handles: list[int] = []
    try:
        while True:
            i = len(handles)
            handles.append(table.add(Filter((Constraint(f"n{i % 500}", Op.EQ, (f"some value {i}",)),)), i % 20))
    except OutOfMemory:
        return handles


@pytest.mark.slow
def test_memory_has_a_bound_and_comes_back(engine: str) -> None:
    bound = Table(engine).stats().memory_bytes + 2**21
    table = Table(engine, memory_bytes_max=bound)
    handles = filled(table)
    assert table.stats().memory_bytes <= bound
    table.validate()
    held = len(handles)
    assert table.match({"n7": "some value 7"}) == [7]
    for handle in handles:
        table.remove(handle)
    while table.settle(1_000):
        pass
    table.validate()
    for i in range(held * 9 // 10):
        table.add(Filter((Constraint(f"n{i % 500}", Op.EQ, (f"other text {i}",)),)), i % 20)
    assert table.match({"n8": "other text 8"}) == [8]
