"""R18: unknown ranges: spans in which durable subscriptions may have missed messages that enter at other routers.

    start of the router ────────────────> since the last message of the run before ───┐
    all routers have the interest ──────> since the start ────────────────────────────┼──> a range for each subscription
    LOST, or a changed route ───────────> since its span began ───────────────────────┤
    a chain: given up, or in doubt ─────> here ───────────────────────────────────────┘

Law: a live subscriber receives a loss report while it is connected, and a durable subscription always, unless the
routers that messages enter store them for it: while a chain comes from each other router, what is lost on the way is
sent again. From the time since which messages may be missing until the ranges are appended, a record of the catalog
holds that time; without it the next start derives the time from the last message and from how late a loss is noticed.
Ranges are appended in slices of UNKNOWN_MAX subscriptions; those that the log rejects are tried again each second. A
router without links has none.
What a chain misses is appended before the chain moves past it, as the entry repeats it until then: a crash in between
may double it, and never hides it. Its count is that of all subscriptions together: a chain does not say which of them
wanted a message.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Final

from tamis.native.durables import HERE, UNKNOWN_MAX
from tamis.native.log import LogBusy, LogFailed, LogFull
from tamis.native.results import OutOfMemory
from tamis.protocol.wire.client_bodies import Lost
from tamis.protocol.wire.codes import LossReason
from tamis.router.daemon.epoch import unix_ms
from tamis.router.durable.catalog import MISSED_SINCE, WrittenMissed, written_missed
from tamis.router.durable.refusals import RequestRefused
from tamis.router.durable.registry import DurableRegistry

ANSWERED_MS: Final = 2_000
"""Within this time the creation of a subscription is answered, with the routers that store messages for it."""
LATE_MS: Final = 2_000
"""How much earlier than its span a missing message may have been published: clocks are read once a tick, and positions
are looked up to the second."""


@dataclass(slots=True)
class _OfChain:
    """A range for the subscriptions `left`, and what follows once the log has it for all."""

    reason: LossReason
    messages: int
    left: list[int]
    then: Callable[[], None]


class Elsewhere:
    """The unknown ranges of the durable subscriptions of `registry`. `found`: times in the catalog since which messages
    may be missing. Nothing is recorded before `start`, which a router without links does not call."""

    def __init__(self, registry: DurableRegistry, found: Iterable[WrittenMissed]) -> None:
        self._registry = registry
        self._noted = list(found)
        self._due: dict[int, int] = {}
        """Subscriptions whose unknown range is still to be appended: number to the start of the range, Unix ms."""
        self._of_chains: deque[_OfChain] = deque()
        """At most one of each chain, which waits for it."""
        self._is_working = self._is_on = False
        self._noticed_within_ms = self._started_ms = 0
        self._is_known = self._goes_on = False
        self._has_all_chains: Callable[[], bool] = lambda: False
        self._all_since_ms: int | None = None
        """Since when a chain comes from each other router; None: from some there is none."""
        self._all_since_s = 0.0
        """The same in monotonic seconds."""
        self._chains_begin_ms: int | None = None
        """When chains last began, while a loss before that may still be noticed."""

    def start(self, noticed_within_ms: int, has_all_chains: Callable[[], bool]) -> None:
        """Append a range for the time in which this router was down, extended by `noticed_within_ms`, within which an
        earlier loss would have been noticed. Where a chain came from each other router, one is due only for a time in
        the catalog: what was sent while this router was down comes again. Call this before any message can be stored.
        `has_all_chains` returns whether a chain comes from each now."""
        self._is_on, self._started_ms = True, unix_ms()
        self._noticed_within_ms, self._has_all_chains = noticed_within_ms, has_all_chains
        has_all = has_all_chains()
        self._all_since_ms = 0 if has_all else None
        self._registry.announced.begin(self.known)
        self._is_known = has_all or not self._registry.by_number
        since_ms = [each.since_ms for each in self._noted]
        if self._registry.by_number and not has_all:
            since_ms.append(self._registry.all_figures().ended_ms - noticed_within_ms)
        if since_ms:
            self._unknown(min(since_ms), 0)
        for _ in self._work():  # in one go: no client is served yet
            pass
        if not self._is_known:
            self._note(self._started_ms)

    def known(self) -> None:
        """Record that all reachable routers have the filters of the subscriptions that were found at the start."""
        if self._is_on and not self._is_known:
            self._is_known = True
            self._missed(self._started_ms, 0)

    def lost(self, lost: Lost, before_s: float) -> None:
        """Record a loss between routers, which live subscribers receive as `lost`. It affects the subscriptions that
        existed at `before_s` (monotonic seconds), and of these, while a chain comes from each other router, those whose
        creation was answered before the last chain began."""
        if self._is_on:
            since_ms = unix_ms() - lost.span_ms - LATE_MS
            is_sent_again = self._comes_in_chains(since_ms)
            if self._all_since_ms is not None:
                before_s = min(before_s, self._all_since_s - ANSWERED_MS / 1_000)
            affects = not is_sent_again and self._any_made_by(before_s)
            if lost.reason == LossReason.ROUTE_CHANGED:
                self._goes_on = lost.goes_on and affects
            if affects:
                self._missed(since_ms, int(before_s * 1_000))

    def chains_begin(self) -> None:
        """Record that chains begin now, before they do: a loss of earlier messages may still be noticed. It is none to
        a subscription whose creation is not answered yet."""
        if self._is_on and self._any_made_by(time.monotonic() - ANSWERED_MS / 1_000):
            self._chains_begin_ms = unix_ms()
            self._note(self._chains_begin_ms - self._noticed_within_ms - LATE_MS)

    def chain_began(self) -> None:
        """Record that the chain of an entry has begun."""
        self._comes_in_chains(0)

    def missing(self, reason: LossReason, messages: int, then: Callable[[], None]) -> None:
        """Append a range for what is missing here in the chain of an entry, `messages` or an unknown number (0), to all
        subscriptions; then call `then`."""
        self._of_chains.append(_OfChain(reason, messages, [*self._registry.by_number], then))
        self._go_on()

    def each_second(self) -> None:
        """Append again the ranges that the log rejected."""
        self._comes_in_chains(0)
        if self._chains_begin_ms is not None and unix_ms() - self._chains_begin_ms > self._noticed_within_ms + LATE_MS:
            self._chains_begin_ms = None
        self._go_on()
        self._forget_if_told()

    def _comes_in_chains(self, since_ms: int) -> bool:
        """Return whether all that entered elsewhere since a time comes in chains."""
        if not self._has_all_chains():
            self._all_since_ms = None
        elif self._all_since_ms is None:
            self._all_since_ms, self._all_since_s = unix_ms(), time.monotonic()
        return self._all_since_ms is not None and since_ms >= self._all_since_ms

    # --- steps -----------------------------------------------------------------------------------------------------

    def _any_made_by(self, before_s: float) -> bool:
        """Return whether a subscription existed at a time (monotonic seconds)."""
        return any(held.made_ms <= before_s * 1_000 for held in self._registry.by_number.values())

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
        is_due = bool(self._due or self._of_chains)
        if is_due and not self._is_working and not self._registry.has_failed:
            self._is_working = True
            self._registry.connections.work.add(self._work(), self._failed)

    def _failed(self) -> None:
        self._is_working = False

    def _work(self) -> Generator[None, None, None]:
        """Append the ranges that are due, and retire the recorded times once the log has them all."""
        with suppress(LogFull, LogBusy, LogFailed, OutOfMemory):
            yield from self._work_on_due()
            yield from self._work_on_chains()
        self._is_working = False
        self._forget_if_told()

    def _work_on_due(self) -> Generator[None, None, None]:
        while self._due:
            some = dict(islice(self._due.items(), UNKNOWN_MAX))
            since_ms = max(0, min(some.values()))
            self._registry.durables.unknown(list(some), since_ms, LossReason.ROUTE_CHANGED)
            for number in some:
                del self._due[number]
            yield

    def _work_on_chains(self) -> Generator[None, None, None]:
        while self._of_chains:
            first = self._of_chains[0]
            while first.left:
                self._registry.durables.unknown(first.left[:UNKNOWN_MAX], HERE, first.reason, first.messages)
                del first.left[:UNKNOWN_MAX]
                yield
            self._of_chains.popleft()
            first.then()

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

    def _forget_if_told(self) -> None:
        if not self._due and self._is_known and not self._goes_on and self._chains_begin_ms is None:
            self._forget()

    def _forget(self) -> None:
        for each in self._noted:
            self._registry.durables.retire(each.n)
        self._noted = []
