"""The wait before a neighbour is dialled again.

Law: the wait is 50 ms at first, twice that after each failure, a second at most, and up to a quarter longer at random:
two routers that were cut off together do not return together. Attempts never end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

FIRST_S: Final = 0.05
MOST_S: Final = 1.0
JITTER: Final = 0.25


class Backoff:
    """The waits between attempts; `chance` returns random numbers from 0 to 1."""

    def __init__(self, chance: Callable[[], float]) -> None:
        self._chance = chance
        self._next_s = FIRST_S

    def next_s(self) -> float:
        wait_s = self._next_s
        self._next_s = min(MOST_S, 2 * wait_s)
        return wait_s * (1 + JITTER * self._chance())

    def reset(self) -> None:
        """Start with the shortest wait again, as the link was up for a while."""
        self._next_s = FIRST_S
