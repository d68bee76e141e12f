"""Filters that list values: `in` stands under each of them, and what the key of a bucket says is not tested again."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from tamis.native import Table
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value
from tests.native.twin import TwinTable

POOLS: dict[str, Sequence[Value]] = {
    "strings": [f"A-{k:08d}" for k in range(40)],
    "integers": list(range(-20, 20)),
    "booleans": [False, True],
    "wide integers": [2**40 + k for k in range(20)],
    "small and wide": [*range(10), *(2**31 + k for k in range(10))],
    "integers and fractions": [*range(10), *(k + 0.5 for k in range(10))],
    "all kinds": [*range(5), "a", "b", "c", True, 0.25, 2**50],
}


def listed(values: Sequence[Value], *more: Constraint) -> Filter:
    return Filter((Constraint("account", Op.IN, tuple(values)), *more))


def test_one_that_lists_a_value_costs_what_it_finds() -> None:
    """400 values, 1,000 filters of 20: a value is in 50 of them, each of which is a result and no test."""
    rng = random.Random(1)
    table = Table("tamis", hash_seed=1)
    accounts = [f"A-{k:08d}" for k in range(400)]
    for interface in range(1_000):
        table.add(listed(rng.sample(accounts, 20)), 1_000 + interface)
    before = table.stats().steps
    found = sum(len(table.match({"account": account, "amount": 7})) for account in accounts)
    assert found == 20_000
    assert table.stats().steps - before <= found + len(accounts) * 24
    table.validate()


def drawn(pool: Sequence[Value], rng: random.Random) -> Filter:
    values = rng.sample(pool, rng.randint(1, len(pool)))
    more = (
        (),
        (Constraint("amount", Op.GT, (rng.randrange(4),)),),
        (Constraint("side", Op.EQ, ("buy",)),),
        (Constraint("amount", Op.IN, (1, 2, 3)), Constraint("side", Op.PREFIX, ("b",))),
        (Constraint("account", Op.NE, (rng.choice(pool),)),),
    )
    return listed(values, *rng.choice(more))


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("interfaces", [3, 2_000])
def test_lists_come_and_go(pool: str, interfaces: int) -> None:
    """Of links that use cells, where a list covers an equality, and of others."""
    rng = random.Random(f"{pool} {interfaces}")
    values = POOLS[pool]
    table, twin = Table("tamis"), TwinTable()
    for goal in (150, 20, 150, 0):
        while len(twin.held) != goal:
            if len(twin.held) < goal:
                chosen = (
                    drawn(values, rng)
                    if rng.random() < 0.8
                    else Filter((Constraint("account", Op.EQ, (rng.choice(values),)),))
                )
                interface = rng.randrange(interfaces) + (256 if interfaces > 256 else 0)
                twin.held[table.add(chosen, interface)] = (chosen, interface)
            else:
                handle = rng.choice(list(twin.held))
                table.remove(handle)
                del twin.held[handle]
        table.settle(1_000)
        table.validate()
        for _ in range(20):
            message = {"account": rng.choice([*values, "nobody"]), "amount": rng.randrange(5), "side": "buy"}
            assert table.match(message) == twin.match(message)
    assert table.stats().filters == 0


def test_few_filters_that_may_cover_others_take_little_room_among_many() -> None:
    """Links below 256 keep for each filter what covers it: for one filter of such a link no more than a page of these,
    however large its handle is."""
    table = Table("tamis")
    some = [table.add(Filter((Constraint("x", Op.GT, (k,)),)), 256 + k) for k in range(20_000)]
    table.remove(some[-1])
    before = table.stats().memory_bytes
    table.add(Filter((Constraint("x", Op.GT, (-1,)),)), 3)
    assert table.stats().memory_bytes - before <= 32 << 10
    table.validate()
