"""R1 in a live router: covered filters of its clients are found in C, among many more filters than in Python.

    engine that compares    its own structure finds them (`interval`, paper 003, 4.1.4); filters that are not in its
                            structure are in the general index
    any other engine        the general index finds all

Law: results of the C are always right and may be incomplete: a missed filter is advertised without need. The effect of
too little memory is equally small: the filter is not compared.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from tamis.native.covering import LOOKED_AT_MAX, FilterCovers
from tamis.native.engines import engine_called
from tamis.native.results import OutOfMemory
from tamis.native.table import Table
from tamis.router.core.statements.cover import FilterIndex

FILTERS_MAX: Final = 200_000
"""Filters in the index; one of four constraints takes about 500 bytes."""
MEMORY_BYTES: Final = 128 * 1024 * 1024
"""The most bytes of the index, without Python's own table of the filters."""
STRUCTURE_FILTERS_MAX: Final = 8_000
"""Filters in the structure of an engine; later ones are in the general index. With 8,000 rectangles on a map a new
filter takes some 70 us, and with 30,000 it would take 600."""


def index_of(engine: str) -> Callable[[], FilterIndex]:
    """Return what makes an index of filters for a router with this engine."""
    return partial(EngineIndex, engine) if engine_called(engine).compares else NativeIndex


class NativeIndex:
    """The general index of filters in C (`FilterIndex`)."""

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


class EngineIndex:
    """An index of filters in a table of an engine that compares, with the engine's standard options. Filters that its
    structure does not have are in the general index. Filters of both are compared, with one exception: where one that
    is no set of intervals covers an earlier one of the structure, both are advertised."""

    looks_per_slice = 20
    answers_max = LOOKED_AT_MAX

    def __init__(self, engine: str) -> None:
        self._table = Table(engine, MEMORY_BYTES)
        self._handles: dict[bytes, int] = {}
        self._filters: dict[int, bytes] = {}
        self._others = NativeIndex()

    @property
    def is_full(self) -> bool:
        return len(self._handles) >= FILTERS_MAX or self._others.is_full

    def __contains__(self, packed: object) -> bool:
        return packed in self._handles or packed in self._others

    def add(self, packed: bytes) -> None:
        handle = self._place(packed) if len(self._handles) < STRUCTURE_FILTERS_MAX else None
        if handle is None:
            self._others.add(packed)
        else:
            self._handles[packed] = handle
            self._filters[handle] = packed

    def _place(self, packed: bytes) -> int | None:
        """Add a filter to the structure and return its handle; None: the structure does not take it."""
        try:
            handle = self._table.add(packed, 0)
        except OutOfMemory:
            return None
        if self._table.compares(handle):
            return handle
        self._table.remove(handle)
        return None

    def remove(self, packed: bytes) -> None:
        handle = self._handles.pop(packed, None)
        if handle is None:
            self._others.remove(packed)
        else:
            del self._filters[handle]
            self._table.remove(handle)

    def covering(self, packed: bytes) -> bytes | None:
        found = self._table.covering(packed, 1)
        return self._filters[found[0]] if found else self._others.covering(packed)

    def covered(self, packed: bytes) -> tuple[bytes, ...]:
        found = self._table.covered(packed, self.answers_max)
        return tuple(self._filters[handle] for handle in found) + self._others.covered(packed)
