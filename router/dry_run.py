"""Whom a message would reach, by the live table.

Law: this is said by the table that the switch matches with, and holds the loop for a bounded time: of what matches,
only the first so many filters are looked at, and the rest is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from tamis.native import Subscribed, Switch, Table
from tamis.protocol.values import Value

MATCHES_MAX: Final = 1_000


class Reached(NamedTuple):
    """Some of the filters that match, and how many there are."""

    filters: list[Subscribed]
    total: int


def reached(table: Table, switch: Switch, attributes: Mapping[str, Value]) -> Reached:
    rows, count = table.match_some(attributes, MATCHES_MAX)
    found = [switch.subscribed(handle) for _, handle in sorted(rows)]
    return Reached([item for item in found if item is not None], count)
