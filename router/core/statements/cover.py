"""R1: which local filters need not be advertised, because another advertised filter covers them.

Law: a filter is set aside only if covering is proven, and only under a filter that is not itself aside. Covering is
deferred: a filter that was not examined yet is advertised as it is. Long filters are not examined, and no filter is
once the index is full, which bounds memory and time. A filter of a worker group is not examined either: it requests a
share of its messages, which no other filter requests.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Collection, Iterable
from typing import Final, Protocol

from tamis.protocol.wire.routing_bodies import group_of

BYTES_MAX: Final = 1_024
"""The longest packed filter that is examined, in bytes. A long list of values takes milliseconds and hundreds of bytes
for each value, and another filter rarely covers it."""
UNCOVERED_PER_SLICE: Final = 1_000
"""Filters that return in one slice when their cover leaves: about 2 ms."""


class FilterIndex(Protocol):
    """The filters that are not aside. About `looks_per_slice` of them are examined in 2 ms."""

    looks_per_slice: int
    answers_max: int

    @property
    def is_full(self) -> bool: ...

    def __contains__(self, packed: object) -> bool: ...

    def add(self, packed: bytes) -> None:
        """Add a filter, unless it cannot be compared."""

    def remove(self, packed: bytes) -> None:
        """Remove a filter of the index."""

    def covering(self, packed: bytes) -> bytes | None:
        """Return a filter that covers this one."""

    def covered(self, packed: bytes) -> tuple[bytes, ...]:
        """Return filters that this one covers, possibly including itself; at most `answers_max` of them."""


class NoIndex:
    """An index without filters, which finds none covered."""

    looks_per_slice = 1
    answers_max = 1
    is_full = True

    def __contains__(self, packed: object) -> bool:
        return False

    def add(self, packed: bytes) -> None:
        """Do nothing."""

    def remove(self, packed: bytes) -> None:
        """Do nothing: the index has no filters."""

    def covering(self, packed: bytes) -> bytes | None:  # noqa: ARG002 - the signature of `FilterIndex`
        return None

    def covered(self, packed: bytes) -> tuple[bytes, ...]:  # noqa: ARG002
        return ()


class Cover:
    def __init__(self, index: FilterIndex) -> None:
        self.index = index
        self._queue: deque[bytes] = deque()
        self._queued: set[bytes] = set()  # filters of the queue that are still to be examined
        self._under: dict[bytes, dict[bytes, None]] = {}
        self._above: dict[bytes, bytes] = {}
        self._dropped: dict[bytes, None] = {}  # filters that are gone and still cover others

    def __contains__(self, packed: bytes) -> bool:
        """Return whether the filter `packed` is set aside."""
        return packed in self._above

    def __len__(self) -> int:
        return len(self._above)

    @property
    def has_work(self) -> bool:
        return bool(self._queued or self._dropped)

    @property
    def has_looks(self) -> bool:
        """Return whether a filter is to be examined."""
        return bool(self._queued)

    @property
    def looks_per_slice(self) -> int:
        return self.index.looks_per_slice

    def add(self, packed: bytes) -> None:
        """Queue a filter that is advertised from now on, to be examined later. A filter that was dropped keeps those
        under it that have not returned yet."""
        self._dropped.pop(packed, None)
        if len(packed) <= BYTES_MAX and not self.index.is_full and not group_of(packed):
            self._queue.append(packed)
            self._queued.add(packed)

    def drop(self, packed: bytes) -> Iterable[bytes]:
        """Remove a filter that is no longer advertised, or was aside and is no longer wanted. Return filters that it
        covered: they must be advertised, like those that `uncover` returns while `is_above` is true."""
        self._queued.discard(packed)
        if not self._queued:
            self._queue.clear()
        above = self._above.pop(packed, None)
        if above is not None:
            self._take_from_under(above, packed)
            return ()
        if packed in self.index:
            self.index.remove(packed)
        if packed not in self._under:
            return ()
        self._dropped[packed] = None
        return self._come_back(packed)

    def is_above(self, packed: bytes) -> bool:
        """Return whether a dropped filter still covers others, which are not advertised yet."""
        return packed in self._dropped

    def uncover(self) -> Iterable[bytes]:
        """Return the next filters that must be advertised, as their cover is gone."""
        return self._come_back(next(iter(self._dropped))) if self._dropped else ()

    def _come_back(self, packed: bytes) -> list[bytes]:
        under = self._under[packed]
        uncovered = list(itertools.islice(under, UNCOVERED_PER_SLICE))
        for other in uncovered:
            del under[other], self._above[other]
        if not under:
            del self._under[packed], self._dropped[packed]
        return uncovered

    def look(self) -> tuple[bytes, ...]:
        """Examine the next filter of the queue. Return the filters that are set aside now: itself, or others. A filter
        that covers more than the index returns at once is examined again."""
        packed = self.next_look()
        if packed is None:
            return ()
        is_known = packed in self.index
        by = None if is_known else self.index.covering(packed)
        if by is not None:
            self._set_aside(packed, by)
            return (packed,)
        covered = self.index.covered(packed)
        if not is_known:
            self.index.add(packed)
        if len(covered) >= self.index.answers_max:
            self._queue.append(packed)
            self._queued.add(packed)
        aside = tuple(other for other in covered if other != packed)
        for other in aside:
            self.index.remove(other)
            self._set_aside(other, packed)
        return aside

    def cover_of(self, packed: bytes) -> bytes | None:
        """Return the filter under which `packed` is set aside; None: it is not."""
        return self._above.get(packed)

    def filters_under(self, packed: bytes) -> Collection[bytes]:
        """Return the filters that are set aside under `packed`."""
        return self._under.get(packed, {}).keys()

    def place_under(self, by: bytes, covered: Iterable[bytes]) -> None:
        """Set advertised filters aside under `by`, which is advertised and proven to cover them."""
        for packed in covered:
            self._queued.discard(packed)
            if packed in self.index:
                self.index.remove(packed)
            self._set_aside(packed, by)
        if not self._queued:
            self._queue.clear()

    def replace(self, packed: bytes, by: bytes, covered: Collection[bytes]) -> list[bytes]:
        """Put the filters under `packed`, which is no longer advertised, under `by`, which is, if they are among
        `covered`: those that `by` is proven to cover. Return the others: they must be advertised."""
        if packed in self.index:
            self.index.remove(packed)
        under = list(self._under.pop(packed, ()))
        for other in under:
            del self._above[other]
            if other in covered:
                self._set_aside(other, by)
        return [other for other in under if other not in covered]

    def next_look(self) -> bytes | None:
        """Remove and return the next filter of the queue; None: the index is full, and the queue is emptied."""
        if self.index.is_full:
            self._queue.clear()
            self._queued.clear()
            return None
        while (packed := self._queue.popleft()) not in self._queued:
            pass
        self._queued.remove(packed)
        return packed

    def _take_from_under(self, above: bytes, packed: bytes) -> None:
        del self._under[above][packed]
        if not self._under[above]:
            del self._under[above]
            self._dropped.pop(above, None)

    def _set_aside(self, packed: bytes, by: bytes) -> None:
        """Put a filter under `by`, with the filters under it."""
        under = self._under.setdefault(by, {})
        for other in (*self._under.pop(packed, ()), packed):
            self._above[other] = by
            under[other] = None
