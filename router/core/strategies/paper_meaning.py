"""Mode `paper` by meaning: whether an advertisement widens a predicate is asked of what the filters match.

Law: a filter that one of the interface's filters covers adds nothing to the disjunction, so it is not installed, and an
advertisement of such filters alone stops. Only proven covering counts (`protocol/covering/covers.py`): a filter that
several together cover is taken for new. Filters that the index has no room for are compared by their bytes. A filter is
read once while it stays among the last LOOKED_AT_MAX: a router asks about it twice, and routers of one process in turn.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

from tamis.protocol.covering.index import CoverIndex
from tamis.protocol.errors import FrameError, NeverMatches
from tamis.protocol.filters import Filter
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.router.core.statements.cover import BYTES_MAX, FILTERS_MAX
from tamis.router.core.strategies.paper import PAPER_BYTES_PARTS, InterfacePredicates

LOOKED_AT_MAX: Final = 4_096
"""Filters that stay read, of at most BYTES_MAX each packed: some 10 MB."""


class MeantPredicates(InterfacePredicates):
    _meant: dict[int, CoverIndex[bytes]]

    def begin(self) -> None:
        super().begin()
        self._meant = {}

    def widens(self, interface: int, packed: bytes) -> bool:
        """Return whether the filter adds something to the interface's predicate."""
        return super().widens(interface, packed) and not self._is_covered(interface, packed)

    def installed(self, interface: int, packed: bytes) -> None:
        """Note a filter that stands for the interface from now on."""
        index, filter_ = self._meant.setdefault(interface, CoverIndex()), _looked_at(packed)
        if filter_ is not None and len(index) < FILTERS_MAX:
            index.add(packed, filter_)

    def removed(self, interface: int, packed: bytes) -> None:
        """Forget a filter of the interface."""
        if packed in self._meant[interface]:
            self._meant[interface].remove(packed)

    def _is_covered(self, interface: int, packed: bytes) -> bool:
        index, filter_ = self._meant.get(interface), _looked_at(packed)
        return index is not None and filter_ is not None and next(index.covering(filter_), None) is not None


@lru_cache(maxsize=LOOKED_AT_MAX)
def _looked_at(packed: bytes) -> Filter | None:
    """Return the filter, or None for one that is not compared by meaning: too long, unreadable, or never matching."""
    if len(packed) > BYTES_MAX:
        return None
    try:
        filter_ = decode_filter(packed)
        CoverIndex[int]().add(0, filter_)
    except (FrameError, NeverMatches):
        return None
    return filter_


PAPER_PARTS: Final = replace(PAPER_BYTES_PARTS, predicates=MeantPredicates)
