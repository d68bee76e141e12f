"""What became of a message that a client asks about: reports of this router, and the way to the client.

Law: reports come to the router where the message entered, which alone knows who asked. It remembers ASKED_MAX askers,
the oldest going first; a report for somebody who is forgotten or gone is lost, and nothing else.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from tamis.native import Trace
from tamis.protocol.limits import REPORT_ITEMS_MAX
from tamis.protocol.wire.report_bodies import (
    Departure,
    DryRunReport,
    MatchedFilter,
    Report,
    TraceRecord,
    WouldDeliver,
)

if TYPE_CHECKING:
    from tamis.router.clients.client import Client

ASKED_MAX: Final = 4_096
"""Far more than people look at, and a few hundred KiB."""


def report_of(router: str, trace: Trace) -> Report:
    """What the switch of `router` has said of a message, as others are told."""
    return _dry_run_report(router, trace) if trace.is_dry else _trace_record(router, trace)


class Asking:
    """Which client asks about which trace id."""

    def __init__(self) -> None:
        self._clients: OrderedDict[int, Client] = OrderedDict()

    def asks(self, client: Client, trace: int) -> None:
        self._clients[trace] = client
        self._clients.move_to_end(trace)
        if len(self._clients) > ASKED_MAX:
            self._clients.popitem(last=False)

    def bring(self, report: Report) -> None:
        client = self._clients.get(report.trace)
        if client is not None:
            client.report(report)


def _trace_record(router: str, trace: Trace) -> TraceRecord:
    filters = [MatchedFilter(*row) for row in (*sorted(trace.satisfied), *sorted(trace.matched))]
    departures = [Departure(number, False, trace.queued_ns) for number in sorted(trace.links)]
    departures += [Departure(number, True, trace.queued_ns) for number in sorted(trace.clients)]
    return TraceRecord(
        trace=trace.trace,
        source=trace.source,
        router=router,
        came_from=trace.came_from,
        hop_limit=trace.hop_limit,
        arrived_ns=trace.arrived_ns,
        match_ns=trace.match_ns,
        filter_count=trace.satisfied_count + trace.matched_count,
        filters=tuple(filters[:REPORT_ITEMS_MAX]),
        departure_count=trace.links_count + trace.clients_count,
        departures=tuple(departures[:REPORT_ITEMS_MAX]),
        dropped=trace.dropped,
    )


def _dry_run_report(router: str, trace: Trace) -> DryRunReport:
    return DryRunReport(
        trace=trace.trace,
        source=trace.source,
        router=router,
        came_from=trace.came_from,
        delivery_count=trace.satisfied_count,
        deliveries=tuple(WouldDeliver(*row) for row in sorted(trace.satisfied)[:REPORT_ITEMS_MAX]),
        passed_count=trace.links_count,
        passed_to=tuple(sorted(trace.links)[:REPORT_ITEMS_MAX]),
    )
