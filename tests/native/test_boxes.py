"""Ranges of the same names, which stand in trees of boxes: every answer is the twin's, whatever comes and goes."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

import pytest

from tamis.native import InterfaceKind, Table
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.limits import CONSTRAINTS_MAX
from tamis.protocol.values import Value
from tests.native.twin import TwinTable

ENGINES: Final = ("tamis", "kdtree")
INTERFACES: Final = 300
"""More than a node of a tree has bits for."""
CLIENTS: Final = frozenset(range(0, INTERFACES, 7))
BIG: Final = 2**53 + 1
"""No float: as a bound it keeps a filter from being a box, as a value it lies between two floats."""


def integer(dice: random.Random) -> Value:
    return dice.randrange(40)


def fraction(dice: random.Random) -> Value:
    return dice.choice([dice.random() * 40, dice.randrange(160) / 4])


def huge(dice: random.Random) -> Value:
    return dice.choice([BIG, -BIG]) + dice.randrange(-6, 6)


def any_number(dice: random.Random) -> Value:
    return dice.choice([integer, fraction, huge])(dice)


def text(dice: random.Random) -> Value:
    return dice.choice(["", "same beginning "]) + "".join(dice.choices("abc", k=dice.randrange(4)))


VALUES: Final[dict[str, Callable[[random.Random], Value]]] = {
    "integers": integer,
    "fractions": fraction,
    "huge": huge,
    "any number": any_number,
    "strings": text,
}


def bound(dice: random.Random, name: str, value: Callable[[random.Random], Value]) -> list[Constraint]:
    """One bound, two, or a `between`; of numbers sometimes an equality."""
    first, last = sorted((value(dice), value(dice)))  # type: ignore[type-var]
    return dice.choice(
        [
            [Constraint(name, dice.choice([Op.LT, Op.LE]), (last,))],
            [Constraint(name, Op.GT, (first,)), Constraint(name, Op.LE, (last,))],
            [Constraint(name, Op.GE, (first,)), Constraint(name, Op.LT, (last,))],
            [Constraint(name, Op.BETWEEN, (first, last))],
            [Constraint(name, Op.BETWEEN, (first, last))],
        ]
    )


def rest(dice: random.Random) -> list[Constraint]:
    """What is no range: the box says less than the filter."""
    return dice.choice(
        [
            [],
            [],
            [Constraint("category", Op.EQ, (dice.choice("ab"),))],
            [Constraint("x", Op.NE, (integer(dice),))],
            [Constraint("category", Op.EXISTS, (), negated=True)],
        ]
    )


def family(dice: random.Random, names: str, value: Callable[[random.Random], Value]) -> Filter:
    """A filter of ranges of these names."""
    ranges = [constraint for name in names for constraint in bound(dice, name, value)]
    return Filter(tuple(ranges[: CONSTRAINTS_MAX - 1] + rest(dice)))


def message(dice: random.Random, names: str, value: Callable[[random.Random], Value]) -> dict[str, Value]:
    said = {name: value(dice) for name in names if dice.random() < 0.95}
    return said | ({"category": dice.choice("ab")} if dice.random() < 0.8 else {})


class World:
    """A table and its twin."""

    def __init__(self, engine: str, seed: int) -> None:
        self.dice = random.Random(seed)
        self.table = Table(engine)
        self.twin = TwinTable(clients=CLIENTS)
        for interface in CLIENTS:
            self.table.set_interface(interface, InterfaceKind.CLIENT)

    def add(self, chosen: Filter) -> None:
        interface = self.dice.randrange(INTERFACES)
        self.twin.held[self.table.add(chosen, interface)] = (chosen, interface)

    def remove_some(self, share: float) -> None:
        for handle in [handle for handle in self.twin.held if self.dice.random() < share]:
            del self.twin.held[handle]
            self.table.remove(handle)
        self.table.settle(1_000_000)

    def check(self, said: dict[str, Value]) -> None:
        self.table.validate()
        matched = self.twin.match_all(said)
        assert self.table.match(said) == sorted({interface for interface, _ in matched})
        assert self.table.match_all(said) == [row for row in matched if row[0] in CLIENTS]
        few = frozenset(range(0, INTERFACES, 3))
        assert self.table.match(said, few) == self.twin.match(said, few)
        grouping = [interface % 11 for interface in range(INTERFACES)]
        assert self.table.match(said, None, grouping) == self.twin.match(said, None, grouping)
        by_handle = {handle: interface for interface, handle in matched}
        assert {by_handle[handle]: handle for handle in self.table.match_which(said).values()}.keys() == {
            interface for interface, _ in matched
        }


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("names", ["xy", pytest.param("xyz", marks=pytest.mark.slow)])
def test_boxes_come_and_go(engine: str, kind: str, names: str) -> None:
    """Past the size from which a family is a tree, and back below it, twice."""
    world = World(engine, seed=len(names))
    for share in (0.3, 0.8, 0.4, 0.97):
        for _ in range(80):
            world.add(family(world.dice, names, VALUES[kind]))
        world.check(message(world.dice, names, VALUES[kind]))
        world.remove_some(share)
        for _ in range(4):
            world.check(message(world.dice, names, VALUES[kind]))
    world.remove_some(1.1)
    world.table.validate()
    assert world.table.stats().filters == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_families_of_many_names_stand_side_by_side(engine: str) -> None:
    """From two names to nine, of which a tree has eight; a message lacks some."""
    world = World(engine, seed=9)
    families = ["xy", "yz", "xyz", "abcdefgh", "abcdefghi"]
    for names in families * 70:
        world.add(family(world.dice, names, integer))
    for _ in range(6):
        world.check(message(world.dice, "abcdefghixyz", integer))
        world.remove_some(0.2)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(6))
def test_many_boxes_come_and_go(engine: str, seed: int) -> None:
    world = World(engine, seed=seed)
    value = list(VALUES.values())[seed % len(VALUES)]
    for share in (0.2, 0.5, 0.1, 0.9, 0.3):
        for _ in range(1500):
            world.add(family(world.dice, "xy" if seed % 2 else "xyz", value))
        world.remove_some(share)
        for _ in range(3):
            world.check(message(world.dice, "xyz", value))


def placed(dice: random.Random) -> Filter:
    """A rectangle, or a range, and a category: few categories, so that each is asked of hundreds."""
    category = dice.choice([Constraint("category", Op.EQ, (dice.choice("ab"),)), Constraint("open", Op.EQ, (True,))])
    names = dice.choice(["x", "xy", "xy"])
    return Filter((category, *(constraint for name in names for constraint in bound(dice, name, integer))))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_an_equality_beside_ranges_is_an_end_of_the_box(seed: int) -> None:
    world = World("tamis", seed=seed)
    for share in (0.2, 0.6, 0.1, 0.9):
        for _ in range(1500):
            world.add(placed(world.dice))
        for _ in range(3):
            said = message(world.dice, "xy", integer) | {"open": world.dice.random() < 0.7}
            world.check(said | {"category": world.dice.choice("abc")})
        world.remove_some(share)
        world.check(message(world.dice, "xy", integer))


def test_a_bucket_that_filters_have_left_for_boxes_does_not_fill_up_again() -> None:
    table, dice = Table("tamis"), random.Random(4)

    def stand(interface: int) -> None:
        low = dice.randrange(1_000)
        ranges = (Constraint(name, Op.BETWEEN, (low, low + 1)) for name in "xy")
        table.add(Filter((Constraint("kind", Op.EQ, ("a",)), *ranges)), interface)

    for interface in range(1_000):
        stand(interface)
    for interface in range(1_000, 1_064):
        stand(interface)
        before = table.stats().steps
        assert table.match({"kind": "a", "x": -5, "y": -5}) == []
        assert table.stats().steps - before < 40
    table.validate()


HOSTILE: Final = {
    "equal": lambda _: (10, 20),
    "nested": lambda i: (500 - i, 500 + i),
    "all touch the message": lambda i: (15, 15 + i),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("shape", HOSTILE)
def test_hostile_boxes_cost_no_more_than_all_of_them(engine: str, shape: str) -> None:
    """A budget of a few steps for each box is enough, wherever the point is."""
    count = 500
    table = Table(engine, match_steps=4 * count)
    for i in range(count):
        low, high = HOSTILE[shape](i)
        table.add(Filter((Constraint("x", Op.BETWEEN, (low, high)), Constraint("y", Op.BETWEEN, (low, high)))), i)
    table.validate()
    for at in (0, 10, 15, 20, 300, 500, 501, 2000):
        expected = [i for i in range(count) if HOSTILE[shape](i)[0] <= at <= HOSTILE[shape](i)[1]]
        assert table.match({"x": at, "y": at}) == expected


def test_ranges_are_told_by_where_a_filter_has_more_names_than_a_box() -> None:
    """Twelve equalities that all filters share, and a range of a name that comes behind them."""
    shared = [Constraint(f"a{k:02d}", Op.EQ, ("v",)) for k in range(12)]
    table, plain = Table("tamis"), Table("linear")
    for number in range(3_000):
        wanted = Constraint(f"m{number % 5}", Op.BETWEEN, (1 + number, 2 + 2 * number))
        for each in (table, plain):
            each.add(Filter((*shared, wanted)), number)
    table.validate()
    message: dict[str, Value] = {f"a{k:02d}": "v" for k in range(12)}
    before = table.stats().steps
    assert table.match(message | {f"m{k}": 0 for k in range(5)}) == []
    assert table.stats().steps - before < 300
    for value in (1, 40, 2_999, 6_000):
        told = message | {f"m{k}": value for k in range(5)}
        assert sorted(table.match(told)) == sorted(plain.match(told))


@pytest.mark.parametrize("is_client", [False, True])
def test_fractions_of_boxes_have_no_labels(is_client: bool) -> None:
    """A box has its ends itself: its numbers take no place among those in order until its filter is no box."""
    table, plain = Table("tamis"), Table("linear")
    dice = random.Random(5)
    kind = InterfaceKind.CLIENT if is_client else InterfaceKind.LINK
    for each in (table, plain):
        for interface in range(2_000):
            each.set_interface(interface, kind)

    def rectangle() -> Filter:
        corner = {name: dice.random() * 100 for name in "xy"}
        return Filter(tuple(Constraint(name, Op.BETWEEN, (at, at + 1)) for name, at in corner.items()))

    empty = table.stats().memory_bytes
    held = []
    for number in range(2_000):
        chosen = rectangle()
        held.append([each.add(chosen, number) for each in (table, plain)])
    table.validate()
    assert table.stats().memory_bytes - empty < 2_000 * 425  # labels and their order would be 48 each
    assert table.match({"x": 50.5, "y": 50.25}) == plain.match({"x": 50.5, "y": 50.25})
    for number in range(1_980):
        table.remove(held[number][0])
        plain.remove(held[number][1])
    table.validate()
    for x, y in ((dice.random() * 100, dice.random() * 100) for _ in range(200)):
        assert table.match({"x": x, "y": y}) == plain.match({"x": x, "y": y})


TEXTS: dict[str, Callable[[int], tuple[tuple[str, str], tuple[str, str]]]] = {
    "equal": lambda _: (("0000000", "1000000"), ("0500001", "1000000")),
    "differ late": lambda number: (("0000000", "1000000"), (f"0500000 or {number:05d}", "1000000")),
    "nested": lambda number: (
        (f"the same {5_000 - number:05d}", f"the same {5_001 + number:05d}"),
        (f"the same {5_001 + number:05d}", f"the same {9_000 + number:05d}"),
    ),
}


@pytest.mark.parametrize("shape", TEXTS)
def test_boxes_of_strings_that_differ_late_are_passed_by(shape: str) -> None:
    """Their ends are told apart however many bytes they share, also after the constants' labels have moved."""
    value = "the same 05000" if shape == "nested" else "0500000"
    table, plain = Table("tamis"), Table("linear")
    handles = []
    for number in range(2_000):
        (low, high), (left, right) = TEXTS[shape](number)
        wanted = Filter((Constraint("x", Op.BETWEEN, (low, high)), Constraint("y", Op.BETWEEN, (left, right))))
        handles.append([each.add(wanted, number) for each in (table, plain)])
    table.validate()
    before = table.stats().steps
    assert table.match({"x": value, "y": value}) == plain.match({"x": value, "y": value}) == []
    assert table.stats().steps - before < 200
    for strict, op in enumerate((Op.GT, Op.GE, Op.LT, Op.LE)):
        wanted = Filter(
            (Constraint("x", op, (value,)), Constraint("y", Op.NE, ("never",)), Constraint("y", op, ("z",)))
        )
        for each in (table, plain):
            each.add(wanted, 3_000 + strict)
    for number in range(300):  # each between its neighbours: labels are used up, and spread
        for each in (table, plain):
            each.add(
                Filter(
                    (Constraint("x", Op.GT, (value + "a" * number,)), Constraint("y", Op.LT, (value + "a" * number,)))
                ),
                4_000 + number,
            )
    table.validate()
    rng = random.Random(5)
    ends = [end for number in range(0, 2_000, 97) for pair in TEXTS[shape](number) for end in pair]
    values = [*ends, *(end + "0" for end in ends[:20]), value, value + "aaa", "", "zz"]
    for _ in range(60):
        message = {"x": rng.choice(values), "y": rng.choice(values)}
        assert sorted(table.match(message)) == sorted(plain.match(message))
    rng.shuffle(handles)
    for pair in handles[:1_990]:
        for each, handle in zip((table, plain), pair, strict=True):
            each.remove(handle)
    table.validate()
    for _ in range(20):
        message = {"x": rng.choice(values), "y": rng.choice(values)}
        assert sorted(table.match(message)) == sorted(plain.match(message))


