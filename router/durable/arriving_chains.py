"""The chains of other routers at this one, a home: C takes their messages (native/custody.py), and all else is here.

    C ── news of chains ──> news ─┐                   ┌── CUSTODY_ACK, CUSTODY_ASK ──> links
    links ── GAP ─────────> gap ──┼─> ArrivingChains ─┤
    DURABLES_HELD ────────> held ─┘                   ├── records of chains ──> C
                                                      └── missing ──> consumers

Law: a chain begins when its entry says that it holds the statement of this home. A log is that which its router states,
and a GAP has the token of this home's request; what does not agree is passed over and counted. What is acknowledged is
on disk (C4), as C reports it. A record that the log does not take, as one of a chain too many, changes nothing: the
entry repeats its frame. What is missing is told to the durable subscriptions here before the chain moves past it.
"""

from __future__ import annotations

import secrets
from collections import Counter, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, NamedTuple, Protocol

from tamis.native.custody import ChainNews, ChainReport
from tamis.native.log import LogBusy, LogChain, LogFailed, LogFull
from tamis.native.results import OutOfMemory
from tamis.protocol.errors import Refused
from tamis.protocol.limits import CUSTODY_LACKING_MAX
from tamis.protocol.wire.codes import LossReason
from tamis.protocol.wire.custody_bodies import ChainGap, ChainRange, CustodyAck, CustodyAsk, LogLife
from tamis.router.core.custody.commands import PassedOver
from tamis.router.core.custody.home import ASK_EVERY_US

WINDOW: Final = 4 << 20
"""Bytes that a home takes beyond what it has acknowledged, unless it is given others."""


class SwitchChains(Protocol):
    """The part of SwitchCustody that is used."""

    def chain_of(self, entry: int) -> LogChain | None: ...

    def set_chain(self, chain: LogChain) -> int: ...

    def end_chain(self, entry: int) -> None: ...


Missing = Callable[[LossReason, int, Callable[[], None]], None]
"""Tells the durable subscriptions here how many messages are missing (0: an unknown number), and then calls the last
argument."""


@dataclass(slots=True)
class _Arriving:
    """A chain of the log `log` of an entry. `on_disk`: the number up to which it is on disk."""

    log: int
    on_disk: int = 0
    ask_us: int = 0
    is_full: bool = False
    """Whether there was no room for something since the last tick."""
    is_telling: bool = False
    """Whether something is missing, and not all subscriptions have been told."""
    lacking_since: int = 0
    """The number above which `lacking` has all; what a subscription lacked before the last start is not known."""
    lacking: deque[ChainRange] = field(default_factory=deque)
    token: int = field(default_factory=lambda: secrets.randbits(64) or 1)

    def note_lacking(self, numbers: ChainRange) -> None:
        """Note numbers of which a subscription lacks some; the oldest ones become a bound."""
        if numbers.last:
            self.lacking.append(numbers)
        if len(self.lacking) > CUSTODY_LACKING_MAX:
            self.lacking_since = self.lacking.popleft().last


class MissedOf(NamedTuple):
    """Messages that an entry gave up, and doubts, in this run."""

    lost: int
    doubts: int


