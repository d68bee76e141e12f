"""A limit on how often something is done about one subject.

Law: the same subject is allowed once in a period. When REMEMBERED_MAX subjects are remembered, no other is allowed
until one of them is forgotten.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

REMEMBERED_MAX: Final = 10_000
"""Subjects remembered, about 1 MB. A neighbour that names more within a period gets no answer, and needs none."""


class RateLimiter:
    def __init__(self, every_us: int) -> None:
        self._every_us = every_us
        self._until_us: dict[Hashable, int] = {}  # in the order of time, as all have one period

    def may(self, what: Hashable, now_us: int) -> bool:
        """Return whether something may be done about `what` now, and remember that it is; True once in a period."""
        until_us = self._until_us
        while until_us and until_us[next(iter(until_us))] <= now_us:
            del until_us[next(iter(until_us))]
        if what in until_us or len(until_us) >= REMEMBERED_MAX:
            return False
        until_us[what] = now_us + self._every_us
        return True
