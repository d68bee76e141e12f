"""The chains of other routers at this one, and of this one at others, in C: the calls of tm_custody_api.h, which
describes their effect.

Law: this file decides nothing. Messages move a chain in C; its owner sets a chain with what it has read last, and hears
of it by the event CHAINS. A message makes no object here. Only the thread of the switch uses it.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from tamis.native._tm import ffi, lib
from tamis.native.durables import SwitchDurables
from tamis.native.log import Log, LogBusy, LogChain, LogFailed, LogFull, check_log
from tamis.native.results import OutOfMemory, check
from tamis.protocol.errors import Refused
from tamis.protocol.wire.custody_bodies import ChainRange, LogLife

_Cdata = Any
_REPORT_BYTES: Final = int(ffi.sizeof("tm_chain_report"))
_SUMMARIES: Final = int(lib.TM_LOG_NUMBERS_MAX)
"""Of one request to the log for what is given up."""


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
    and `early` is missing, if `why` has EARLY. Of `lacking`, some may have been passed over for lack of room. `later`
    is the life that came, if it has LATER."""

    entry: int
    log: int
    have: int
    on_disk: int
    early: int
    lacking: ChainRange
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
            ChainRange(int(each.lacking_first), int(each.lacking_last)),
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
    bytes: int
    given_up: int
    gap: int
    gap_last: int
    doubt: int
    gone: int
    gone_old: int
    refused: int
    is_past: int

    @property
    def is_behind(self) -> bool:
        """Whether something must be sent from the log before a new message is sent at once."""
        return self.sent < self.last


class HomeAnswer(NamedTuple):
    """The chain of a home after an answer of the log. `has_moved`: whether it was sent or given up something, or went
    back, since the request."""

    chain: HomeChain
    has_moved: bool


class Traffic(NamedTuple):
    """Messages that a router has received, and bytes of its log on disk."""

    received: int
    appended: int


Tell = Callable[[HomeChain, int, bytes], None]
"""Sends a GAP to a home, and says so by `sent_gap`: for the body of a GIVEN_UP record; if that is empty or has no
numbers, a doubt up to this number."""


class _Reading(NamedTuple):
    """A request to the log for what follows `after`, for the home of `chain`, as that was then. `mark`: the place of
    what was on disk; `take` takes the answer."""

    chain: HomeChain
    after: int
    mark: int
    take: Callable[[_Reading, _Cdata, int, Tell], None]


