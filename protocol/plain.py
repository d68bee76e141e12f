"""A table of filters that applies `evaluate.py` to each of them: slow, and certainly correct.

Law: the result has an interface iff one of its filters matches, once, in the order in which interfaces were first
added.
"""

from __future__ import annotations

from collections.abc import Mapping

from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import Filter
from tamis.protocol.json_form import Interface
from tamis.protocol.values import Value


class PlainTable:
    def __init__(self) -> None:
        self._filters: dict[Interface, list[Filter]] = {}

    def add(self, filter_: Filter, interface: Interface) -> None:
        self._filters.setdefault(interface, []).append(filter_)

    def match(self, attributes: Mapping[str, Value]) -> list[Interface]:
        return [
            interface
            for interface, filters in self._filters.items()
            if any(filter_matches(filter_, attributes) for filter_ in filters)
        ]
