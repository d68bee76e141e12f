"""R1: which local filters need not be advertised, because another advertised filter covers them.

Law: a filter is set aside only if covering is proven, and only under a filter that is not itself aside. Covering runs
behind: a filter that was not looked at yet is advertised as it is. Long filters are not looked at, and past FILTERS_MAX
none is, so that memory and time stay bounded. A filter of a worker group is not looked at either: it asks for a share
of what it matches, which no other filter asks for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from tamis.protocol.covering.index import CoverIndex
from tamis.protocol.errors import NeverMatches
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.protocol.wire.routing_bodies import group_of

FILTERS_MAX: Final = 10_000
"""Filters in the index, some KiB each; a question about one takes a third of a millisecond when it is full."""
BYTES_MAX: Final = 1_024
"""The longest packed filter that is looked at, in bytes. A long list of values takes milliseconds and hundreds of bytes
for each value, and another filter seldom covers it."""


class Cover:
    def __init__(self) -> None:
        self._index: CoverIndex[bytes] = CoverIndex()
        self._queue: deque[bytes] = deque()
        self._queued: set[bytes] = set()  # those in the queue that are still to be looked at
        self._under: dict[bytes, dict[bytes, None]] = {}
        self._above: dict[bytes, bytes] = {}

    def __contains__(self, packed: bytes) -> bool:
        """Is the filter `packed` set aside?"""
        return packed in self._above

    def __len__(self) -> int:
        return len(self._above)

    @property
    def has_work(self) -> bool:
        return bool(self._queued)

    def add(self, packed: bytes) -> None:
        """Queue a filter that is advertised from now on, to be looked at later."""
        if len(packed) <= BYTES_MAX and len(self._index) < FILTERS_MAX and not group_of(packed):
            self._queue.append(packed)
            self._queued.add(packed)

    def drop(self, packed: bytes) -> Iterable[bytes]:
        """Forget a filter that is no longer advertised, or was aside and is no longer wanted. Return the filters that
        it covered: they must be advertised."""
        self._queued.discard(packed)
        if not self._queued:
            self._queue.clear()
        above = self._above.pop(packed, None)
        if above is not None:
            del self._under[above][packed]
            return ()
        if packed in self._index:
            self._index.remove(packed)
        uncovered = self._under.pop(packed, {})
        for other in uncovered:
            del self._above[other]
        return uncovered

    def look(self) -> tuple[bytes, ...]:
        """Look at the next filter of the queue. Return those that are set aside now: itself, or others."""
        if len(self._index) >= FILTERS_MAX:
            self._queue.clear()
            self._queued.clear()
            return ()
        while (packed := self._queue.popleft()) not in self._queued:
            pass
        self._queued.remove(packed)
        filter_ = decode_filter(packed)
        try:
            by = next(self._index.covering(filter_), None)
            covered = tuple(self._index.covered_by(filter_)) if by is None else ()
        except NeverMatches:
            return ()
        if by is not None:
            self._set_aside(packed, by)
            return (packed,)
        self._index.add(packed, filter_)
        for other in covered:
            self._index.remove(other)
            for under in self._under.pop(other, ()):
                self._set_aside(under, packed)
            self._set_aside(other, packed)
        return covered

    def _set_aside(self, packed: bytes, by: bytes) -> None:
        self._above[packed] = by
        self._under.setdefault(by, {})[packed] = None
