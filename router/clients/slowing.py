"""Delay of credentials from addresses that have sent wrong ones.

Law: the delay grows with the failures of the address and is bounded; it affects no other address. Right credentials are
delayed, too: otherwise the lack of an immediate answer would show a peer that its guess was wrong. An address is
forgotten QUIET_S after its last failure; past ADDRESSES_MAX the one that failed least recently is forgotten.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

FREE: Final = 3
"""Failures of an address without a delay, because people mistype."""
FIRST_S: Final = 0.1
MOST_S: Final = 1.0
"""The longest delay: shorter than a client waits for an answer; a thousand guesses take a quarter of an hour."""
QUIET_S: Final = 60.0
ADDRESSES_MAX: Final = 10_000
"""Addresses remembered, about 2 MiB."""


class _Failures(NamedTuple):
    times: int
    last_s: float
    free_s: float
    """When the next credential is checked."""


class Slowing:
    """The delays of all addresses. `clock`: returns seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._of: OrderedDict[str, _Failures] = OrderedDict()

    def __len__(self) -> int:
        return len(self._of)

    def wait_s(self, address: str) -> float:
        """Return the remaining delay of a credential from `address`, 0 if there is none."""
        failures = self._of.get(address)
        return 0.0 if failures is None else max(0.0, failures.free_s - self._clock())

    def failed(self, address: str) -> None:
        """Record a wrong credential from `address`."""
        now, before = self._clock(), self._of.get(address)
        count = 1 if before is None or now - before.last_s > QUIET_S else before.times + 1
        wait_s = 0.0 if count <= FREE else min(MOST_S, FIRST_S * 2.0 ** min(count - FREE - 1, 10))
        self._of[address] = _Failures(count, now, now + wait_s)
        self._of.move_to_end(address)
        while len(self._of) > ADDRESSES_MAX or self._is_quiet(now):
            self._of.popitem(last=False)

    def _is_quiet(self, now: float) -> bool:
        """Return whether the address that failed least recently did so more than QUIET_S ago."""
        return now - next(iter(self._of.values())).last_s > QUIET_S
