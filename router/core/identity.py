"""R9: the freshness of what this router says of itself.

Law: (epoch, seq) only grows. Whoever holds something newer of us, or something else of equal freshness, has it from an
earlier life whose epoch was lost: what we say next is newer than that.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from tamis.protocol.wire.numbers import stable_number
from tamis.router.core.freshness import Version

ALARM_JUMPS: Final = 3
ALARM_WITHIN_US: Final = 60_000_000
"""So many jumps within so long: two routers have one id."""


class Identity:
    def __init__(self, name: str, epoch: int) -> None:
        self.name, self.number = name, stable_number(name)
        self.epoch, self.seq = epoch, 0
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
        heard = self._newest_heard
        if heard.epoch > self.epoch:
            self.epoch, self.seq = heard.epoch + 1, 0
        elif heard.epoch == self.epoch:
            self.seq = max(self.seq, heard.seq)
        self._jumps.append(now_us)
        return len(self._jumps) == ALARM_JUMPS and now_us - self._jumps[0] < ALARM_WITHIN_US

    @property
    def jumped_us(self) -> int | None:
        """When the last jump was."""
        return self._jumps[-1] if self._jumps else None
