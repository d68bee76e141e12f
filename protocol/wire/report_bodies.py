"""What routers tell of a traced message: where it went, and why.

Law: a report travels from router to router towards the source of the message (the parent in T(source) is its next hop),
and from there to the client that asked. A list may be cut short; the count beside it never is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Final, NamedTuple

from tamis.protocol.limits import REPORT_ITEMS_MAX
from tamis.protocol.wire.schema import U8, U32, U64, Between, Name, PositiveU64, Sentence

_HEAD_BYTES: Final = 1_536
"""Room for a report without its lists: the longest name and sentence, and ten numbers."""
_ROW_BYTES: Final = 20
"""Bytes of the longest row of a list, a Departure."""


class MatchedFilter(NamedTuple):
    """A filter of the table: the number of the router or client that issued it, and its id there."""

    issuer: U64
    filter: U64


class Departure(NamedTuple):
    """One copy sent on: to a router or a client, by number, and when it was queued."""

    to: U64
    to_client: bool
    queued_ns: U64


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """What one router did with a traced message."""

    trace: PositiveU64
    source: U64
    router: Name
    came_from: U64
    hop_limit: U8
    arrived_ns: U64
    match_ns: U64
    filter_count: U32
    filters: Annotated[tuple[MatchedFilter, ...], Between(0, REPORT_ITEMS_MAX)]
    departure_count: U32
    departures: Annotated[tuple[Departure, ...], Between(0, REPORT_ITEMS_MAX)]
    dropped: Sentence


class WouldDeliver(NamedTuple):
    """A subscription that a dry run satisfied: the client's number, the subscription's id."""

    client: U64
    subscription: U32


@dataclass(frozen=True, slots=True)
class DryRunReport:
    """The subscriptions to which one router would have delivered, and the routers to which it passed the dry run on."""

    trace: PositiveU64
    source: U64
    router: Name
    came_from: U64
    delivery_count: U32
    deliveries: Annotated[tuple[WouldDeliver, ...], Between(0, REPORT_ITEMS_MAX)]
    passed_count: U32
    passed_to: Annotated[tuple[U64, ...], Between(0, REPORT_ITEMS_MAX)]


Report = TraceRecord | DryRunReport


def fitted(report: Report, frame_bytes_max: int) -> Report:
    """Return `report` with as many first rows of each list as fit a frame of `frame_bytes_max` bytes."""
    rows = max(0, frame_bytes_max - _HEAD_BYTES) // (2 * _ROW_BYTES)
    if isinstance(report, TraceRecord):
        return replace(report, filters=report.filters[:rows], departures=report.departures[:rows])
    return replace(report, deliveries=report.deliveries[:rows], passed_to=report.passed_to[:rows])
