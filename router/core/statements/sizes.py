"""How much of a predicate fits one body.

Law: a router states at most STATEMENT_BYTES_MAX at once, but at least one filter; each filter counts as its bytes and
FILTER_OVERHEAD_BYTES. Every size that is compared with that bound is computed here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Final, TypeVar

from tamis.protocol.limits import FILTER_OVERHEAD_BYTES, STATEMENT_BYTES_MAX
from tamis.protocol.wire.routing_bodies import AdvertisedFilter

Pair = TypeVar("Pair", bound=tuple[int, bytes])
LONG_SHARE: Final = 16
"""The fraction of STATEMENT_BYTES_MAX above which a body is tracked until it has left: a sixteenth."""
FILTERS_MAX: Final = STATEMENT_BYTES_MAX // FILTER_OVERHEAD_BYTES
"""The most filters that fit one body, however short they are."""


def size_of(filters: Collection[bytes]) -> int:
    """Return the bytes of packed filters in a statement."""
    return sum(map(len, filters)) + FILTER_OVERHEAD_BYTES * len(filters)


def listed_size(filters: Collection[tuple[int, bytes]]) -> int:
    """Return the bytes of the filters that a body lists in a statement."""
    return size_of([packed for _, packed in filters])


def is_large(size: int) -> bool:
    """Return whether a predicate of this size exceeds one body."""
    return size > STATEMENT_BYTES_MAX


def is_long(filters: Collection[AdvertisedFilter]) -> bool:
    """Return whether a body lists more than this router would put into one."""
    return len(filters) > FILTERS_MAX or is_large(listed_size(filters))


def first_of(pairs: Iterable[Pair]) -> list[Pair]:
    """Return the first filters with their ids, as many as fit one body."""
    return next(cut(islice(pairs, FILTERS_MAX)), [])


def cut(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    """Yield filters with their ids, in lists of which each fits one body."""
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