class ArrivingChains:
    """`log` is the id of this router's log, `chains` are those on its disk. `send` sends a frame towards its receiver;
    it may be lost. `stated` returns the log that another router states, 0 if none; `has_no_log` whether it
    states that it has none; `began` is called when a chain of another log has begun."""

    def __init__(
        self,
        me: int,
        log: int,
        custody: SwitchChains,
        chains: Iterable[LogChain],
        send: Callable[[CustodyAck | CustodyAsk], None],
        stated: Callable[[int], int],
        has_no_log: Callable[[int], bool],
        missing: Missing,
        began: Callable[[], None],
        window: int = WINDOW,
    ) -> None:
        self._me, self._log, self._custody, self._send = me, log, custody, send
        self._stated, self._has_no_log = stated, has_no_log
        self._missing, self._began, self._window = missing, began, window
        self._chains = {
            each.router: _Arriving(each.log, each.have, lacking_since=each.have) for each in chains if not each.is_home
        }
        self.passed_over: Counter[PassedOver] = Counter()
        """Frames of entries without effect."""
        self.missed = {entry: MissedOf(0, 0) for entry in self._chains}

    def log_of(self, entry: int) -> int:
        """Return the log of an entry whose chain comes; 0: there is none."""
        chain = self._chains.get(entry)
        return chain.log if chain is not None else 0

    def held(self, entry: int, written: LogLife) -> None:
        """Take what an entry says: it holds the statement of this home on the disk of this log."""
        if self._is_stated(entry, written.log):
            self._greet(entry, written)

    def news(self, reports: Iterable[ChainReport], now_us: int) -> None:
        """Take what C reports of chains."""
        for report in reports:
            if ChainNews.LATER in report.why and self._is_stated(report.entry, report.later.log):
                self._greet(report.entry, report.later)
            chain = self._chains.get(report.entry)
            if chain is None or chain.log != report.log:
                continue  # it is of a log before the present one
            chain.on_disk = max(chain.on_disk, report.on_disk)
            chain.is_full |= ChainNews.FULL in report.why
            chain.note_lacking(report.lacking)
            if report.why & (ChainNews.MOVED | ChainNews.REPEATED | ChainNews.FULL):
                self._acknowledge(report.entry, chain)
            if ChainNews.EARLY in report.why:
                self._ask(report.entry, report.log, report.have, now_us)

    def gap(self, frame: ChainGap, now_us: int) -> None:
        """Take numbers that an entry has given up, or a doubt."""
        entry, chain = frame.entry, self._chains.get(frame.entry)
        if chain is None:
            self.passed_over[PassedOver.UNKNOWN] += 1
            return
        found = self._custody.chain_of(entry)
        if found is None or not self._is_stated(entry, frame.written.log):
            return
        have = found.have if found.log == frame.written.log else 0
        if frame.n > have and frame.token != chain.token:
            self.passed_over[PassedOver.UNASKED] += 1
            self._ask(entry, frame.written.log, have, now_us)
        elif self._greet(entry, frame.written):
            if frame.home_log != self._log or frame.n <= have:
                self._acknowledge(entry, self._chains[entry])
            elif frame.previous > have:
                self._ask(entry, frame.written.log, have, now_us)
            else:
                self._move(frame)

    def tick(self) -> None:
        """Acknowledge again what is on disk, as that may have been lost. The chain of a router that has no log any
        longer ends with a doubt, as what waited there does not come; its messages are stored from the copies for live
        subscribers again."""
        for entry in [*filter(self._has_no_log, self._chains)]:
            found = self._custody.chain_of(entry)
            if found is not None:
                self._tell(found, LossReason.ENTRY_LOST, 0, partial(self._end, entry))
        for entry, chain in self._chains.items():
            chain.is_full = False
            self._acknowledge(entry, chain)

    # --- steps --------------------------------------------------------------------------------------------------------

    def _is_stated(self, entry: int, log: int) -> bool:
        is_stated = log == self._stated(entry) != 0
        self.passed_over[PassedOver.OTHER_LOG] += not is_stated
        return is_stated

    def _greet(self, entry: int, written: LogLife) -> bool:
        """Begin a life of an entry if it is new here, with a doubt if the log is another one or an earlier state (C10).
        Return whether the chain is of it now."""
        found = self._custody.chain_of(entry)
        if found is None:
            return self._set(LogChain(entry, written.log, written.life, 0, 0, 0, is_home=False))
        if found.log == written.log and found.life >= written.life:
            return True
        is_other = found.log != written.log
        is_doubt = is_other or written.before < found.life
        have = 0 if is_other else found.have
        begun = replace(found, log=written.log, life=written.life, have=have, doubts=found.doubts + is_doubt)
        if not is_doubt:
            return self._set(begun)
        self._tell(found, LossReason.ENTRY_LOST, 0, partial(self._set, begun))
        return False

    def _move(self, frame: ChainGap) -> None:
        """Move a chain on. Of numbers that were given up, those count as lost that did not come before (C7)."""
        found = self._custody.chain_of(frame.entry)
        if found is None:
            return
        lost = sum(n > found.have for n in frame.numbers)
        moved = replace(found, have=frame.n, lost=found.lost + lost, doubts=found.doubts + (not frame.numbers))
        if lost or not frame.numbers:
            reason = LossReason.CUSTODY_FULL if lost else LossReason.ENTRY_LOST
            self._tell(found, reason, lost, partial(self._set, moved))
        else:
            self._set(moved)

    def _tell(self, found: LogChain, reason: LossReason, messages: int, move: Callable[[], bool]) -> None:
        """Tell what is missing behind `found`, and then `move` the chain, if it is still that one."""
        arriving = self._chains[found.router]
        if arriving.is_telling:
            return

        def told() -> None:
            arriving.is_telling = False
            if self._custody.chain_of(found.router) == found and move():
                lost, doubts = self.missed[found.router]
                self.missed[found.router] = MissedOf(lost + messages, doubts + (not messages))

        arriving.is_telling = True
        self._missing(reason, messages, told)

    def _end(self, entry: int) -> bool:
        """End a chain; return whether the log took it."""
        with suppress(LogFull, LogBusy, LogFailed):
            self._custody.end_chain(entry)
            del self._chains[entry]
            return True
        return False

    def _set(self, chain: LogChain) -> bool:
        """Write what a chain has come to; return whether the log took it."""
        with suppress(LogFull, LogBusy, LogFailed, OutOfMemory, Refused):
            self._custody.set_chain(chain)
            has_begun = self.log_of(chain.router) != chain.log
            known = self._chains.setdefault(chain.router, _Arriving(chain.log))
            self.missed.setdefault(chain.router, MissedOf(0, 0))
            if known.log != chain.log:
                known.log, known.on_disk = chain.log, 0
                known.lacking_since, known.lacking = 0, deque()
            if has_begun:
                self._began()
            return True
        return False

    def _ask(self, entry: int, log: int, have: int, now_us: int) -> None:
        """Ask for what follows, unless that was a moment ago."""
        chain = self._chains[entry]
        if now_us >= chain.ask_us:
            chain.ask_us = now_us + ASK_EVERY_US
            self._send(CustodyAsk(self._me, self._log, entry, log, have, token=chain.token))

    def _acknowledge(self, entry: int, chain: _Arriving) -> None:
        window = 0 if chain.is_full else self._window
        acknowledged = CustodyAck(self._me, self._log, entry, chain.log, chain.on_disk, window)
        self._send(replace(acknowledged, lacking_since=chain.lacking_since, lacking=tuple(chain.lacking)))
