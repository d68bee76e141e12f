"""The life of one supervised process, as a table, and how long it waits before it begins again.

Law: a state changes by `TRANSITIONS` alone; a pair that is not in it is a bug of the caller. A process that ends by
itself is started again after a pause that doubles; one that has been up for `steady_s` has earned a short pause again;
one that ends `deaths_max` times in a row without that has failed, and is left alone.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class State(enum.StrEnum):
    STARTING = "starting"
    READY = "ready"
    RESTARTING = "restarting"
    STOPPING = "stopping"
    STOPPED = "stopped"
    FAILED = "failed"


class Event(enum.Enum):
    SAID_READY = enum.auto()
    ENDED = enum.auto()
    ENDED_TOO_OFTEN = enum.auto()
    PAUSE_OVER = enum.auto()
    STOP_ASKED = enum.auto()


TRANSITIONS: dict[tuple[State, Event], State] = {
    (State.STARTING, Event.SAID_READY): State.READY,
    (State.STARTING, Event.ENDED): State.RESTARTING,
    (State.STARTING, Event.ENDED_TOO_OFTEN): State.FAILED,
    (State.STARTING, Event.STOP_ASKED): State.STOPPING,
    (State.READY, Event.ENDED): State.RESTARTING,
    (State.READY, Event.ENDED_TOO_OFTEN): State.FAILED,
    (State.READY, Event.STOP_ASKED): State.STOPPING,
    (State.RESTARTING, Event.PAUSE_OVER): State.STARTING,
    (State.RESTARTING, Event.STOP_ASKED): State.STOPPED,
    (State.STOPPING, Event.SAID_READY): State.STOPPING,
    (State.STOPPING, Event.ENDED): State.STOPPED,
    (State.STOPPING, Event.ENDED_TOO_OFTEN): State.STOPPED,
    (State.STOPPING, Event.STOP_ASKED): State.STOPPING,
    (State.STOPPED, Event.STOP_ASKED): State.STOPPED,
    (State.FAILED, Event.STOP_ASKED): State.FAILED,
}

SETTLED = frozenset({State.READY, State.STOPPED, State.FAILED})
"""Where nothing changes unless something happens."""


@dataclass(frozen=True, slots=True)
class Patience:
    """A port that is still held is free within seconds; what fails five times needs a person."""

    pause_s_min: float = 0.5
    pause_s_max: float = 30.0
    steady_s: float = 10.0
    deaths_max: int = 5


class Deaths:
    """How often in a row a process has ended before it was steady."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._in_a_row = 0

    def after(self, lived_s: float) -> Event:
        """What the end of a process means that lived for so long."""
        self._in_a_row = 1 if lived_s >= self._patience.steady_s else self._in_a_row + 1
        return Event.ENDED_TOO_OFTEN if self._in_a_row >= self._patience.deaths_max else Event.ENDED

    @property
    def pause_s(self) -> float:
        """What is waited before the next start."""
        doubled = self._patience.pause_s_min * 2.0 ** (self._in_a_row - 1)
        return min(doubled, self._patience.pause_s_max)
