"""The custody of one router, which may be an entry and a home at once: its rules, its log and its links.

    publish ──> enter ─┐                    ┌── CustodyLog: a record first, then what follows from it
    links ──> hear ────┼─> EntryCustody,    ┼── DIRECTED, GAP, CUSTODY_ACK, CUSTODY_ASK ──> links
    disk ──> committed ┤   HomeCustody      ├── answers to publishers
    disk ──> was_read ─┤                    └── read: what is sent again
    time ──> tick ─────┘

Law: the number of a message is that of its record (C2). Publishers are answered, and homes acknowledge, when the log
says that a record is on disk (C1, C4). Nothing here waits for the disk, but the making of it. An exception of the log
leaves memory ahead of it: nothing may be called after it, and the owner makes another one from the log.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Protocol

from tamis.native.log import Log, LogRecord
from tamis.protocol.wire.custody_bodies import ChainGap, CustodyAck, CustodyAsk, CustodyBody, LogLife
from tamis.protocol.wire.directed_frames import directed, may_be_directed, undirected
from tamis.protocol.wire.extensions import Custody
from tamis.protocol.wire.header import ID_OFFSET
from tamis.router.core.custody.commands import Command, Confirm, CustodyRefusal, Level, Refuse, SendTo, Write
from tamis.router.core.custody.entry import ChainBounds, EntryCustody, LevelWaiter
from tamis.router.core.custody.frames import Directed, Holds, Message
from tamis.router.core.custody.home import HomeCustody
from tamis.router.core.custody.records import Arrived, Entered, NumbersLost, Passed, Record, Stated
from tamis.router.durable.custody_log import CustodyLog

HOME_WINDOW: Final = 4 << 20
"""Bytes that a home takes beyond what it has acknowledged."""
HOP_LIMIT: Final = 255
READ_BYTES: Final = 256 << 10
"""Bytes that are read at a time, of messages that a home is sent again."""
_PASSES_ON: Final = (Arrived, Passed, NumbersLost)
"""Records that move the chain of an entry on."""


class CustodyHost(Protocol):
    """The router around its custody."""

    def homes_for(self, frame: bytes) -> Collection[int]:
        """Return the homes whose durable subscriptions want a message."""

    def durables_for(self, frame: bytes) -> Sequence[int]:
        """Return the durable subscriptions here that want a message now."""

    def send(self, router: int, frame: bytes | CustodyBody) -> None:
        """Send a DIRECTED, or a body, by the next hop; it may be lost."""

    def answer(self, waiter: object, result: Level | CustodyRefusal) -> None:
        """Answer a publisher."""

    def read(self, home: int, after: int, size: int) -> None:
        """Read what the log has for `home` past number `after`, within `size` bytes or one record, then call `was_read`
        with it, once."""

    def store_statement(self, home: int, log: int) -> None:
        """Store what `home`, which has this log, states of its durable subscriptions, then call `stated`."""

    def say_holds(self, home: int, written: LogLife) -> None:
        """Tell `home` that its statement is on the disk of this router (C12)."""


@dataclass(slots=True)
class _Resend:
    """Messages that a home is sent again, in their order, and the number past which the log is read for them."""

    frames: deque[Directed]
    after: int

    def add(self, frames: deque[Directed]) -> None:
        """Take frames that follow, or that go back and replace those before."""
        if frames[0].n <= self.frames[-1].n:
            self.frames = frames
        else:
            self.frames += frames

    def take(self, record: LogRecord) -> Directed | None:
        """Return the frame of a record that was read. Those before it are not in the log any more: the home has them,
        or they are given up."""
        while self.frames and self.frames[0].n < record.n:
            self.frames.popleft()
        return self.frames.popleft() if self.frames and self.frames[0].n == record.n else None


def message_id(frame: bytes) -> Message:
    """Return the id of the message in a PUBLISH."""
    publisher, counter = (frame[at : at + 8] for at in (ID_OFFSET, ID_OFFSET + 8))
    return int.from_bytes(publisher, "little"), int.from_bytes(counter, "little")


class RouterCustody:
    """`log` is used by this thread alone, and has what an earlier one wrote; `written` is its present life, `homes` are
    those whose statements are on disk, with their logs."""

    def __init__(
        self,
        me: int,
        log: Log,
        written: LogLife,
        host: CustodyHost,
        homes: Mapping[int, int] = MappingProxyType({}),
        bounds: ChainBounds | None = None,
        id_of: Callable[[bytes], Message] = message_id,
    ) -> None:
        self._me, self._log, self._host, self._id_of = me, log, host, id_of
        self._records = CustodyLog(log, id_of, homes)
        found = list(self._records.recall())
        stated = [Stated(*each) for each in homes.items()]
        self.entry = EntryCustody(
            me, written, bounds or ChainBounds(), (*stated, *found), number=lambda _: log.next_number
        )
        self.home = HomeCustody(me, written.log, HOME_WINDOW, found)
        self._unsynced: deque[tuple[int, Record]] = deque()
        """Records that are not on disk yet, with their numbers."""
        self._resends: dict[int, _Resend] = {}
        """By home, each with one read on the way."""

    # --- publishers ---------------------------------------------------------------------------------------------------

    def publish(self, frame: bytes, waiter: LevelWaiter, now_us: int) -> None:
        """Take a PUBLISH, stamped with this router as its source, of a publisher that waits."""
        wanting = self._host.homes_for(frame)
        if wanting and not may_be_directed(frame):
            self._host.answer(waiter.who, CustodyRefusal.TOO_LARGE)
            return
        message = self._id_of(frame)
        self._carry_out(self.entry.enter(message, len(frame), wanting, waiter, now_us), frame)

    # --- links --------------------------------------------------------------------------------------------------------

    def directed(self, frame: bytes, now_us: int) -> None:
        """Take a DIRECTED that names this router; FrameError if it is invalid."""
        place, entry, body = undirected(frame)
        if place.home == self._me:
            message = self._id_of(body)
            found = Directed(
                *(entry, place.written, place.home, place.home_log, place.n, place.previous, message, len(body)), body
            )
            self._take(found, now_us)

    def hear(self, body: CustodyBody, now_us: int) -> None:
        """Take a frame of custody that is for this router."""
        match body:
            case CustodyAck():
                self._carry_out(self.entry.acknowledged(body, now_us))
            case CustodyAsk():
                self._carry_out(self.entry.asked(body, now_us))
            case ChainGap():
                self._take(body, now_us)

    def _take(self, frame: Directed | ChainGap, now_us: int) -> None:
        self._carry_out(self.home.take(frame, lambda found: bool(self._host.durables_for(found.body)), now_us))

    def know(self, router: int, log: int) -> None:
        """Take what another router states: its log."""
        self.home.state(router, log)

    def state(self, home: int, log: int) -> None:
        """Take what `home` states: durable subscriptions in this log."""
        self._carry_out(self.entry.state(home, log))

    def stated(self, home: int, log: int) -> None:
        """Take the report that this statement of `home` is on disk."""
        self._carry_out(self.entry.committed(Stated(home, log)))

    def held(self, entry: int, written: LogLife) -> None:
        """Take what an entry says: it has the statement of this router on the disk of this log."""
        self._carry_out(self.home.held(Holds(entry, written, self._me)))

    # --- disk and time ------------------------------------------------------------------------------------------------

    def committed(self) -> None:
        """Do what waited for the records that are on disk now."""
        upto, has_moved = self._log.committed, False
        while self._unsynced and self._unsynced[0][0] <= upto:
            _, record = self._unsynced.popleft()
            self.home.committed(record)
            has_moved |= isinstance(record, _PASSES_ON)
            self._carry_out(self.entry.committed(record))
        if has_moved:
            self._carry_out(self.home.acknowledgements())

    def was_read(self, home: int, records: Iterable[LogRecord]) -> None:
        """Send what was read. A message that is not on disk yet is due again later."""
        resend = self._resends[home]
        has_more = resend.frames[0].n <= resend.after
        for record in () if has_more else records:
            frame = resend.take(record)
            if frame is not None:
                self._direct(frame, record.body)
            has_more = bool(resend.frames)
        if has_more:
            self._read(home, resend)
        else:
            del self._resends[home]

    def tick(self, now_us: int) -> None:
        """Send again what is due, and acknowledgements, which may have been lost."""
        self._carry_out([*self.entry.tick(now_us), *self.home.acknowledgements()])

    # --- commands -----------------------------------------------------------------------------------------------------

    def _carry_out(self, commands: Iterable[Command], entering: bytes = b"") -> None:
        """Write all records, then send and answer. `entering` is the message of the Entered among them."""
        fresh = 0
        sent: list[SendTo] = []
        for command in commands:
            match command:
                case Write(Entered(n) as record):
                    fresh = n
                    self._write(record, entering)
                case Write(record, body):
                    self._write(record, body)
                case SendTo():
                    sent.append(command)
                case Confirm(waiter, result) | Refuse(waiter, result):
                    self._host.answer(waiter, result)
        again: dict[int, deque[Directed]] = {}
        for router, frame in ((each.router, each.frame) for each in sent):
            if not isinstance(frame, Directed):
                self._send(router, frame)
            elif frame.n == fresh:
                self._direct(frame, entering)
            else:
                again.setdefault(router, deque()).append(frame)
        for home, frames in again.items():
            self._send_again(home, frames)

    def _write(self, record: Record, body: bytes) -> None:
        if isinstance(record, Stated):
            self._host.store_statement(record.home, record.log)
            return
        durables = self._host.durables_for(body) if isinstance(record, Entered | Arrived) else ()
        self._unsynced.append((self._records.write(record, body, durables), record))

    def _send(self, router: int, frame: CustodyBody | Holds) -> None:
        if isinstance(frame, Holds):
            self._host.say_holds(router, frame.written)
        else:
            self._host.send(router, frame)

    def _send_again(self, home: int, frames: deque[Directed]) -> None:
        resend = self._resends.get(home)
        if resend is not None:
            resend.add(frames)
            return
        resend = self._resends[home] = _Resend(frames, 0)
        self._read(home, resend)

    def _read(self, home: int, resend: _Resend) -> None:
        resend.after = resend.frames[0].n - 1
        self._host.read(home, resend.after, READ_BYTES)

    def _direct(self, frame: Directed, body: bytes) -> None:
        place = Custody(frame.home, frame.home_log, frame.written, frame.n, frame.previous)
        self._host.send(frame.home, directed(body, place, HOP_LIMIT))
