"""A steady rate of messages.

Law: a sender that was delayed catches up, but on no more than CATCH_UP_S.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

CATCH_UP_S: Final = 1.0


class Pace:
    def __init__(
        self,
        rate: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._interval_s = 1 / rate
        self._clock = clock
        self._sleep = sleep
        self._due_s = clock()

    def wait(self) -> None:
        """Wait until the next message is due."""
        now_s = self._clock()
        if self._due_s > now_s:
            self._sleep(self._due_s - now_s)
        self._due_s = max(self._due_s, now_s - CATCH_UP_S) + self._interval_s
