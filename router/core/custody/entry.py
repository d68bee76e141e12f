"""The part of a router that messages enter: it writes what durable subscriptions elsewhere want, sends it to their
homes, and answers publishers.

Law: a message is confirmed as stored when its record is on disk (C1), as held when each home that wants it has
acknowledged it and it was given up for none (C8). It leaves the chain of a home by that home's acknowledgement alone,
or as a number that was given up (C6). A number is a life and a counter, and is never given twice (C2). What waits for a
home stays within the bounds (C15): past them the oldest are given up, or a message without room is refused, and stored
for those homes alone that have room.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from tamis.protocol.limits import GAP_NUMBERS_MAX
from tamis.protocol.wire.custody_bodies import ChainGap, CustodyAck, CustodyAsk, LogLife
from tamis.router.core.custody.chain import Chain, ChainLink
from tamis.router.core.custody.commands import (
    Command,
    Confirm,
    CustodyRefusal,
    Level,
    PassedOver,
    Refuse,
    SendTo,
    Write,
)
from tamis.router.core.custody.frames import Directed, Holds, Message
from tamis.router.core.custody.records import Done, Entered, GivenUp, Record, Stated

COUNTER_BITS: Final = 40
ENTERED_MAX: Final = 1 << 20
"""Messages whose number is known, for publishers that try again; older ones are refused by their publisher's window."""


AGE_STEPS: Final = 64
"""A message is given up within such a part of the greatest age after that."""


class ChainBounds(NamedTuple):
    """Of the chain of each home."""

    bytes: int = 1 << 30
    window: int = 4 << 20
    age_us: int = 0
    """For which a message may wait; 0: for ever."""
    refuses: bool = False
    """Whether what has no room is refused; otherwise the oldest are given up for it."""


@dataclass(slots=True)
class StatedHome:
    """What a home states: its log. `is_on_disk`: whether the record of that is."""

    log: int
    is_on_disk: bool


class LevelWaiter(NamedTuple):
    """A publisher that waits for an answer about a message."""

    who: object
    level: Level


@dataclass(slots=True)
class _OpenMessage:
    """A message about which a publisher waits."""

    left: set[int]
    """The homes that have not acknowledged it."""
    is_written: bool = False
    is_given_up: bool = False
    waiters: list[LevelWaiter] = field(default_factory=list)


def _follow(last: int) -> int:
    return last + 1


def _gaps(to: tuple[int, LogLife, int, int], link: ChainLink, previous: int, token: int) -> Iterator[ChainGap]:
    """Yield the frames of a link without a message; each has room for some of its numbers. Those that the home has are
    left out."""
    if link.is_doubt:
        yield ChainGap(*to, link.n, previous, (), token=token)
    numbers = tuple(n for n in link.numbers if n > previous)
    for start in range(0, len(numbers), GAP_NUMBERS_MAX):
        some = numbers[start : start + GAP_NUMBERS_MAX]
        yield ChainGap(*to, some[-1], previous, some, token=token)
        previous = some[-1]


