"""R1: damping: a change is issued at once, and further changes wait, longer the more of them follow.

Law: two issues are at least `first_us` apart. The wait doubles each time an issue follows the last within twice the
wait, up to a bound that depends on the change: a client is waiting for a change that widens.
"""

from __future__ import annotations


class Damper:
    def __init__(self, first_us: int) -> None:
        self._first_us = first_us
        self._wait_us = first_us
        self._issued_us: int | None = None

    def ready_us(self, most_us: int) -> int:
        """Return the time from which the next issue is allowed, at most `most_us` after the last."""
        return 0 if self._issued_us is None else self._issued_us + min(self._wait_us, most_us)

    def issued(self, now_us: int, most_us: int) -> None:
        follows = self._issued_us is not None and now_us - self._issued_us < 2 * self._wait_us
        self._wait_us = min(2 * self._wait_us, most_us) if follows else self._first_us
        self._issued_us = now_us
