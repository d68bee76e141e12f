"""How much matching is left while filters come and go: the same loop, with updates and without.

Law: one thread does both, as in a router. Every period begins with its share of removals and of adds, and its remainder
is spent matching; the answer is messages matched with updates over messages matched without.
"""

from __future__ import annotations

import random
import time
from array import array
from itertools import cycle

from tamis.bench.match import Contender, Progress, Setup
from tamis.bench.workloads import Workload, spread
from tamis.native import Batch, Table

UPDATES_PER_S = 50_000  # so many filters added, and as many removed
_PERIOD_S = 0.01
_SLICE_S = 0.0005  # one crossing into C: short against the period, long against the crossing
_DURATION_S = 2.0


def speed_left(setup: Setup, contender: Contender, made: Workload, progress: Progress) -> float:
    """The share of the undisturbed matching speed that is left."""
    interfaces = spread(len(made.filters), setup.interfaces)
    with contender.table() as table:
        progress(f"building {contender.label}")
        handles = table.add_many(made.filters, interfaces)
        loop = _Loop(table, made, handles, interfaces, setup)
        progress(f"matching alone: {contender.label}")
        alone = loop.run(0)
        progress(f"matching during {UPDATES_PER_S:,} adds and removals a second: {contender.label}")
        return loop.run(round(UPDATES_PER_S * _PERIOD_S)) / alone


class _Loop:
    def __init__(self, table: Table, made: Workload, handles: array[int], interfaces: array[int], setup: Setup) -> None:
        self._table, self._filters, self._handles, self._interfaces = table, made.filters, handles, interfaces
        self._grouping = setup.grouping
        self._rng = random.Random(f"churn {setup.seed}")
        self._slices = cycle(_sliced(table, made.messages))

    def run(self, updates_per_period: int) -> float:
        """Messages matched a second."""
        matched, now = 0, time.perf_counter()
        start, end = now, now + _DURATION_S
        while now < end:
            until = now + _PERIOD_S
            if updates_per_period:
                self._update(updates_per_period)
            while (now := time.perf_counter()) < until:
                messages = next(self._slices)
                self._table.measure(messages, grouping=self._grouping)
                matched += len(messages)
        return matched / (now - start)

    def _update(self, count: int) -> None:
        chosen = self._rng.sample(range(len(self._filters)), min(count, len(self._filters)))
        self._table.remove_many(array("I", (self._handles[i] for i in chosen)))
        self._table.settle(count)
        batch = Batch.of(self._filters[i] for i in chosen)
        added = self._table.add_many(batch, array("I", (self._interfaces[i] for i in chosen)))
        for i, handle in zip(chosen, added, strict=True):
            self._handles[i] = handle


def _sliced(table: Table, messages: Batch) -> list[Batch]:
    """The messages in pieces of about _SLICE_S."""
    mean_s = max(table.measure(messages).total_ns / len(messages), 1.0) / 1e9
    size = max(1, min(len(messages), round(_SLICE_S / mean_s)))
    kept = [messages[i] for i in range(len(messages))]
    return [Batch.of(kept[start : start + size]) for start in range(0, len(kept), size)]
