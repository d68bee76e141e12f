"""The reports of the routers that a message passed, as a growing tree of steps.

    (publisher, entry) ── onward ──> (entry, b) ── onward ──> (b, c)      each step with a report from its end
                             `─────> (entry, d)                             or without one: d has not answered

Law: a report belongs to the step (from, router) by which the message arrived, and the first report for a step is used.
A trail is complete when each step that a report names has a report of its own.
"""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.report_bodies import DryRunReport, Report, TraceRecord

AnyReport = TypeVar("AnyReport", bound=Report)


class Way(NamedTuple):
    """One step of a message, as two numbers; `came_from` is the number of a router or of the publisher."""

    came_from: int
    router: int


class Trail(Generic[AnyReport]):
    """The reports on one message, made by `Client.trace` (TraceRecords) and `Client.route` (DryRunReports). A trail is
    empty until a router answers."""

    def __init__(self, of: type[AnyReport], trace: int) -> None:
        self.trace = trace
        self._of = of
        self._reports: dict[Way, AnyReport] = {}
        self._open: dict[Way, None] = {}
        self._is_cut_short = False

    def add(self, report: Report) -> None:
        if not isinstance(report, self._of) or way_of(report) in self._reports:
            return
        self._reports[way_of(report)] = report
        self._open.pop(way_of(report), None)
        self._open |= {way: None for way in _onward(report) if way not in self._reports}
        self._is_cut_short |= _is_cut_short(report)

    @property
    def reports(self) -> tuple[AnyReport, ...]:
        """The reports, in the order in which they arrived."""
        return tuple(self._reports.values())

    @property
    def entry(self) -> Way | None:
        """The step into the network; None if the entry router has not answered."""
        return next((way for way, report in self._reports.items() if way.router == report.source), None)

    def report(self, way: Way) -> AnyReport | None:
        """Return the report of the router at the end of `way`; None if it has not answered."""
        return self._reports.get(way)

    def onward(self, way: Way) -> tuple[Way, ...]:
        """Return the steps that follow `way`: those that its router reports or, if that router has not answered, those
        that the routers behind it report."""
        report = self._reports.get(way)
        if report is not None:
            return tuple(_onward(report))
        return tuple(each for each in self._reports if each.came_from == way.router)

    @property
    def unanswered(self) -> tuple[Way, ...]:
        """The steps that the message took and whose end has not reported."""
        return tuple(self._open)

    @property
    def is_complete(self) -> bool:
        """Whether every router that the message was passed to has reported, as far as the reports list these
        routers."""
        return self.entry is not None and not self._open and not self._is_cut_short


def way_of(report: Report) -> Way:
    return Way(report.came_from, stable_number(report.router))


def _onward(report: Report) -> list[Way]:
    if isinstance(report, TraceRecord):
        to = [departure.to for departure in report.departures if not departure.to_client]
    else:
        to = list(report.passed_to)
    return [Way(stable_number(report.router), number) for number in to]


def _is_cut_short(report: Report) -> bool:
    """Return whether the message was passed to routers that the report does not list. A report lists routers before
    clients."""
    if isinstance(report, DryRunReport):
        return report.passed_count > len(report.passed_to)
    is_whole = report.departure_count == len(report.departures)
    return not is_whole and not (report.departures and report.departures[-1].to_client)
