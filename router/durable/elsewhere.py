"""R18: unknown ranges: spans in which durable subscriptions may have missed messages that enter at other routers.

    start of the router ────────────────> since the last message of the run before ───┐
    all routers have the interest ──────> since the start ────────────────────────────┼──> a range for each subscription
    LOST, or a changed route ───────────> since its span began ───────────────────────┘

Law: a live subscriber receives a loss report while it is connected, and a durable subscription always. From the time
since which messages may be missing until the ranges are appended, a record of the catalog holds that time; without it
the next start derives the time from the last message and from how late a loss is noticed. Ranges are appended in slices
of UNKNOWN_MAX subscriptions; those that the log rejects are tried again each second. A router without links has none.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from itertools import islice
from typing import Final

from tamis.native.durables import UNKNOWN_MAX
from tamis.native.log import LogBusy, LogFailed, LogFull
from tamis.native.results import OutOfMemory
from tamis.protocol.wire.client_bodies import Lost
from tamis.protocol.wire.codes import LossReason
from tamis.router.daemon.epoch import unix_ms
from tamis.router.durable.catalog import MISSED_SINCE, WrittenMissed, written_missed
from tamis.router.durable.refusals import RequestRefused
from tamis.router.durable.registry import DurableRegistry

LATE_MS: Final = 2_000
"""How much earlier than its span a missing message may have been published: clocks are read once a tick, and positions
are looked up to the second."""


class Elsewhere:
    """The unknown ranges of the durable subscriptions of `registry`. `found`: times in the catalog since which messages
    may be missing. Nothing is recorded before `start`, which a router without links does not call."""

    def __init__(self, registry: DurableRegistry, found: Iterable[WrittenMissed]) -> None:
        self._registry = registry
        self._noted = list(found)
        self._due: dict[int, int] = {}
        """Subscriptions whose unknown range is still to be appended: number to the start of the range, Unix ms."""
        self._is_working = self._is_on = False
        self._started_ms = 0
        self._is_known = self._goes_on = False

    def start(self, noticed_within_ms: int) -> None:
        """Append a range for the time in which this router was down, extended by `noticed_within_ms`, within which an
        earlier loss would have been noticed. Call this before any message can be stored."""
        self._is_on, self._started_ms = True, unix_ms()
        if not self._registry.by_number:
            self._is_known = True
            self._forget()
            return
        ended_ms = self._registry.all_figures().ended_ms
        self._unknown(min((ended_ms - noticed_within_ms, *(each.since_ms for each in self._noted))), 0)
        for _ in self._work():  # in one go: no client is served yet
            pass
        self._note(self._started_ms)

    def known(self) -> None:
        """Record that all reachable routers have the filters of the subscriptions that were found at the start."""
        if self._is_on and not self._is_known:
            self._is_known = True
            self._missed(self._started_ms, 0)

    def lost(self, lost: Lost, before_s: float) -> None:
        """Record a loss between routers, which live subscribers receive as `lost`. It affects the subscriptions that
        existed at `before_s` (monotonic seconds)."""
        if self._is_on:
            since_ms = unix_ms() - lost.span_ms - LATE_MS
            if lost.reason == LossReason.ROUTE_CHANGED:
                self._goes_on = lost.goes_on
            self._missed(since_ms, int(before_s * 1_000))

    def each_second(self) -> None:
        """Append again the ranges that the log rejected."""
        self._go_on()

    # --- steps -----------------------------------------------------------------------------------------------------

    def _missed(self, since_ms: int, made_by_ms: int) -> None:
        self._unknown(since_ms, made_by_ms)
        if self._goes_on or not self._is_known:
            self._note(since_ms)
        self._go_on()

    def _unknown(self, since_ms: int, made_by_ms: int) -> None:
        for number, held in self._registry.by_number.items():
            if held.made_ms <= made_by_ms:
                self._due[number] = min(self._due.get(number, since_ms), since_ms)

    def _go_on(self) -> None:
        if self._due and not self._is_working and not self._registry.has_failed:
            self._is_working = True
            self._registry.connections.work.add(self._work(), self._failed)

    def _failed(self) -> None:
        self._is_working = False

    def _work(self) -> Generator[None, None, None]:
        """Append the ranges that are due, and retire the recorded times once the log has them all."""
        while self._due:
            some = dict(islice(self._due.items(), UNKNOWN_MAX))
            try:
                self._registry.durables.unknown(list(some), max(0, min(some.values())))
            except (LogFull, LogBusy, LogFailed, OutOfMemory):
                break
            for number in some:
                del self._due[number]
            yield
        self._is_working = False
        if not self._due and self._is_known and not self._goes_on:
            self._forget()

    def _note(self, since_ms: int) -> None:
        """Write a time to the catalog unless that has an earlier one. If the log rejects it, the next start derives the
        time from the last message."""
        if any(each.since_ms <= since_ms for each in self._noted):
            return
        try:
            n = self._registry.write(MISSED_SINCE, written_missed(since_ms))
        except RequestRefused:
            return
        self._forget()
        self._noted = [WrittenMissed(n, since_ms)]

    def _forget(self) -> None:
        for each in self._noted:
            self._registry.durables.retire(each.n)
        self._noted = []
