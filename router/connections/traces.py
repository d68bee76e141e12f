"""Reports on a message, made from its trace in the switch."""

from __future__ import annotations

from collections.abc import Callable

from tamis.native.traces import Trace
from tamis.protocol.limits import REPORT_DURABLES_MAX, REPORT_ITEMS_MAX
from tamis.protocol.wire.report_bodies import (
    Departure,
    DryRunReport,
    MatchedFilter,
    Report,
    TraceRecord,
    WouldDeliver,
)


def report_of(router: str, trace: Trace, durable_name: Callable[[int], str | None]) -> Report:
    """Return the report of `router` on a message that its switch handled, or would handle in a dry run. `durable_name`:
    returns the name of a durable subscription by its number; one that has ended is counted and not named."""
    names = sorted(name for number in trace.durables if (name := durable_name(number)) is not None)
    durables = tuple(names[:REPORT_DURABLES_MAX])
    return _dry_run_report(router, trace, durables) if trace.is_dry else _trace_record(router, trace, durables)


def _trace_record(router: str, trace: Trace, durables: tuple[str, ...]) -> TraceRecord:
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
        durable_count=trace.durables_count,
        durables=durables,
    )


def _dry_run_report(router: str, trace: Trace, durables: tuple[str, ...]) -> DryRunReport:
    return DryRunReport(
        trace=trace.trace,
        source=trace.source,
        router=router,
        came_from=trace.came_from,
        delivery_count=trace.satisfied_count,
        deliveries=tuple(WouldDeliver(*row) for row in sorted(trace.satisfied)[:REPORT_ITEMS_MAX]),
        passed_count=trace.links_count,
        passed_to=tuple(sorted(trace.links)[:REPORT_ITEMS_MAX]),
        durable_count=trace.durables_count,
        durables=durables,
    )
