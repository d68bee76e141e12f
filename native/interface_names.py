"""Mapping between the names of interfaces in files and the small integers that a table uses.

Law: an id keeps its name; ids are dense from 0. 7 and "7" are two names.
"""

from __future__ import annotations

from collections.abc import Iterable

from tamis.protocol.json_form import Interface
from tamis.protocol.values import identity


class InterfaceNames:
    def __init__(self) -> None:
        self._ids: dict[Interface, int] = {}
        self._names: list[Interface] = []

    def __len__(self) -> int:
        return len(self._names)

    def id_of(self, name: Interface) -> int:
        """Return the id of `name`; a new name gets the next id."""
        found = self._ids.setdefault(name, len(self._names))
        if found == len(self._names):
            self._names.append(name)
        return found

    def name_of(self, interface: int) -> Interface:
        return self._names[interface]

    def sorted_names(self, interfaces: Iterable[int]) -> list[Interface]:
        """Return the names of `interfaces`: numbers in order, then strings in order."""
        return sorted((self._names[interface] for interface in interfaces), key=identity)
