"""What each client has made: how many keeps, and what they may have together.

Law: it changes with each keep that is made or goes, so that a quota is looked up, whatever number of keeps there are.
"""

from __future__ import annotations

from dataclasses import dataclass

from tamis.protocol.wire.keep_bodies import KeepTerms


@dataclass(slots=True)
class OwnedKeeps:
    """The keeps of one client. `bytes`: their bounds, added up; `filters` and `filter_bytes`: how many filters they
    have, and the bytes of these, packed."""

    count: int = 0
    bytes: int = 0
    filters: int = 0
    filter_bytes: int = 0


class Owners:
    """The clients that have made keeps, by name."""

    def __init__(self) -> None:
        self._owned: dict[str, OwnedKeeps] = {}

    def of(self, owner: str) -> OwnedKeeps:
        """Return what `owner` has made, which is not to be changed."""
        return self._owned.get(owner) or OwnedKeeps()

    def add(self, owner: str, terms: KeepTerms) -> None:
        owned = self._owned.setdefault(owner, OwnedKeeps())
        owned.count += 1
        owned.bytes += terms.bytes
        owned.filters += len(terms.filters)
        owned.filter_bytes += filter_bytes(terms)

    def remove(self, owner: str, terms: KeepTerms) -> None:
        owned = self._owned[owner]
        owned.count -= 1
        owned.bytes -= terms.bytes
        owned.filters -= len(terms.filters)
        owned.filter_bytes -= filter_bytes(terms)
        if owned.count == 0:
            del self._owned[owner]


def filter_bytes(terms: KeepTerms) -> int:
    """Return the bytes of the packed filters of `terms`."""
    return sum(map(len, terms.filters))
