"""The cells of a sweep: one workload at growing sizes, with all engines in turns.

Law: all engines of a cell see the same filters, messages and interfaces, and are held to one answer. A time is the
median of some rounds, in which the engines take turns. An engine that took too long at a size is not asked at larger
ones. Steps are those of the first engine.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from tamis.bench.matching import workloads
from tamis.bench.matching.contenders import Contender, Setup
from tamis.bench.matching.passes import check_equal
from tamis.native import Table

SEED: Final = 2003
_MATCHES: Final = 3  # of each message in a round


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of each cell is measured. `engine_s`: what building and matching with one engine may take."""

    messages: int
    rounds: int
    engine_s: float


@dataclass(frozen=True, slots=True)
class Cell:
    """`interfaces` None is one for each filter; `us` has the microseconds of a message by engine."""

    workload: str
    interfaces: int | None
    filters: int
    steps: float
    matched: float
    us: dict[str, float] = field(default_factory=dict)

    @property
    def best(self) -> str | None:
        """The fastest of the other engines; None if none was measured."""
        others = list(self.us)[1:]
        return min(others, key=lambda engine: self.us[engine], default=None)

    @property
    def times(self) -> float:
        """The time of the first engine over that of the fastest other; 0 if none was measured."""
        best = self.best
        return 0.0 if best is None else next(iter(self.us.values())) / max(self.us[best], 1e-9)


def sweep(workload: str, sizes: Sequence[int], engines: Sequence[Contender], bounds: Bounds) -> Iterator[Cell]:
    """Measure a workload with each of its numbers of interfaces, from the smallest size up."""
    for interfaces in workloads.kind_of(workload).interfaces:
        able = list(engines)
        for size in sorted(sizes):
            setup = Setup(workload, size, interfaces, bounds.messages, workloads.NAMES, SEED, tuple(able))
            cell, able = _measure(setup, bounds)
            yield cell


def _measure(setup: Setup, bounds: Bounds) -> tuple[Cell, list[Contender]]:
    """Return a cell, and the engines that took no longer than they may."""
    made, interfaces = setup.make(), setup.deal()
    spent = dict.fromkeys(setup.contenders, 0.0)
    tables: dict[Contender, Table] = {}
    nanoseconds: dict[Contender, list[int]] = {each: [] for each in setup.contenders}
    answers: dict[str, set[int]] = {each.label: set() for each in setup.contenders}
    matched = 0
    try:
        for each in setup.contenders:
            start = time.perf_counter()
            tables[each] = each.table()
            tables[each].add_many(made.filters, interfaces)
            spent[each] += time.perf_counter() - start
        first = tables[setup.contenders[0]]
        before = first.stats().steps
        for _ in range(bounds.rounds):
            for each, table in tables.items():
                start = time.perf_counter()
                told = table.measure(made.messages)
                spent[each] += time.perf_counter() - start
                nanoseconds[each].append(told.total_ns)
                answers[each.label].add(told.checksum)
                matched = told.matched
        steps = (first.stats().steps - before) / (bounds.rounds * _MATCHES * bounds.messages)
    finally:
        for table in tables.values():
            table.close()
    check_equal(answers)
    us = {each.label: median(taken) / bounds.messages / 1e3 for each, taken in nanoseconds.items()}
    cell = Cell(setup.workload, setup.interface_count, setup.filter_count, steps, matched / bounds.messages, us)
    return cell, [each for each in setup.contenders if each is setup.contenders[0] or spent[each] <= bounds.engine_s]
