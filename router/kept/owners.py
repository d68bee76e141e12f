"""What each client has made: how many keeps, and what they may have together.

Law: it changes with each keep that is made or goes, so that a quota is looked up, whatever number of keeps there are.
The number of an owner stays while it has keeps, and is given again afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tamis.protocol.wire.keep_bodies import KeepTerms


@dataclass(slots=True)
class OwnedKeeps:
    """The keeps of one client. `number`: the owner's in the switch, from 1; `bytes`: their bounds, added up; `filters`
    and `filter_bytes`: how many filters they have, and the bytes of these, packed."""

    number: int
    count: int = 0
    bytes: int = 0
    filters: int = 0
    filter_bytes: int = 0


class Owners:
    """The clients that have made keeps, by name."""

    def __init__(self) -> None:
        self._owned: dict[str, OwnedKeeps] = {}
        self._free: list[int] = []  # numbers of owners that have no keeps any more

    def of(self, owner: str) -> OwnedKeeps:
        """Return what `owner` has made, which is not to be changed; one that has made nothing has the number that it
        gets with its first keep."""
        return self._owned.get(owner) or OwnedKeeps(self._free[-1] if self._free else len(self._owned) + 1)

    def __iter__(self) -> Iterator[tuple[str, OwnedKeeps]]:
        return iter(self._owned.items())

    def add(self, owner: str, terms: KeepTerms) -> None:
        owned = self._owned.get(owner)
        if owned is None:
            owned = self._owned[owner] = self.of(owner)
            del self._free[-1:]
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
            self._free.append(owned.number)


def filter_bytes(terms: KeepTerms) -> int:
    """Return the bytes of the packed filters of `terms`."""
    return sum(map(len, terms.filters))
