"""The part of a router where durable subscriptions live: it writes what their chains bring, and acknowledges what is on
disk.

Law: a chain, of one log of one entry, moves on from the last number taken (C3), by what is written (C5), and is
acknowledged up to what is on disk (C4). A message with a known id is stored once, whichever entry brings it (C11). What
a GAP says is believed if it has the token of this home's request, which those on the way know alone; a log, if its
router states it.
"""

from __future__ import annotations

import secrets
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from tamis.protocol.wire.custody_bodies import ChainGap, CustodyAck, CustodyAsk, LogLife
from tamis.router.core.custody.commands import Command, PassedOver, SendTo, Write
from tamis.router.core.custody.frames import Directed, Frame, Holds, Message
from tamis.router.core.custody.records import Arrived, Began, Doubt, NumbersLost, Passed, Record

IDS_MAX: Final = 1 << 20
"""Ids that are known to be stored; a message of an older id may be stored twice."""
HELD_BACK_BYTES: Final = 256 << 10
"""Bytes that a chain holds back until what comes before them has come."""
ASK_EVERY_US: Final = 50_000


class LogOf(NamedTuple):
    """A log of an entry."""

    entry: int
    log: int


class _Chain:
    """What came by one chain."""

    def __init__(self) -> None:
        self.have = self.on_disk = 0
        self.held_back: dict[int, Directed | ChainGap] = {}
        """Frames by the number before them."""
        self.bytes = 0
        self.ask_us = 0
        self.token = secrets.randbits(64) or 1

    def hold_back(self, frame: Directed | ChainGap) -> None:
        """Keep a frame that follows a missing one. A frame beyond the limit is dropped: the entry sends it again."""
        size = _size(frame)
        if frame.previous not in self.held_back and self.bytes + size <= HELD_BACK_BYTES:
            self.held_back[frame.previous] = frame
            self.bytes += size

    def next_one(self) -> Directed | ChainGap | None:
        """Return the frame that follows what has come. Those that came again by other frames are dropped."""
        for previous in sorted(self.held_back):
            if previous > self.have:
                return None
            frame = self.held_back.pop(previous)
            self.bytes -= _size(frame)
            if frame.n > self.have:
                return frame
        return None


