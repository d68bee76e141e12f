"""The digest of all events, in order.

Law: only numbers that do not depend on the process are included: times, router and session numbers, serials.
"""

from __future__ import annotations

import hashlib
from array import array

_BATCH = 8_192


class Transcript:
    __slots__ = ("_digest", "_numbers")

    def __init__(self) -> None:
        self._digest = hashlib.blake2b(digest_size=16)
        self._numbers = array("Q")

    def note(self, *numbers: int) -> None:
        self._numbers.extend(numbers)
        if len(self._numbers) >= _BATCH:
            self._flush()

    def digest(self) -> str:
        self._flush()
        return self._digest.hexdigest()

    def _flush(self) -> None:
        self._digest.update(self._numbers.tobytes())
        del self._numbers[:]
