"""Reports on a message, made of what the switch says of it."""

from __future__ import annotations

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


def report_of(router: str, trace: Trace) -> Report:
    """Return the report on what the switch of `router` did, or would do, with a message."""
    return _dry_run_report(router, trace) if trace.is_dry else _trace_record(router, trace)


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
