"""Subscriptions that a message would reach, by the live table.

Law: the answer comes from the table that the switch uses, in bounded time: at most MATCHES_MAX of the matching filters
are listed, and the rest is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from tamis.native.table import Table
from tamis.protocol.limits import ATTRIBUTES_MAX
from tamis.protocol.residual.cases import FOLDED_MARK, folded
from tamis.protocol.values import Value

MATCHES_MAX: Final = 1_000


class ReachedSubscriptions(NamedTuple):
    """Some of the matching filters, as (subscriber, handle) in order, and the number of all. `is_whole`: no filter on
    folded texts can have been missed."""

    rows: list[tuple[int, int]]
    total: int
    is_whole: bool


def reached(table: Table, attributes: Mapping[str, Value], folds: Callable[[str], bool]) -> ReachedSubscriptions:
    """Return the subscriptions that a message would reach. `folds` tells whether the table has filters on the folded
    text of an attribute."""
    texts = {
        f"{name}{FOLDED_MARK}": folded(value)
        for name, value in attributes.items()
        if isinstance(value, str) and folds(name)
    }
    is_whole = len(attributes) + len(texts) <= ATTRIBUTES_MAX and attributes.keys().isdisjoint(texts)
    rows, count = table.match_some({**attributes, **texts} if is_whole else attributes, MATCHES_MAX)
    return ReachedSubscriptions(sorted(rows), count, is_whole)
