"""States of a durable subscription, as a table.

Law: the state changes by this table alone; a pair that is not in it is a bug of the caller. A subscription may be
forgotten in any state.
"""

from __future__ import annotations

import enum
from typing import Final


class DurableState(enum.Enum):
    """MAKING: its record is not on disk, and no consumer may attach. IDLE: no consumer is attached, and the lease runs.
    SERVED: a consumer is attached."""

    MAKING = "making"
    IDLE = "idle"
    SERVED = "served"


class DurableChange(enum.Enum):
    COMMITTED = enum.auto()
    FIRST_CONSUMED = enum.auto()
    LAST_CONSUMED = enum.auto()


DURABLE_TABLE: Final = {
    (DurableState.MAKING, DurableChange.COMMITTED): DurableState.IDLE,
    (DurableState.IDLE, DurableChange.FIRST_CONSUMED): DurableState.SERVED,
    (DurableState.SERVED, DurableChange.LAST_CONSUMED): DurableState.IDLE,
}


class DurableLife:
    """State of a durable subscription, and since when it has no consumer (monotonic)."""

    __slots__ = ("idle_since_ms", "state")

    def __init__(self, state: DurableState, since_ms: int) -> None:
        self.state, self.idle_since_ms = state, since_ms

    def change(self, change: DurableChange, now_ms: int) -> None:
        self.state = DURABLE_TABLE[self.state, change]
        if self.state is DurableState.IDLE:
            self.idle_since_ms = now_ms

    def lease_ends_ms(self, idle_ms: int) -> int | None:
        """Return when the subscription is forgotten unless a consumer attaches; None if its lease does not run."""
        return self.idle_since_ms + idle_ms if self.state is DurableState.IDLE and idle_ms else None
