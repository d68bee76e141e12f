"""The custody of a simulated router: the pure entry and home of the product, on the router's virtual disk.

Law: this shell has no rule of custody. Commands are carried out in order, and what is on disk is reported then. Frames
go from next hop to next hop, and may be lost; statements of durable subscriptions, and who stores them, are the core's
(R19), so `Stated` and `Holds` of the machines are the core's events here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import reduce
from operator import or_
from random import Random
from typing import Final, NamedTuple, Protocol

from tamis.protocol.limits import CUSTODY_HOPS_MAX
from tamis.protocol.wire.custody_bodies import ChainGap, CustodyAck, CustodyAsk, CustodyBody, LogLife
from tamis.protocol.wire.home_bodies import DurablesHolder, read_durable
from tamis.router.core.commands import StoreDurables
from tamis.router.core.custody.commands import Command, Confirm, CustodyRefusal, Level, Refuse, SendTo, Write
from tamis.router.core.custody.entry import ChainBounds, EntryCustody, LevelWaiter
from tamis.router.core.custody.frames import Directed, Holds, Message
from tamis.router.core.custody.home import HomeCustody
from tamis.router.core.custody.records import Arrived, Entered, NumbersLost, Passed, Record, Stated
from tamis.simulate.nodes.clock import Clock
from tamis.simulate.nodes.disk import Disk
from tamis.simulate.nodes.programs import Programs

MESSAGE_BYTES: Final = 200
ROOM: Final = (8, 30, 300)
"""Messages that the chain to a home has room for: some give up much."""
AGE_US: Final = (0, 0, 1_500_000, 20_000_000)
"""For which a message may wait for a home; 0: for ever."""
WINDOW: Final = 20
"""Messages on the way to a home."""
ACK_US: Final = 2_000
"""The wait before an acknowledgement, in which others join it."""
PASSING_ON: Final = (Arrived, Passed, NumbersLost)
"""Records that move the chain of an entry on."""


def bounds_of(router: int, life: int) -> ChainBounds:
    """Return the bounds of a router in one life: those of the next one are others."""
    chance = Random(f"bounds/{router}/{life}")
    room, age_us, refuses = chance.choice(ROOM), chance.choice(AGE_US), chance.random() < 0.5
    return ChainBounds(room * MESSAGE_BYTES, WINDOW * MESSAGE_BYTES, age_us, refuses)


class CustodyPacket(NamedTuple):
    """A frame of custody on its way to one router."""

    to: int
    frame: Directed | CustodyBody
    hops_left: int = CUSTODY_HOPS_MAX


class CustodyObserver(Protocol):
    """Receives what the custody of a router does."""

    def custody_wrote(self, router: int, written: LogLife, record: Record) -> None: ...

    def custody_on_disk(self, router: int, record: Record) -> None: ...

    def custody_filled(self, router: int, message: Message, content: int, durables: list[bytes]) -> None: ...

    def custody_sent(self, router: int, frame: Directed | CustodyBody) -> None: ...

    def custody_answered(self, router: int, waiter: object, result: Level | CustodyRefusal) -> None: ...


class NodeCustody:
    """One life of it. `contents_of` returns the contents that a packed filter matches, `programs` those that a program
    lets pass; `send` sends to the next hop."""

    entry_kind: type[EntryCustody] = EntryCustody
    home_kind: type[HomeCustody] = HomeCustody

    def __init__(
        self,
        me: int,
        disk: Disk,
        clock: Clock,
        programs: Programs,
        contents_of: Callable[[bytes], int],
        send: Callable[[CustodyPacket], None],
        observer: CustodyObserver,
    ) -> None:
        self.me, self.disk, self.is_over, self.full_until_us = me, disk, False, 0
        self._clock, self._contents_of, self._send_on, self._observer = clock, contents_of, send, observer
        self._programs = programs
        self._heard: dict[Message, int] = {}
        """The contents of messages that came."""
        self._wants: dict[int, dict[int, int]] = {}
        """The contents that each durable subscription of another router wants, by router and number."""
        self._wanted_by: dict[bytes, int] = {}
        self._holders: dict[int, LogLife] = {}
        self._due_us: int | None = None
        self._to_acknowledge: set[int] = set()
        self._contents = dict(disk.contents)
        stated = [Stated(home, stored.log) for home, stored in disk.others.items()]
        self.bounds = bounds_of(me, disk.written.life)
        self.entry = self.entry_kind(me, disk.written, self.bounds, (*stated, *disk.records))
        self.home = self.home_kind(me, disk.log, WINDOW * MESSAGE_BYTES, disk.records)
        for home, stored in disk.others.items():
            self.home.state(home, stored.log)
        self.recall()
        self._arm()

    def recall(self) -> None:
        """C13: take what the disk has of durable subscriptions elsewhere."""
        for home, stored in self.disk.others.items():
            self._want(home, stored.durables, ())

    # Statements.

    def _want(self, home: int, added: Mapping[int, bytes], removed: Collection[int]) -> None:
        wants = self._wants.setdefault(home, {})
        for number in removed:
            wants.pop(number, None)
        wants.update({number: self._wanted(packed) for number, packed in added.items()})

    def _wanted(self, packed: bytes) -> int:
        contents = self._wanted_by.get(packed)
        if contents is None:
            contents = reduce(or_, map(self._contents_of, read_durable(packed).filters))
            self._wanted_by[packed] = contents
        return contents

    def know(self, command: StoreDurables) -> None:
        """Take what another router states."""
        self._want(command.issuer, command.added, command.removed)
        self.home.state(command.issuer, command.log)
        self._carry_out(self.entry.state(command.issuer, command.log))
        if command.issuer in self._holders:
            self._holds(command.issuer, self._holders[command.issuer])

    def stored(self, command: StoreDurables) -> None:
        """Take the report that a statement is on disk."""
        self._carry_out(self.entry.committed(Stated(command.issuer, command.log)))

    def stored_at(self, holders: Collection[DurablesHolder]) -> None:
        """Take who stores what this router states."""
        for router, *written in holders:
            self._holders[router] = LogLife(*written)
            self._holds(router, self._holders[router])

    def _holds(self, router: int, written: LogLife) -> None:
        if written.log:
            self._carry_out(self.home.held(Holds(router, written, self.me)))

    # Messages.

    def publish(self, message: Message, content: int, waiter: LevelWaiter) -> None:
        """Take a message of a publisher that waits."""
        wanting = [
            home for home, durables in self._wants.items() if any(wants >> content & 1 for wants in durables.values())
        ]
        self._carry_out(self.entry.enter(message, MESSAGE_BYTES, wanting, waiter, self._clock.now_us), content)

    def hear(self, frame: Directed | CustodyBody) -> None:
        now_us = self._clock.now_us
        match frame:
            case CustodyAck():
                self._carry_out(self.entry.acknowledged(frame, now_us))
            case CustodyAsk():
                self._carry_out(self.entry.asked(frame, now_us))
            case Directed() | ChainGap():
                if isinstance(frame, Directed):
                    self._heard[frame.message] = frame.body[0]
                self.home.is_full = now_us < self.full_until_us
                self._carry_out(self.home.take(frame, self._is_wanted, now_us))

    def _is_wanted(self, frame: Directed) -> bool:
        content = frame.body[0]
        return any(self._wanted(packed) >> content & 1 for packed in self.disk.own.values())

    def _fill(self, message: Message) -> None:
        """Give a message that arrived to the durable subscriptions here that want it."""
        content, disk = self._heard[message], self.disk
        taken = [
            packed
            for packed in disk.own.values()
            if self._programs.at_router(self.me, disk.programs.get(packed), self._wanted(packed)) >> content & 1
        ]
        self._observer.custody_filled(self.me, message, content, taken)

    # Commands.

    def _carry_out(self, commands: list[Command], entering: int = 0) -> None:
        """Carry out `commands`; `entering` is the content of the message that enters."""
        for command in commands:
            match command:
                case Write(Stated()) | SendTo(_, Holds()):
                    pass  # the core has a statement stored, and says so
                case Write(Entered(n) as record):
                    self._contents[n] = entering
                    self.write(record)
                case Write(record):
                    self.write(record)
                case SendTo(router, Directed() as frame):
                    self._send(router, replace(frame, body=bytes([self._contents[frame.n]])))
                case SendTo(router, CustodyAck() | CustodyAsk() | ChainGap() as frame):
                    self._send(router, frame)
                case Confirm(waiter, result) | Refuse(waiter, result):
                    self._observer.custody_answered(self.me, waiter, result)
        self._arm()

    def _send(self, router: int, frame: Directed | CustodyBody) -> None:
        self._observer.custody_sent(self.me, frame)
        self._send_on(CustodyPacket(router, frame))

    def write(self, record: Record) -> None:
        self._observer.custody_wrote(self.me, self.disk.written, record)
        self.disk.write(lambda: self._store(record), lambda: self.committed(record))

    def _store(self, record: Record) -> None:
        self.disk.records.append(record)
        if isinstance(record, Entered):
            self.disk.contents[record.n] = self._contents[record.n]
        self._observer.custody_on_disk(self.me, record)
        if isinstance(record, Arrived):
            self._fill(record.message)

    def committed(self, record: Record) -> None:
        """Do what waited for a record that is on disk."""
        self.home.committed(record)
        if isinstance(record, PASSING_ON):
            if not self._to_acknowledge:
                self._clock.after(ACK_US, self._acknowledge)
            self._to_acknowledge.add(record.entry)
        self._carry_out(self.entry.committed(record))

    def _acknowledge(self, _: None) -> None:
        entries, self._to_acknowledge = self._to_acknowledge, set()
        if not self.is_over:
            found = self.home.acknowledgements()
            self._carry_out([each for each in found if isinstance(each, SendTo) and each.router in entries])

    def _arm(self) -> None:
        """Wake up when something is due to be sent again."""
        now_us = self._clock.now_us
        due_us = min((max(due_us, now_us + ACK_US) for due_us in self.entry.dues_us()), default=None)
        if due_us is not None and (self._due_us is None or due_us < self._due_us):
            self._due_us = due_us
            self._clock.at(due_us, self._tick, due_us)

    def _tick(self, due_us: int) -> None:
        if not self.is_over and due_us == self._due_us:
            self._due_us = None
            self._carry_out(self.entry.tick(self._clock.now_us))
