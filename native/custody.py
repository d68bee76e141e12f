"""The chains of other routers at this one, and of this one at others, in C: the calls of tm_custody_api.h, which
describes their effect.

Law: this file decides nothing. Messages move a chain in C; its owner sets a chain with what it has read last, and hears
of it by the event CHAINS. A message makes no object here. Only the thread of the switch uses it.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from tamis.native._tm import ffi, lib
from tamis.native.durables import SwitchDurables
from tamis.native.log import Log, LogBusy, LogChain, check_log
from tamis.native.results import check
from tamis.protocol.wire.custody_bodies import LogLife

_REPORT_BYTES: Final = int(ffi.sizeof("tm_chain_report"))


class ChainNews(enum.IntFlag):
    """Why a chain is reported; see TM_CHAIN_* in tm_custody_api.h."""

    MOVED = lib.TM_CHAIN_MOVED
    REPEATED = lib.TM_CHAIN_REPEATED
    EARLY = lib.TM_CHAIN_EARLY
    LATER = lib.TM_CHAIN_LATER
    FULL = lib.TM_CHAIN_FULL


@dataclass(frozen=True, slots=True)
class ChainReport:
    """A chain about which there is news. `have` has been taken, `on_disk` is to be acknowledged; what is between `have`
    and `early` is missing, if `why` has EARLY; `later` is the life that came, if it has LATER."""

    entry: int
    log: int
    have: int
    on_disk: int
    early: int
    later: LogLife
    why: ChainNews


def chain_reports(frame: bytes) -> list[ChainReport]:
    """Return what an event CHAINS says."""
    reports = ffi.from_buffer("tm_chain_report[]", frame)
    return [
        ChainReport(
            int(each.entry),
            int(each.log),
            int(each.have),
            int(each.on_disk),
            int(each.early),
            LogLife(int(each.later_log), int(each.later_life), int(each.later_before)),
            ChainNews(each.why),
        )
        for each in (reports[at] for at in range(len(frame) // _REPORT_BYTES))
    ]


class SwitchCustody:
    """The chains in the log of `durables`."""

    def __init__(self, durables: SwitchDurables) -> None:
        self._durables = durables
        self._chain = ffi.new("tm_log_chain *")

    def chain_of(self, entry: int) -> LogChain | None:
        """Return the chain of an entry with all that has been taken, on disk or not; None if it has none."""
        c = self._chain
        result = lib.tm_custody_chain_of(self._durables.c, entry, c)
        if result == lib.TM_ABSENT:
            return None
        check(result)
        return LogChain(c.router, c.log, c.life, c.have, c.lost, c.doubts, is_home=False, n=c.n)

    def set_chain(self, chain: LogChain) -> int:
        """Append what `chain` says, and let it go on from there; return the number of the record. Raise ValueError if
        `have` would fall within a life; LogFull, LogFailed or LogBusy, with nothing changed."""
        fields = (chain.router, chain.log, chain.life, chain.have, chain.lost, chain.doubts, 0, 0)
        c = ffi.new("tm_log_chain *", fields)
        result = lib.tm_custody_set_chain(self._durables.c, c)
        if result == lib.TM_MISUSED:
            raise ValueError(f"chain of router {chain.router}: {chain.have} is less than what it has, or it names none")
        check_log(result)
        return int(c.n)

    def end_chain(self, entry: int) -> None:
        """Forget the chain of an entry. Raise KeyError if it has none; LogFull, LogFailed or LogBusy."""
        check_log(lib.tm_custody_end_chain(self._durables.c, entry))


@dataclass(frozen=True, slots=True)
class HomeChain:
    """The chain of this router to a home; the fields are those of `tm_custody_home`."""

    router: int
    log: int
    have: int
    sent: int
    last: int
    window: int

    @property
    def is_behind(self) -> bool:
        """Whether something must be sent from the log before a new message is sent at once."""
        return self.sent < self.last


@dataclass(frozen=True, slots=True)
class _Reading:
    """A request to the log for a home, for what follows `after`. `mark`: the place of what was on disk then."""

    router: int
    after: int
    mark: int


class SwitchHomes:
    """The homes of durable subscriptions elsewhere; messages that enter are stored in the log of `durables`, and sent
    to them."""

    READ_BYTES: Final = 1 << 20
    """Bytes of one request to the log."""

    def __init__(self, durables: SwitchDurables, log: Log) -> None:
        self._durables, self._log = durables, log
        self._reading: dict[int, _Reading] = {}
        """By ticket; one for a home."""

    def follow(self, before: int) -> None:
        """Name `before` as the life that the present one of the log follows; 0: none."""
        check(lib.tm_custody_follow(self._durables.c, before))

    def open(self, router: int) -> None:
        """Open a home without filters, with the chain that the log has. Raise ValueError if it is open."""
        check_log(lib.tm_custody_open_home(self._durables.c, router))

    def want(self, router: int, number: int, filters: Iterable[bytes]) -> None:
        """Store what satisfies one of `filters` for durable subscription `number` of a home, from now on. Raise
        KeyError if the home is not open, and the exceptions of adding a filter, with `number` removed."""
        try:
            for packed in filters:
                check(lib.tm_custody_want(self._durables.c, router, number, ffi.from_buffer(packed), len(packed)))
        except Exception:
            lib.tm_custody_unwant(self._durables.c, router, number)
            raise

    def unwant(self, router: int, number: int) -> None:
        """Remove a durable subscription of a home. Raise KeyError if it has none of this number."""
        check(lib.tm_custody_unwant(self._durables.c, router, number))

    def close(self, router: int, steps: int) -> int:
        """Store nothing for a home any more; drop at most `steps` of its filters and return how many are left. Repeat
        the call until that is 0. What is stored for it stays. Raise KeyError if it is not open."""
        left = ffi.new("uint32_t *")
        check(lib.tm_custody_close_home(self._durables.c, router, steps, left))
        return int(left[0])

    def chain_of(self, router: int) -> HomeChain | None:
        """Return the chain to a home; None if it was never open."""
        c = ffi.new("tm_custody_home *")
        result = lib.tm_custody_home_of(self._durables.c, router, c)
        if result == lib.TM_ABSENT:
            return None
        check(result)
        return HomeChain(**{name: int(getattr(c, name)) for name in HomeChain.__slots__})

    # --- acknowledgements ---------------------------------------------------------------------------------------------

    def acknowledged(self, router: int, log: int, have: int, window: int) -> None:
        """Take an acknowledgement. Raise KeyError for a router that was never a home, ValueError for a number that was
        never given or is less than before; LogFull, LogFailed or LogBusy, with nothing changed."""
        result = lib.tm_custody_acknowledged(self._durables.c, router, log, have, window)
        if result == lib.TM_MISUSED:
            raise ValueError(f"router {router} acknowledges {have}, which was never given or is less than before")
        check_log(result)

    def go_back(self, router: int, have: int) -> None:
        """Send again what follows `have`. Raise KeyError or ValueError as `acknowledged`."""
        result = lib.tm_custody_go_back(self._durables.c, router, have)
        if result == lib.TM_MISUSED:
            raise ValueError(f"router {router} asks for what follows {have}, which was never given")
        check(result)

    def sent_gap(self, router: int, n: int) -> None:
        """Go on behind number `n`, up to which a GAP was sent."""
        check(lib.tm_custody_sent_gap(self._durables.c, router, n))

    # --- sending from the log -----------------------------------------------------------------------------------------

    def catch_up(self, router: int) -> None:
        """Request from the log what a home is behind by; `answered` sends it. Nothing happens if it is not behind, or
        has a request; a log with too many requests is asked again by a later call."""
        chain = self.chain_of(router)
        if chain is None or not chain.is_behind or any(each.router == router for each in self._reading.values()):
            return
        mark = int(lib.tm_custody_mark(self._durables.c))
        try:
            ticket = self._log.ask(router, chain.sent, self.READ_BYTES, is_home=True)
        except LogBusy:
            return
        self._reading[ticket] = _Reading(router, chain.sent, mark)

    def answered(self) -> Iterator[HomeChain]:
        """Send what the log has answered, as far as windows and links have room, and yield the chain of each home. One
        that is behind is due for `catch_up`, at once if `sent` has moved."""
        answer = ffi.new("tm_log_answer *")
        while lib.tm_log_answered(self._log.c, answer):
            try:
                reading = self._reading.pop(answer.ticket)
                check_log(answer.result)
                self._send(reading, ffi.cast("uint8_t *", answer.records), int(answer.size))
            finally:
                lib.tm_log_give_back(self._log.c, answer.ticket)
            chain = self.chain_of(reading.router)
            if chain is not None:
                yield chain

    def _send(self, reading: _Reading, records: object, size: int) -> None:
        used = ffi.new("size_t *")
        if size:
            check(lib.tm_custody_send(self._durables.c, reading.router, reading.after, records, size, used))
        if used[0] == size:
            lib.tm_custody_send_tail(self._durables.c, reading.router, reading.mark)
