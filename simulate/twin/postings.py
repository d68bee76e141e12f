"""The postings of one attribute: the filters of an index that constrain it, and their regions there.

Law: `narrower` returns every entry whose region lies inside the queried one, and `wider` every entry anchored here
whose region contains it. Both may return further entries, which `covers` examines.

For `narrower` an entry has one place, by the end of its region that selects best:

started     by its least value   sets, and ranges with a lower end
unstarted   by its upper end     ranges that begin with the least value of their kind
loose                            several kinds, or absence

For `wider` ranges are divided likewise (`_Ranges`): of the ranges with one end, only those that contain the queried
region are examined.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

from tamis.protocol import _intervals as intervals
from tamis.protocol._intervals import Interval, common_prefix, lowest_like, successor
from tamis.protocol._regions import Broad, Finite, Region
from tamis.protocol.values import Value, ValueKind, identity, kind_of
from tamis.simulate.twin.buckets import Bucket, Buckets, discard

EntryT = TypeVar("EntryT", bound=Hashable)

Key = tuple[int, Value]
"""The kind and the value, as `values.identity` returns them."""

End = tuple[bool, Value]
"""Sort key of an interval's end; intervals without an end come last."""

_LOWEST_KEYS = frozenset({identity(intervals.LOWEST_NUMBER), identity(intervals.LOWEST_STRING)})
_ONLY_ABSENT = Broad(absent=True)


class Postings(Generic[EntryT]):
    __slots__ = ("_anchors", "_loose", "_size", "_started", "_unstarted")

    def __init__(self) -> None:
        self._size = 0
        self._started: Buckets[Key, EntryT] = Buckets()
        self._unstarted: dict[ValueKind, Buckets[End, EntryT]] = {}
        self._loose: Bucket[EntryT] = {}
        self._anchors: _Anchors[EntryT] = _Anchors()

    def __len__(self) -> int:
        return self._size

    def post(self, entry: EntryT, region: Region) -> None:
        self._size += 1
        if isinstance(region, Finite):
            self._started.add(_least(region), entry)
        elif (interval := _interval(region)) is None:
            self._loose[entry] = None
        elif _is_started(interval):
            self._started.add(identity(interval.low), entry)
        else:
            kind = kind_of(interval.low)
            if kind not in self._unstarted:
                self._unstarted[kind] = Buckets()
            self._unstarted[kind].add(_end(interval), entry)

    def unpost(self, entry: EntryT, region: Region) -> None:
        self._size -= 1
        if isinstance(region, Finite):
            self._started.remove(_least(region), entry)
        elif (interval := _interval(region)) is None:
            del self._loose[entry]
        elif _is_started(interval):
            self._started.remove(identity(interval.low), entry)
        else:
            self._unstarted[kind_of(interval.low)].remove(_end(interval), entry)

    def anchor(self, entry: EntryT, region: Region) -> None:
        self._anchors.add(entry, region)

    def unanchor(self, entry: EntryT, region: Region) -> None:
        self._anchors.remove(entry, region)

    def wider(self, region: Region) -> Iterator[EntryT]:
        return self._anchors.around(region)

    def narrower_count(self, region: Region) -> float:
        """Return the approximate number of entries that `narrower` returns: exact for values; for ranges, all buckets
        are assumed to have one size."""
        if isinstance(region, Finite):
            return sum(len(self._started.at(key)) for key in region.values)
        if region.only_part is None:
            return self._size
        interval = region.only_part.interval
        start, stop = self._started_span(interval)
        count = (stop - start) * self._started.mean_size
        unstarted = self._unstarted.get(kind_of(interval.low))
        if unstarted is not None and not _is_started(interval):
            count += unstarted.keys.bisect_right(_end(interval)) * unstarted.mean_size
        return count

    def narrower(self, region: Region) -> Iterator[EntryT]:
        if isinstance(region, Finite):
            for key in region.values:
                yield from self._started.at(key)
            if len(region.values) > 1 and not _LOWEST_KEYS.isdisjoint(region.values):
                for unstarted in self._unstarted.values():
                    yield from unstarted
        elif (interval := _interval(region)) is not None:
            yield from self._started.between(*self._started_span(interval))
            kind = kind_of(interval.low)
            if kind in self._unstarted and not _is_started(interval):
                yield from self._unstarted[kind].first(self._unstarted[kind].keys.bisect_right(_end(interval)))
        else:
            yield from self._loose
            if region != _ONLY_ABSENT:
                yield from self._started
                for unstarted in self._unstarted.values():
                    yield from unstarted

    def _started_span(self, interval: Interval) -> tuple[int, int]:
        kind = kind_of(interval.low).value
        stop = (kind + 1,) if interval.high is None else (kind, interval.high)
        return self._started.keys.bisect_left((kind, interval.low)), self._started.keys.bisect_left(stop)


