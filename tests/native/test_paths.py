"""Where filters stand is chosen by how full each place is: what one looks at does not grow with what they share."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.native import Table
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value
from tests.native.twin import TwinTable

CROWD = 64
"""Filters in a bucket that could stand elsewhere (TAMIS_CROWD_MAX)."""

Draw = Callable[[int], dict[str, Value]]


def equal(values: dict[str, Value], *more: Constraint) -> Filter:
    return Filter((*(Constraint(name, Op.EQ, (value,)) for name, value in values.items()), *more))


def steps_of(table: Table, message: dict[str, Value]) -> int:
    before = table.stats().steps
    table.match(message)
    return table.stats().steps - before


def filled(filters: Iterator[Filter]) -> Table:
    table = Table("tamis", hash_seed=1)
    for interface, chosen in enumerate(filters):
        table.add(chosen, interface)
    table.validate()
    return table


# Spellings: `first` sorts before or after the names of the other tests.
SPELLINGS = {"first": "a-shared", "last": "z-shared"}

SHAPES: dict[str, Callable[[str, int], dict[str, Value]]] = {
    "one value for all": lambda shared, i: {shared: "alert", "device": f"web-{i}"},
    "two tenants": lambda shared, i: {shared: f"tenant-{i % 2}", "sensor": f"s-{i}"},
    "hundred tenants": lambda shared, i: {shared: f"tenant-{i % 100}", "sensor": f"s-{i}"},
    "eight plants": lambda shared, i: {shared: i % 8, "sensor": i},
    "a boolean": lambda shared, i: {shared: i % 2 == 0, "user": f"u-{i}"},
    "no rare value": lambda shared, i: {shared: f"t-{i % 10}", "class": f"c-{i // 10 % 10}", "plant": i // 100 % 10},
    "ten booleans": lambda shared, i: {f"{shared}-{bit}": bool(i >> bit & 1) for bit in range(10)},
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_filters_share_costs_nothing(shape: str, spelling: str) -> None:
    draw, shared = SHAPES[shape], SPELLINGS[spelling]
    table = filled(equal(draw(shared, i)) for i in range(1_000))
    for i in range(0, 1_000, 50):
        assert i in table.match(draw(shared, i))
        assert steps_of(table, draw(shared, i)) <= 8 * CROWD
    table.validate()


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_the_order_of_names_does_not_matter(shape: str) -> None:
    spent = []
    for shared in SPELLINGS.values():
        draw = SHAPES[shape]
        table = filled(equal(draw(shared, i)) for i in range(10_000))
        spent.append(sum(steps_of(table, draw(shared, i)) for i in range(0, 10_000, 20)))
    assert max(spent) <= 1.3 * min(spent)


def test_filters_that_say_the_same_share_a_place() -> None:
    """Nothing tells them apart, and all of them match: what they cost is what they are worth."""
    table = filled(equal({"class": "alert", "site": "x"}) for _ in range(1_000))
    message: dict[str, Value] = {"class": "alert", "site": "x"}
    assert table.match(message) == list(range(1_000))
    assert steps_of(table, message) <= 1_000 + 5 * CROWD
    assert steps_of(table, {"class": "alert", "site": "y"}) <= 8 * CROWD


def test_names_tell_apart_what_values_do_not() -> None:
    """One class, and a bound on one of many names."""
    table = filled(equal({"class": "alert"}, Constraint(f"n{i % 200}", Op.GT, (i,))) for i in range(2_000))
    message: dict[str, Value] = {"class": "alert", "n7": 10**6, "n9": -1}
    assert table.match(message) == list(range(7, 2_000, 200))
    assert steps_of(table, message) <= 8 * CROWD


def test_messages_say_which_value_is_rare() -> None:
    """As many filters ask for a kind as for a user, but all messages are of one kind."""
    rng = random.Random(1)
    table = Table("tamis", hash_seed=1)
    for _ in range(64 * 300):
        table.match({"kind": "k-0", "user": f"u-{rng.randrange(50)}"})
    for interface in range(40):
        table.add(equal({"kind": "k-0", "user": f"u-{interface}"}), interface)
    # A message brings what the table must know before it is counted: names and constants.
    for _ in range(64 * 100):
        table.match({"kind": "k-0", "user": f"u-{rng.randrange(50)}"})
    for interface in range(40, 80):
        table.add(equal({"kind": "k-0", "user": f"u-{interface - 40}"}), interface)
    assert steps_of(table, {"kind": "k-0", "user": "nobody"}) <= 24


VALUES: tuple[Value, ...] = ("x", "y", 1, 2, True, 1.5)
NAMES = ("a", "b", "c", "d")


def crowding(draw: random.Random) -> Filter:
    constraints = []
    for name in draw.sample(NAMES, draw.randint(1, 4)):
        op = draw.choice([Op.EQ, Op.EQ, Op.EQ, Op.IN, Op.PREFIX, Op.GT, Op.NE])
        operands: tuple[Value, ...] = (draw.choice(VALUES),)
        if op is Op.PREFIX:
            operands = (draw.choice(["x", "y", "xy"]),)
        elif op is Op.GT:
            operands = (draw.randrange(3),)
        elif op is Op.IN:
            operands = ("x", 1)
        constraints.append(Constraint(name, op, operands))
    return Filter(tuple(constraints))


def message_of(draw: random.Random) -> dict[str, Value]:
    return {name: draw.choice([*VALUES, "xyz"]) for name in draw.sample(NAMES, draw.randint(1, 4))}


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_crowds_come_and_go_in_any_order(seed: int) -> None:
    """Of few names and values: what was added, removed and added again, in any order, answers as the twin does."""
    draw = random.Random(seed)
    table, twin = Table("tamis"), TwinTable()
    for goal in (600, 100, 400, 0):
        while len(twin.held) != goal:
            if len(twin.held) < goal and draw.random() < 0.8:
                chosen, interface = crowding(draw), draw.randrange(300, 1_300)
                twin.held[table.add(chosen, interface)] = (chosen, interface)
            elif twin.held:
                handle = draw.choice(list(twin.held))
                table.remove(handle)
                del twin.held[handle]
        table.validate()
        for _ in range(10):
            message = message_of(draw)
            assert table.match(message) == twin.match(message)
    assert table.stats().filters == 0


def _crowded(number: int) -> Filter:
    """Values that are all shared by many, some beside a bound or a pattern, or a bound alone."""
    i = number // 4
    bound = Constraint("m", Op.GT, (number,))
    return (
        equal({"class": f"c-{i % 3}", "device": f"web-{i % 100}"}),
        equal({"tenant": i % 2, "plant": i % 7, "line": i % 9}, bound),
        equal({"class": f"c-{i % 7}"}, Constraint("text", Op.CONTAINS, (f"word {i % 30}.",))),
        Filter((bound,)),
    )[number % 4]


@pytest.mark.slow
def test_what_is_behind_opened_buckets_where_steps_go_together() -> None:
    """So many filters that probes and runs of a message are looked at together, and buckets that are opened."""
    rng = random.Random(3)
    tables = [Table(), Table("linear")]
    held = [[table.add(_crowded(number), 256 + number) for table in tables] for number in range(52_000)]
    for removed in (range(0), range(1_900)):  # 50,000 and more are left
        for number in removed:
            for table, handle in zip(tables, held[number], strict=True):
                table.remove(handle)
        tables[0].validate()
        for i in rng.sample(range(13_000), 4):
            message: dict[str, Value] = {"class": f"c-{i % 3}", "device": f"web-{i % 100}", "text": f"word {i % 30}."}
            message |= {"tenant": i % 2, "plant": i % 7, "line": i % 9, "m": 40_000}
            found, expected = (table.match(message) for table in tables)
            assert found == expected
            assert {interface % 4 for interface in found} == {0, 1, 2, 3}
            assert steps_of(tables[0], message) <= 100 * CROWD
