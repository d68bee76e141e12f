"""The filters to which a filter may be merged: those next to it among filters with the same names of attributes.

Law: an answer takes two searches for each of the first ATTRIBUTES_MAX attributes, however many filters there are, and
has at most ALIKE_MAX filters. A better partner may be missed: then two filters are stated in place of one.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping
from typing import Final, NamedTuple

from tamis.protocol._regions import Finite, Region
from tamis.protocol.filters import Filter
from tamis.protocol.values import Value, identity

FILTERS_MAX: Final = 10_000
"""The most filters that are held; each takes about a KiB. Further ones are not merged."""
ATTRIBUTES_MAX: Final = 6
ALIKE_MAX: Final = 8

_Place = tuple[int, Value]
"""Where a filter stands in the order of one attribute: the kind of its lowest value, and the value."""
_NO_ORDER: Final[_Place] = (9, 0)


_Order = list[tuple[tuple[_Place, ...], bytes]]


class _Listed(NamedTuple):
    filter: Filter
    names: tuple[str, ...]
    orders: list[_Order]
    """The orders of the filters with these names, one for each attribute, each with the places of all of them."""
    places: list[tuple[_Place, ...]]
    """The place in each order: that of its attribute first, so that filters equal in it are ordered by the next."""


class AlikeFilters:
    def __init__(self) -> None:
        self._entries: dict[bytes, _Listed] = {}
        self._orders: dict[tuple[str, ...], list[_Order]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, packed: bytes) -> bool:
        return packed in self._entries

    @property
    def is_full(self) -> bool:
        return len(self._entries) >= FILTERS_MAX

    def filter_of(self, packed: bytes) -> Filter:
        return self._entries[packed].filter

    def add(self, packed: bytes, filter_: Filter, regions: Mapping[str, Region]) -> None:
        """Add a filter with its decoded form and its regions, unless it is held."""
        if packed in self._entries:
            return
        names = tuple(sorted(regions))
        first = [_place(regions[name]) for name in names[:ATTRIBUTES_MAX]]
        places = [tuple(first[at:] + first[:at]) for at in range(len(first))]
        orders = self._orders.setdefault(names, [[] for _ in first])
        for order, place in zip(orders, places, strict=True):
            insort(order, (place, packed))
        self._entries[packed] = _Listed(filter_, names, orders, places)

    def discard(self, packed: bytes) -> None:
        """Remove a filter, if it is held."""
        entry = self._entries.pop(packed, None)
        if entry is None:
            return
        for order, place in zip(entry.orders, entry.places, strict=True):
            del order[bisect_left(order, (place, packed))]
        if not any(entry.orders):
            self._orders.pop(entry.names, None)

    def alike(self, packed: bytes) -> list[bytes]:
        """Return the filters before and after this one in the order of each attribute, each once."""
        entry, found = self._entries[packed], dict[bytes, None]()
        for order, place in zip(entry.orders, entry.places, strict=True):
            at = bisect_left(order, (place, packed))
            found |= {other: None for _, other in (*order[max(0, at - 1) : at], *order[at + 1 : at + 2])}
        return list(found)[:ALIKE_MAX]


def _place(region: Region) -> _Place:
    if isinstance(region, Finite):
        return min(region.values)
    part = region.numbers if region.strings is None else region.strings
    return _NO_ORDER if part is None or (region.numbers and region.strings) else identity(part.interval.low)
