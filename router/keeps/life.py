"""The life of a keep, and that of a message in a keep, as tables.

Law: a state changes by these tables alone; a pair that is not in one is a bug of the caller. A keep ends by being
forgotten, and a message by leaving its keep, from any state.
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


class TryState(enum.Enum):
    """Of a message that was given out at least once. OUT: a member has it. PAUSED: nobody gets it before a time. READY:
    it goes out again when somebody has credit."""

    OUT = "out"
    PAUSED = "paused"
    READY = "ready"


class TryChange(enum.Enum):
    GIVEN = enum.auto()
    EXTENDED = enum.auto()
    CAME_BACK = enum.auto()
    MEMBER_LEFT = enum.auto()
    PAUSE_OVER = enum.auto()


TRY_TABLE: Final = {
    (TryState.READY, TryChange.GIVEN): TryState.OUT,
    (TryState.OUT, TryChange.EXTENDED): TryState.OUT,
    (TryState.OUT, TryChange.CAME_BACK): TryState.PAUSED,
    (TryState.OUT, TryChange.MEMBER_LEFT): TryState.READY,
    (TryState.PAUSED, TryChange.PAUSE_OVER): TryState.READY,
}
