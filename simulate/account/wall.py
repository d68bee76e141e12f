"""The wall clocks of routers that write records: virtual time from a fixed date on.

Law: each clock is wrong by a constant that depends on the seed and the router's name, and by nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Final

from tamis.simulate.nodes.clock import Clock

START_US: Final = 1_700_000_000_000_000
AHEAD_MAX_US: Final = 40_000
SECOND_US: Final = 1_000_000


class Wall:
    def __init__(self, clock: Clock, seed: int, name_of: Callable[[int], str]) -> None:
        self.name_of = name_of
        self._clock = clock
        self._seed = seed
        self.ahead_us = cache(self._ahead_us)
        """Maps a router to the time by which its clock is ahead of the true time, in microseconds."""

    @property
    def true_us(self) -> int:
        return START_US + self._clock.now_us

    def now_us(self, router: int) -> int:
        return self.true_us + self.ahead_us(router)

    def second(self, router: int) -> int:
        return self.now_us(router) // SECOND_US

    def _ahead_us(self, router: int) -> int:
        return Random(f"{self._seed}/{self.name_of(router)}/skew").randint(-AHEAD_MAX_US, AHEAD_MAX_US)
