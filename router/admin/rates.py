"""Rate limits of administration pages that are expensive for other users.

Law: each such page has a bucket of BURST requests, which refills by PER_SECOND requests a second; a request is refused
while the bucket is empty.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

PER_SECOND: Final = {
    "/explain": 20.0,
    "/audit": 1.0,
    "/spaces/put": 2.0,
    "/durables/give": 10.0,
    "/durables/purge": 1.0,
}
BURST: Final = {
    "/explain": 100.0,
    "/audit": 10.0,
    "/spaces/put": 10.0,
    "/durables/give": 100.0,
    "/durables/purge": 10.0,
}


class Rates:
    """The buckets of all pages. `clock`: returns seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._filled_s = clock()
        self._left = dict(BURST)

    def take(self, page: str) -> bool:
        """Count a request of `page` and return whether it is allowed now."""
        now = self._clock()
        for each, left in self._left.items():
            self._left[each] = min(BURST[each], left + (now - self._filled_s) * PER_SECOND[each])
        self._filled_s = now
        if self._left[page] < 1:
            return False
        self._left[page] -= 1
        return True
