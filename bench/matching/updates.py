"""What single updates of a full table take: a random sample is taken out and put back.

Law: calls are timed one by one in C, at full size; time that other processes took is left out (measure_add,
measure_remove); a removal's mean carries its share of the settling that it left over. The table answers while the
first sample is out, and that answer is part of what is held equal.
"""

from __future__ import annotations

import math
import random
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tamis.bench.matching.passes import Built
from tamis.native import Batch, Table

_AT_ONCE: Final = 50_000
_SHARE: Final = 4  # no more than a quarter of the table is out at a time
_FIRST: Final = 1_000  # their times tell how many more there is time for
_TIMED: Final = 20_000  # at least: p99.9 needs some of them beyond it
_SETTLE_STEPS: Final = 1_024
_QUANTILES: Final = {"p50": 0.5, "p99": 0.99, "p999": 0.999, "max": 1.0}


@dataclass(frozen=True, slots=True)
class UpdateTimes:
    """Microseconds of single calls; a removal's mean carries its share of the settling that it left over."""

    add_us: float
    add_p50_us: float
    add_p99_us: float
    add_p999_us: float
    add_max_us: float
    remove_us: float
    remove_p50_us: float
    remove_p99_us: float
    remove_p999_us: float
    remove_max_us: float
    settle_us: float


def update(
    built: Built, filters: Batch, interfaces: array[int], seed: int, asked: Batch, seconds_max: float
) -> tuple[UpdateTimes, int]:
    """The times, and the checksum of what the table answers to `asked` while the first sample is out. In `seconds_max`
    as many updates are timed as there is time for."""
    rng = random.Random(f"updates {seed}")
    whole = min(_AT_ONCE, max(len(filters) // _SHARE, 1), len(filters))
    adds, removals, settle_ns, answered = array("I"), array("I"), 0, 0
    start, size = time.perf_counter(), min(whole, _FIRST)
    while size and len(adds) < max(whole, _TIMED):
        chosen = rng.sample(range(len(filters)), size)
        removals.extend(built.table.measure_remove(array("I", (built.handles[i] for i in chosen))))
        settle_ns += _settle(built.table)
        answered = answered if adds else built.table.measure(asked).checksum
        sample = Batch.of(filters[i] for i in chosen)
        handles, taken = built.table.measure_add(sample, array("I", (interfaces[i] for i in chosen)))
        adds.extend(taken)
        for i, handle in zip(chosen, handles, strict=True):
            built.handles[i] = handle
        spent = time.perf_counter() - start
        size = min(whole, int(max(seconds_max - spent, 0) / spent * len(adds))) if seconds_max < math.inf else whole
    return _times(adds, removals, settle_ns), answered


def quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0


def _settle(table: Table) -> int:
    start = time.perf_counter_ns()
    while table.settle(_SETTLE_STEPS):
        pass
    return time.perf_counter_ns() - start


def _times(adds: array[int], removals: array[int], settle_ns: int) -> UpdateTimes:
    count = max(len(adds), 1)
    settle_us = settle_ns / count / 1000
    figures = {"settle_us": settle_us}
    for kind, times, more_us in (("add", adds, 0.0), ("remove", removals, settle_us)):
        ordered = [ns / 1000 for ns in sorted(times)]
        figures[f"{kind}_us"] = sum(ordered) / count + more_us
        figures |= {f"{kind}_{name}_us": quantile(ordered, share) for name, share in _QUANTILES.items()}
    return UpdateTimes(**figures)
