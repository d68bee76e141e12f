"""Figures of durable subscriptions, reported as events each second.

Law: the figures of a subscription are reported in a second in which they have changed, and every COUNTED_S seconds
while messages wait in it, since their age grows. Without a listener nothing is read; with one, KEEPS_PER_SLICE
subscriptions are read in a turn of the loop.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from tamis.native.keep_figures import KeepFigures
from tamis.router.daemon.events import SecondPassed
from tamis.router.daemon.keep_events import KeepCounted
from tamis.router.kept.keeper import KeepHost

COUNTED_S: Final = 60
KEEPS_PER_SLICE: Final = 64


class KeepCounts:
    """Reports the figures of the durable subscriptions of `keeper`."""

    def __init__(self, keeper: KeepHost) -> None:
        self._keeper = keeper
        self._told: dict[int, KeepFigures] = {}
        self._is_counting = False

    def each_second(self, second: SecondPassed) -> None:
        connections = self._keeper.connections
        if connections.events.is_heard(KeepCounted) and not self._is_counting:
            self._is_counting = True
            connections.work.add(self._count(is_minute=second.number % COUNTED_S == 0))

    def _count(self, *, is_minute: bool) -> Generator[None, None, None]:
        try:
            told, self._told = self._told, {}
            for place, held in enumerate(list(self._keeper.by_number.values()), 1):
                if self._keeper.by_number.get(held.number) is held:
                    self._look(held.number, self._keeper.figures(held), told, is_minute)
                if place % KEEPS_PER_SLICE == 0:
                    yield
        finally:
            self._is_counting = False

    def _look(self, number: int, figures: KeepFigures, told: dict[int, KeepFigures], is_minute: bool) -> None:
        self._told[number] = figures
        if figures != told.get(number) or (is_minute and figures.open):
            self._keeper.connections.events.tell(KeepCounted, number, figures)
