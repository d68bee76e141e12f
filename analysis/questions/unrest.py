"""The times when the network was finding new routes, in which no delivery between routers is due.

Law: a moment is restless from `notice_us` before any router wrote of a link, a life or a new topology (a link may be
dead for that time before a router notices) until `settle_us` after, clock errors added. Restlessness is recorded by
ticks, rounded outwards; restless ticks that touch are one span.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa

TICK_US = 100_000


class NetworkChange(NamedTuple):
    """A recorded change, on one clock. `other` is the other end of a changed link."""

    router: str
    other: str | None
    at_us: int
    error_us: int | None = None
    what: str = ""


class UnrestSpan(NamedTuple):
    """Restless from `from_us` until just before `to_us`, and why."""

    from_us: int
    to_us: int
    whats: list[str]


UNREST: Final = pa.schema([("from_us", pa.int64()), ("to_us", pa.int64()), ("whats", pa.list_(pa.string()))])
Events = Iterable[Mapping[str, Any]]


def changes(link: Events, life: Events, topology: Events) -> list[NetworkChange]:
    """Return every recorded change. All events are on one clock."""
    return [
        *(_change(row, f"link {row['what']}", row["neighbour"]) for row in link),
        *(_change(row, f"router {row['what']}") for row in life),
        *(_change(row, "topology") for row in topology),
    ]


def _change(row: Mapping[str, Any], what: str, other: str | None = None) -> NetworkChange:
    return NetworkChange(row["router"], other, row["at_us"], row["error_us"], what)


def spans(found: Sequence[NetworkChange], notice_us: int, settle_us: int) -> list[UnrestSpan]:
    """Return the restless spans, in order."""
    around = []
    for change in found:
        error_us = settle_us if change.error_us is None else change.error_us
        first = (change.at_us - error_us - notice_us) // TICK_US
        around.append((first, (change.at_us + error_us + settle_us) // TICK_US, f"{change.router} {change.what}"))
    joined: list[tuple[int, int, set[str]]] = []
    for first, last, what in sorted(around):
        if joined and first <= joined[-1][1] + 1:
            begun, end, whats = joined.pop()
            joined.append((begun, max(end, last), whats))
            whats.add(what)
        else:
            joined.append((first, last, {what}))
    return [UnrestSpan(first * TICK_US, (last + 1) * TICK_US, sorted(whats)) for first, last, whats in joined]
