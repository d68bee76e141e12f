"""A table from keys to buckets of entries, with the keys in order.

Law: no bucket is empty. Entries are never compared; those of one key stay in the order of their arrival.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

from sortedcontainers import SortedList

EntryT = TypeVar("EntryT", bound=Hashable)
KeyT = TypeVar("KeyT", bound=Hashable)
Bucket = dict[EntryT, None]


class Buckets(Generic[KeyT, EntryT]):
    __slots__ = ("_buckets", "_size", "keys")

    def __init__(self) -> None:
        self.keys = SortedList()
        self._buckets: dict[KeyT, Bucket[EntryT]] = {}
        self._size = 0

    @property
    def mean_size(self) -> float:
        return self._size / max(1, len(self._buckets))

    def add(self, key: KeyT, entry: EntryT) -> None:
        self._size += 1
        if key in self._buckets:
            self._buckets[key][entry] = None
        else:
            self._buckets[key] = {entry: None}
            self.keys.add(key)

    def remove(self, key: KeyT, entry: EntryT) -> None:
        self._size -= 1
        if discard(self._buckets, key, entry):
            self.keys.remove(key)

    def at(self, key: KeyT) -> Bucket[EntryT]:
        return self._buckets.get(key) or {}

    def first(self, keys: int) -> Iterator[EntryT]:
        """Yield the entries of the lowest `keys` keys."""
        # Like `last`, this begins several times faster than SortedList.islice, which is made for positions in the
        # middle.
        for key in itertools.islice(self.keys, keys):
            yield from self._buckets[key]

    def last(self, keys: int) -> Iterator[EntryT]:
        """Yield the entries of the highest `keys` keys, from the highest down."""
        for key in itertools.islice(reversed(self.keys), keys):
            yield from self._buckets[key]

    def between(self, start: int, stop: int) -> Iterator[EntryT]:
        """Yield the entries of the keys at positions `start` to `stop`, `stop` excluded."""
        for key in self.keys.islice(start, stop):
            yield from self._buckets[key]

    def __iter__(self) -> Iterator[EntryT]:
        return self.first(len(self.keys))


def discard(buckets: dict[KeyT, Bucket[EntryT]], key: KeyT, entry: EntryT) -> bool:
    """Remove `entry` from its bucket; return whether the bucket is gone with it."""
    bucket = buckets[key]
    del bucket[entry]
    if not bucket:
        del buckets[key]
    return not bucket
