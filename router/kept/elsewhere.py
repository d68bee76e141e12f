"""R18: what keeps may have missed of the messages that enter at other routers: doubts, on disk, for each of them.

    a start ────────────────────────────> since the last message of the life before ──┐
    all routers know what is wanted ────> since the start ────────────────────────────┼──> a doubt of each keep
    a LOST, or a way that has changed ──> since its span began ───────────────────────┘

Law: a live subscriber is told of a loss while it is connected, and a keep always. From the moment from which messages
may be missing until the doubts that say so are appended a record of the book has that moment, or the next start finds
it from the last message and from how late a loss is noticed. Doubts are appended in slices of DOUBTED_MAX keeps; what
the log does not take is tried again each second. A router without links has no doubts.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from itertools import islice
from typing import Final

from tamis.native.keeps import DOUBTED_MAX
from tamis.native.log import LogBusy, LogFailed, LogFull
from tamis.native.results import OutOfMemory
from tamis.protocol.wire.client_bodies import Lost
from tamis.protocol.wire.codes import LossReason
from tamis.router.daemon.epoch import unix_ms
from tamis.router.kept.book import MISSED_SINCE, WrittenMissed, written_missed
from tamis.router.kept.keeper import KeepHost
from tamis.router.kept.refusals import RequestRefused

LATE_MS: Final = 2_000
"""A message that is missing may have been published so much earlier than a span says: clocks are read once a tick, and
a position is looked up to the second."""


class Elsewhere:
    """The doubts of the keeps of `keeper`. `found`: moments that the book has, from which on something may be missing.

    Nothing is noted before `start`, which a router without links does not call."""

    def __init__(self, keeper: KeepHost, found: Iterable[WrittenMissed]) -> None:
        self._keeper = keeper
        self._noted = list(found)
        self._due: dict[int, int] = {}
        """Keeps that are to have a doubt, each with the moment from which on messages may be missing."""
        self._is_working = self._is_on = False
        self._started_ms = 0
        self._is_known = self._goes_on = False

    def start(self, noticed_within_ms: int) -> None:
        """Doubt what came while this router was down; a loss before that was noticed within `noticed_within_ms`. To be
        called before anything can be kept."""
        self._is_on, self._started_ms = True, unix_ms()
        if not self._keeper.by_number:
            self._is_known = True
            self._forget()
            return
        ended_ms = self._keeper.all_figures().ended_ms
        self._doubt(min((ended_ms - noticed_within_ms, *(each.since_ms for each in self._noted))), 0)
        for _ in self._work():  # nobody is served yet
            pass
        self._note(self._started_ms)

    def known(self) -> None:
        """Take in that all routers in reach know what the keeps want, which were there at the start."""
        if self._is_on and not self._is_known:
            self._is_known = True
            self._missed(self._started_ms, 0)

    def lost(self, lost: Lost, before_s: float) -> None:
        """Take in a loss between routers, as live subscribers are told: it concerns keeps that were there at `before_s`
        (monotonic)."""
        if self._is_on:
            since_ms = unix_ms() - lost.span_ms - LATE_MS
            if lost.reason == LossReason.WAY_CHANGED:
                self._goes_on = lost.goes_on
            self._missed(since_ms, int(before_s * 1_000))

    def each_second(self) -> None:
        """Try again what the log did not take."""
        self._go_on()

    # --- steps -----------------------------------------------------------------------------------------------------

    def _missed(self, since_ms: int, made_by_ms: int) -> None:
        self._doubt(since_ms, made_by_ms)
        if self._goes_on or not self._is_known:
            self._note(since_ms)
        self._go_on()

    def _doubt(self, since_ms: int, made_by_ms: int) -> None:
        for number, held in self._keeper.by_number.items():
            if held.made_ms <= made_by_ms:
                self._due[number] = min(self._due.get(number, since_ms), since_ms)

    def _go_on(self) -> None:
        if self._due and not self._is_working and not self._keeper.has_failed:
            self._is_working = True
            self._keeper.connections.work.add(self._work(), self._failed)

    def _failed(self) -> None:
        self._is_working = False

    def _work(self) -> Generator[None, None, None]:
        """Append the doubts that are due, and give up what is noted once the log has them all."""
        while self._due:
            some = dict(islice(self._due.items(), DOUBTED_MAX))
            try:
                self._keeper.keeps.doubt(list(some), max(0, min(some.values())))
            except (LogFull, LogBusy, LogFailed, OutOfMemory):
                break
            for number in some:
                del self._due[number]
            yield
        self._is_working = False
        if not self._due and self._is_known and not self._goes_on:
            self._forget()

    def _note(self, since_ms: int) -> None:
        """Have a moment in the book, unless that has an earlier one. Without room in the log it is not there: the next
        start reaches back as far as it would without."""
        if any(each.since_ms <= since_ms for each in self._noted):
            return
        try:
            n = self._keeper.write(MISSED_SINCE, written_missed(since_ms))
        except RequestRefused:
            return
        self._forget()
        self._noted = [WrittenMissed(n, since_ms)]

    def _forget(self) -> None:
        for each in self._noted:
            self._keeper.keeps.retire(each.n)
        self._noted = []
