"""The chains of other routers at this one, in C: the calls of tm_custody_api.h, which describes their effect.

Law: this file decides nothing. Messages move a chain in C; its owner sets a chain with what it has read last, and hears
of it by the event CHAINS. Only the thread of the switch uses it.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

from tamis.native._tm import ffi, lib
from tamis.native.durables import SwitchDurables
from tamis.native.log import LogChain, check_log
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


@dataclass(frozen=True, slots=True)
class CustodyFigures:
    """Counts of messages of chains; the fields are those of `tm_custody_stats`."""

    chains: int
    arrived: int
    passed: int
    known: int
    repeated: int
    early: int
    strange: int
    not_taken: int
    from_trees: int


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

    def figures(self) -> CustodyFigures:
        c = ffi.new("tm_custody_stats *")
        check(lib.tm_custody_figures(self._durables.c, c))
        return CustodyFigures(**{name: int(getattr(c, name)) for name in CustodyFigures.__slots__})
