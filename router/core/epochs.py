"""Which epochs are valid: no number from the wire stops this router or silences another.

Law: epochs are Unix milliseconds. An epoch is refused if it lies more than a day ahead of both the clock and the epoch
held of its issuer, or more than two days ahead of the clock, from whichever neighbour it comes; except where more than
half of the links state an epoch at least as high. No epoch is refused for lying behind.

The clock is this router's own, unless the clocks of more than half of its neighbours are a day behind it, or are a day
ahead and there are at least two neighbours. One neighbour among several therefore cannot change the clock of a router,
and a router whose own clock is wrong still takes part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

DAY_MS: Final = 86_400_000
EPOCH_MAX: Final = 2**62
"""The highest epoch that is ever valid, whatever a clock reads: sums with an epoch stay within 64 bits."""


def no_clock() -> int:
    """Stand in for the clock of a core that has none: EPOCH_MAX is then the only bound."""
    return EPOCH_MAX


class EpochValidator:
    """Validate epochs by the wall clock, which `unix_ms` reads, and by the statements of neighbours. A neighbour counts
    from its first statement to the end of its link."""

    def __init__(self, unix_ms: Callable[[], int] = no_clock) -> None:
        self._unix_ms = unix_ms
        self._stated: dict[int, tuple[int, int]] = {}
        """Maps a neighbour to the highest epoch that it states, and the issuer of that epoch; lowered when the
        neighbour states a lower epoch of that issuer."""
        self._ahead_ms: dict[int, int] = {}
        """Maps a neighbour to its wall clock, as milliseconds ahead of this router's steady clock."""

    # --- statements of neighbours

    def stated(self, neighbour: int, issuer: int, epoch: int) -> None:
        highest, of = self._stated.get(neighbour, (-1, 0))
        if epoch > highest or issuer == of:
            self._stated[neighbour] = epoch, issuer

    def takes(self, neighbour: int, acceptable: int, now_us: int) -> None:
        """Record that `neighbour` accepts epochs up to `acceptable`, by its own clock alone."""
        self._ahead_ms[neighbour] = max(0, acceptable - DAY_MS) - now_us // 1_000

    def gone(self, neighbour: int) -> None:
        """Forget what `neighbour` stated: its link has ended."""
        self._stated.pop(neighbour, None)
        self._ahead_ms.pop(neighbour, None)

    # --- validation

    def sure_ms(self, now_us: int) -> int:
        """Return the clock in milliseconds that may be sent to neighbours: it never depends on the clock of a single
        neighbour."""
        return min(self.clock_ms(now_us) if len(self._ahead_ms) > 1 else self._unix_ms(), EPOCH_MAX - DAY_MS)

    def clock_ms(self, now_us: int) -> int:
        own = min(self._unix_ms(), EPOCH_MAX)
        half = len(self._stated.keys() | self._ahead_ms.keys()) // 2
        if len(self._ahead_ms) <= half:
            return own
        clocks = sorted(ahead_ms + now_us // 1_000 for ahead_ms in self._ahead_ms.values())
        if clocks[half] < own - DAY_MS:  # the clocks before it in the order are behind, too: more than half of all
            return clocks[half]
        if half and clocks[-1 - half] > own + DAY_MS:
            return min(clocks[-1 - half], EPOCH_MAX)
        return own

    def by_clock(self, held: int, now_us: int) -> int:
        """Return the highest epoch of an issuer that the clock allows; `held` is the epoch held of it, 0 if none is
        held."""
        bound = self.clock_ms(now_us) + DAY_MS
        return min(max(bound, min(held, bound) + DAY_MS if held else 0), EPOCH_MAX)

    def acceptable(self, held: int, now_us: int) -> int:
        """Return the highest valid epoch of an issuer: by the clock (`by_clock`), or because more than half of the
        links state an epoch at least as high."""
        stated = sorted(self._stated.values())
        vouched, _ = stated[(len(stated) - 1) // 2] if stated else (0, 0)
        return min(max(self.by_clock(held, now_us), vouched), EPOCH_MAX)

    def above(self, heard: int, now_us: int) -> int:
        """Return the highest epoch that this router may claim in order to supersede `heard`: one that every router
        accepts, else one that the routers that hold `heard` accept."""
        for most in (self.by_clock(0, now_us), self.by_clock(heard, now_us)):
            if heard <= most and (heard < most or most > self.by_clock(0, now_us)):
                return most
        return min(heard + DAY_MS, EPOCH_MAX)  # most links state `heard`, and this clock is behind

    def is_so(self, epoch: int, held: int, now_us: int) -> bool:
        if not self._ahead_ms and epoch <= min(self._unix_ms() + DAY_MS, EPOCH_MAX):
            return True  # the usual case
        return epoch <= self.acceptable(held, now_us)

    def knows_clock(self, neighbour: int) -> bool:
        return neighbour in self._ahead_ms

    def refusing(self, epoch: int, now_us: int) -> int:
        """Return how many neighbours have clocks more than a day behind this router's own `epoch`."""
        return sum(ahead_ms + now_us // 1_000 + DAY_MS < epoch for ahead_ms in self._ahead_ms.values())
