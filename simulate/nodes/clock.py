"""Virtual time: scheduled callbacks, in the order of their times.

Law: two callbacks of one moment run in the order in which they were scheduled, so a run is reproducible. Time is an
integer of microseconds and moves only here.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

Act = Callable[[Any], None]


class Clock:
    """Runs callbacks in the order of their times. A callback cannot be cancelled: it checks itself whether it still
    applies."""

    __slots__ = ("_heap", "_serial", "now_us")

    def __init__(self) -> None:
        self.now_us = 0
        self._heap: list[tuple[int, int, Act, Any]] = []
        self._serial = 0

    def __len__(self) -> int:
        return len(self._heap)

    def at(self, when_us: int, act: Act, argument: Any = None) -> None:  # noqa: ANN401 - what `act` takes
        self._serial += 1
        heappush(self._heap, (when_us, self._serial, act, argument))

    def after(self, delay_us: int, act: Act, argument: Any = None) -> None:  # noqa: ANN401 - what `act` takes
        self._serial += 1
        heappush(self._heap, (self.now_us + delay_us, self._serial, act, argument))

    def run_until(self, until_us: int) -> None:
        """Run every callback that is due by `until_us`, then set the time to `until_us`."""
        heap = self._heap
        while heap and heap[0][0] <= until_us:
            self.now_us, _, act, argument = heappop(heap)
            act(argument)
        self.now_us = until_us
