"""The log of a router, as far as durable subscriptions are concerned: what it stores survives a crash.

Law: what is written is on disk a while later, in order; a crash before that loses it. A lost disk is replaced by an
empty one with another id.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from tamis.protocol.wire.custody_bodies import LogLife
from tamis.protocol.wire.home_bodies import DurablesStatement, NumberedDurable
from tamis.protocol.wire.numbers import predicate_digest
from tamis.router.core.commands import StoreDurables
from tamis.simulate.nodes.clock import Clock

DISK_US: Final = (1_000, 4_000, 60_000, 400_000)
"""How long writes take, in turn: a disk may be slower than the network."""


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
        self.others: dict[int, StoredStatement] = {}
        self.written = LogLife(log, 0, 0)
        """The present life of the log."""
        self._life = self._taken = self._writes = self._due_us = 0

    def open(self) -> None:
        """Begin another life of the log."""
        self.written = LogLife(self.log, self.written.life + 1, self.written.life)

    def crash(self) -> None:
        """Lose what is being written."""
        self._life += 1

    def next_number(self) -> int:
        self._taken += 1
        return self._taken

    def write(self, what: Callable[[], None], then: Callable[[], None]) -> None:
        """Call `what` when it is on disk, and `then` after it; neither, if the router crashes before."""
        self._writes += 1
        self._due_us = max(self._due_us, self._clock.now_us + DISK_US[self._writes % len(DISK_US)])
        self._clock.at(self._due_us, self._written, (self._life, what, then))

    def _written(self, due: tuple[int, Callable[[], None], Callable[[], None]]) -> None:
        life, what, then = due
        if life == self._life:
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