class SwitchHomes:
    """The homes of durable subscriptions elsewhere; messages that enter are stored in the log of `durables`, and sent
    to them. What is given up there is told as `Tell` says, once its record is on disk."""

    def __init__(self, durables: SwitchDurables, log: Log) -> None:
        self._durables, self._log = durables, log
        self._reading: dict[int, _Reading] = {}
        """By ticket; for a home one that sends, and one that gives up."""

    def follow(self, before: int) -> None:
        """Name `before` as the life that the present one of the log follows; 0: none."""
        check(lib.tm_custody_follow(self._durables.c, before))

    def bound(self, bytes_max: int, age_ms: int = 0, *, refuses: bool = False) -> None:
        """Bound what is stored for each home, and for how long a message waits (0: for ever); past a bound (`is_past`),
        `make_room` is due. `refuses`: a message that has no room is refused, and nothing is given up for room."""
        check(lib.tm_custody_bound(self._durables.c, bytes_max, age_ms, refuses))

    def name(self, router: int, name: str) -> None:
        """Name a home in refusals. Raise KeyError for a router that was never a home."""
        text = name.encode()
        check(lib.tm_custody_name(self._durables.c, router, text, len(text)))

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

    def copy(self, router: int, number: int, copies: int, copies_min: int) -> None:
        """Count durable subscription `number` of a home as one of the copies that share this number, of which a message
        needs `copies_min` to be held; 0: it is none. Raise KeyError if the home is not open."""
        check(lib.tm_custody_copy(self._durables.c, router, number, copies, copies_min))

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

    def lacks(self, router: int, numbers: ChainRange) -> None:
        """Refuse publishers that wait for these numbers, which a durable subscription at the home lacks. Raise KeyError
        for a router that was never a home."""
        check(lib.tm_custody_lacks(self._durables.c, router, *numbers))

    def go_back(self, router: int, have: int) -> None:
        """Send again what follows `have`. Raise KeyError or ValueError as `acknowledged`."""
        result = lib.tm_custody_go_back(self._durables.c, router, have)
        if result == lib.TM_MISUSED:
            raise ValueError(f"router {router} asks for what follows {have}, which was never given")
        check(result)

    def sent_gap(self, router: int, n: int) -> None:
        """Go on behind number `n`, up to which a GAP was sent."""
        check(lib.tm_custody_sent_gap(self._durables.c, router, n))

    # --- the log ------------------------------------------------------------------------------------------------------

    def traffic(self) -> Traffic:
        """Return what the router has received and stored."""
        c = ffi.new("tm_switch_stats *")
        lib.tm_switch_figures(self._durables.c, c)
        return Traffic(int(c.messages_in), int(lib.tm_custody_mark(self._durables.c)))

    def catch_up(self, router: int, size: int) -> int:
        """Request from the log what a home is behind by: the next numbers that were given up, or `size` bytes of
        messages; return the bytes that were requested. Nothing happens if it is not behind, or has such a request; a
        log with too many requests is asked again by a later call."""
        chain = self.chain_of(router)
        if chain is None or not chain.is_behind or self._is_asked(router, self._send, self._tell):
            return 0
        take, after, size = (self._tell, chain.gap - 1, 1) if chain.gap else (self._send, chain.sent, size)
        reading = _Reading(chain, after, int(lib.tm_custody_mark(self._durables.c)), take)
        return size if self._ask(reading, size) else 0

    def make_room(self, router: int) -> None:
        """Request from the log the oldest messages of a home that is past a bound, so that they are given up. Nothing
        happens if it has such a request; a log with too many requests, or with a doubt of this home that is not on disk
        yet, is asked again by a later call."""
        chain = self.chain_of(router)
        if chain is not None and chain.doubt <= self._log.committed and not self._is_asked(router, self._give_up):
            self._ask(_Reading(chain, chain.given_up or chain.have, 0, self._give_up), _SUMMARIES)

    def _is_asked(self, router: int, *takes: object) -> bool:
        return any(each.chain.router == router and each.take in takes for each in self._reading.values())

    def _ask(self, reading: _Reading, size: int) -> bool:
        ask = lib.tm_log_ask_summaries if reading.take == self._give_up else lib.tm_log_ask
        ticket = ffi.new("uint64_t *")
        with suppress(LogBusy):
            check_log(ask(self._log.c, reading.chain.router, 1, reading.after, size, ticket))
            self._reading[int(ticket[0])] = reading
            return True
        return False

    def answered(self, tell: Tell) -> Iterator[HomeAnswer]:
        """Take what the log has answered: send it, as far as windows and links have room, or give it up; and yield the
        chain of each home. One that is behind is due for `catch_up`, at once if it has moved. Raise LogFailed if the
        log cannot be read, with the rest left for the next call."""
        answer = ffi.new("tm_log_answer *")
        while self._reading and lib.tm_log_answered(self._log.c, answer):
            try:
                reading = self._reading.pop(answer.ticket)
                check_log(answer.result)
                reading.take(reading, ffi.cast("uint8_t *", answer.records), int(answer.size), tell)
            finally:
                lib.tm_log_give_back(self._log.c, answer.ticket)
            chain = self.chain_of(reading.chain.router)
            if chain is not None:
                before = reading.chain
                yield HomeAnswer(chain, (before.sent, before.given_up) != (chain.sent, chain.given_up))

    def _send(self, reading: _Reading, records: _Cdata, size: int, tell: Tell) -> None:
        used, at = ffi.new("size_t *"), 0
        while at < size:
            place = reading.chain.router, reading.after, records + at, size - at
            check(lib.tm_custody_send(self._durables.c, *place, used))
            at += used[0]
            if at < size and not self._tell_lost(reading, ffi.cast("tm_log_record *", records + at), tell):
                return
        lib.tm_custody_send_tail(self._durables.c, reading.chain.router, reading.mark)

    def _tell_lost(self, reading: _Reading, record: _Cdata, tell: Tell) -> bool:
        """Tell of a record that cannot be read, if nothing else stops the sending here; return whether it goes on."""
        chain = self.chain_of(reading.chain.router)
        if record.kind != lib.TM_LOG_LOST or chain is None or chain.gap or chain.sent < reading.after:
            return False
        tell(chain, int(record.n), b"")
        after = self.chain_of(reading.chain.router)
        return after is not None and after.sent > chain.sent

    def _tell(self, reading: _Reading, records: _Cdata, size: int, tell: Tell) -> None:
        """Tell the numbers in a record that gives up, unless it is not on disk yet, or what is due is another one."""
        chain, record = self.chain_of(reading.chain.router), ffi.cast("tm_log_record *", records)
        if size and chain is not None and chain.gap == record.n == reading.after + 1:
            is_lost = record.kind == lib.TM_LOG_LOST
            body = ffi.cast("uint8_t *", record + 1) + int(ffi.sizeof("tm_log_home"))
            tell(chain, chain.gap_last, b"" if is_lost else bytes(ffi.buffer(body, record.body_size)))

    def _give_up(self, reading: _Reading, records: _Cdata, size: int, _tell: Tell) -> None:
        count = size // int(ffi.sizeof("tm_log_summary"))
        with suppress(KeyError, LogFull, LogBusy, LogFailed, OutOfMemory, Refused):
            summaries = ffi.cast("tm_log_summary *", records)
            check_log(lib.tm_custody_give_up(self._durables.c, reading.chain.router, summaries, count))
