"""What a match and a lookup cost by the paper's own Table 1, so that counted work becomes the paper's seconds.

    counting    an index of s subscriptions at density d: K (1 - d^(1/5)) s / 10,000. Table 1 has 489, 386 and 253 us at
                5, 10 and 20 %: it falls as the share of *violated* constraints does, and not as that of satisfied ones
                rises, so their counting marks what is violated, whatever a match looks for. K is fitted to these three
    k-d tree    the steps of our engine `kdtree` for s boxes at density d, at the price that makes a match of 10,000
                take what Table 1 says, on average
    lookup      0.8 us

Law: nothing is timed. Steps between the sizes that were counted are interpolated on logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean
from typing import Final

from tamis.native import InterfaceKind, Table
from tamis.papers.models.lookups import DIMENSIONS, Finds, LinkSearch
from tamis.papers.reproduce.figure import FigureRun
from tamis.papers.reproduce.paper001.boxes import all_behind, boxes

TABLE: Final = {0.05: (0.85, 81.29, 489.42), 0.1: (0.82, 74.59, 385.93), 0.2: (0.73, 90.84, 252.69)}
"""Table 1: density -> microseconds of a lookup, the k-d tree, counting."""
SUBSCRIPTIONS: Final = 10_000
LOOKUP_US: Final = mean(lookup for lookup, _, _ in TABLE.values())
_SIZES: Final = (1, 10, 30, 100, 300, 1_000, 3_000, 10_000)
_EVENTS: Final = 20


def violated(density: float) -> float:
    """The share of an event's constraints that it violates."""
    return 1 - float(density ** (1 / DIMENSIONS))


_COUNTING_US: Final = mean(us / violated(density) for density, (_, _, us) in TABLE.items())


def counting_us(search: LinkSearch, density: float) -> float:
    return float(_COUNTING_US * violated(density) * search.subscriptions / SUBSCRIPTIONS)


@dataclass(frozen=True, slots=True)
class BoxSteps:
    """Steps of `kdtree` by size: to find one that matches, and to find all."""

    one: Mapping[int, float]
    all_: Mapping[int, float]

    def of(self, search: LinkSearch, density: float, limit: int) -> float:
        """Up to `limit` are found on the way from one to all, in proportion."""
        if not search.subscriptions:
            return 0.0
        one, all_ = (_between(line, search.subscriptions) for line in (self.one, self.all_))
        if search.finds is Finds.SOME:
            return one + (all_ - one) * min(1.0, limit / max(density * search.subscriptions, 1.0))
        return one if search.finds is Finds.ONE else all_


def box_steps(run: FigureRun, density: float) -> BoxSteps:
    counted = run.cell(f"steps of kdtree at {density:.1%}", lambda: _count(density, run.seed))
    return BoxSteps(*({int(size): steps for size, steps in line} for line in counted))


def step_us(run: FigureRun) -> float:
    """The price of a step: a match of 10,000 then takes what Table 1 says, on average over its densities."""
    steps = mean(box_steps(run, density).one[SUBSCRIPTIONS] for density in TABLE)
    return mean(us for _, us, _ in TABLE.values()) / steps


def _count(density: float, seed: int) -> list[list[tuple[int, float]]]:
    lines: list[list[tuple[int, float]]] = [[], []]
    for size in _SIZES:
        made = boxes(size, _EVENTS, density, seed)
        with Table("kdtree", hash_seed=seed) as table:
            table.set_interface(0, InterfaceKind.CLIENT)
            table.add_many(made.filters, all_behind(0, size))
            asks: tuple[Callable[[bytes], object], ...] = (table.match, table.match_all)
            for line, ask in zip(lines, asks, strict=True):
                before = table.stats().steps
                for index in range(len(made.messages)):
                    ask(made.messages[index])
                line.append((size, max((table.stats().steps - before) / len(made.messages), 0.01)))
    return lines


def _between(line: Mapping[int, float], size: int) -> float:
    sizes: Sequence[int] = sorted(line)
    for low, high in pairwise(sizes):
        if low <= size <= high:
            share = math.log(size / low) / math.log(high / low)
            return math.exp((1 - share) * math.log(line[low]) + share * math.log(line[high]))
    return line[sizes[-1]] * size / sizes[-1]
