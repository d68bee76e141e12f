"""R1 in the simulator: the index of `Cover` in Python, which a router has in C (`router/links/covering.py`)."""

from __future__ import annotations

from typing import Final

from tamis.protocol.errors import FrameError, NeverMatches
from tamis.protocol.filters import EVERYTHING, Filter
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.simulate.twin.cover_index import CoverIndex

FILTERS_MAX: Final = 10_000
"""The most filters in the index, some KiB each; a full index takes a third of a millisecond for a query."""


class PureIndex:
    """An index with exact results, which examines filters one after another."""

    looks_per_slice = 4
    answers_max = FILTERS_MAX

    def __init__(self) -> None:
        self._index: CoverIndex[bytes] = CoverIndex()
        self._asked: tuple[bytes, Filter] = (b"", EVERYTHING)

    @property
    def is_full(self) -> bool:
        return len(self._index) >= FILTERS_MAX

    def __contains__(self, packed: object) -> bool:
        return packed in self._index

    def add(self, packed: bytes) -> None:
        try:
            self._index.add(packed, self._decoded(packed))
        except (NeverMatches, FrameError):
            return

    def remove(self, packed: bytes) -> None:
        self._index.remove(packed)

    def covering(self, packed: bytes) -> bytes | None:
        try:
            return next(self._index.covering(self._decoded(packed)), None)
        except (NeverMatches, FrameError):
            return None

    def covered(self, packed: bytes) -> tuple[bytes, ...]:
        try:
            return tuple(self._index.covered_by(self._decoded(packed)))
        except (NeverMatches, FrameError):
            return ()

    def _decoded(self, packed: bytes) -> Filter:
        """Decode a filter; one query decodes a filter three times."""
        if self._asked[0] != packed:
            self._asked = (packed, decode_filter(packed))
        return self._asked[1]
