"""The postings of one attribute: which filters of an index say what about it.

Law: `narrower` misses no entry whose region lies inside the one asked for, and `wider` none anchored here whose region
holds it; both return more, for `covers` to judge. Entries that share a key share a bucket, in the order of their
arrival; nothing ever compares or sorts entries.

A posting stands under one key, so that adding is cheap and one end of a range is ruled out exactly:

    started     the least value      sets, and ranges that begin somewhere
    unstarted   the end              ranges that begin where their kind begins
    loose       no key               several kinds, or absence
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, MutableMapping
from typing import Generic, TypeVar

from sortedcontainers import SortedDict

from tamis.protocol import _intervals as intervals
from tamis.protocol._intervals import Interval, common_prefix, lowest_like
from tamis.protocol._regions import Broad, Finite, Region
from tamis.protocol.values import Kind, Value, identity, kind_of

EntryT = TypeVar("EntryT", bound=Hashable)
KeyT = TypeVar("KeyT", bound=Hashable)

_LOWEST_KEYS = {identity(intervals.LOWEST_NUMBER), identity(intervals.LOWEST_STRING)}
_ABSENT = Broad(absent=True)


class Postings(Generic[EntryT]):
    def __init__(self) -> None:
        self._size = 0
        self._started = SortedDict()  # (kind, least value) -> bucket
        self._unstarted = SortedDict()  # (kind, *end) -> bucket
        self._loose: dict[EntryT, None] = {}
        self._anchors: _Anchors[EntryT] = _Anchors()

    def __len__(self) -> int:
        return self._size

    def post(self, entry: EntryT, region: Region) -> None:
        self._size += 1
        table, key = self._place(region)
        if table is None:
            self._loose[entry] = None
        else:
            _put(table, key, entry)

    def unpost(self, entry: EntryT, region: Region) -> None:
        self._size -= 1
        table, key = self._place(region)
        if table is None:
            del self._loose[entry]
        else:
            _discard(table, key, entry)

    def anchor(self, entry: EntryT, region: Region) -> None:
        self._anchors.add(entry, region)

    def unanchor(self, entry: EntryT, region: Region) -> None:
        self._anchors.remove(entry, region)

    def wider(self, region: Region) -> Iterator[EntryT]:
        return self._anchors.around(region)

    def narrower_count(self, region: Region) -> float:
        """About how many `narrower` returns: right for values, for ranges as if all buckets were of one size."""
        if isinstance(region, Finite) and not self._unstarted:
            started = self._started
            return sum(len(started[key]) for key in region.values if key in started)
        return self._size if region.only_part is None else self._range_count(region.only_part.interval)
