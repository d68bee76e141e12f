"""Figures of durable subscriptions, reported as events each second.

Law: the figures of a subscription are reported in a second in which they have changed, and every COUNTED_S seconds
while messages wait in it, since their age grows. Without a listener nothing is read; with one, DURABLES_PER_SLICE
subscriptions are read in a turn of the loop.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from tamis.native.durable_figures import DurableFigures
from tamis.router.daemon.durable_events import DurableCounted
from tamis.router.daemon.events import SecondPassed
from tamis.router.durable.registry import DurableRegistry

COUNTED_S: Final = 60
DURABLES_PER_SLICE: Final = 64


class DurableCounts:
    """Reports the figures of the durable subscriptions of `registry`."""

    def __init__(self, registry: DurableRegistry) -> None:
        self._registry = registry
        self._told: dict[int, DurableFigures] = {}
        self._is_counting = False

    def each_second(self, second: SecondPassed) -> None:
        connections = self._registry.connections
        if connections.events.is_heard(DurableCounted) and not self._is_counting:
            self._is_counting = True
            connections.work.add(self._count(is_minute=second.number % COUNTED_S == 0))

    def _count(self, *, is_minute: bool) -> Generator[None, None, None]:
        try:
            told, self._told = self._told, {}
            for place, held in enumerate(list(self._registry.by_number.values()), 1):
                if self._registry.by_number.get(held.number) is held:
                    self._look(held.number, self._registry.figures(held), told, is_minute)
                if place % DURABLES_PER_SLICE == 0:
                    yield
        finally:
            self._is_counting = False

    def _look(self, number: int, figures: DurableFigures, told: dict[int, DurableFigures], is_minute: bool) -> None:
        self._told[number] = figures
        if figures != told.get(number) or (is_minute and figures.open):
            self._registry.connections.events.tell(DurableCounted, number, figures)
