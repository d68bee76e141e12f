"""R9: the freshness of what this router says of itself.

Law: (epoch, seq) only grows. Whoever holds something newer of us, or something else of equal freshness, has it from an
earlier life whose epoch was lost: what we say next is newer than that, and in an epoch that no other life has used.
There may be lives of which nobody in reach has heard, and messages are counted within an epoch: two lives in one would
pass for each other's doubles.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from tamis.protocol.wire.numbers import stable_number
from tamis.router.core.freshness import Version

ALARM_JUMPS: Final = 3
ALARM_WITHIN_US: Final = 60_000_000
"""So many jumps within so long: two routers have one id."""
_GOLDEN: Final = 0x9E3779B97F4A7C15
_STRIDE_BITS: Final = 24
"""Nearly five hours of milliseconds, by which epochs that are lost are replaced: a later one is past them soon."""


class Identity:
    def __init__(self, name: str, epoch: int) -> None:
        self.name, self.number = name, stable_number(name)
        self.epoch, self.seq = epoch, 0
        self._stride = 1 + (epoch * _GOLDEN % 2**64 >> 64 - _STRIDE_BITS)
        """Lives begin at different moments, so that each jumps to where no other does from the same epoch."""
        self._newest_heard = Version(0, 0)
        self._jumps: deque[int] = deque(maxlen=ALARM_JUMPS)

    @property
    def version(self) -> Version:
        return Version(self.epoch, self.seq)

    def next(self) -> Version:
        """The version of the next statement."""
        self.seq += 1
        return self.version

    def hear_of_me(self, heard: Version) -> None:
        """Somebody holds this of us, and we did not say it in this life."""
        self._newest_heard = max(heard, self._newest_heard)

    def jump(self, now_us: int) -> bool:
        """Be newer than all that was heard. True: that has happened suspiciously often."""
        if self._newest_heard.epoch >= self.epoch:
            self.epoch, self.seq = self._newest_heard.epoch + self._stride, 0
        self._jumps.append(now_us)
        return len(self._jumps) == ALARM_JUMPS and now_us - self._jumps[0] < ALARM_WITHIN_US

    @property
    def jumped_us(self) -> int | None:
        """When the last jump was."""
        return self._jumps[-1] if self._jumps else None
