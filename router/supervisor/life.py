"""The life of one supervised process, as a table, and the pauses between its restarts.

Law: a state changes by `TRANSITIONS` alone; a pair that is not in the table is a bug of the caller. A process that ends
by itself is restarted after a pause that doubles; one that has been up for `steady_s` starts with a short pause again;
one that ends `deaths_max` times in a row without that has failed, as has one that ends with CANNOT_START before it was
ready. A failed or stopped process stays down until a start is requested.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class ProcessState(enum.StrEnum):
    STARTING = "starting"
    READY = "ready"
    RESTARTING = "restarting"
    STOPPING = "stopping"
    STOPPED = "stopped"
    FAILED = "failed"


class LifeEvent(enum.Enum):
    SAID_READY = enum.auto()
    ENDED = enum.auto()
    ENDED_TOO_OFTEN = enum.auto()
    ENDED_FOR_GOOD = enum.auto()
    PAUSE_OVER = enum.auto()
    STOP_ASKED = enum.auto()
    START_ASKED = enum.auto()


TRANSITIONS: dict[tuple[ProcessState, LifeEvent], ProcessState] = {
    (ProcessState.STARTING, LifeEvent.SAID_READY): ProcessState.READY,
    (ProcessState.STARTING, LifeEvent.ENDED): ProcessState.RESTARTING,
    (ProcessState.STARTING, LifeEvent.ENDED_TOO_OFTEN): ProcessState.FAILED,
    (ProcessState.STARTING, LifeEvent.ENDED_FOR_GOOD): ProcessState.FAILED,
    (ProcessState.STARTING, LifeEvent.STOP_ASKED): ProcessState.STOPPING,
    (ProcessState.READY, LifeEvent.ENDED): ProcessState.RESTARTING,
    (ProcessState.READY, LifeEvent.ENDED_TOO_OFTEN): ProcessState.FAILED,
    (ProcessState.READY, LifeEvent.STOP_ASKED): ProcessState.STOPPING,
    (ProcessState.RESTARTING, LifeEvent.PAUSE_OVER): ProcessState.STARTING,
    (ProcessState.RESTARTING, LifeEvent.STOP_ASKED): ProcessState.STOPPED,
    (ProcessState.STOPPING, LifeEvent.SAID_READY): ProcessState.STOPPING,
    (ProcessState.STOPPING, LifeEvent.ENDED): ProcessState.STOPPED,
    (ProcessState.STOPPING, LifeEvent.ENDED_TOO_OFTEN): ProcessState.STOPPED,
    (ProcessState.STOPPING, LifeEvent.ENDED_FOR_GOOD): ProcessState.STOPPED,
    (ProcessState.STOPPING, LifeEvent.STOP_ASKED): ProcessState.STOPPING,
    (ProcessState.STOPPED, LifeEvent.STOP_ASKED): ProcessState.STOPPED,
    (ProcessState.STOPPED, LifeEvent.START_ASKED): ProcessState.STARTING,
    (ProcessState.FAILED, LifeEvent.STOP_ASKED): ProcessState.FAILED,
    (ProcessState.FAILED, LifeEvent.START_ASKED): ProcessState.STARTING,
}

SETTLED = frozenset({ProcessState.READY, ProcessState.STOPPED, ProcessState.FAILED})
"""States that last until the next event."""


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """The policy of restarts: a port in use is free within seconds; a start that fails five times needs a person."""

    pause_s_min: float = 0.5
    pause_s_max: float = 30.0
    steady_s: float = 10.0
    deaths_max: int = 5


class Deaths:
    """The consecutive ends of a process before it was steady."""

    def __init__(self, patience: RestartPolicy) -> None:
        self._patience = patience
        self._in_a_row = 0

    def after(self, lived_s: float) -> LifeEvent:
        """Return the event for the end of a process that ran for `lived_s` seconds."""
        self._in_a_row = 1 if lived_s >= self._patience.steady_s else self._in_a_row + 1
        return LifeEvent.ENDED_TOO_OFTEN if self._in_a_row >= self._patience.deaths_max else LifeEvent.ENDED

    @property
    def pause_s(self) -> float:
        """Seconds to wait before the next start."""
        doubled = self._patience.pause_s_min * 2.0 ** (self._in_a_row - 1)
        return min(doubled, self._patience.pause_s_max)
