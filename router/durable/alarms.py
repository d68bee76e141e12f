"""Alarms of durable subscriptions that are nearly full.

Law: an alarm is raised once when its condition begins, and again only after the condition has ended; each second at
most DURABLES_A_LOOK subscriptions are checked.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from tamis.native.durable_figures import DurableFigures
from tamis.protocol.wire.durable_bodies import DurablePolicy
from tamis.router.daemon.health import Health
from tamis.router.durable.hosted import HostedDurable
from tamis.router.durable.registry import DurableRegistry

NEARLY_FULL: Final = 0.8
OVER_BELOW: Final = 0.7
"""Fractions of the bounds of a durable subscription at which its alarm begins and ends."""
DURABLES_A_LOOK: Final = 200


class DurableAlarms:
    def __init__(self, registry: DurableRegistry, health: Health) -> None:
        self._registry, self._health = registry, health
        self._full: set[int] = set()
        self._next = 0

    def look(self) -> None:
        """Check the next DURABLES_A_LOOK durable subscriptions."""
        registry = self._registry
        numbers = sorted(number for number in registry.by_number if number >= self._next)
        some = list(islice(numbers, DURABLES_A_LOOK))
        self._next = some[-1] + 1 if len(some) == DURABLES_A_LOOK else 0
        for number in some:
            self._look_at(registry.by_number[number])
        self._full &= registry.by_number.keys()

    def _look_at(self, held: HostedDurable) -> None:
        part = full_part(self._registry.figures(held), held.rest)
        if part < OVER_BELOW:
            self._full.discard(held.number)
        elif part >= NEARLY_FULL and held.number not in self._full:
            self._full.add(held.number)
            self._health.alarm(
                f"durable subscription {held.name} uses {part:.0%} of its limit: at 100% its policy drops and "
                "reports its oldest messages, or refuses new ones"
            )


def full_part(figures: DurableFigures, policy: DurablePolicy) -> float:
    """Return the fraction of its bounds that a durable subscription uses, the larger of bytes and messages."""
    part = figures.bytes / policy.bytes
    return max(part, (figures.open + figures.past) / policy.count) if policy.count else part
