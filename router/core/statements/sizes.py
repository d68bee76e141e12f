"""How much of a predicate one body states.

Law: a router states at most STATEMENT_BYTES_MAX at once, and one filter at least; each filter counts as its bytes and
FILTER_OVERHEAD_BYTES. Whatever is compared with that bound is counted here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Final, TypeVar

from tamis.protocol.limits import FILTER_OVERHEAD_BYTES, STATEMENT_BYTES_MAX
from tamis.protocol.wire.routing_bodies import AdvertisedFilter

Pair = TypeVar("Pair", bound=tuple[int, bytes])
LONG_SHARE: Final = 16
"""The part of what a body may state above which it is long, a sixteenth: then it is worth knowing when it has left."""
FILTERS_MAX: Final = STATEMENT_BYTES_MAX // FILTER_OVERHEAD_BYTES
"""The filters that one body can state at most, however short they are."""


def size_of(filters: Collection[bytes]) -> int:
    """Return what packed filters take of a statement, in bytes."""
    return sum(map(len, filters)) + FILTER_OVERHEAD_BYTES * len(filters)


def listed_size(filters: Collection[AdvertisedFilter]) -> int:
    """Return what the filters that a body lists take of a statement, in bytes."""
    return size_of([packed for _, packed in filters])


def is_large(size: int) -> bool:
    """Does a predicate of this size need more than one body?"""
    return size > STATEMENT_BYTES_MAX


def is_long(filters: Collection[AdvertisedFilter]) -> bool:
    """Does a body list more than this router would put into one?"""
    return len(filters) > FILTERS_MAX or is_large(listed_size(filters))


def first_of(pairs: Iterable[Pair]) -> list[Pair]:
    """Return as many of these filters with their ids as one body states."""
    return next(cut(islice(pairs, FILTERS_MAX)), [])


def cut(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    """Give filters with their ids, as many at a time as one body states."""
    some: list[Pair] = []
    room = STATEMENT_BYTES_MAX
    for pair in pairs:
        size = len(pair[1]) + FILTER_OVERHEAD_BYTES
        if size > room and some:
            yield some
            some, room = [], STATEMENT_BYTES_MAX
        some.append(pair)
        room -= size
    if some:
        yield some
