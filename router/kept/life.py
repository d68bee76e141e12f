"""States of a durable subscription, as a table.

Law: the state changes by this table alone; a pair that is not in it is a bug of the caller. A subscription may be
forgotten in any state.
"""

from __future__ import annotations

import enum
from typing import Final


class KeepState(enum.Enum):
    """MAKING: its record is not on disk, and no consumer may attach. IDLE: no consumer is attached, and the lease runs.
    SERVED: a consumer is attached."""

    MAKING = "making"
    IDLE = "idle"
    SERVED = "served"


class KeepChange(enum.Enum):
    COMMITTED = enum.auto()
    FIRST_ATTACHED = enum.auto()
    LAST_DETACHED = enum.auto()


KEEP_TABLE: Final = {
    (KeepState.MAKING, KeepChange.COMMITTED): KeepState.IDLE,
    (KeepState.IDLE, KeepChange.FIRST_ATTACHED): KeepState.SERVED,
    (KeepState.SERVED, KeepChange.LAST_DETACHED): KeepState.IDLE,
}


class KeepLife:
    """State of a durable subscription, and since when it has no consumer (monotonic)."""

    __slots__ = ("idle_since_ms", "state")

    def __init__(self, state: KeepState, since_ms: int) -> None:
        self.state, self.idle_since_ms = state, since_ms

    def change(self, change: KeepChange, now_ms: int) -> None:
        self.state = KEEP_TABLE[self.state, change]
        if self.state is KeepState.IDLE:
            self.idle_since_ms = now_ms

    def lease_ends_ms(self, idle_ms: int) -> int | None:
        """Return when the subscription is forgotten unless a consumer attaches; None if its lease does not run."""
        return self.idle_since_ms + idle_ms if self.state is KeepState.IDLE and idle_ms else None
