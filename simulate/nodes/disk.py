"""The log of a router, as far as durable subscriptions are concerned: what it stores survives a crash.

Law: what is written is on disk a while later, in order; a crash before that loses it, or all behind some of it. A lost
disk is replaced by an empty one with another id; one put back to a backup keeps its id. A life of a log has a greater
number than each before it, by the clock, also than those that a backup has not seen (C2).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from tamis.protocol.residual import Program
from tamis.protocol.wire.custody_bodies import LogLife
from tamis.protocol.wire.home_bodies import DurablesStatement, NumberedDurable
from tamis.protocol.wire.numbers import predicate_digest
from tamis.router.core.commands import StoreDurables
from tamis.router.core.custody.records import Record
from tamis.simulate.nodes.clock import Clock

DISK_US: Final = (1_000, 4_000, 60_000, 400_000)
"""How long writes take, in turn: a disk may be slower than the network."""
PER_MILLE: Final = 1_000


@dataclass(slots=True)
class StoredStatement:
    """The durable subscriptions of another router, packed, by number."""

    name: str
    log: int
    version: tuple[int, int]
    durables: dict[int, bytes] = field(default_factory=dict)


class Disk:
    """`log` is the id of the log on it."""

    def __init__(self, clock: Clock, log: int) -> None:
        self.log, self._clock = log, clock
        self.own: dict[int, bytes] = {}
        self.programs: dict[bytes, Program] = {}
        """Residual programs of durable subscriptions, by what these are stated as."""
        self.others: dict[int, StoredStatement] = {}
        self.records: list[Record] = []
        """Those of custody."""
        self.contents: dict[int, int] = {}
        """Of the messages that entered, by number."""
        self.written = LogLife(log, 0, 0)
        """The present life of the log."""
        self.was_put_back = False
        self._life = self._taken = self._writes = self._due_us = 0
        self._pending: deque[tuple[Callable[[], None], Callable[[], None]]] = deque()

    def open(self) -> None:
        """Begin another life of the log."""
        self.written = LogLife(self.log, self.next_life(self.written.life), self.written.life)

    def next_life(self, before: int) -> int:
        return max(before, self._clock.now_us // 1_000) + 1

    def crash(self, kept: int = 0) -> None:
        """Lose what is being written, but for the first of it: `kept` per mille."""
        self._life += 1
        for _ in range(len(self._pending) * kept // PER_MILLE):
            self._pending.popleft()[0]()
        self._pending.clear()

    def backup(self) -> Disk:
        """Return a copy of what is on it."""
        copy = type(self)(self._clock, self.log)
        copy.own, copy.records, copy.contents = dict(self.own), list(self.records), dict(self.contents)
        copy.programs = dict(self.programs)
        copy.others = {home: replace(held, durables=dict(held.durables)) for home, held in self.others.items()}
        copy.written, copy.was_put_back, copy._taken = self.written, True, self._taken
        return copy

    def next_number(self) -> int:
        self._taken += 1
        return self._taken

    def write(self, what: Callable[[], None], then: Callable[[], None]) -> None:
        """Call `what` when it is on disk, and `then` after it; neither, if the router crashes before."""
        self._writes += 1
        self._due_us = max(self._due_us, self._clock.now_us + DISK_US[self._writes % len(DISK_US)])
        self._pending.append((what, then))
        self._clock.at(self._due_us, self._written, self._life)

    def _written(self, life: int) -> None:
        if life == self._life:
            what, then = self._pending.popleft()
            what()
            then()

    def store(self, command: StoreDurables) -> None:
        stored = self.others.setdefault(command.issuer, StoredStatement("", 0, (0, 0)))
        stored.name, stored.log, stored.version = command.name, command.log, (command.epoch, command.seq)
        for number in command.removed:
            stored.durables.pop(number, None)
        stored.durables.update(command.added)

    def statements(self) -> tuple[DurablesStatement, ...]:
        """Return the statements of other routers that are on disk."""
        return tuple(
            DurablesStatement(
                *(issuer, stored.name, *stored.version, stored.log, True, 0),
                tuple(map(NumberedDurable._make, stored.durables.items())),
                (),
                predicate_digest(stored.durables.items()),
                len(stored.durables),
                confirm=False,
            )
            for issuer, stored in self.others.items()
        )
