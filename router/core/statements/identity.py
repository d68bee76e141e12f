"""R9: the freshness of this router's own statements.

Law: (epoch, seq) only grows. A router that holds a newer statement of this router, or a different one of equal
freshness, has it from an earlier life whose epoch was lost: the next statement is newer, and in an epoch that no other
life has used. Some lives may be unknown to all reachable routers, and messages are counted within an epoch: the
messages of two lives in one epoch would be taken for duplicates. A jump never exceeds the epochs that other routers
accept, and never uses up all the room below that. This router lowers its epoch only where its neighbours refuse it, to
one that they accept.
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
"""The bits of a jump: up to nearly five hours in milliseconds, after which the epoch of a later start is soon
higher."""
_ROOM_PART: Final = 4
"""A jump takes a quarter of the room at most: a router that is made to jump repeatedly can still jump."""


class OwnFreshness:
    def __init__(self, name: str, epoch: int) -> None:
        self.name, self.number = name, stable_number(name)
        self.epoch, self.seq = epoch, 0
        self._stride = 1 + (epoch * _GOLDEN % 2**64 >> 64 - _STRIDE_BITS)
        """The length of a jump of this life: lives begin at different moments, which gives each its own epochs to jump
        to."""
        self._newest_heard = Version(0, 0)
        self._held_below = 0
        self._highest = epoch
        self._jumps: deque[int] = deque(maxlen=ALARM_JUMPS)

    @property
    def version(self) -> Version:
        return Version(self.epoch, self.seq)

    def next(self) -> Version:
        """Increment seq, and return the version of the next statement."""
        self.seq += 1
        return self.version

    def hear_of_me(self, heard: Version) -> None:
        """Record that some router holds the version `heard` of this router, which it did not state in this life."""
        self._newest_heard = max(heard, self._newest_heard)

    def heard_epoch(self, epoch: int) -> None:
        """Record that some router holds a statement of this router in `epoch`, possibly of an earlier life."""
        if epoch < self.epoch:
            self._held_below = max(epoch, self._held_below)

    @property
    def newest_heard(self) -> Version:
        """The newest version of this router that another router holds and that was not stated in this life."""
        return self._newest_heard

    def least(self, believed: int) -> int:
        """Return the lowest epoch above all that other routers hold of this router. An epoch above `believed` is
        ignored, as no router continues to hold it."""
        return 1 + max(
            (heard for heard in (self._newest_heard.epoch, self._held_below) if heard <= believed), default=0
        )

    def jump(self, now_us: int, most: int = EPOCH_MAX) -> bool:
        """Move to a version newer than all received ones, in an epoch up to `most`. Return whether jumps have become
        suspiciously frequent."""
        heard = self._newest_heard.epoch
        if self.epoch <= heard < most:
            self.epoch, self.seq = heard + min(self._stride, max(1, (most - heard) // _ROOM_PART)), 0
        self._jumps.append(now_us)
        return len(self._jumps) == ALARM_JUMPS and now_us - self._jumps[0] < ALARM_WITHIN_US

    def lower(self, epoch: int) -> None:
        """Lower the epoch to `epoch`, as the neighbours refuse the present one."""
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
        """The time of the last jump; None: there was none."""
        return self._jumps[-1] if self._jumps else None
