"""R1: a change goes out at once, those behind it wait, and the longer the more of them come.

Law: two issues are `first_us` apart at least, and twice that each time another followed before twice the wait was
over, up to a bound that depends on what waits: what widens is waited for.
"""

from __future__ import annotations


class Damper:
    def __init__(self, first_us: int) -> None:
        self._first_us = first_us
        self._wait_us = first_us
        self._issued_us: int | None = None

    def ready_us(self, most_us: int) -> int:
        """When the next issue may go out, if at most `most_us` after the last."""
        return 0 if self._issued_us is None else self._issued_us + min(self._wait_us, most_us)

    def issued(self, now_us: int, most_us: int) -> None:
        follows = self._issued_us is not None and now_us - self._issued_us < 2 * self._wait_us
        self._wait_us = min(2 * self._wait_us, most_us) if follows else self._first_us
        self._issued_us = now_us
