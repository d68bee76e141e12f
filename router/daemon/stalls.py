"""The times for which the event loop was held.

Law: a beat is due every BEAT_S; its delay is the time for which the loop was held, to within a beat. `held_s` counts
only the part that this thread computed itself: other load on the machine does not count.
"""

from __future__ import annotations

import asyncio
import time
from typing import Final

BEAT_S: Final = 0.01
STALL_S: Final = 0.05
"""Seconds from which a delay is a stall: no work of the router may hold the loop for longer."""


class StallWatch:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._timer: asyncio.TimerHandle | None = None
        self.late_s_max = 0.0
        self.held_s_max = 0.0
        self.stalls = 0
        self._recently_held_s = 0.0

    def taken_held_s(self) -> float:
        """Return the longest time for which the loop was held since the last call."""
        held_s, self._recently_held_s = self._recently_held_s, 0.0
        return held_s

    def start(self) -> None:
        self._due_s, self._computed_s = time.monotonic() + BEAT_S, time.thread_time()
        self._timer = self._loop.call_later(BEAT_S, self._beat)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _beat(self) -> None:
        self.note(time.monotonic() - self._due_s, time.thread_time() - self._computed_s)
        self.start()

    def note(self, late_s: float, computed_s: float) -> None:
        """Record a beat `late_s` after it was due; since the last one this thread has computed for `computed_s`."""
        held_s = min(late_s, computed_s)
        self.late_s_max = max(self.late_s_max, late_s)
        self.held_s_max = max(self.held_s_max, held_s)
        self._recently_held_s = max(self._recently_held_s, held_s)
        self.stalls += held_s > STALL_S
