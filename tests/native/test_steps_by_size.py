"""A message does not cost a third less once there are more filters: then it cost too much before."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise

import pytest

from tamis.native import Table
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value

SIZES = (10, 15, 22, 33, 50, 100, 160, 250, 370, 550, 800, 1_200, 1_800, 2_700, 4_000, 6_000)
WITHOUT_CELLS = 256
"""The first interface that has none."""
MESSAGES = 50
ADDRESSES = 2**32
PORTS = ("ssh", "dns", "web", "tls", "sip")

Shape = tuple[Callable[[random.Random], Filter], Callable[[random.Random], dict[str, Value]]]


def block(rng: random.Random, name: str) -> Constraint:
    """A block of addresses."""
    size = 2 ** rng.randint(8, 20)
    low = rng.randrange(ADDRESSES // size) * size
    return Constraint(name, Op.BETWEEN, (low, low + size - 1))


def flows(ends: Sequence[tuple[str, ...]], ports: Sequence[Value], with_port: float) -> Shape:
    """Blocks of addresses, each filter of one of several sets of names; all share an action, most a port."""
    names = sorted({name for each in ends for name in each})

    def draw(rng: random.Random) -> Filter:
        parts = [Constraint("action", Op.EQ, ("deny",)), *(block(rng, name) for name in rng.choice(ends))]
        port = [Constraint("port", Op.EQ, (rng.choice(ports),))] if rng.random() < with_port else []
        return Filter((*parts, *port))

    def message(rng: random.Random) -> dict[str, Value]:
        said: dict[str, Value] = {name: rng.randrange(ADDRESSES) for name in names}
        return said | {"action": "deny", "port": rng.choice(ports)}

    return draw, message


def limits(draw_bound: Callable[[random.Random], Value]) -> Shape:
    """Limits on one name, half of which a message satisfies."""
    return (
        lambda rng: Filter((Constraint("load", rng.choice([Op.LT, Op.GT]), (draw_bound(rng),)),)),
        lambda rng: {"load": draw_bound(rng)},
    )


def rectangles(names: str) -> Shape:
    """Ranges of every name, of which few hold."""

    def draw(rng: random.Random) -> Filter:
        lows = {name: rng.random() * 90 for name in names}
        return Filter(tuple(Constraint(name, Op.BETWEEN, (low, low + 10)) for name, low in lows.items()))

    return draw, lambda rng: {name: rng.random() * 100 for name in names}


ENDS = list(combinations(("source", "target", "via", "origin"), 2))

SHAPES: dict[str, Shape] = {
    "blocks with a port of two": flows(ENDS, PORTS[:2], 1.0),
    "blocks with or without a port of two": flows(ENDS, PORTS[:2], 0.7),
    "blocks with a number of two": flows(ENDS, (22, 80), 1.0),
    "blocks with or without a port of five": flows([("source",), ("target",), ("source", "target")], PORTS, 0.5),
    "blocks of many names": flows(list(combinations("abcdef", 3)), PORTS[:2], 1.0),
    "rectangles": rectangles("xy"),
    "boxes of five names": rectangles("vwxyz"),
    "thresholds": limits(lambda rng: rng.randrange(1_000)),
    "fractions": limits(lambda rng: (2 * rng.randrange(50_000) + 1) / 100),
}


def steps_of(shape: Shape) -> list[float]:
    """Return the steps of a message at each size, on average; the answers are those of another engine."""
    draw, message = shape
    rng, said = random.Random(1), random.Random(2)
    table, plain = Table("tamis", hash_seed=1), Table("counting")
    messages = [message(said) for _ in range(MESSAGES)]
    steps: list[float] = []
    held = 0
    for size in SIZES:
        for interface in range(held, size):
            each = draw(rng)
            table.add(each, WITHOUT_CELLS + interface)
            plain.add(each, WITHOUT_CELLS + interface)
        held = size
        before = table.stats().steps
        answers = [table.match(each) for each in messages]
        steps.append((table.stats().steps - before) / MESSAGES)
        assert answers == [plain.match(each) for each in messages]
    table.validate()
    return steps


@pytest.mark.parametrize("shape", SHAPES)
def test_steps_do_not_fall_by_a_third_while_filters_grow(shape: str) -> None:
    steps = steps_of(SHAPES[shape])
    fell = {
        (less, more): (before, after)
        for (less, before), (more, after) in pairwise(zip(SIZES, steps, strict=True))
        if after < before * 2 / 3
    }
    assert fell == {}, steps


def test_a_message_reads_few_filters_of_many_families_behind_two_shared_values() -> None:
    """Twenty families: a search in the tree of each costs less than the filters of all that have its values."""
    draw, message = SHAPES["blocks of many names"]
    rng, table = random.Random(1), Table("tamis", hash_seed=1)
    for interface in range(SIZES[-1]):
        table.add(draw(rng), WITHOUT_CELLS + interface)
    before = table.stats().steps
    for _ in range(MESSAGES):
        table.match(message(rng))
    assert (table.stats().steps - before) / MESSAGES < SIZES[-1] / 4