class HomeCustody:
    """`records` are those of its log in their order."""

    def __init__(self, me: int, log: int, window: int, records: Iterable[Record] = ()) -> None:
        self.me, self.log, self.window = me, log, window
        self.is_full = False
        """Whether its log has no room: nothing is taken, and nothing acknowledged."""
        self.passed_over: Counter[PassedOver] = Counter()
        """Frames of entries without effect."""
        self.lives: dict[int, tuple[int, int]] = {}
        """The newest log of each entry, and its life."""
        self._stated: dict[int, int] = {}
        """The log that each entry states."""
        self._on_disk: set[LogOf] = set()
        self._holding: set[int] = set()
        self._chains: dict[LogOf, _Chain] = {}
        self._ids: OrderedDict[Message, None] = OrderedDict()
        for record in records:
            self._recover(record)
            self.committed(record)

    def _recover(self, record: Record) -> None:
        match record:
            case Began(entry, log, life):
                self._stated[entry] = log
                self._begin(entry, log, life)
            case Arrived(entry, log, n, message):
                self._chain(LogOf(entry, log)).have = n
                self._know(message)
            case Passed(entry, log, n) | NumbersLost(entry, log, n):
                self._chain(LogOf(entry, log)).have = n
            case _:
                pass  # a record of the entry

    # --- statements ---------------------------------------------------------------------------------------------------

    def covered(self) -> set[int]:
        """Return the entries that have on disk what the durable subscriptions here want, as far as this home has them
        on its own (C12)."""
        return {entry for entry in self._holding if LogOf(entry, self.lives[entry][0]) in self._on_disk}

    def state(self, entry: int, log: int) -> None:
        """Take what `entry` states: its log."""
        self._stated[entry] = log

    def held(self, frame: Holds) -> list[Command]:
        if frame.written.log != self._stated.get(frame.entry):
            self.passed_over[PassedOver.OTHER_LOG] += 1
            return []
        self._holding.add(frame.entry)
        return self._greet(frame.entry, frame.written)

    # --- chains -------------------------------------------------------------------------------------------------------

    def take(self, frame: Directed | ChainGap, is_wanted: Callable[[Directed], bool], now_us: int) -> list[Command]:
        """Take what a chain brings. `is_wanted`: whether a durable subscription here wants a message now. A router that
        has never said that it holds the statement of this home has no chain."""
        if frame.entry not in self.lives:
            self.passed_over[PassedOver.UNKNOWN] += 1
            return []
        if frame.written.log != self._stated[frame.entry]:
            self.passed_over[PassedOver.OTHER_LOG] += 1
            return []
        of = LogOf(frame.entry, frame.written.log)
        chain = self._chain(of)
        if isinstance(frame, ChainGap) and frame.n > chain.have and frame.token != chain.token:
            self.passed_over[PassedOver.UNASKED] += 1
            return self._ask(of, now_us)
        commands = self._greet(frame.entry, frame.written)
        if frame.home_log != self.log:
            return [*commands, self._acknowledge(of)]
        if self.is_full:
            return commands
        if frame.n <= chain.have:
            return [*commands, self._acknowledge(of)]
        if frame.previous > chain.have:
            chain.hold_back(frame)
            return [*commands, *self._ask(of, now_us)]
        commands += self._store(of, chain, frame, is_wanted)
        while (following := chain.next_one()) is not None:
            commands += self._store(of, chain, following, is_wanted)
        return commands

    def _ask(self, of: LogOf, now_us: int) -> list[Command]:
        """Ask for what follows, unless that was a moment ago."""
        chain = self._chain(of)
        if now_us < chain.ask_us:
            return []
        chain.ask_us = now_us + ASK_EVERY_US
        return [SendTo(of.entry, CustodyAsk(self.me, self.log, *of, chain.have, token=chain.token))]

    def _store(
        self, of: LogOf, chain: _Chain, frame: Directed | ChainGap, is_wanted: Callable[[Directed], bool]
    ) -> list[Command]:
        """Move the chain on. Of numbers that were given up, those count as lost that did not come before (C7)."""
        before, chain.have = chain.have, frame.n
        if isinstance(frame, ChainGap):
            if not frame.numbers:
                return [Write(Doubt(of.entry)), Write(Passed(*of, frame.n))]
            return [Write(NumbersLost(*of, frame.n, tuple(n for n in frame.numbers if n > before)))]
        if frame.message in self._ids or not is_wanted(frame):
            return [Write(Passed(*of, frame.n))]
        self._know(frame.message)
        return [Write(Arrived(*of, frame.n, frame.message), frame.body)]

    def _greet(self, entry: int, written: LogLife) -> list[Command]:
        """Take what an entry says of its log, with a doubt if that is another one or an earlier state (C10)."""
        log, life = self.lives.get(entry, (0, 0))
        if written.log == log and written.life <= life:
            return []
        commands: list[Command] = []
        if entry in self.lives and (written.log != log or written.before < life):
            commands.append(Write(Doubt(entry)))
        self._begin(entry, written.log, written.life)
        return [*commands, Write(Began(entry, written.log, written.life))]

    def _begin(self, entry: int, log: int, life: int) -> None:
        """Begin a life of an entry. Of the chain of an earlier log nothing is taken any more: it is forgotten."""
        for of in [of for of in self._chains if of.entry == entry and of.log != log]:
            del self._chains[of]
        self._on_disk = {of for of in self._on_disk if of.entry != entry or of.log == log}
        self.lives[entry] = log, life

    # --- the disk -----------------------------------------------------------------------------------------------------

    def committed(self, record: Record) -> None:
        """Take the report that a record is on disk."""
        match record:
            case Began(entry, log) if self.lives[entry][0] == log:
                self._on_disk.add(LogOf(entry, log))
            case Arrived(entry, log, n) | Passed(entry, log, n) | NumbersLost(entry, log, n):
                chain = self._chains.get(LogOf(entry, log))
                if chain is not None:
                    chain.on_disk = n
            case _:
                pass

    def acknowledgements(self) -> list[Command]:
        """Return what is on disk of the chain of each entry, as its newest log."""
        return [self._acknowledge(LogOf(entry, log)) for entry, (log, _) in self.lives.items()]

    def _acknowledge(self, of: LogOf) -> Command:
        frame: Frame = CustodyAck(self.me, self.log, *of, self._chain(of).on_disk, self.window)
        return SendTo(of.entry, frame)

    def _chain(self, of: LogOf) -> _Chain:
        return self._chains.setdefault(of, _Chain())

    def _know(self, message: Message) -> None:
        self._ids[message] = None
        if len(self._ids) > IDS_MAX:
            self._ids.popitem(last=False)


def _size(frame: Directed | ChainGap) -> int:
    return frame.size if isinstance(frame, Directed) else 3 * len(frame.numbers)
