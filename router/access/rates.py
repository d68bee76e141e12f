"""The rate of each full name: a bucket of the switch, which the connections of the name share.

Law: a bucket stays after the last connection of its name until it is full, so that a name that connects again gains
nothing by it. At most LEFT_MAX such buckets stay; beyond that the one left first is freed, and its name begins with a
full one.
"""

from __future__ import annotations

from typing import Final

from tamis.native.rates import NO_BUCKET, BucketRate, PacingSwitch, free_bucket, is_full, new_bucket, set_bucket
from tamis.protocol.access.role import Rate

LEFT_MAX: Final = 10_000
LOOKED_AT_MAX: Final = 1_000
"""Buckets without a connection that are looked at in one second."""
BURST_PART: Final = 5
"""Credit is granted ten times a second, so that a burst is at least a fifth of what may come in a second."""


class PublishRates:
    """The buckets of one router, by full name. `frame_bytes_max`: the longest frame, which any rate lets pass in
    time."""

    def __init__(self, switch: PacingSwitch, frame_bytes_max: int) -> None:
        self._switch, self._frame_bytes_max = switch, frame_bytes_max
        self._buckets: dict[str, int] = {}
        self._left: dict[str, None] = {}  # names without a connection, in the order in which they were left

    def of(self, name: str, rate: Rate | None) -> int:
        """Return the bucket of a name with this rate from now on; NO_BUCKET if it has none. Raise OutOfMemory, or
        Refused beyond a limit."""
        self._left.pop(name, None)
        if rate is None:
            self._leave(name)  # a connection may still draw from it
            return NO_BUCKET
        wanted, bucket = _bucket_rate(rate, self._frame_bytes_max), self._buckets.get(name)
        if bucket is None:
            bucket = self._buckets[name] = new_bucket(self._switch, wanted)
        else:
            set_bucket(self._switch, bucket, wanted)
        return bucket

    def gone(self, name: str) -> None:
        """Note that the last connection of a name has ended."""
        self._leave(name)
        if len(self._left) > LEFT_MAX:
            self._free(next(iter(self._left)))

    def second_passed(self) -> None:
        """Free buckets that are full and have no connection."""
        for name in list(self._left)[:LOOKED_AT_MAX]:
            del self._left[name]
            if is_full(self._switch, self._buckets[name]):
                self._free(name)
            else:
                self._left[name] = None

    def _leave(self, name: str) -> None:
        if name in self._buckets:
            self._left[name] = None

    def _free(self, name: str) -> None:
        self._left.pop(name, None)
        if free_bucket(self._switch, self._buckets[name]):
            del self._buckets[name]


def _bucket_rate(rate: Rate, frame_bytes_max: int) -> BucketRate:
    messages_s, bytes_s = rate.messages_s or 0, rate.bytes_s or 0
    burst = max(rate.burst or messages_s, -(-messages_s // BURST_PART)) if messages_s else 0
    return BucketRate(messages_s, burst, bytes_s, max(bytes_s, frame_bytes_max) if bytes_s else 0)
