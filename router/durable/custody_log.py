"""The records of custody (router/core/custody/records.py) in the log of a router.

    Entered     MESSAGE for the homes, each with the number before it in its chain
    Arrived     MESSAGE from the entry, with its number in the chain
    Done        HOME_HAS: how far a home has the chain, and which log of it
    GivenUp     GIVEN_UP: the numbers, and the ranges with which the home is done
    Began, Passed, NumbersLost, Doubt     CHAIN: how far it has come, with the totals of what was lost

Law: the number of a message is that of its record (C2), so `Entered` is written before any other record. What `recall`
returns makes an entry and a home that go on as those that wrote it. `Stated` is written by home_records.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from tamis.native.log import GIVEN_UP, Log, LogChain, LogRecord
from tamis.protocol.wire.custody_bodies import packed_numbers, unpacked_numbers
from tamis.router.core.custody.frames import Message
from tamis.router.core.custody.records import (
    Arrived,
    Began,
    Done,
    Doubt,
    Entered,
    GivenUp,
    NumbersLost,
    Passed,
    Record,
)

_HEAD_BYTES: Final = 8
_RANGE_BYTES: Final = 16


@dataclass(slots=True)
class _HomeRows:
    """What is open in the log for a home. `last`: the last number of its chain; `gaps`: numbers of its GIVEN_UP."""

    last: int = 0
    gaps: list[int] = field(default_factory=list)


class CustodyLog:
    """`log` is used by the thread that appends. `homes`: routers that messages may wait for, besides those of which the
    log knows how far they are; `id_of` returns the id of the message in a body."""

    def __init__(self, log: Log, id_of: Callable[[bytes], Message], homes: Iterable[int] = ()) -> None:
        self._log, self._id_of = log, id_of
        self._chains = {(chain.router, chain.is_home): chain for chain in log.chains()}
        self._homes = {home: _HomeRows() for home in homes}
        for chain in self._chains.values():
            if chain.is_home:
                self._homes[chain.router] = _HomeRows(chain.have)

    # --- writing ------------------------------------------------------------------------------------------------------

    def write(self, record: Record, body: bytes = b"", durables: Sequence[int] = ()) -> int:
        """Append a record and return its number. `body` is the frame of a message, `durables` the subscriptions here
        that it is for."""
        match record:
            case Entered():
                return self._enter(record, body, durables)
            case Arrived(entry, _, n):
                self._moved(entry, n)
                return self._log.append(body, durables, source=(entry, n))
            case Done(home, home_log, have):
                rows = self._rows(home)
                rows.gaps = [n for n in rows.gaps if n > have]
                return self._set(replace(self._chain(home, is_home=True), log=home_log, have=have))
            case GivenUp(home, numbers):
                return self._give_up(home, numbers)
            case Began(entry, log, life):
                chain = self._chain(entry)
                have = chain.have if chain.log == log else 0
                return self._set(replace(chain, log=log, life=life, have=have))
            case Passed(entry, _, n):
                return self._set(replace(self._chain(entry), have=n))
            case NumbersLost(entry, _, n, numbers):
                chain = self._chain(entry)
                return self._set(replace(chain, have=n, lost=chain.lost + len(numbers)))
            case Doubt(entry):
                chain = self._chain(entry)
                return self._set(replace(chain, doubts=chain.doubts + 1))
            case _:
                raise ValueError(f"{record} is no record of custody that the log has")

    def _enter(self, record: Entered, body: bytes, durables: Sequence[int]) -> int:
        if record.n != self._log.next_number:
            raise ValueError(f"message {record.n:#x} would be record {self._log.next_number:#x} of the log")
        rows = [self._rows(home) for home in record.homes]
        homes = [(home, row.last) for home, row in zip(record.homes, rows, strict=True)]
        n = self._log.append(body, durables, homes)
        for row in rows:
            row.last = n
        return n

    def _give_up(self, home: int, numbers: tuple[int, ...]) -> int:
        rows = self._rows(home)
        done, first = [], numbers[0]
        for gap in (n for n in rows.gaps if first < n < numbers[-1]):
            done.append((first, gap - 1))
            first = gap + 1
        n = self._log.give_up(home, [*done, (first, numbers[-1])], len(numbers), packed_numbers(numbers))
        rows.gaps.append(n)
        return n

    def _set(self, chain: LogChain) -> int:
        self._chains[chain.router, chain.is_home] = chain
        return self._log.set_chain(chain)

    def _moved(self, entry: int, n: int) -> None:
        self._chains[entry, False] = replace(self._chain(entry), have=n)

    def _chain(self, router: int, *, is_home: bool = False) -> LogChain:
        return self._chains.get((router, is_home)) or LogChain(router, 0, 0, 0, 0, 0, is_home)

    def _rows(self, home: int) -> _HomeRows:
        return self._homes.setdefault(home, _HomeRows())

    # --- reading ------------------------------------------------------------------------------------------------------

    def recall(self) -> Iterator[Record]:
        """Yield what an entry and a home begin with; it reads the disk."""
        yield from self._recall_entry()
        yield from self._recall_home()

    def _recall_entry(self) -> Iterator[Record]:
        entered: dict[int, tuple[LogRecord, list[int]]] = {}
        found: list[tuple[int, Record]] = []
        for home, rows in self._homes.items():
            for record in self._log.read(home, is_home=True):
                if record.kind == GIVEN_UP:
                    rows.gaps.append(record.n)
                    found.append((record.n, GivenUp(home, given_up_numbers(record.body))))
                else:
                    rows.last = record.n
                    entered.setdefault(record.n, (record, []))[1].append(home)
        for n, (record, homes) in entered.items():
            message = self._id_of(record.body)
            found.append((n, Entered(n, message, tuple(sorted(homes)), len(record.body))))
        yield from (record for _, record in sorted(found, key=lambda each: each[0]))
        for chain in self._chains.values():
            if chain.is_home:
                yield Done(chain.router, chain.log, chain.have)

    def _recall_home(self) -> Iterator[Record]:
        chains = {router: chain for (router, is_home), chain in self._chains.items() if not is_home}
        for chain in chains.values():
            yield Began(chain.router, chain.log, chain.life)
        for record in self._log.replay() if chains else ():
            entry, n = record.source
            if entry in chains:
                yield Arrived(entry, chains[entry].log, n, self._id_of(record.body))
        for chain in chains.values():
            yield Passed(chain.router, chain.log, chain.have)


def given_up_numbers(body: bytes) -> tuple[int, ...]:
    """Return the numbers in the body of a GIVEN_UP."""
    ranges, count = int.from_bytes(body[:4], "little"), int.from_bytes(body[4:_HEAD_BYTES], "little")
    return unpacked_numbers(body[_HEAD_BYTES + _RANGE_BYTES * ranges :])[:count]
