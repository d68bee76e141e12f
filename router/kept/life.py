"""The life of a keep, as a table.

Law: its state changes by this table alone; a pair that is not in it is a bug of the caller. A keep ends by being
forgotten, from any state.
"""

from __future__ import annotations

import enum
from typing import Final


class KeepState(enum.Enum):
    """MAKING: its record is not on disk; nobody may attach. IDLE: nobody is attached, and its lease runs."""

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
    """Where a keep is in its life, and since when nobody is attached (steady clock)."""

    __slots__ = ("idle_since_ms", "state")

    def __init__(self, state: KeepState, since_ms: int) -> None:
        self.state, self.idle_since_ms = state, since_ms

    def change(self, change: KeepChange, now_ms: int) -> None:
        self.state = KEEP_TABLE[self.state, change]
        if self.state is KeepState.IDLE:
            self.idle_since_ms = now_ms

    def lease_ends_ms(self, idle_ms: int) -> int | None:
        """Return when the keep is forgotten, if nobody attaches before; None: it is not."""
        return self.idle_since_ms + idle_ms if self.state is KeepState.IDLE and idle_ms else None
