"""The messages whose trails a client follows.

Law: reports are recorded from the moment a message is published until its call has ended; other reports are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from tamis.client.errors import PublishRefused
from tamis.client.messages.outbox import Outbox
from tamis.client.messages.waiter import Waiter, settle
from tamis.client.trail import AnyReport, Trail
from tamis.protocol.values import Value
from tamis.protocol.wire.client_bodies import Refusal
from tamis.protocol.wire.report_bodies import DryRunReport, Report

TRAIL_S: Final = 5.0
"""Seconds that a call waits for missing reports, by default."""
_TRACE_BYTES: Final = 8


class Trails:
    def __init__(self, outbox: Outbox, random_bytes: Callable[[int], bytes]) -> None:
        self._outbox = outbox
        self._random_bytes = random_bytes
        self._followed: dict[int, tuple[Trail[Any], Waiter]] = {}
        self._trace_of: dict[int, int] = {}  # by the counters of their messages

    def begin(
        self,
        of: type[AnyReport],
        attributes: Mapping[str, Value],
        payload: bytes,
        time_ns: int,
        taken: Waiter,
        complete: Waiter,
    ) -> Trail[AnyReport]:
        """Publish a message, or (`of` DryRunReport) request a dry run of it. `taken` is settled when the router has
        accepted it, `complete` when the trail is complete."""
        trace = max(1, int.from_bytes(self._random_bytes(_TRACE_BYTES), "little"))
        counter = self._outbox.follow(attributes, payload, time_ns, trace, taken, is_dry=of is DryRunReport)
        trail = Trail(of, trace)
        self._followed[trace] = trail, complete
        self._trace_of[counter] = trace
        return trail

    def end(self, trail: Trail[AnyReport]) -> None:
        """Record no further reports for `trail`, whose call has ended."""
        self._followed.pop(trail.trace, None)
        self._trace_of = {counter: trace for counter, trace in self._trace_of.items() if trace in self._followed}

    @property
    def awaits_reports(self) -> bool:
        return bool(self._followed)

    def report(self, report: Report) -> None:
        if report.trace in self._followed:
            trail, complete = self._followed[report.trace]
            trail.add(report)
            if trail.is_complete:
                settle(complete)

    def refused(self, refusals: Iterable[Refusal]) -> None:
        """Fail the calls whose messages the router refused, since no report will arrive."""
        for refusal in refusals:
            followed = self._followed.get(self._trace_of.get(refusal.number, 0))
            if followed is not None:
                settle(followed[1], PublishRefused(refusal))

    def close(self, error: Exception) -> None:
        """Fail all calls with `error`, since no report will arrive."""
        for _, complete in self._followed.values():
            settle(complete, error)
