"""What the routers that a message passed report of it: a tree, as it grows.

    (publisher, entry) ── onward ──> (entry, b) ── onward ──> (b, c)      each way with a report from its end
                             `─────> (entry, d)                             or without: no answer from d

Law: a report belongs to the way by which the message came, (from, router), and the first one for a way stands. A trail
is complete when each way that some report names has a report of its own.
"""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.report_bodies import DryRunReport, Report, TraceRecord

AnyReport = TypeVar("AnyReport", bound=Report)


class Way(NamedTuple):
    """One step of a message, as two numbers; `came_from` is a router's or the publisher's."""

    came_from: int
    router: int


class Trail(Generic[AnyReport]):
    """The reports on one message, made by `Client.trace` (TraceRecords) and `Client.route` (DryRunReports). It is empty
    until a router answers."""

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
        """The reports, in the order in which they came."""
        return tuple(self._reports.values())

    @property
    def entry(self) -> Way | None:
        """The step into the network; None if that router has not answered."""
        return next((way for way, report in self._reports.items() if way.router == report.source), None)

    def report(self, way: Way) -> AnyReport | None:
        """Return what the router at the end of `way` says; None if it has not answered."""
        return self._reports.get(way)

    def onward(self, way: Way) -> tuple[Way, ...]:
        """Return the steps that follow `way`: as its router says or, if that has not answered, as those behind it
        do."""
        report = self._reports.get(way)
        if report is not None:
            return tuple(_onward(report))
        return tuple(each for each in self._reports if each.came_from == way.router)

    @property
    def unanswered(self) -> tuple[Way, ...]:
        """Ways that the message went, without a report from their end."""
        return tuple(self._open)

    @property
    def is_complete(self) -> bool:
        """Whether every router that the message was passed on to has answered, as far as that can be known."""
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
    """Was the message passed on to routers that are not listed? Routers are listed before clients."""
    if isinstance(report, DryRunReport):
        return report.passed_count > len(report.passed_to)
    is_whole = report.departure_count == len(report.departures)
    return not is_whole and not (report.departures and report.departures[-1].to_client)
