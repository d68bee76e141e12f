"""A limit on how often an action is taken about one subject.

Law: a subject is allowed once in a period. While REMEMBERED_MAX subjects are recorded, no other is allowed.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

REMEMBERED_MAX: Final = 10_000
"""Subjects recorded, about 1 MB. A neighbour that names more within a period gets no reply, and needs none."""


class RateLimiter:
    def __init__(self, every_us: int) -> None:
        self._every_us = every_us
        self._until_us: dict[Hashable, int] = {}  # in the order of time, as all subjects have one period

    def may(self, what: Hashable, now_us: int) -> bool:
        """Return whether an action about `what` is allowed now, and record it if it is; true once in a period."""
        until_us = self._until_us
        while until_us and until_us[next(iter(until_us))] <= now_us:
            del until_us[next(iter(until_us))]
        if what in until_us or len(until_us) >= REMEMBERED_MAX:
            return False
        until_us[what] = now_us + self._every_us
        return True