class _Anchors(Generic[EntryT]):
    """The filters anchored at one attribute, in the four places that `cover_index.py` lists."""

    __slots__ = ("_loose", "_prefixes", "_ranges", "_values")

    def __init__(self) -> None:
        self._values: dict[Key, Bucket[EntryT]] = {}
        self._prefixes: dict[str, Bucket[EntryT]] = {}
        self._ranges: dict[ValueKind, _Ranges[EntryT]] = {}
        self._loose: Bucket[EntryT] = {}

    def add(self, entry: EntryT, region: Region) -> None:
        if isinstance(region, Finite):
            for key in region.values:
                self._values.setdefault(key, {})[entry] = None
        elif (interval := _interval(region)) is None:
            self._loose[entry] = None
        elif _is_prefix(interval):
            self._prefixes.setdefault(str(interval.low), {})[entry] = None
        else:
            kind = kind_of(interval.low)
            if kind not in self._ranges:
                self._ranges[kind] = _Ranges()
            self._ranges[kind].add(entry, interval)

    def remove(self, entry: EntryT, region: Region) -> None:
        if isinstance(region, Finite):
            for key in region.values:
                discard(self._values, key, entry)
        elif (interval := _interval(region)) is None:
            del self._loose[entry]
        elif _is_prefix(interval):
            discard(self._prefixes, str(interval.low), entry)
        else:
            self._ranges[kind_of(interval.low)].remove(entry, interval)

    def around(self, region: Region) -> Iterator[EntryT]:
        yield from self._loose
        interval = _interval(region)
        if isinstance(region, Finite):
            yield from self._values.get(_least(region), ())
        elif interval is not None:
            yield from self._values.get(identity(interval.low), ())
        if interval is None:
            return
        if self._prefixes and isinstance(interval.low, str):
            start = common_prefix(interval)
            for length in range(len(start) + 1):
                yield from self._prefixes.get(start[:length], ())
        if ranges := self._ranges.get(kind_of(interval.low)):
            yield from ranges.around(interval)


class _Ranges(Generic[EntryT]):
    """Intervals of one kind: those with one end sorted by it, those with two ends sorted by each."""

    __slots__ = ("_by_end", "_by_start", "_unended", "_unstarted")

    def __init__(self) -> None:
        self._unended: Buckets[Value, EntryT] = Buckets()
        self._unstarted: Buckets[End, EntryT] = Buckets()
        self._by_start: Buckets[Value, EntryT] = Buckets()
        self._by_end: Buckets[End, EntryT] = Buckets()

    def add(self, entry: EntryT, interval: Interval) -> None:
        if interval.high is None:
            self._unended.add(interval.low, entry)
        elif not _is_started(interval):
            self._unstarted.add(_end(interval), entry)
        else:
            self._by_start.add(interval.low, entry)
            self._by_end.add(_end(interval), entry)

    def remove(self, entry: EntryT, interval: Interval) -> None:
        if interval.high is None:
            self._unended.remove(interval.low, entry)
        elif not _is_started(interval):
            self._unstarted.remove(_end(interval), entry)
        else:
            self._by_start.remove(interval.low, entry)
            self._by_end.remove(_end(interval), entry)

    def around(self, interval: Interval) -> Iterator[EntryT]:
        low, end = interval.low, _end(interval)
        if starts := self._unended.keys:
            yield from self._unended.first(starts.bisect_right(low))
        if ends := self._unstarted.keys:
            yield from self._unstarted.last(len(ends) - ends.bisect_left(end))
        if not self._by_start.keys:
            return
        # Both ends of an entry must enclose the interval: candidates are selected by the end that excludes more
        # entries.
        starting = self._by_start.keys.bisect_right(low)
        ending = len(self._by_end.keys) - self._by_end.keys.bisect_left(end)
        if starting * self._by_start.mean_size <= ending * self._by_end.mean_size:
            yield from self._by_start.first(starting)
        else:
            yield from self._by_end.last(ending)


def _interval(region: Region) -> Interval | None:
    """Return the interval around a region of one ordered kind; None for other regions."""
    if isinstance(region, Broad):
        part = region.only_part
        return None if part is None else part.interval
    kind, first = next(iter(region.values))
    last_kind, last = next(reversed(region.values))
    return None if kind != last_kind or kind == ValueKind.BOOLEAN.value else Interval(first, successor(last))


def _least(region: Finite) -> Key:
    return next(iter(region.values))


def _is_started(interval: Interval) -> bool:
    return interval.low != lowest_like(interval.low)


def _end(interval: Interval) -> End:
    return (True, 0) if interval.high is None else (False, interval.high)


def _is_prefix(interval: Interval) -> bool:
    return isinstance(interval.low, str) and interval.high == intervals.prefix_end(interval.low)
