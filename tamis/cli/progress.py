"""The progress of a long run, for a person who waits at a terminal.

Law: nothing is written if stderr is not a terminal, and nothing in the first seconds.
"""

from __future__ import annotations

import sys
import time

INTERVAL_S = 2.0


class Progress:
    def __init__(self, what: str) -> None:
        self._what = what
        self._count = 0
        self._shown = sys.stderr.isatty()
        self._next_s = time.monotonic() + INTERVAL_S

    def step(self, count: int = 1) -> None:
        self._count += count
        if self._shown and time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + INTERVAL_S
            print(f"{self._count:,} {self._what}", file=sys.stderr)
