"""R1 in a live router: covered filters of its clients are found in C, among many more filters than in Python.

Law: results of the C are always right and may be incomplete: a missed filter is advertised without need. The effect of
too little memory is equally small: the filter is not compared.
"""

from __future__ import annotations

from typing import Final

from tamis.native.covering import LOOKED_AT_MAX, FilterCovers
from tamis.native.results import OutOfMemory

FILTERS_MAX: Final = 200_000
"""Filters in the index; one of four constraints takes about 500 bytes."""
MEMORY_BYTES: Final = 128 * 1024 * 1024
"""The most bytes of the index, without Python's own table of the filters."""


class NativeIndex:
    """An index of filters in C (`FilterIndex`)."""

    looks_per_slice = 20
    answers_max = LOOKED_AT_MAX

    def __init__(self) -> None:
        self._covers = FilterCovers(MEMORY_BYTES)
        self._ids: dict[bytes, int] = {}
        self._filters: dict[int, bytes] = {}

    @property
    def is_full(self) -> bool:
        return len(self._ids) >= FILTERS_MAX

    def __contains__(self, packed: object) -> bool:
        return packed in self._ids

    def add(self, packed: bytes) -> None:
        try:
            id_ = self._covers.add(packed)
        except OutOfMemory:
            return
        if id_ is not None:
            self._ids[packed] = id_
            self._filters[id_] = packed

    def remove(self, packed: bytes) -> None:
        id_ = self._ids.pop(packed)
        del self._filters[id_]
        self._covers.remove(id_)

    def covering(self, packed: bytes) -> bytes | None:
        found = self._covers.covering(packed, 1)
        return self._filters[found[0]] if found else None

    def covered(self, packed: bytes) -> tuple[bytes, ...]:
        return tuple(self._filters[id_] for id_ in self._covers.covered(packed))
