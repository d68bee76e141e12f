"""Mode `paper` by meaning: an advertisement widens a predicate only if the predicate then matches more messages.

Law: a filter that a filter of the interface covers adds nothing to the disjunction: it is not installed, and an
advertisement of such filters alone stops. Only proven covering counts (`protocol/covering/covers.py`): a filter that
several together cover counts as new. Filters for which the index has no room are compared by their bytes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tamis.router.core.statements.cover import BYTES_MAX, FilterIndex
from tamis.router.core.strategies.paper import PAPER_BYTES_PARTS, InterfacePredicates


class MeantPredicates(InterfacePredicates):
    _meant: dict[int, FilterIndex]

    def begin(self) -> None:
        super().begin()
        self._meant = {}

    def widens(self, interface: int, packed: bytes) -> bool:
        """Return whether the filter widens the interface's predicate."""
        return super().widens(interface, packed) and not self._is_covered(interface, packed)

    def installed(self, interface: int, packed: bytes) -> None:
        """Record a filter that is in the interface's predicate from now on."""
        if interface not in self._meant:
            self._meant[interface] = self._core_state.make_index()
        if len(packed) <= BYTES_MAX and not self._meant[interface].is_full:
            self._meant[interface].add(packed)

    def removed(self, interface: int, packed: bytes) -> None:
        """Remove a filter from the interface's predicate."""
        if packed in self._meant[interface]:
            self._meant[interface].remove(packed)

    def _is_covered(self, interface: int, packed: bytes) -> bool:
        index = self._meant.get(interface)
        return index is not None and len(packed) <= BYTES_MAX and index.covering(packed) is not None


PAPER_PARTS: Final = replace(PAPER_BYTES_PARTS, predicates=MeantPredicates)
