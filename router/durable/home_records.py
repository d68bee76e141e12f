"""R19b, R19c: the durable subscriptions of other routers in the log of this one, which outlive a restart there.

    HOME_STATED     a router, the id of its log, and the freshness of its newest statement; a later one replaces it
    HOME_DURABLE    a router, and one of its durable subscriptions: number and packed bytes

Law: the records of what a statement adds stand before its HOME_STATED, and those of what it removes are retired after
it. A crash in between leaves more than the older statement has, never less than was confirmed; the digest of what is
found tells neighbours that it is not a whole statement. Statements are written one after the other, each in slices.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from tamis.native.log import LogRecord
from tamis.protocol.wire.custody_bodies import LogLife
from tamis.protocol.wire.home_bodies import DurablesStatement, NumberedDurable
from tamis.protocol.wire.numbers import predicate_digest, stable_number
from tamis.router.durable.catalog import HOME_DURABLE, HOME_STATED
from tamis.router.durable.refusals import RequestRefused

_STATED: Final = struct.Struct("<QQQH")
_DURABLE: Final = struct.Struct("<QH")
_WRITTEN_PER_SLICE: Final = 500
"""Records that are written or retired in one slice: about 2 ms."""
_Slices = Generator[None, None, None]


class NumberedRecords:
    """The numbers of records by those of durable subscriptions, in 16 bytes each: there may be a hundred thousand. Most
    numbers are greater than all before them, which costs a step; another one moves those behind it."""

    __slots__ = ("_numbers", "_records")

    def __init__(self) -> None:
        self._numbers, self._records = array("Q"), array("Q")

    def __len__(self) -> int:
        return len(self._numbers)

    def put(self, number: int, record: int) -> int:
        """Note the record of `number`; return the one before, 0 if there is none."""
        numbers, records = self._numbers, self._records
        at = len(numbers) if not numbers or number > numbers[-1] else bisect_left(numbers, number)
        if at < len(numbers) and numbers[at] == number:
            before, records[at] = records[at], record
            return before
        numbers.insert(at, number)
        records.insert(at, record)
        return 0

    def pop(self, number: int) -> int:
        """Forget the record of `number` and return it; 0: there is none."""
        at = bisect_left(self._numbers, number)
        if at == len(self._numbers) or self._numbers[at] != number:
            return 0
        del self._numbers[at]
        return self._records.pop(at)


@dataclass(slots=True)
class WrittenHome:
    """What the log has of one router. `n`: number of its HOME_STATED, 0 if there is none; `records`: those of its
    durable subscriptions, by their numbers."""

    n: int = 0
    log: int = 0
    epoch: int = 0
    seq: int = 0
    records: NumberedRecords = field(default_factory=NumberedRecords)
    gone: list[int] = field(default_factory=list)
    """Records to be retired once a HOME_STATED without them is written."""
    waiting: dict[int, bytes] = field(default_factory=dict)
    """What the log has rejected; it is written with the next statement, which is not confirmed without it."""


class CatalogLog(Protocol):
    """The part of DurableRegistry that writes."""

    def write(self, kind: int, body: bytes) -> int: ...

    def retire(self, n: int) -> None: ...

    def when_on_disk(self, n: int, answer: Callable[[RequestRefused | None], None]) -> None: ...


class FoundHomes:
    """What records of a log say about other routers. `overtaken`: numbers of records that a later one replaces."""

    def __init__(self, records: Iterable[LogRecord]) -> None:
        self.written: dict[str, WrittenHome] = {}
        self.overtaken: list[int] = []
        self._packed: dict[str, dict[int, bytes]] = {}
        for record in records:
            if record.kind == HOME_STATED:
                self._take_stated(record)
            elif record.kind == HOME_DURABLE:
                self._take_durable(record)

    def _take_stated(self, record: LogRecord) -> None:
        log, epoch, seq, size = _STATED.unpack_from(record.body)
        name = record.body[_STATED.size : _STATED.size + size].decode()
        home = self.written.setdefault(name, WrittenHome())
        if home.n:
            self.overtaken.append(home.n)
        home.n, home.log, home.epoch, home.seq = record.n, log, epoch, seq

    def _take_durable(self, record: LogRecord) -> None:
        number, size = _DURABLE.unpack_from(record.body)
        at = _DURABLE.size + size
        name = record.body[_DURABLE.size : at].decode()
        home = self.written.setdefault(name, WrittenHome())
        if before := home.records.put(number, record.n):
            self.overtaken.append(before)
        self._packed.setdefault(name, {})[number] = record.body[at:]

    def statements(self) -> tuple[DurablesStatement, ...]:
        """Return what was known of each router as a whole statement; only once, as it may be much."""
        return tuple(self._statement(name, home) for name, home in self.written.items())

    def _statement(self, name: str, home: WrittenHome) -> DurablesStatement:
        durables = self._packed.pop(name, {})
        return DurablesStatement(
            *(stable_number(name), name, home.epoch, home.seq, home.log, True, 0),
            tuple(map(NumberedDurable._make, durables.items())),
            (),
            predicate_digest(durables.items()),
            len(durables),
            confirm=False,
        )


class _Statement(NamedTuple):
    """What router `name` has stated, which is still to be written; `freshness`: log, epoch and number of it."""

    name: str
    freshness: tuple[int, int, int]
    added: Mapping[int, bytes]
    removed: Iterable[int]
    on_disk: Callable[[LogLife], None]


class HomeRecords:
    """Writes what other routers state. `written` is the life of the log; `work` runs the slices of a task. `want` makes
    this router store what they want: with a router, its log, what it adds and what it removes; RequestRefused if it
    cannot."""

    def __init__(
        self,
        catalog: CatalogLog,
        found: FoundHomes,
        written: LogLife,
        work: Callable[[_Slices], object],
        want: Callable[[str, int, Mapping[int, bytes], Iterable[int]], None],
    ) -> None:
        self._catalog, self._written, self._life, self._work, self._want = catalog, found.written, written, work, want
        self._stated: deque[_Statement] = deque()
        self._is_writing = False
        for n in found.overtaken:
            catalog.retire(n)

    def store(
        self,
        name: str,
        log: int,
        epoch: int,
        seq: int,
        added: Mapping[int, bytes],
        removed: Iterable[int],
        on_disk: Callable[[LogLife], None],
    ) -> None:
        """Write a statement of router `name`; call `on_disk` with the log once it is on disk. If the log
        rejects it, it is not confirmed, and the next statement writes the rest."""
        self._stated.append(_Statement(name, (log, epoch, seq), added, removed, on_disk))
        if not self._is_writing:
            self._is_writing = True
            self._work(self._write())

    def _write(self) -> _Slices:
        try:
            while self._stated:
                stated = self._stated.popleft()
                with suppress(RequestRefused):
                    yield from self._write_one(stated, self._written.setdefault(stated.name, WrittenHome()))
                yield
        finally:
            self._is_writing = False

    def _write_one(self, stated: _Statement, home: WrittenHome) -> _Slices:
        catalog, router = self._catalog, stated.name.encode()
        home.waiting.update(stated.added)
        removed: Iterable[int] = stated.removed
        for some in _pieces(home.waiting):
            self._want(stated.name, stated.freshness[0], some, removed)
            removed = ()
            yield
        for number in stated.removed:
            home.waiting.pop(number, None)
            if before := home.records.pop(number):
                home.gone.append(before)
        for count, (number, packed) in enumerate(list(home.waiting.items()), 1):
            n = catalog.write(HOME_DURABLE, _DURABLE.pack(number, len(router)) + router + packed)
            if before := home.records.put(number, n):
                home.gone.append(before)
            del home.waiting[number]
            if count % _WRITTEN_PER_SLICE == 0:
                yield
        n = catalog.write(HOME_STATED, _STATED.pack(*stated.freshness, len(router)) + router)
        if home.n:
            home.gone.append(home.n)
        home.n, (home.log, home.epoch, home.seq) = n, stated.freshness
        catalog.when_on_disk(n, lambda error: stated.on_disk(self._life) if error is None else None)
        while home.gone:
            for _ in range(min(len(home.gone), _WRITTEN_PER_SLICE)):
                catalog.retire(home.gone.pop())
            yield


def _pieces(durables: Mapping[int, bytes]) -> Iterator[dict[int, bytes]]:
    """Yield durable subscriptions in pieces for one slice each; one empty piece if there are none."""
    rows = list(durables.items())
    for start in range(0, max(len(rows), 1), _WRITTEN_PER_SLICE):
        yield dict(rows[start : start + _WRITTEN_PER_SLICE])
