"""Subscriptions that a message would reach, by the live table.

Law: the answer comes from the table that the switch uses, in bounded time: at most MATCHES_MAX of the matching filters
are listed, and the rest is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from tamis.native.table import Table
from tamis.protocol.values import Value

MATCHES_MAX: Final = 1_000


class ReachedSubscriptions(NamedTuple):
    """Some of the matching filters, as (subscriber, handle) in order, and the number of all."""

    rows: list[tuple[int, int]]
    total: int


def reached(table: Table, attributes: Mapping[str, Value]) -> ReachedSubscriptions:
    rows, count = table.match_some(attributes, MATCHES_MAX)
    return ReachedSubscriptions(sorted(rows), count)
