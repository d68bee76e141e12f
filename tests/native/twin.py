"""The dumb twin of a table: a dict of filters, evaluated one by one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import Filter
from tamis.protocol.values import Value

Grouping = Sequence[int | None]


@dataclass
class TwinTable:
    """Handle -> (filter, interface); handles are those that the table under test gave."""

    held: dict[int, tuple[Filter, int]] = field(default_factory=dict)
    clients: frozenset[int] = frozenset()

    def match_all(self, attributes: Mapping[str, Value]) -> list[tuple[int, int]]:
        """Sorted (interface, handle) of what matches, of links as well."""
        matched = (handle for handle, (chosen, _) in self.held.items() if filter_matches(chosen, attributes))
        return sorted((self.held[handle][1], handle) for handle in matched)

    def match(
        self,
        attributes: Mapping[str, Value],
        candidates: Collection[int] | None = None,
        grouping: Grouping | None = None,
    ) -> list[int]:
        links = {link_of(interface, grouping) for interface, _ in self.match_all(attributes)}
        return sorted(link for link in links if link is not None and (candidates is None or link in candidates))


def link_of(interface: int, grouping: Grouping | None) -> int | None:
    if grouping is None:
        return interface
    return grouping[interface] if interface < len(grouping) else None
