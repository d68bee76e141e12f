"""Whom a message would reach, by the live table.

Law: this is said by the table that the switch matches with, and holds the loop for a bounded time: of what matches,
only the first so many filters are looked at, and the rest is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from tamis.native import Subscribed, Switch, Table, Trace
from tamis.protocol.limits import REPORT_ITEMS_MAX
from tamis.protocol.values import Value
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.report_bodies import DryRunReport, WouldDeliver

MATCHES_MAX: Final = 1_000
_REPORT_HEAD_BYTES: Final = 512
_ROW_BYTES: Final = 16


class Reached(NamedTuple):
    """Some of the filters that match, and how many there are."""

    filters: list[Subscribed]
    total: int


def reached(table: Table, switch: Switch, attributes: Mapping[str, Value]) -> Reached:
    rows, count = table.match_some(attributes, MATCHES_MAX)
    found = [switch.subscribed(handle) for _, handle in sorted(rows)]
    return Reached([item for item in found if item is not None], count)


def report(router: str, trace: Trace, room: int) -> bytes:
    """What the switch has said of a DRY_RUN, in a frame of at most `room` bytes."""
    listed = min(REPORT_ITEMS_MAX, (room - _REPORT_HEAD_BYTES) // (2 * _ROW_BYTES))
    return encode(
        DryRunReport(
            *(trace.trace, trace.source, router, trace.came_from, trace.satisfied_count),
            tuple(WouldDeliver(*row) for row in sorted(trace.satisfied)[:listed]),
            *(trace.links_count, tuple(sorted(trace.links)[:listed])),
        )
    )
