"""The postings of one attribute: which filters of an index say what about it.

Law: `narrower` misses no entry whose region lies inside the one asked for, and `wider` none anchored here whose region
holds it; both return more, for `covers` to judge. Entries are never compared: those of one key share a bucket, in the
order of their arrival.

`narrower` has every entry once, under the end that tells most about its region:

    started     its least value      sets, and ranges that begin somewhere
    unstarted   its upper end        ranges that begin where their kind begins
    loose                            several kinds, or absence
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, TypeVar

from sortedcontainers import SortedList

from tamis.protocol import _intervals as intervals
from tamis.protocol._intervals import ALL_STRINGS, Interval, common_prefix, lowest_like, successor
from tamis.protocol._regions import Broad, Finite, Part, Region
from tamis.protocol.values import Kind, Value, identity, kind_of

EntryT = TypeVar("EntryT", bound=Hashable)

_LOWEST = frozenset({identity(intervals.LOWEST_NUMBER), identity(intervals.LOWEST_STRING)})
_ONLY_ABSENT = Broad(absent=True)


class Postings(Generic[EntryT]):
    def __init__(self) -> None:
        self._size = 0
        self._started: _Buckets[EntryT] = _Buckets()  # by (kind, least value)
        self._unstarted: _Buckets[EntryT] = _Buckets()  # by (kind, *end)
        self._loose: dict[EntryT, None] = {}
        self._anchors: _Anchors[EntryT] = _Anchors()

    def __len__(self) -> int:
        return self._size

    def post(self, entry: EntryT, region: Region) -> None:
        self._size += 1
        if isinstance(region, Finite):
            self._started.add(next(iter(region.values)), entry)
        elif (part := region.only_part) is None:
            self._loose[entry] = None
        elif _is_started(part.interval):
            self._started.add(identity(part.interval.low), entry)
        else:
            self._unstarted.add(_end(part.interval), entry)

    def unpost(self, entry: EntryT, region: Region) -> None:
        self._size -= 1
        if isinstance(region, Finite):
            self._started.remove(next(iter(region.values)), entry)
        elif (part := region.only_part) is None:
            del self._loose[entry]
        elif _is_started(part.interval):
            self._started.remove(identity(part.interval.low), entry)
        else:
            self._unstarted.remove(_end(part.interval), entry)

    def anchor(self, entry: EntryT, region: Region) -> None:
        self._anchors.add(entry, region)

    def unanchor(self, entry: EntryT, region: Region) -> None:
        self._anchors.remove(entry, region)

    def wider(self, region: Region) -> Iterator[EntryT]:
        return self._anchors.around(region)

    def narrower_count(self, region: Region) -> float:
        """About how many `narrower` returns: exact for a value, and for a range as if all buckets were of one size."""
        if isinstance(region, Finite):
            started = self._started.buckets
            return sum(len(started.get(key, ())) for key in region.values)
        if region.only_part is None:
            return self._size
        return sum((stop - start) * table.mean_size for table, start, stop in self._spans(region.only_part))

    def narrower(self, region: Region) -> Iterator[EntryT]:
        if isinstance(region, Finite):
            for key in region.values:
                yield from self._started.buckets.get(key, ())
            if len(region.values) > 1 and not _LOWEST.isdisjoint(region.values):
                yield from self._unstarted.between(0, None)
        elif region.only_part is not None:
            for table, start, stop in self._spans(region.only_part):
                yield from table.between(start, stop)
        else:
            yield from self._loose
            if region != _ONLY_ABSENT:
                yield from self._started.between(0, None)
                yield from self._unstarted.between(0, None)

    def _spans(self, part: Part) -> Iterator[tuple[_Buckets[EntryT], int, int]]:
        """The places of the keys that regions inside the part can have."""
        interval = part.interval
        kind = kind_of(interval.low).value
        stop = (kind + 1,) if interval.high is None else (kind, interval.high)
        keys = self._started.keys
        yield self._started, keys.bisect_left((kind, interval.low)), keys.bisect_left(stop)
        if self._unstarted.keys and not _is_started(interval):
            keys = self._unstarted.keys
            yield self._unstarted, keys.bisect_left((kind,)), keys.bisect_right(_end(interval))


class _Anchors(Generic[EntryT]):
    """Where the filters wait that one attribute shall find; see `index.py` for the four places."""

    def __init__(self) -> None:
        self._values: dict[object, dict[EntryT, None]] = {}
        self._prefixes: dict[object, dict[EntryT, None]] = {}
        self._ranges: dict[Kind, _Ranges[EntryT]] = {}
        self._loose: dict[EntryT, None] = {}

    def add(self, entry: EntryT, region: Region) -> None:
        if isinstance(region, Finite):
            for key in region.values:
                self._values.setdefault(key, {})[entry] = None
        elif region.only_part is None:
            self._loose[entry] = None
        elif _is_prefix(interval := region.only_part.interval):
            self._prefixes.setdefault(interval.low, {})[entry] = None
        else:
            kind = kind_of(interval.low)
            if kind not in self._ranges:
                self._ranges[kind] = _Ranges()
            self._ranges[kind].add(entry, interval)

    def remove(self, entry: EntryT, region: Region) -> None:
        if isinstance(region, Finite):
            for key in region.values:
                _discard(self._values, key, entry)
        elif region.only_part is None:
            del self._loose[entry]
        elif _is_prefix(interval := region.only_part.interval):
            _discard(self._prefixes, interval.low, entry)
        else:
            self._ranges[kind_of(interval.low)].remove(entry, interval)

    def around(self, region: Region) -> Iterator[EntryT]:
        yield from self._loose
        ends = _ends(region)
        if ends is None:
            if isinstance(region, Finite):
                yield from self._values.get(next(iter(region.values)), ())
            return
        low, last = ends
        kind = kind_of(low)
        yield from self._values.get((kind.value, low), ())
        if self._prefixes and isinstance(low, str):
            start = _start(region, low, last)
            for length in range(len(start) + 1):
                yield from self._prefixes.get(start[:length], ())
        if kind in self._ranges:
            yield from self._ranges[kind].around(_interval(region, low, last))


class _Ranges(Generic[EntryT]):
    pass


class _Buckets(Generic[EntryT]):
    """Entries by keys that are kept in order."""

    def __init__(self) -> None:
        self.keys = SortedList()
        self.buckets: dict[object, dict[EntryT, None]] = {}
        self._size = 0