# --- filters of several families that share a few equal values

ADDRESSES: Final = 1 << 16
PORTS: Final = (22, 53, 80, 443, 8080)


def block(dice: random.Random, name: str) -> list[Constraint]:
    """A block of addresses."""
    size = 1 << dice.choice([4, 6, 8, 10, 12])
    low = dice.randrange(ADDRESSES) // size * size
    return [Constraint(name, Op.GE, (low,)), Constraint(name, Op.LE, (low + size - 1,))]


def flow(dice: random.Random) -> Filter:
    """Blocks of sources, destinations or both, with or without a port of five."""
    ends = dice.choice([["src"], ["dst"], ["src", "dst"]])
    port = [Constraint("port", Op.EQ, (dice.choice(PORTS),))] if dice.random() < 0.5 else []
    return Filter([*(each for name in ends for each in block(dice, name)), *port])


def steps_of(engine: str, filters: list[Filter], messages: list[dict[str, Value]]) -> float:
    with Table(engine) as table:
        for interface, each in enumerate(filters):
            table.add(each, interface)
        before = table.stats().steps
        for message in messages:
            table.match(message)
        return (table.stats().steps - before) / len(messages)


@pytest.mark.slow
@pytest.mark.parametrize("filters", [60, 500, 1_000, 3_000, 5_000])
def test_families_that_share_a_few_values_cost_like_trees(filters):
    dice = random.Random(filters)
    flows = [flow(dice) for _ in range(filters)]
    messages = [
        {"src": dice.randrange(ADDRESSES), "dst": dice.randrange(ADDRESSES), "port": dice.choice(PORTS)}
        for _ in range(100)
    ]
    assert steps_of("tamis", flows, messages) < 1.5 * steps_of("kdtree", flows, messages)
