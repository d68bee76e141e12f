"""R1: a change goes out at once, further changes wait, and the more of them come, the longer.

Law: two issues are at least `first_us` apart. The wait doubles each time an issue follows the last within twice the
wait, up to a bound that depends on what waits: a client is waiting for what widens.
"""

from __future__ import annotations


class Damper:
    def __init__(self, first_us: int) -> None:
        self._first_us = first_us
        self._wait_us = first_us
        self._issued_us: int | None = None

    def ready_us(self, most_us: int) -> int:
        """Return when the next issue may go out; it waits at most `most_us` after the last."""
        return 0 if self._issued_us is None else self._issued_us + min(self._wait_us, most_us)

    def issued(self, now_us: int, most_us: int) -> None:
        follows = self._issued_us is not None and now_us - self._issued_us < 2 * self._wait_us
        self._wait_us = min(2 * self._wait_us, most_us) if follows else self._first_us
        self._issued_us = now_us
