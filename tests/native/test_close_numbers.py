"""Ranges whose bounds lie close together, and what becomes of them when one far away comes and goes."""

from __future__ import annotations

import pytest

from tamis.native import Table
from tamis.protocol.filters import Constraint, Filter, Op

LINKS = 70
PROBES = (-(2**40), -1, 0, 0.5, 1, 33, 33.5, 69, 70, 71, 5000, 2**40)


def range_from(low: int) -> Filter:
    return Filter((Constraint("x", Op.GE, (low,)),))


def check(table: Table, held: dict[int, int]) -> None:
    table.validate()
    for value in PROBES:
        assert table.match({"x": value}) == sorted(link for link, low in held.items() if value >= low)


@pytest.mark.parametrize("engine", Table.engines())
@pytest.mark.parametrize("far", [10**6, -(10**6)])
def test_close_bounds_with_and_without_one_far_away(engine: str, far: int) -> None:
    table = Table(engine)
    handles = {link: table.add(range_from(link), link) for link in range(LINKS)}
    held = {link: link for link in range(LINKS)}
    check(table, held)
    outlier = table.add(range_from(far), LINKS)
    check(table, held | {LINKS: far})
    table.remove(outlier)
    check(table, held)
    for link in range(LINKS - 3):
        table.remove(handles[link])
        del held[link]
    check(table, held)


@pytest.mark.parametrize("engine", Table.engines())
def test_close_bounds_that_become_few_and_many_again(engine: str) -> None:
    table = Table(engine)
    handles = {link: table.add(range_from(link), link) for link in range(LINKS)}
    held = {link: link for link in range(LINKS)}
    for link in range(1, LINKS - 1):
        table.remove(handles[link])
        del held[link]
        table.validate()
    check(table, held)
    for link in range(1, LINKS - 1):
        table.add(range_from(link), link)
        held[link] = link
    check(table, held)


@pytest.mark.parametrize("engine", Table.engines())
@pytest.mark.parametrize("step", [-1, 1])
@pytest.mark.parametrize("start", [0, 2**30 - 1, -(2**30) + 1])
def test_close_bounds_that_spread_from_the_middle(engine: str, start: int, step: int) -> None:
    table = Table(engine)
    held = {}
    for link in range(40):
        held[link] = start + step * link
        table.add(range_from(held[link]), link)
        table.validate()
    for value in (start - 41, start - 40, start - 1, start, start + 1, start + 20.5, start + 40):
        assert table.match({"x": value}) == sorted(link for link, low in held.items() if value >= low)