class EntryCustody:
    """`records` are those of its log in their order; `written` is the life that begins now. `number` returns the number
    of a message, given the last one: that of its record."""

    def __init__(
        self,
        me: int,
        written: LogLife,
        bounds: ChainBounds,
        records: Iterable[Record] = (),
        number: Callable[[int], int] = _follow,
    ) -> None:
        self.me, self.written = me, written
        self.is_in_step = False
        """C14: whether it knows the durable subscriptions of all homes in reach; its owner sets it."""
        self.homes: dict[int, StatedHome] = {}
        """C13: homes with durable subscriptions."""
        self.chains: dict[int, Chain] = {}
        self.passed_over: Counter[PassedOver] = Counter()
        """Frames of homes without effect."""
        self._bounds, self._number = bounds, number
        self._last = written.life << COUNTER_BITS
        self._numbers: OrderedDict[Message, int] = OrderedDict()
        self._given_up: OrderedDict[int, None] = OrderedDict()
        self._written_to = 0
        self._open: dict[int, _OpenMessage] = {}
        self._partial: OrderedDict[Message, set[int]] = OrderedDict()
        """Messages that some home had no room for, with the homes that have them, as far as that is known."""
        for record in records:
            self._recover(record)

    def _recover(self, record: Record) -> None:
        match record:
            case Stated(home, log):
                self._state(home, log, is_on_disk=True)
            case Entered(n, message, homes, size, at_us, is_partial):
                self._know(message, n)
                self._written_to = n
                self._note_partial(message, set() if is_partial else None)
                for home in homes:
                    self._chain(home).append(n, message, size, at_us)
            case Done(home, home_log, have):
                chain = self._chain(home)
                if chain.home_log == home_log:
                    chain.acknowledge(have, self._bounds.window, 0)
            case GivenUp(home, numbers):
                self._give_up(self._chain(home), numbers)
            case _:
                pass  # a record of the home

    # --- statements ---------------------------------------------------------------------------------------------------

    def state(self, home: int, log: int) -> list[Command]:
        """Take what `home` states, durable subscriptions in this log, and answer once that is on disk (C12)."""
        known = self.homes.get(home)
        if known is None or known.log != log:
            self._state(home, log, is_on_disk=False)
            return [Write(Stated(home, log))]
        return [SendTo(home, Holds(self.me, self.written, home))] if known.is_on_disk else []

    def _state(self, home: int, log: int, *, is_on_disk: bool) -> None:
        self.homes[home] = StatedHome(log, is_on_disk)
        if home in self.chains:
            self.chains[home].begin(log)

    # --- messages -----------------------------------------------------------------------------------------------------

    def enter(
        self, message: Message, size: int, wanting: Collection[int], waiter: LevelWaiter, now_us: int
    ) -> list[Command]:
        """Take a message of a publisher that waits. `wanting`: the homes whose durable subscriptions want it."""
        if not self.is_in_step:
            return [Refuse(waiter.who, CustodyRefusal.NOT_IN_STEP)]
        known, had = self._numbers.get(message), self._partial.get(message)
        if known is not None and had is None:
            return self._again(known, waiter)
        homes, is_full = self._homes_with_room(size, wanting, had or (), waiter.level)
        if is_full:
            commands = self._store(Entered(0, message, homes, size, now_us, is_full), now_us) if homes else []
            self._note_partial(message, {*(had or ()), *homes})
            return [*commands, Refuse(waiter.who, CustodyRefusal.NO_ROOM)]
        self._note_partial(message, None)
        if known is not None and not homes:
            return self._again(known, waiter)
        return self._store(Entered(0, message, homes, size, now_us), now_us, waiter)

    def _homes_with_room(
        self, size: int, wanting: Collection[int], had: Collection[int], level: Level
    ) -> tuple[tuple[int, ...], bool]:
        """C15: return the homes that a message is to be stored for, and whether others have no room for it. Those that
        have it (`had`) get it again where its publisher waits for them, as it may have been given up since."""
        asked = [home for home in sorted(wanting) if home not in had or level is Level.HELD]
        found = [home for home in asked if not self._bounds.refuses or self._chain(home).has_room(size)]
        is_full = len(found) < len(asked)
        return tuple(home for home in found if home not in had or not is_full), is_full

    def _store(self, entered: Entered, now_us: int, waiter: LevelWaiter | None = None) -> list[Command]:
        """Write a message with the next number, and take it into the chains of its homes."""
        n = self._last = self._number(self._last)
        entered = replace(entered, n=n)
        self._know(entered.message, n)
        if waiter is not None:
            self._open[n] = _OpenMessage(set(entered.homes), waiters=[waiter])
        commands: list[Command] = [Write(entered)]
        for home in entered.homes:
            chain = self._chain(home)
            chain.append(n, entered.message, entered.size, now_us)
            commands += self._keep_bounds(home, chain, now_us)
            commands += self._send(home, chain, now_us)
        return commands

    def _again(self, n: int, waiter: LevelWaiter) -> list[Command]:
        """Let a publisher that tries again wait for what the first try waits for."""
        opened = self._open.get(n)
        if opened is None:
            left = {home for home, chain in self.chains.items() if chain.find(n) is not None}
            opened = self._open[n] = _OpenMessage(left, n <= self._written_to, n in self._given_up)
        opened.waiters.append(waiter)
        return self._answer(n)

    def _past(self, chain: Chain, now_us: int) -> tuple[int, ...]:
        """C15: return the numbers of messages that are to be given up now."""
        if (due_us := self._old_us(chain)) is not None and due_us <= now_us:
            return chain.entered_until(now_us - self._bounds.age_us)
        return chain.oldest() if chain.is_full and not self._bounds.refuses else ()

    def _old_us(self, chain: Chain) -> int | None:
        """Return when the oldest message has waited for too long; None: never."""
        age_us, since_us = self._bounds.age_us, chain.since_us
        return None if not age_us or since_us is None else since_us + age_us + age_us // AGE_STEPS

    def _keep_bounds(self, home: int, chain: Chain, now_us: int) -> list[Command]:
        commands: list[Command] = []
        while numbers := self._past(chain, now_us):
            self._give_up(chain, numbers)
            commands.append(Write(GivenUp(home, numbers)))
            for n in numbers:
                if n in self._open:
                    self._open[n].is_given_up = True
                    commands += self._answer(n)
        return commands

    def _give_up(self, chain: Chain, numbers: tuple[int, ...]) -> None:
        chain.give_up(numbers)
        self._given_up.update(dict.fromkeys(numbers))
        while len(self._given_up) > ENTERED_MAX:
            self._given_up.popitem(last=False)

    # --- homes --------------------------------------------------------------------------------------------------------

    def acknowledged(self, frame: CustodyAck, now_us: int) -> list[Command]:
        """Take an acknowledgement. One that cannot be so says nothing."""
        chain = self._chain_of(frame)
        if chain is None:
            return []
        commands: list[Command] = []
        if chain.acknowledge(frame.have, frame.window, now_us):
            commands.append(Write(Done(frame.home, frame.home_log, frame.have)))
            for n in [n for n, opened in self._open.items() if n <= frame.have and frame.home in opened.left]:
                self._open[n].left.discard(frame.home)
                commands += self._answer(n)
        return commands + self._send(frame.home, chain, now_us)

    def asked(self, frame: CustodyAsk, now_us: int) -> list[Command]:
        chain = self._chain_of(frame)
        if chain is None:
            return []
        why = chain.asked(frame.have, frame.token, now_us)
        if why is not None:
            self.passed_over[why] += 1
            return []
        return self._send(frame.home, chain, now_us)

    def _chain_of(self, frame: CustodyAck | CustodyAsk) -> Chain | None:
        """Return the chain that a frame is about; None if it can be about none. Of an earlier life the home may have
        numbers that this router has lost."""
        chain = self.chains.get(frame.home)
        if chain is None:
            self.passed_over[PassedOver.UNKNOWN] += 1
        elif frame.entry_log != self.written.log or frame.home_log != chain.home_log:
            self.passed_over[PassedOver.OTHER_LOG] += 1
        elif frame.have > min(self._last, max(chain.last, self.written.life << COUNTER_BITS)):
            self.passed_over[PassedOver.NEVER_GIVEN] += 1
        else:
            return chain
        return None

    def dues_us(self) -> Iterator[int]:
        """Yield the times at which `tick` has something to do."""
        for chain in filter(len, self.chains.values()):
            yield chain.due_us
            if (old_us := self._old_us(chain)) is not None:
                yield old_us

    def tick(self, now_us: int) -> list[Command]:
        """Send again what should have been acknowledged, and what waits since the start; give up what is past a
        bound."""
        commands: list[Command] = []
        for home, chain in self.chains.items():
            commands += self._keep_bounds(home, chain, now_us)
            if chain.is_due(now_us) or chain.due_us == 0:
                commands += self._send(home, chain, now_us)
        return commands

    def _send(self, home: int, chain: Chain, now_us: int) -> list[Command]:
        found: list[Command] = []
        for link, previous in chain.to_send(now_us):
            to = (self.me, self.written, home, chain.home_log)
            if link.message is None:
                found += [SendTo(home, gap) for gap in _gaps(to, link, previous, chain.token)]
            else:
                found.append(SendTo(home, Directed(*to, link.n, previous, link.message, link.size)))
        return found

    # --- the disk -----------------------------------------------------------------------------------------------------

    def committed(self, record: Record) -> list[Command]:
        """Take the report that a record is on disk."""
        match record:
            case Stated(home, log):
                if self.homes[home].log == log:
                    self.homes[home].is_on_disk = True
                return self.state(home, self.homes[home].log)
            case Entered(n):
                self._written_to = n
                if n in self._open:
                    self._open[n].is_written = True
                    return self._answer(n)
            case _:
                pass
        return []

    def _answer(self, n: int) -> list[Command]:
        """Answer those who wait for what is so now."""
        opened = self._open[n]
        commands: list[Command] = []
        for waiter in list(opened.waiters):
            if waiter.level is Level.HELD and opened.is_given_up:
                commands.append(Refuse(waiter.who, CustodyRefusal.CUSTODY_FULL))
            elif opened.is_written and (waiter.level is Level.STORED or not opened.left):
                commands.append(Confirm(waiter.who, waiter.level))
            else:
                continue
            opened.waiters.remove(waiter)
        if opened.is_written and not opened.waiters:
            del self._open[n]
        return commands

    def _chain(self, home: int) -> Chain:
        chain = self.chains.get(home)
        if chain is None:
            chain = self.chains[home] = Chain(self._bounds.bytes, self._bounds.window)
            if home in self.homes:
                chain.begin(self.homes[home].log)
        return chain

    def _note_partial(self, message: Message, homes: set[int] | None) -> None:
        """Note which homes have a message that others had no room for; None: no other lacks it."""
        if homes is None:
            self._partial.pop(message, None)
            return
        self._partial[message] = homes
        if len(self._partial) > ENTERED_MAX:
            self._numbers.pop(self._partial.popitem(last=False)[0], None)

    def _know(self, message: Message, n: int) -> None:
        self._numbers[message] = n
        if len(self._numbers) > ENTERED_MAX:
            self._numbers.popitem(last=False)
