"""Ranges of fractions on one name: boxes of a line while few of them match, runs and intervals once they are many."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tamis.native import Table
from tamis.protocol.filters import Constraint, Filter, Op

WITHOUT_CELLS = 256
"""The first interface that has none."""


def limit(rng: random.Random) -> Filter:
    return Filter((Constraint("x", rng.choice([Op.LT, Op.GT]), (rng.randrange(4_000) / 4,)),))


def band(rng: random.Random) -> Filter:
    low = rng.randrange(4_000)
    return Filter((Constraint("x", Op.BETWEEN, (low / 4, (low + rng.randrange(40)) / 4)),))


def steps_of(table: Table, value: float) -> int:
    before = table.stats().steps
    table.match({"x": value})
    return table.stats().steps - before


def mean_steps(table: Table) -> float:
    rng = random.Random(5)
    return sum(steps_of(table, rng.random() * 1_000) for _ in range(200)) / 200


@pytest.mark.parametrize("draw", [band, limit])
def test_those_that_came_before_the_line_follow(draw: Callable[[random.Random], Filter]) -> None:
    """Cells, runs and intervals are empty at the end, so that the order of additions does not matter."""
    rng = random.Random(1)
    filters = [draw(rng) for _ in range(300)]
    tables = [Table("tamis"), Table("tamis")]
    for table, order in zip(tables, (range(300), range(299, -1, -1)), strict=True):
        for each in order:
            table.add(filters[each], each if each < 150 else WITHOUT_CELLS + each)
        table.validate()
    early, late = map(mean_steps, tables)
    assert early < 1.3 * late
    assert late < 1.3 * early


def test_a_line_of_many_limits_leaves_for_runs() -> None:
    """A run tells eight filters a step, a line one."""
    rng = random.Random(2)
    table = Table("tamis")
    for i in range(2_000):
        table.add(limit(rng), WITHOUT_CELLS + i)
    table.validate()
    matched = len(table.match({"x": 500.3}))
    assert matched > 500
    assert steps_of(table, 500.3) < matched / 4


def test_a_line_of_few_interfaces_leaves_for_intervals() -> None:
    """Which stop once every interface has matched."""
    rng = random.Random(3)
    table = Table("tamis")
    for i in range(8_000):
        table.add(Filter((Constraint("x", Op.BETWEEN, (rng.random(), 999 + rng.random())),)), WITHOUT_CELLS + i % 8)
    table.validate()
    assert len(table.match({"x": 500.3})) == 8
    assert steps_of(table, 500.3) < 2_000


def test_few_bands_of_many_are_looked_at() -> None:
    rng = random.Random(4)
    table = Table("tamis")
    for i in range(5_000):
        table.add(band(rng), WITHOUT_CELLS + i)
    assert mean_steps(table) < 5_000 / 20


@pytest.mark.parametrize("interfaces", [WITHOUT_CELLS + 20, 5_000])
@pytest.mark.parametrize("shares", [(1, 1), (1, 20)], ids=["limits", "bands"])
def test_every_answer_is_the_twins_while_filters_come_and_go(shares: tuple[int, int], interfaces: int) -> None:
    rng = random.Random(f"{shares} {interfaces}")
    tables = [Table("tamis"), Table("linear")]
    held: list[list[int]] = []
    for size in (100, 700, 1_200, 450, 900, 0):
        while len(held) < size:
            filter_ = rng.choices([limit, band], shares)[0](rng)
            interface = rng.randrange(interfaces)
            held.append([table.add(filter_, interface) for table in tables])
        while len(held) > size:
            for table, handle in zip(tables, held.pop(rng.randrange(len(held))), strict=True):
                table.remove(handle)
        tables[0].validate()
        for _ in range(20):
            message = {"x": rng.choice([rng.randrange(1_000), rng.randrange(4_000) / 4, rng.random() * 1_000])}
            assert tables[0].match(message) == tables[1].match(message)
            assert list(tables[0].match_which(message)) == list(tables[1].match_which(message))
