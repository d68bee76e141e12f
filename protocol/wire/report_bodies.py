"""The reports of routers on a traced message: where it went, and why.

Law: a report travels from router to router towards the source of the message (the parent in T(source) is its next hop),
and from there to the client that asked. A list may be truncated; the count beside it is complete. A router of an
earlier version reports no durable subscriptions, which decodes as none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Annotated, Final, NamedTuple

from tamis.protocol.limits import REPORT_DURABLES_MAX, REPORT_ITEMS_MAX
from tamis.protocol.old_names import OldReport
from tamis.protocol.wire.schema import APPENDED, U8, U32, U64, Between, Name, PositiveU64, Sentence

_HEAD_BYTES: Final = 1_536
"""Room for a report without its lists: the longest name and sentence, and eleven numbers."""
_ROW_BYTES: Final = 20
"""Bytes of the longest row of a list, a Departure."""


_NAME_HEAD_BYTES: Final = 3
"""Bytes in front of a name, at most."""

DurableNames = Annotated[tuple[Name, ...], Between(0, REPORT_DURABLES_MAX)]


class MatchedFilter(NamedTuple):
    """A filter of the table: the number of the router or client that issued it, and its id there."""

    issuer: U64
    filter: U64


class Departure(NamedTuple):
    """One forwarded copy: to a router or a client, by number, and when it was queued."""

    to: U64
    to_client: bool
    queued_ns: U64


@dataclass(frozen=True, slots=True)
class TraceRecord(OldReport):
    """The actions of one router on a traced message. `durables` names durable subscriptions that have it, of
    `durable_count` in total."""

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
    durable_count: Annotated[U32, APPENDED] = 0
    durables: Annotated[DurableNames, APPENDED] = ()


class WouldDeliver(NamedTuple):
    """A subscription that a dry run satisfied: the client's number, the subscription's id."""

    client: U64
    subscription: U32


@dataclass(frozen=True, slots=True)
class DryRunReport(OldReport):
    """The subscriptions to which one router would have delivered, the routers to which it passed the dry run on, and
    the names of durable subscriptions that would store the message, of `durable_count` in total."""

    trace: PositiveU64
    source: U64
    router: Name
    came_from: U64
    delivery_count: U32
    deliveries: Annotated[tuple[WouldDeliver, ...], Between(0, REPORT_ITEMS_MAX)]
    passed_count: U32
    passed_to: Annotated[tuple[U64, ...], Between(0, REPORT_ITEMS_MAX)]
    durable_count: Annotated[U32, APPENDED] = 0
    durables: Annotated[DurableNames, APPENDED] = ()


Report = TraceRecord | DryRunReport


def fitted(report: Report, frame_bytes_max: int) -> Report:
    """Return `report` with as many first rows of each list as fit a frame of `frame_bytes_max` bytes; names of durable
    subscriptions take at most a third of it."""
    room = max(0, frame_bytes_max - _HEAD_BYTES)
    ends = accumulate(_NAME_HEAD_BYTES + len(name.encode()) for name in report.durables)
    fitting = [end for end in ends if end <= room // 3]
    durables, rows = report.durables[: len(fitting)], (room - (fitting[-1] if fitting else 0)) // (2 * _ROW_BYTES)
    if isinstance(report, TraceRecord):
        return replace(report, filters=report.filters[:rows], departures=report.departures[:rows], durables=durables)
    return replace(report, deliveries=report.deliveries[:rows], passed_to=report.passed_to[:rows], durables=durables)
