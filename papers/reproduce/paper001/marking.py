"""Two ways to match five intervals: count what an event satisfies, or mark what it violates.

    sorted      of each attribute, the intervals by where they begin, which is also by where they end
    satisfied   a run in the middle of that order: one is added to the count of each; five of them are a match
    violated    the two runs beside it: each is marked; what is left unmarked is a match

Law: both ways stand on the same arrays and the same library (numpy), so that what differs between them is how many
elements they touch. Both give what the engine `counting` gives; otherwise the run ends.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from tamis.bench.matching.workloads import Workload
from tamis.native import Table
from tamis.papers.reproduce.figure import Disagreement, ResultRow
from tamis.protocol.wire.attributes import decode_attributes
from tamis.protocol.wire.packed_filters import decode_filter

COUNTS: Final = "arrays: counts what is satisfied"
MARKS: Final = "arrays: marks what is violated"
_TIMES_OVER: Final = 3

Numbers = npt.NDArray[np.float64]
Subscriptions = npt.NDArray[np.intp]
Event = Mapping[str, float]
Way = Callable[[Event], tuple[Subscriptions, int]]


class SortedIntervals(NamedTuple):
    """The intervals of one attribute: where they begin and end, and whose they are."""

    begins: Numbers
    ends: Numbers
    of: Subscriptions


class IntervalMatcher:
    """Boxes in one table. Intervals of one attribute have one length, so that both orders are the same."""

    def __init__(self, made: Workload) -> None:
        self._count = len(made.filters)
        found: dict[str, list[tuple[float, float]]] = {}
        for index in range(self._count):
            for each in decode_filter(made.filters[index]).constraints:
                low, high = cast("tuple[float, float]", each.operands)
                found.setdefault(each.name, []).append((low, high))
        self._attributes = {name: _sorted(np.array(ends)) for name, ends in found.items()}

    def count(self, event: Event) -> tuple[Subscriptions, int]:
        """The subscriptions that match, and how many elements were touched."""
        counts, touched = np.zeros(self._count, np.uint8), 0
        for name, own in self._attributes.items():
            first, last = _satisfied(own, event[name])
            counts[own.of[first:last]] += 1
            touched += last - first
        return np.flatnonzero(counts == len(self._attributes)), touched

    def mark(self, event: Event) -> tuple[Subscriptions, int]:
        """The same, by what is violated."""
        marked, touched = np.zeros(self._count, np.bool_), 0
        for name, own in self._attributes.items():
            first, last = _satisfied(own, event[name])
            marked[own.of[:first]] = True
            marked[own.of[last:]] = True
            touched += self._count - (last - first)
        return np.flatnonzero(~marked), touched


def _sorted(ends: Numbers) -> SortedIntervals:
    order = np.argsort(ends[:, 0], kind="stable")
    begins, own_ends = ends[order, 0], ends[order, 1]
    if np.any(np.diff(own_ends) < 0):
        raise ValueError("intervals that begin in one order and end in another")
    return SortedIntervals(begins, own_ends, order)


def _satisfied(own: SortedIntervals, value: float) -> tuple[int, int]:
    """The run of intervals that `value` lies in: those that have begun and not ended."""
    return int(np.searchsorted(own.ends, value, "left")), int(np.searchsorted(own.begins, value, "right"))


def marking_rows(made: Workload, passes: int) -> list[ResultRow]:
    """Times of both ways: for each event the least of `passes`, all three times over."""
    matcher = IntervalMatcher(made)
    events = [cast("Event", decode_attributes(made.messages[index])) for index in range(len(made.messages))]
    ways: dict[str, Way] = {COUNTS: matcher.count, MARKS: matcher.mark}
    _check(made, events, ways)
    groups: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(_TIMES_OVER):
        best = {name: [float("inf")] * len(events) for name in ways}
        for _ in range(passes):
            for place, event in enumerate(events):
                for name, way in ways.items():
                    best[name][place] = min(best[name][place], _us(way, event))
        for name, times in best.items():
            groups[name].append(sum(times) / len(times))
    return [
        {
            "engine": name,
            "us": min(groups[name]),
            "spread": max(groups[name]) / min(groups[name]) - 1,
            "updates": sum(way(event)[1] for event in events) / len(events),
        }
        for name, way in ways.items()
    ]


def _us(way: Way, event: Event) -> float:
    began_ns = time.perf_counter_ns()
    way(event)
    return (time.perf_counter_ns() - began_ns) / 1e3


def _check(made: Workload, events: Sequence[Event], ways: Mapping[str, Way]) -> None:
    with Table("counting") as table:
        table.add_many(made.filters, array("I", range(len(made.filters))))
        for event in events:
            due = table.match(event)
            for name, way in ways.items():
                if (found := way(event)[0].tolist()) != due:
                    raise Disagreement(f"{name}: {event} matches {found}, by engine `counting` {due}")
