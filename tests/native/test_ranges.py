"""Ranges over any number, and over strings that begin alike: bounds that nearly meet, of every width and on every path.

Interfaces on either side of 256 take different paths, and so do those of clients.
"""

from __future__ import annotations

import random
import struct
from array import array
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tamis.native import Batch, InterfaceKind, Table
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value, identity
from tamis.protocol.wire.packed_filters import encode_filter
from tests.native.twin import TwinTable
from tests.strategies import AWKWARD_NUMBERS, neighbours, numbers

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

INTERFACES = (0, 1, 2, 300, 301)
CLIENT = 2
CLOSE = (
    *(0.1, 0.2, 0.30000000000000004, 0.3, 20.25, 20.3, 20.5, 20.7),
    *(2**30 - 1, 2**30, -(2**30), 2**31 - 1, 2**31, 2**31 + 0.5, 1_700_000_000_123, 1_700_000_000_124),
    *(2**54 + 1, 2**54 + 2, 2**54 + 3, -(2**54) - 1, 2**62 + 1, 1e-12, 2e-12, -1e-12),
)
URLS = ("https://", "https://a", "https://a\0", "https://b", "https:/", "https://ab", "https://b" + "z" * 9)


def points() -> st.SearchStrategy[Value]:
    return st.sampled_from([*CLOSE, *AWKWARD_NUMBERS]) | numbers() | st.integers(18, 23)


@st.composite
def bounds(draw: st.DrawFn) -> Constraint:
    of_kind = draw(st.sampled_from([points(), points(), st.sampled_from(URLS)]))
    op = draw(st.sampled_from([Op.BETWEEN, Op.BETWEEN, Op.LT, Op.LE, Op.GT, Op.GE, Op.EQ]))
    operands = [draw(of_kind) for _ in range(2 if op is Op.BETWEEN else 1)]
    name = draw(st.sampled_from("xxxy"))
    return Constraint(name, op, tuple(sorted(operands, key=identity)), draw(st.sampled_from([False] * 7 + [True])))


@st.composite
def values_beside(draw: st.DrawFn, entries: list[tuple[Filter, int]]) -> dict[str, Value]:
    operands = [value for chosen, _ in entries for constraint in chosen.constraints for value in constraint.operands]
    beside = [near for operand in operands for near in neighbours(operand)]
    value = st.sampled_from(beside) | points() if beside else points()
    return {name: draw(value) for name in "xy" if draw(st.sampled_from([True, True, False]))} | {"z": 1}


@patient
@given(data=st.data())
def test_every_range_holds_where_it_should(engine: str, data: st.DataObject) -> None:
    filters = st.lists(bounds(), min_size=1, max_size=3).map(lambda chosen: Filter(tuple(chosen)))
    entries = data.draw(st.lists(st.tuples(filters, st.sampled_from(INTERFACES)), max_size=14))
    table, twin = Table(engine), TwinTable(clients=frozenset([CLIENT]))
    table.set_interface(CLIENT, InterfaceKind.CLIENT)
    for chosen, interface in entries:
        twin.held[table.add(chosen, interface)] = (chosen, interface)
    for round_ in range(2):
        table.validate()
        for _ in range(4):
            message = data.draw(values_beside(entries))
            assert table.match(message) == twin.match(message)
            assert list(table.match_which(message)) == twin.match(message)
            assert table.match_all(message) == [row for row in twin.match_all(message) if row[0] == CLIENT]
        for handle in list(twin.held)[round_::2]:
            table.remove(handle)
            del twin.held[handle]
        while table.settle(100):
            pass


def a_float(rng: random.Random) -> float:
    """Any size of number, as often as any other."""
    while True:
        found: float = struct.unpack("<d", rng.randbytes(8))[0]
        if abs(found) < float("inf"):
            return found


CROWDS = {
    "hundredths": lambda rng: rng.randrange(100_000) / 100,
    "shares of one": lambda rng: rng.random(),
    "milliseconds": lambda rng: 1_700_000_000_000 + rng.randrange(10**8),
    "any integer": lambda rng: rng.randrange(-(2**63), 2**63),
    "any float": a_float,
}


@cache
def ends_of(crowd: str) -> tuple[list[tuple[Value, Value]], Batch]:
    """The ends of 3,000 intervals, and filters that ask for what lies in them."""
    rng = random.Random(crowd)
    ends = [tuple(sorted([CROWDS[crowd](rng), CROWDS[crowd](rng)])) for _ in range(3_000)]
    return ends, Batch.of(encode_filter(Filter((Constraint("x", Op.BETWEEN, pair),))) for pair in ends)


@cache
def rounds_of(crowd: str, interfaces: int) -> list[tuple[list[tuple[Value, list[int]]], list[int]]]:
    """Two rounds: values with the interfaces that each matches, and which filters go after them. Found once for all
    engines."""
    rng = random.Random(crowd + "'s values")
    intervals = dict(enumerate(ends_of(crowd)[0]))
    rounds = []
    for _ in range(2):
        values = [CROWDS[crowd](rng) for _ in range(20)]
        found = [{at % interfaces for at, (low, high) in intervals.items() if low <= value <= high} for value in values]
        gone = rng.sample(sorted(intervals), len(intervals) * 2 // 3)
        rounds.append(([*zip(values, map(sorted, found), strict=True)], gone))
        for at in gone:
            del intervals[at]
    return rounds


@pytest.mark.parametrize("crowd", CROWDS)
@pytest.mark.parametrize("interfaces", [pytest.param(1, marks=pytest.mark.slow), 3_000])
def test_thousands_of_intervals(engine: str, crowd: str, interfaces: int) -> None:
    """More than cells hold, for one link, and one for each of many."""
    table = Table(engine)
    ends, filters = ends_of(crowd)
    handles = table.add_many(filters, array("I", (number % interfaces for number in range(len(ends)))))
    for values, gone in rounds_of(crowd, interfaces):
        for value, found in values:
            assert table.match({"x": value}) == found
        table.remove_many(array("I", (handles[at] for at in gone)))
        table.settle(10_000)
    table.validate()


def test_an_emptied_table_keeps_no_constants() -> None:
    table = Table("tamis")
    handles = [
        table.add(Filter((Constraint("x", Op.LT, (step + 0.5,)),)), interface)
        for interface in (0, 300)
        for step in range(50)
    ]
    for handle in handles:
        table.remove(handle)
    table.settle(1_000)
    assert table.stats().names == 0
    assert table.match({"x": 0.25}) == []


def test_a_covered_fraction_comes_back() -> None:
    """Ranges over fractions and over small integers cover each other."""
    table = Table("tamis")
    wide = table.add(Filter((Constraint("x", Op.LT, (20.5,)),)), 0)
    table.add(Filter((Constraint("x", Op.LT, (20,)),)), 0)
    table.add(Filter((Constraint("x", Op.BETWEEN, (3.25, 7)),)), 0)
    assert table.stats().active == 1
    wider = table.add(Filter((Constraint("x", Op.LE, (21,)),)), 0)
    table.remove(wide)
    while table.settle(10):
        pass
    assert table.stats().active == 1
    table.remove(wider)
    while table.settle(10):
        pass
    assert [table.match({"x": value}) for value in (19.75, 20, 20.25)] == [[0], [], []]
