"""Addresses that have shown wrong credentials have to wait before the next credential is looked at.

Law: the wait grows with the failures of the address and is bounded; it concerns no other address. Right credentials
wait, too: else a peer without an answer at once would know that its guess was wrong. An address is forgotten QUIET_S
after its last failure, and where there are more than ADDRESSES_MAX, the one that failed least recently.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

FREE: Final = 3
"""Failures of an address that cost no wait, as people mistype."""
FIRST_S: Final = 0.1
MOST_S: Final = 1.0
"""The longest wait: shorter than a client waits for an answer, and a thousand guesses take a quarter of an hour."""
QUIET_S: Final = 60.0
ADDRESSES_MAX: Final = 10_000
"""Addresses remembered, about 2 MiB."""


class _Failures(NamedTuple):
    times: int
    last_s: float
    free_s: float
    """When the next credential is looked at."""


class Slowing:
    """The waits of all addresses; `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._of: OrderedDict[str, _Failures] = OrderedDict()

    def __len__(self) -> int:
        return len(self._of)

    def wait_s(self, address: str) -> float:
        """Return how long a credential from `address` still has to wait; 0: not at all."""
        failures = self._of.get(address)
        return 0.0 if failures is None else max(0.0, failures.free_s - self._clock())

    def failed(self, address: str) -> None:
        """Note that a credential from `address` was wrong."""
        now, before = self._clock(), self._of.get(address)
        count = 1 if before is None or now - before.last_s > QUIET_S else before.times + 1
        wait_s = 0.0 if count <= FREE else min(MOST_S, FIRST_S * 2.0 ** min(count - FREE - 1, 10))
        self._of[address] = _Failures(count, now, now + wait_s)
        self._of.move_to_end(address)
        while len(self._of) > ADDRESSES_MAX or self._is_quiet(now):
            self._of.popitem(last=False)

    def _is_quiet(self, now: float) -> bool:
        """Is the last failure of the address that failed least recently longer ago than QUIET_S?"""
        return now - next(iter(self._of.values())).last_s > QUIET_S
