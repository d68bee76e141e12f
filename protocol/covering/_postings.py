"""The postings of one attribute: which filters of an index say what about it.

Law: `narrower` misses no entry whose region lies inside the one asked for, and `wider` none anchored here whose region
holds it; both return more, for `covers` to judge. Entries are numbers, so that sorting never looks at users' ids.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TypeVar

from sortedcontainers import SortedList  # type: ignore[import-untyped]

from tamis.protocol import _intervals as intervals
from tamis.protocol._intervals import Interval, common_prefix, successor
from tamis.protocol._regions import Broad, Finite, Region
from tamis.protocol.values import Kind, Value, kind_of

Key = tuple[int, Value]
"""Kind and value, as `values.identity` has them: what postings are sorted by."""

KeyT = TypeVar("KeyT", Key, str)

_LOOSE: Key = (-1, 0)
"""Where regions stand that have no least value: several kinds, or absence."""

_LAST = math.inf
"""Above the number of every entry."""


class Postings:
    def __init__(self) -> None:
        # (kind, least value, number) of every filter that constrains the attribute.
        self._least = SortedList()
        # The anchors.
        self._values: dict[Key, dict[int, None]] = {}
        self._prefixes: dict[str, dict[int, None]] = {}
        self._ranges = {Kind.NUMBER: _Ranges(), Kind.STRING: _Ranges()}
        self._loose: dict[int, None] = {}

    def __len__(self) -> int:
        return len(self._least)

    def post(self, number: int, region: Region) -> None:
        self._least.add((*_least(region), number))

    def unpost(self, number: int, region: Region) -> None:
        self._least.remove((*_least(region), number))

    # --- what a region may hold

    def narrower_count(self, region: Region) -> int:
        return sum(stop - start for start, stop in self._spans(region))

    def narrower(self, region: Region) -> Iterator[int]:
        for start, stop in self._spans(region):
            for _, _, number in self._least.islice(start, stop):
                yield number

    def _spans(self, region: Region) -> Iterator[tuple[int, int]]:
        least = self._least
        if isinstance(region, Finite):
            for key in region.values:
                yield least.bisect_left(key), least.bisect_left((*key, _LAST))
        elif region.only_part is not None:
            yield _span(least, region.only_part.interval)
        elif region == Broad(absent=True):
            yield least.bisect_left(_LOOSE), least.bisect_left((*_LOOSE, _LAST))
        else:
            yield 0, len(least)

    # --- what may hold a region

    def anchor(self, number: int, region: Region) -> None:
        interval = _range(region)
        if isinstance(region, Finite):
            for key in region.values:
                self._values.setdefault(key, {})[number] = None
        elif interval is None:
            self._loose[number] = None
        elif _is_prefix(interval):
            self._prefixes.setdefault(str(interval.low), {})[number] = None
        else:
            self._ranges[kind_of(interval.low)].add(number, interval)

    def unanchor(self, number: int, region: Region) -> None:
        interval = _range(region)
        if isinstance(region, Finite):
            for key in region.values:
                _discard(self._values, key, number)
        elif interval is None:
            del self._loose[number]
        elif _is_prefix(interval):
            _discard(self._prefixes, str(interval.low), number)
        else:
            self._ranges[kind_of(interval.low)].remove(number, interval)

    def wider(self, region: Region) -> Iterator[int]:
        yield from self._loose
        least = _least(region)
        yield from self._values.get(least, ())
        interval = _range(region)
        if interval is None:
            return
        if isinstance(interval.low, str) and self._prefixes:
            start = common_prefix(interval)
            for length in range(len(start) + 1):
                yield from self._prefixes.get(start[:length], ())
        yield from self._ranges[kind_of(interval.low)].around(interval)


class _Ranges:
    """Intervals of one kind, by their low and by their high end."""

    def __init__(self) -> None:
        self._lows = SortedList()
        self._highs = SortedList()

    def add(self, number: int, interval: Interval) -> None:
        self._lows.add((interval.low, number))
        self._highs.add((*_end(interval), number))

    def remove(self, number: int, interval: Interval) -> None:
        self._lows.remove((interval.low, number))
        self._highs.remove((*_end(interval), number))

    def around(self, interval: Interval) -> Iterator[int]:
        """Those that start early enough, or those that end late enough: whichever are fewer."""
        if not self._lows:
            return iter(())
        starting = self._lows.bisect_left((interval.low, _LAST))
        ending = self._highs.bisect_left(_end(interval))
        if starting <= len(self._highs) - ending:
            return (number for _, number in self._lows.islice(0, starting))
        return (number for _, _, number in self._highs.islice(ending))


def _least(region: Region) -> Key:
    if isinstance(region, Finite):
        return next(iter(region.values))
    part = region.only_part
    return _LOOSE if part is None else _key(part.interval.low)


def _range(region: Region) -> Interval | None:
    """The interval around a region of one ordered kind."""
    if isinstance(region, Broad):
        return None if region.only_part is None else region.only_part.interval
    kind, first = next(iter(region.values))
    last_kind, last = next(reversed(region.values))
    return None if kind != last_kind or kind == Kind.BOOLEAN.value else Interval(first, successor(last))


def _span(least: SortedList, interval: Interval) -> tuple[int, int]:
    kind = kind_of(interval.low).value
    end = (kind + 1,) if interval.high is None else (kind, interval.high)
    return least.bisect_left(_key(interval.low)), least.bisect_left(end)


def _key(value: Value) -> Key:
    return (kind_of(value).value, value)


def _end(interval: Interval) -> tuple[bool, Value]:
    """What sorts intervals by their end, those without one last."""
    return (True, 0) if interval.high is None else (False, interval.high)


def _is_prefix(interval: Interval) -> bool:
    return isinstance(interval.low, str) and interval == intervals.starting_with(interval.low)


def _discard(table: dict[KeyT, dict[int, None]], key: KeyT, number: int) -> None:
    entries = table[key]
    del entries[number]
    if not entries:
        del table[key]
