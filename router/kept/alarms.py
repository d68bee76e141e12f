"""Alarms of durable subscriptions that are nearly full.

Law: an alarm is raised once when its condition begins, and again only after the condition has ended; each second at
most KEEPS_A_LOOK subscriptions are checked.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from tamis.native.keep_figures import KeepFigures
from tamis.protocol.wire.keep_bodies import KeepTerms
from tamis.router.daemon.health import Health
from tamis.router.kept.held import HeldKeep
from tamis.router.kept.keeper import KeepHost

NEARLY_FULL: Final = 0.8
OVER_BELOW: Final = 0.7
"""Fractions of the bounds of a durable subscription at which its alarm begins and ends."""
KEEPS_A_LOOK: Final = 200


class KeptAlarms:
    def __init__(self, keeper: KeepHost, health: Health) -> None:
        self._keeper, self._health = keeper, health
        self._full: set[int] = set()
        self._next = 0

    def look(self) -> None:
        """Check the next KEEPS_A_LOOK durable subscriptions."""
        keeper = self._keeper
        numbers = sorted(number for number in keeper.by_number if number >= self._next)
        some = list(islice(numbers, KEEPS_A_LOOK))
        self._next = some[-1] + 1 if len(some) == KEEPS_A_LOOK else 0
        for number in some:
            self._look_at(keeper.by_number[number])
        self._full &= keeper.by_number.keys()

    def _look_at(self, held: HeldKeep) -> None:
        part = full_part(self._keeper.figures(held), held.rest)
        if part < OVER_BELOW:
            self._full.discard(held.number)
        elif part >= NEARLY_FULL and held.number not in self._full:
            self._full.add(held.number)
            self._health.alarm(
                f"keep {held.name} has {part:.0%} of what it may have: past that the oldest are dropped and told, "
                "or new ones refused, as its terms say"
            )


def full_part(figures: KeepFigures, terms: KeepTerms) -> float:
    """Return the fraction of its bounds that a durable subscription uses, the larger of bytes and messages."""
    part = figures.bytes / terms.bytes
    return max(part, (figures.open + figures.past) / terms.count) if terms.count else part
