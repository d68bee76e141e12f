"""How much matching is left while filters come and go: the same loop, with updates and without.

Law: one thread does both, as in a router, in small slices: what is due of the updates first, then a slice of messages.
The answer is messages matched with updates over messages matched without; 0 is an engine that cannot keep up. What the
updates take out and put back is laid out before the clock starts, so that the engine's work is what is timed.
"""

from __future__ import annotations

import random
import statistics
import time
from array import array
from dataclasses import dataclass
from itertools import cycle

from tamis.bench.matching.contenders import Contender, Progress, Setup
from tamis.bench.matching.workloads import Workload
from tamis.native import Batch, Table

UPDATES_PER_S = 50_000  # so many filters added, and as many removed
_UPDATES_AT_ONCE = 50  # a millisecond's worth
_SLICES_MAX = 1_000
_SLICE_S = 0.0005  # of matching: long against the crossing into C
_DURATION_S = 0.5  # of one turn
_TURNS = 5  # alone and during in turns: a shared machine drifts


def speed_left(setup: Setup, contender: Contender, made: Workload, progress: Progress) -> float | None:
    """The share of the undisturbed matching speed that is left; None for a library, which has no such loop."""
    if contender.library is not None:
        return None
    interfaces = setup.deal()
    with contender.table() as table:
        progress(f"building {contender.label}")
        handles = table.add_many(made.filters, interfaces)
        loop = _Loop(table, made, handles, interfaces, setup)
        progress(f"matching alone, and during {UPDATES_PER_S:,} adds and removals a second: {contender.label}")
        turns = [(loop.run(0), loop.run(UPDATES_PER_S)) for _ in range(_TURNS)]
        return statistics.median(during for _, during in turns) / statistics.median(alone for alone, _ in turns)


@dataclass(slots=True)
class _Slice:
    """Filters that are taken out and put back together; `handles` are those of now."""

    filters: Batch
    interfaces: array[int]
    handles: array[int]


class _Loop:
    def __init__(self, table: Table, made: Workload, handles: array[int], interfaces: array[int], setup: Setup) -> None:
        self._table, self._grouping = table, setup.grouping
        chosen = random.Random(f"churn {setup.seed}").sample(
            range(len(made.filters)), min(len(made.filters), _UPDATES_AT_ONCE * _SLICES_MAX)
        )
        pieces = [chosen[start : start + _UPDATES_AT_ONCE] for start in range(0, len(chosen), _UPDATES_AT_ONCE)]
        self._updates = cycle(
            _Slice(
                Batch.of(made.filters[i] for i in piece),
                array("I", (interfaces[i] for i in piece)),
                array("I", (handles[i] for i in piece)),
            )
            for piece in pieces
        )
        self._messages = cycle(_sliced(table, made.messages))

    def run(self, updates_per_s: int) -> float:
        """Messages matched a second of our own processor time: what neighbours take is left out."""
        matched, updated = 0, 0
        now = start = time.thread_time()
        while now < start + _DURATION_S:
            if updated < (now - start) * updates_per_s:
                updated += self._update()
            else:
                messages = next(self._messages)
                self._table.measure(messages, grouping=self._grouping)
                matched += len(messages)
            now = time.thread_time()
        return matched / (now - start)

    def _update(self) -> int:
        piece = next(self._updates)
        self._table.remove_many(piece.handles)
        self._table.settle(len(piece.handles))
        piece.handles = self._table.add_many(piece.filters, piece.interfaces)
        return len(piece.handles)


def _sliced(table: Table, messages: Batch) -> list[Batch]:
    """The messages in pieces of about _SLICE_S."""
    mean_s = max(table.measure(messages).total_ns / len(messages), 1.0) / 1e9
    size = max(1, min(len(messages), round(_SLICE_S / mean_s)))
    kept = [messages[i] for i in range(len(messages))]
    return [Batch.of(kept[start : start + size]) for start in range(0, len(kept), size)]
