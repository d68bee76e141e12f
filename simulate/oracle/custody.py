"""Invariants 19 and 20: what becomes of messages that durable subscriptions at other routers want.

Law: a message is due to a home if its entry has a matching durable subscription of that home on disk, or was named by
the answer to its creation, lost its disk, and every other router still has it. A due message that was confirmed is at
rest on the disk of the home, once; or the home says that it was given up; or its subscription, or what one disk had
alone, is gone, and the home doubts the entry where it can know. Nothing is confirmed or acknowledged that is not on
disk. Numbers of a log rise, and so do those that a home takes of it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import NamedTuple

Report = Callable[[int, str], None]
Message = tuple[int, int]
Statements = Callable[[int], Mapping[int, Collection[bytes]]]
"""Maps a router to the durable subscriptions of others on its disk, by home."""


class ChainOf(NamedTuple):
    """An entry and its log."""

    entry: int
    log: int


class ChainNumber(NamedTuple):
    """A number in the chains of an entry."""

    entry: int
    log: int
    n: int


@dataclass(slots=True)
class _OnDisk:
    """What the disk of a router has."""

    log: int = 1
    entered: dict[Message, set[int]] = field(default_factory=dict)
    """Messages that entered, with the homes that they were stored for."""
    arrived: dict[Message, ChainNumber] = field(default_factory=dict)
    lost: set[ChainNumber] = field(default_factory=set)
    """Numbers that count as lost."""
    have: dict[ChainOf, int] = field(default_factory=dict)
    lives: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """Of each entry the log and life, and how many doubts there were then."""
    doubts: Counter[int] = field(default_factory=Counter)
    durables: set[bytes] = field(default_factory=set)


@dataclass(slots=True)
class _Entered:
    """A message that a router has taken: the durable subscriptions to which it is due, by home."""

    due: dict[int, set[bytes]]
    ends: dict[int, int]
    """How many disks of each of them had ended, or been put back, by then."""


class _Required(NamedTuple):
    """A confirmed message that a home must have: its entry, and the durable subscriptions that want it."""

    entry: int
    durables: set[bytes]
    ends: int
    """How many disks of the entry had ended, or been put back, by then."""


class _Lacking(NamedTuple):
    """A message that a home had before it was put back; how many doubts of the entry its backup had, and the durable
    subscriptions that want the message."""

    number: ChainNumber
    message: Message
    doubts: int
    durables: set[bytes]


class CustodyTruth:
    def __init__(self, report: Report) -> None:
        self.counts: Counter[str] = Counter()
        self.statements: Statements = lambda router: {}  # noqa: ARG005 - set later
        self._report = report
        self._disks: defaultdict[int, _OnDisk] = defaultdict(_OnDisk)
        self._backups: dict[int, _OnDisk] = {}
        self._ends: Counter[int] = Counter()
        """How many disks of a router were lost or put back."""
        self._before: dict[ChainOf, dict[int, int]] = defaultdict(dict)
        """Maps each life of a log to the one before it."""
        self._contents: dict[bytes, int] = {}
        """The contents that the filter of a durable subscription matches, as bits."""
        self._decided: dict[bytes, int] = {}
        """Those of them that it wants."""
        self._gone: set[bytes] = set()
        """Durable subscriptions that were removed, or lost with a disk."""
        self._named: defaultdict[int, dict[bytes, int]] = defaultdict(dict)
        """The durable subscriptions whose creation named a router, with their homes."""
        self._owed: dict[int, dict[bytes, int]] = {}
        """Those of them that it lacks since it started, and all others have."""
        self._numbers: dict[ChainNumber, Message] = {}
        self._content: dict[Message, int] = {}
        self._last: Counter[ChainOf] = Counter()
        """The last number that a log gave."""
        self._entered: dict[tuple[int, Message], _Entered] = {}
        self._waiting: dict[tuple[int, Message], int] = {}
        """How many publishers wait to hear that a message is stored."""
        self._required: defaultdict[int, dict[Message, _Required]] = defaultdict(dict)
        self._lacking: defaultdict[int, list[_Lacking]] = defaultdict(list)
        self._lacked: defaultdict[int, set[Message]] = defaultdict(set)
        """Messages that a home had, or counted as lost, before it was put back."""

    # Durable subscriptions and disks.

    def made(self, home: int, packed: bytes, contents: int, decided: int | None = None) -> None:
        """Record a durable subscription; `decided`: what its program leaves of the contents that its filter matches."""
        self._disks[home].durables.add(packed)
        self._contents[packed] = contents
        self._decided[packed] = contents if decided is None else decided

    def removed(self, home: int, packed: bytes) -> None:
        self._disks[home].durables.discard(packed)
        self._gone.add(packed)

    def named(self, home: int, packed: bytes, router: int) -> None:
        """Record that the answer to a creation at `home` names `router`."""
        self._named[router][packed] = home

    def started(self, router: int, written: tuple[int, int, int]) -> None:
        log, life, before = written
        self._before[ChainOf(router, log)][life] = before
        self._disks[router].log = log
        self._owed[router] = {
            packed: home
            for packed, home in self._named[router].items()
            if self._is_there(home, packed) and self._all_others_have(router, home, packed)
        }

    def ended(self, router: int) -> None:
        for waiting in [waiting for waiting in self._waiting if waiting[0] == router]:
            del self._waiting[waiting]

    def disk_lost(self, router: int) -> None:
        self._gone |= self._disks[router].durables
        self._disks[router] = _OnDisk()
        self._backups.pop(router, None)
        self._lacking.pop(router, None)
        self._ended_disk(router)

    def backed_up(self, router: int) -> None:
        self._backups[router] = deepcopy(self._disks[router])

    def put_back(self, router: int) -> None:
        before, after = self._disks[router], self._backups.pop(router)
        self._disks[router] = after
        self._gone |= before.durables - after.durables
        lacking = {message: number for message, number in before.arrived.items() if message not in after.arrived}
        self._lacking[router] += [
            _Lacking(number, message, after.doubts[number.entry], self._wanting(after, message))
            for message, number in lacking.items()
        ]
        self._lacked[router] |= lacking.keys() | {self._numbers[number] for number in before.lost - after.lost}
        self._ended_disk(router)

    def _wanting(self, disk: _OnDisk, message: Message) -> set[bytes]:
        return {packed for packed in disk.durables if self._contents[packed] >> self._content[message] & 1}

    def _ended_disk(self, router: int) -> None:
        self.counts["disks lost or put back"] += 1
        self._ends[router] += 1
        self._owed.clear()
        for at, message in [entered for entered in self._entered if entered[0] == router]:
            self._forget_unless_stored(at, message)

    def _forget_unless_stored(self, router: int, message: Message) -> None:
        """Let the next try of a publisher count as the first one, unless the message is on the disk of its entry for
        each home that is due: it is not stored again then, for durable subscriptions that are younger than it."""
        entered = self._entered.get((router, message))
        stored_for = self._disks[router].entered.get(message)
        if entered is not None and (stored_for is None or not entered.due.keys() <= stored_for):
            del self._entered[router, message]

    def _is_there(self, home: int, packed: bytes) -> bool:
        return packed in self._disks[home].durables and packed not in self._gone

    def _all_others_have(self, router: int, home: int, packed: bytes) -> bool:
        others = self._before.keys()
        return all(
            packed in self.statements(each.entry).get(home, ()) for each in others if each.entry not in (router, home)
        )

    # Messages.

    def asked(self, router: int, message: Message, content: int, is_stored: bool) -> None:
        """Record that a publisher waits at a router; `is_stored`: until the message is on the disk of that alone."""
        if is_stored:
            self._waiting[router, message] = self._waiting.get((router, message), 0) + 1
        self._content[message] = content
        if (router, message) in self._entered:
            return
        due: dict[int, set[bytes]] = {}
        for home, durables in self._candidates(router):
            found = {packed for packed in durables if self._is_there(home, packed)}
            if found := {packed for packed in found if self._contents[packed] >> content & 1}:
                due[home] = due.get(home, set()) | found
        self._entered[router, message] = _Entered(due, {home: self._ends[home] for home in due})

    def _candidates(self, router: int) -> Iterator[tuple[int, Collection[bytes]]]:
        yield from self.statements(router).items()
        for packed, home in self._owed.get(router, {}).items():
            yield home, (packed,)

    def refused(self, router: int, message: Message, is_stored: bool) -> None:
        self.counts["refused stored"] += is_stored
        self.counts["refused held"] += not is_stored
        self._answered(router, message, is_stored)
        self._forget_unless_stored(router, message)

    def confirmed(self, router: int, message: Message, is_stored: bool) -> None:
        self._answered(router, message, is_stored)
        entered = self._entered[router, message]
        if message not in self._disks[router].entered:
            self._report(20, f"{router:x} confirms {message}, which is not on its disk")
        for home, durables in entered.due.items():
            left = durables - self._gone
            if not left or entered.ends[home] != self._ends[home]:
                continue
            self.counts["confirmed for a home"] += message not in self._required[home]
            self._required[home][message] = _Required(router, left, self._ends[router])
            if not is_stored and message not in self._disks[home].arrived:
                self._report(20, f"{router:x} says that {message} is held, and {home:x} has not stored it")
        self.counts["confirmed stored" if is_stored else "confirmed held"] += 1

    def _answered(self, router: int, message: Message, is_stored: bool) -> None:
        if is_stored and self._waiting.get((router, message)):
            self._waiting[router, message] -= 1

    def given(self, number: ChainNumber, message: Message) -> None:
        """Record that an entry has given a number to a message."""
        log = ChainOf(number.entry, number.log)
        if number.n <= self._last[log]:
            self._report(
                19, f"{number.entry:x} gives number {number.n} to {message}, and gave {self._last[log]} before"
            )
        self._numbers[number], self._last[log] = message, number.n

    def stored(self, router: int, message: Message, homes: Collection[int]) -> None:
        """Record that a message is on the disk of its entry, for these homes; others may have had no room for it."""
        self._disks[router].entered.setdefault(message, set()).update(homes)

    # Homes.

    def arrived(self, home: int, number: ChainNumber, message: Message) -> None:
        disk = self._disks[home]
        self.counts["arrived by custody"] += 1
        if message in disk.arrived:
            self._report(19, f"{home:x} has stored {message} twice")
        if number in disk.lost:
            self._report(19, f"{home:x} has stored {number}, which it counts as lost")
        disk.arrived[message] = number
        self.passed(home, number)

    def filled(self, home: int, message: Message, content: int, durables: Collection[bytes]) -> None:
        """Judge which durable subscriptions of a home get a message that has arrived there."""
        wanting = {packed for packed in self._disks[home].durables if self._decided[packed] >> content & 1}
        self.counts["filled"] += len(wanting)
        if wanting - {*durables}:
            self._report(19, f"{home:x} stores {message} for fewer durable subscriptions than want it")
        if {*durables} - wanting:
            self._report(3, f"{home:x} stores {message} for durable subscriptions that do not want it")

    def passed(self, home: int, number: ChainNumber) -> None:
        """Record that a chain has moved on, on the disk of a home."""
        have, chain = self._disks[home].have, ChainOf(number.entry, number.log)
        if number.n <= have.get(chain, 0):
            self._report(19, f"{home:x} takes number {number.n} of {number.entry:x} after {have[chain]}")
        have[chain] = number.n

    def counted_lost(self, home: int, number: ChainNumber, numbers: Collection[int]) -> None:
        disk = self._disks[home]
        taken = set(disk.arrived.values())
        for each in (number._replace(n=n) for n in numbers):
            self.counts["counted as lost"] += 1
            if each in disk.lost or each in taken:
                self._report(19, f"{home:x} counts {each} as lost, which it has or counted")
            disk.lost.add(each)
        self.passed(home, number)

    def doubted(self, home: int, entry: int) -> None:
        self.counts["doubts"] += 1
        self._disks[home].doubts[entry] += 1
        if not (self._ends[entry] or self._ends[home]):
            self._report(19, f"{home:x} doubts {entry:x}, of which no disk ended")

    def began(self, home: int, entry: int, log: int, life: int) -> None:
        """Record that a home has heard of a life of the log of an entry."""
        disk = self._disks[home]
        before_log, before, doubts = disk.lives.get(entry, (log, 0, 0))
        disk.lives[entry] = log, life, disk.doubts[entry]
        is_other = log != before_log or self._before[ChainOf(entry, log)].get(life, 0) < before
        if is_other and disk.doubts[entry] == doubts:
            self._report(
                19, f"{home:x} hears of {log}.{life} of {entry:x} after {before_log}.{before}, without a doubt"
            )

    def acknowledged(self, home: int, home_log: int, chain: ChainOf, have: int) -> None:
        disk = self._disks[home]
        if disk.log == home_log and have > disk.have.get(chain, 0):
            self._report(20, f"{home:x} acknowledges {have} of {chain.entry:x}; {disk.have.get(chain, 0)} is on disk")

    # Rest.

    def at_rest(self, reach: Mapping[int, Collection[int]], behind: Mapping[tuple[int, int], int]) -> None:
        """Judge living routers. `reach` are those in reach of each; `behind` is how many links an entry has for a
        home."""
        for home in reach:
            self._judge(home, {entry for entry in reach[home] if entry in reach})
            self._judge_backups(home)
        for (entry, home), links in behind.items():
            if links and home in reach.get(entry, ()) and self._disks[home].durables:
                self._report(19, f"{entry:x} has {links} links for {home:x}, which it does not acknowledge")
        for (router, message), waiting in self._waiting.items():
            if waiting:
                self._report(19, f"{router:x} does not answer the publisher of {message}")
        self.counts["not judged, as out of reach"] = sum(map(len, self._required.values()))

    def _judge(self, home: int, entries: Collection[int]) -> None:
        """Judge whether a home has what was confirmed by entries in its reach."""
        disk, required = self._disks[home], self._required[home]
        for message, each in list(required.items()):
            if message in disk.arrived or not each.durables - self._gone:
                self.counts["confirmed and there" if message in disk.arrived else "confirmed and not wanted since"] += 1
                del required[message]
            elif each.entry in entries:
                del required[message]
                self._miss(home, message, each)

    def _miss(self, home: int, message: Message, each: _Required) -> None:
        """Judge a message that a home does not have."""
        if any(self._numbers.get(number) == message for number in self._disks[home].lost):
            self.counts["confirmed and given up"] += 1
        elif self._is_gone(home, message, each) or message in self._lacked[home]:
            self.counts["confirmed and lost with a disk"] += 1
        else:
            self._report(19, f"{home:x} lacks {message}, confirmed by {each.entry:x}")

    def _is_gone(self, home: int, message: Message, each: _Required) -> bool:
        """Return whether the disk of the entry no longer has a message for a home: the record that was for it may have
        gone with a disk, and one for other homes be left."""
        homes = self._disks[each.entry].entered.get(message)
        return homes is None or (home not in homes and self._ends[each.entry] != each.ends)

    def _judge_backups(self, home: int) -> None:
        """Judge that a home that was put back doubts the entries that have moved on past what its backup lacks. What
        no disk of the entry has was not confirmed."""
        disk = self._disks[home]
        for number, message, doubts, durables in self._lacking[home]:
            is_past = disk.have.get(ChainOf(number.entry, number.log), 0) >= number.n
            is_due = durables - self._gone and message in self._disks[number.entry].entered
            is_told = message in disk.arrived or number in disk.lost or disk.doubts[number.entry] != doubts
            if is_past and is_due and not is_told and not self._ends[number.entry]:
                self._report(19, f"{home:x} was put back, lacks {message} of {number.entry:x}, and does not doubt it")
