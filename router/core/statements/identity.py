"""R9: the freshness of what this router states of itself.

Law: (epoch, seq) only grows. A router that holds something newer of this one, or something else of equal freshness, has
it from an earlier life whose epoch was lost: the next statement is newer than that, and in an epoch that no other life
has used. There may be lives of which no router in reach has heard, and messages are counted within an epoch: the
messages of two lives in one epoch would pass for each other's doubles. No jump goes past what the others believe, and
none uses up all the room below that. Only where its neighbours refuse its epoch does this router go back to one that
they take.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from tamis.protocol.wire.numbers import stable_number
from tamis.router.core.epochs import EPOCH_MAX
from tamis.router.core.statements.freshness import Version

ALARM_JUMPS: Final = 3
ALARM_WITHIN_US: Final = 60_000_000
"""Microseconds within which ALARM_JUMPS jumps show that two routers have one id."""
_GOLDEN: Final = 0x9E3779B97F4A7C15
_STRIDE_BITS: Final = 24
"""The bits of a jump: up to nearly five hours in milliseconds, so that a lost epoch is replaced by one that a later
start is soon past."""
_ROOM_PART: Final = 4
"""A jump takes a quarter of the room at most, so that a router that is made to jump again and again still can."""


class OwnFreshness:
    def __init__(self, name: str, epoch: int) -> None:
        self.name, self.number = name, stable_number(name)
        self.epoch, self.seq = epoch, 0
        self._stride = 1 + (epoch * _GOLDEN % 2**64 >> 64 - _STRIDE_BITS)
        """How far this life jumps: lives begin at different moments, so that each jumps to an epoch that no other jumps
        to."""
        self._newest_heard = Version(0, 0)
        self._held_below = 0
        self._highest = epoch
        self._jumps: deque[int] = deque(maxlen=ALARM_JUMPS)

    @property
    def version(self) -> Version:
        return Version(self.epoch, self.seq)

    def next(self) -> Version:
        """Count on, and return the version of the next statement."""
        self.seq += 1
        return self.version

    def hear_of_me(self, heard: Version) -> None:
        """Take in that some router holds the version `heard` of this router, which it did not state in this life."""
        self._newest_heard = max(heard, self._newest_heard)

    def heard_epoch(self, epoch: int) -> None:
        """Take in that some router holds a statement of this router in `epoch`, which may be an earlier life's."""
        if epoch < self.epoch:
            self._held_below = max(epoch, self._held_below)

    @property
    def newest_heard(self) -> Version:
        """The newest version of this router that another one holds and that was not stated in this life."""
        return self._newest_heard

    def least(self, believed: int) -> int:
        """Return the lowest epoch that is above all that others hold of this router. An epoch above `believed` is left
        out, as no router goes on holding it."""
        return 1 + max(
            (heard for heard in (self._newest_heard.epoch, self._held_below) if heard <= believed), default=0
        )

    def jump(self, now_us: int, most: int = EPOCH_MAX) -> bool:
        """Go on with a version newer than all that was heard, in an epoch up to `most`. Return whether jumps have
        become suspiciously frequent."""
        heard = self._newest_heard.epoch
        if self.epoch <= heard < most:
            self.epoch, self.seq = heard + min(self._stride, max(1, (most - heard) // _ROOM_PART)), 0
        self._jumps.append(now_us)
        return len(self._jumps) == ALARM_JUMPS and now_us - self._jumps[0] < ALARM_WITHIN_US

    def lower(self, epoch: int) -> None:
        """Go back to `epoch`, as the neighbours refuse the present one."""
        self._highest = self.highest
        self.epoch, self.seq = epoch, 0
        if self._newest_heard.epoch > epoch:
            self._newest_heard = Version(0, 0)

    @property
    def highest(self) -> int:
        """The highest epoch of this life: others may hold any of its epochs."""
        return max(self._highest, self.epoch)

    @property
    def jumped_us(self) -> int | None:
        """When the last jump was; None: there was none."""
        return self._jumps[-1] if self._jumps else None
