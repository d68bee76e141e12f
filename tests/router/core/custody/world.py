"""Networks of entries and homes in virtual time, with disks, faults and publishers that move, for custody.

Law: a crash loses what was not synced, in any prefix; frames are lost, doubled, late and cut off; disks are slow, full,
lost, or put back to a backup. `left_out` names one rule of BREAKS to leave out, which a judge has to notice.
"""

from __future__ import annotations

import heapq
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tamis.protocol.wire.custody_bodies import ChainGap, CustodyAck, CustodyAsk, LogLife
from tamis.router.core.custody.commands import Command, Confirm, Level, Refuse, SendTo, Write
from tamis.router.core.custody.entry import ChainBounds, EntryCustody, LevelWaiter
from tamis.router.core.custody.frames import Directed, Frame, Holds, Message
from tamis.router.core.custody.home import HomeCustody
from tamis.router.core.custody.records import Arrived, Doubt, Entered, GivenUp, NumbersLost, Passed, Record, Stated
from tamis.simulate.custody_breaks import CountsAll, DropsSilently, HoldsGaps, NeverReturns, drop_from_chains

BREAKS: Final = {
    "confirm-early": "C1: stored is confirmed before the record is on disk",
    "retry-early": "C1: a second try is confirmed while the first is not on disk",
    "numbers-again": "C2: a life goes on after the last number on disk",
    "jump": "C2: a life begins a constant above the last number on disk",
    "no-clock": "C2: a life is one above that of the folder, which may be a backup",
    "no-prev": "C3: a home takes what comes past a gap",
    "ack-early": "C4: a home acknowledges what is not on disk",
    "chain-volatile": "C5: what a home passes over is acknowledged, and in no record",
    "trim-early": "C6: an entry lets go of a message when it is confirmed",
    "no-gap": "C7: an entry without room drops the oldest, and says nothing",
    "gap-by-count": "C7: a home counts what it has as given up",
    "held-by-gap": "C8: a number that was given up counts as held",
    "same-home-log": "C9: neither looks at the log of the home",
    "no-doubt": "C10: a home does not look at the log of the entry",
    "no-dedup": "C11: a home does not know ids that came by another entry",
    "keep-early": "C12: a subscription is made before all in reach hold it",
    "held-lazy": "C12: an entry says that it holds a statement before that is on disk",
    "keeps-volatile": "C13: entries forget statements when they end",
    "no-step": "C14: an entry that lost its disk takes messages before it is in step",
}
BREAKS_OF_BACKUPS: Final = {
    "no-return": "C3: a chain never goes back behind what its home has acknowledged",
    "no-own-doubt": "C10: a home that was put back to a backup says nothing of what it lacks",
}
"""Noticed where homes are put back to backups, too."""
UNIT_US: Final = 40_000
SIZE: Final = 100
BEAT: Final = 5.0


@dataclass(slots=True)
class Disk:
    records: list[Record] = field(default_factory=list)
    synced: int = 0
    life: int = 0

    def crash(self, chance: random.Random) -> None:
        del self.records[chance.randint(self.synced, len(self.records)) :]
        self.synced = len(self.records)

    @property
    def safe(self) -> list[Record]:
        return self.records[: self.synced]


@dataclass(frozen=True, slots=True)
class Statement:
    """What a router states at a time: its log."""

    router: int
    log: int
    at: float


class Node:
    """A router that is an entry or a home."""

    def __init__(self, world: World, number: int) -> None:
        self.world, self.number = world, number
        self.is_up, self.boot, self.disk, self.is_syncing = True, 0, Disk(), False
        self.log = 0
        self.slow_until = 0.0
        self.ends_of_disk: list[float] = []
        """When its disk was lost, or put back to a backup."""
        self.backup: Disk | None = None
        self.was_restored = False
        self.newest: dict[int, float] = {}
        """The time of the newest statement of each router."""
        self.begin()

    def begin(self) -> None:
        clock = int(self.world.now) + 1
        before = self.disk.life
        is_naive = self.world.left_out == "no-clock"
        self.disk.life = before + 1 if is_naive else max(before + 1, clock)
        self.log = self.log or (clock << 8) + self.number
        self.make(LogLife(self.log, self.disk.life, before))

    def make(self, written: LogLife) -> None:
        raise NotImplementedError

    def is_newest(self, frame: Statement) -> bool:
        """Return whether a statement is the newest of its router, as the network finds out by freshness."""
        is_newest = frame.at >= self.newest.get(frame.router, 0.0)
        if is_newest:
            self.newest[frame.router] = frame.at
        return is_newest

    def say(self, others: Sequence[Node]) -> None:
        for other in others:
            self.world.send(self, other, Statement(self.number, self.log, self.world.now))

    def start(self) -> None:
        if not self.is_up:
            self.is_up, self.is_syncing = True, False
            self.boot += 1
            self.begin()

    def stop(self) -> None:
        self.is_up = False
        self.boot += 1
        self.disk.crash(self.world.chance)

    def lose_disk(self) -> None:
        self.stop()
        self.disk, self.log, self.backup = Disk(), 0, None
        self.ends_of_disk.append(self.world.now)

    def write(self, record: Record) -> None:
        self.disk.records.append(record)
        if not self.is_syncing:
            self.is_syncing = True
            self.world.after(0, self._sync, self.boot)

    def _sync(self, boot: int) -> None:
        if boot != self.boot:
            return
        first, last = self.disk.synced, len(self.disk.records)
        takes = self.world.chance.uniform(0.2, 5) + max(0.0, self.slow_until - self.world.now)
        self.world.after(takes, self._synced, boot, first, last)

    def _synced(self, boot: int, first: int, last: int) -> None:
        if boot != self.boot:
            return
        self.disk.synced = last
        for record in self.disk.records[first:last]:
            self.committed(record)
        self.after_commit()
        self.is_syncing = len(self.disk.records) > last
        if self.is_syncing:
            self._sync(boot)

    def committed(self, record: Record) -> None:
        raise NotImplementedError

    def after_commit(self) -> None:
        pass

    def carry_out(self, commands: list[Command]) -> None:
        for command in commands:
            match command:
                case Write(record):
                    self.world.note_written(self, record)
                case SendTo(router, frame):
                    self.world.send(self, self.world.nodes[router], frame)
                case Confirm(waiter, level):
                    self.world.confirmed(self, waiter, level)
                case Refuse(waiter):
                    self.world.refused(waiter)


class EntryNode(Node):
    entry: EntryCustody

    def make(self, written: LogLife) -> None:
        left_out, records = self.world.left_out, self.disk.records
        if left_out == "keeps-volatile":
            records = [record for record in records if not isinstance(record, Stated)]
        room = ChainBounds(self.world.room * SIZE)
        kinds = {"no-gap": DropsSilently, "held-by-gap": HoldsGaps, "no-return": NeverReturns}
        kind = kinds.get(left_out, EntryCustody)
        self.entry = kind(self.number, written, room, records)
        if left_out in ("numbers-again", "jump"):
            numbers = [record.n for record in records if isinstance(record, Entered)]
            self.entry._last = max(numbers, default=0) + (1_000 if left_out == "jump" else 0)
        self.entry.is_in_step = left_out == "no-step" or not self.ends_of_disk or self.knows_all

    @property
    def knows_all(self) -> bool:
        return len(self.entry.homes) == len(self.world.homes)

    def hear(self, frame: Frame | Statement) -> None:
        now_us = self.world.now_us
        if self.world.left_out == "same-home-log":
            if isinstance(frame, CustodyAck | CustodyAsk):
                frame = replace(frame, home_log=1)
            elif isinstance(frame, Statement):
                frame = replace(frame, log=1)
        match frame:
            case Statement(home, log):
                if self.is_newest(frame):
                    self.carry_out(self.entry.state(home, log))
                self.entry.is_in_step |= self.knows_all
            case CustodyAck():
                self.carry_out(self.entry.acknowledged(frame, now_us))
            case CustodyAsk():
                self.carry_out(self.entry.asked(frame, now_us))
            case _:
                raise AssertionError(frame)

    def publish(self, message: Message, waiter: LevelWaiter) -> None:
        is_known = message in self.entry._numbers
        if self.entry.is_in_step and not is_known:
            self.world.taken(self, message)
        commands = self.entry.enter(message, SIZE, tuple(self.entry.homes), waiter, self.world.now_us)
        self.carry_out(commands)
        if is_known and self.world.left_out == "retry-early":
            self.carry_out([Confirm(waiter.who, Level.STORED)])

    def committed(self, record: Record) -> None:
        self.carry_out(self.entry.committed(record))
        if self.world.left_out == "trim-early" and isinstance(record, Entered):
            drop_from_chains(self.entry, record.n)

    def beat(self) -> None:
        self.say(self.world.homes)
        self.carry_out(self.entry.tick(self.world.now_us))


class HomeNode(Node):
    home: HomeCustody

    def __init__(self, world: World, number: int, made_at: float) -> None:
        self.made_at, self.is_made, self.full_until = made_at, False, 0.0
        self.backups: list[tuple[int, list[Record]]] = []
        """The backups that its present disk was put back to: their length, and the records on disk that they lack."""
        super().__init__(world, number)

    def lose_disk(self) -> None:
        super().lose_disk()
        self.backups.clear()

    def make(self, written: LogLife) -> None:
        kind = CountsAll if self.world.left_out == "gap-by-count" else HomeCustody
        self.home = kind(self.number, written.log, 1 << 20, self.disk.records)

    def hear(self, frame: Frame | Statement) -> None:
        self.home.is_full = self.world.now < self.full_until
        match frame:
            case Statement(entry, log):
                if self.is_newest(frame):
                    self.home.state(entry, log)
            case Holds():
                self.carry_out(self.home.held(frame))
            case Directed() | ChainGap():
                left_out = self.world.left_out
                if left_out == "no-prev":
                    frame = replace(frame, previous=0)
                if left_out == "same-home-log":
                    frame = replace(frame, home_log=self.home.log)
                if left_out == "no-dedup":
                    self.home._ids.clear()
                self.carry_out(self.home.take(frame, lambda _: True, self.world.now_us))
            case _:
                raise AssertionError(frame)

    def committed(self, record: Record) -> None:
        self.home.committed(record)

    def after_commit(self) -> None:
        self.carry_out(self.home.acknowledgements())
        if len(self.home.covered()) == len(self.world.entries) or self.world.left_out == "keep-early":
            self.is_made = True

    def beat(self) -> None:
        if self.world.now > self.made_at:
            self.say(self.world.entries)
        self.after_commit()


class Publisher:
    """One connection at a time; what is not answered is sent again, in order, after each end of the router."""

    def __init__(self, world: World, number: int) -> None:
        self.world, self.number = world, number
        self.at = world.chance.choice(world.entries)
        self.level = world.chance.choice((Level.STORED, Level.HELD))
        self.patience = world.chance.choice((2, 25))
        self.stays = self.counter = 0
        self.waiting: dict[Message, tuple[EntryNode, int, float] | None] = {}

    def go(self, left: int) -> None:
        if left and len(self.waiting) < 5:
            self.counter += 1
            left -= 1
            self.waiting[self.number, self.counter] = None
        for message in sorted(self.waiting):
            sent = self.waiting[message]
            is_due = sent is None or sent[:2] != (self.at, self.at.boot) or self.world.now - sent[2] > self.patience
            if self.at.is_up and is_due:
                self.waiting[message] = self.at, self.at.boot, self.world.now
                self.at.publish(message, LevelWaiter((self, message), self.level))
        if left or self.waiting:
            self.world.after(self.world.chance.uniform(0.1, 3), self.go, left)


@dataclass(frozen=True, slots=True)
class Taken:
    at: float
    entry: EntryNode
    due: frozenset[HomeNode]


class World:
    entry_kind: type[EntryNode] = EntryNode
    home_kind: type[HomeNode] = HomeNode

    def __init__(self, seed: int, left_out: str = "") -> None:
        self.chance, self.left_out = random.Random(seed), left_out
        self.now, self.is_calm = 0.0, False
        self._queue: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self.events = 0
        self.cut: set[frozenset[int]] = set()
        self.takes: dict[Message, list[Taken]] = defaultdict(list)
        self.numbers: dict[tuple[int, int], Message] = {}
        """The messages by their entry and number, those included that a crash took."""
        self.confirmations: dict[Message, tuple[Level, EntryNode, float]] = {}
        self.lost_with: dict[HomeNode, set[Message]] = defaultdict(set)
        self.given_up: dict[HomeNode, bool] = defaultdict(bool)
        """Whether a disk was lost that had numbers which were given up."""
        self.wrong: list[str] = []
        self.loss = self.chance.choice((0, 0.02, 0.2))
        self.room = self.chance.choice((6, 20, 1_000))
        made = [self.chance.uniform(0, 60) for _ in range(self.chance.randint(1, 3))]
        self.homes: list[HomeNode] = []
        self.entries: list[EntryNode] = []
        self.homes = [self.home_kind(self, 11 + number, at) for number, at in enumerate(made)]
        self.entries = [self.entry_kind(self, 1 + number) for number in range(self.chance.randint(1, 3))]
        self.nodes: dict[int, Node] = {node.number: node for node in (*self.homes, *self.entries)}
        self.publishers = [Publisher(self, number) for number in range(self.chance.randint(1, 3))]

    @property
    def now_us(self) -> int:
        return int(self.now * UNIT_US)

    def after(self, units: float, call: Callable[..., None], *arguments: Any) -> None:
        self.events += 1
        heapq.heappush(self._queue, (self.now + units, self.events, call, arguments))

    def send(self, sender: Node, to: Node, frame: Frame | Statement) -> None:
        pair = frozenset((sender.number, to.number))

        def arrive() -> None:
            if to.is_up and pair not in self.cut:
                to.hear(frame)  # type: ignore[attr-defined]

        if pair in self.cut:
            return
        for _ in range(1 if self.is_calm or self.chance.random() > 0.05 else 2):
            if self.is_calm or self.chance.random() >= self.loss:
                is_late = not self.is_calm and self.chance.random() >= 0.9
                self.after(self.chance.uniform(0.1, 30 if is_late else 2), arrive)

    # --- what happens -------------------------------------------------------------------------------------------------

    def note_written(self, node: Node, record: Record) -> None:
        """Append a record; where a rule is left out, not at all, or as if it were on disk at once."""
        match self.left_out, record:
            case "no-doubt", Doubt():
                return
            case "no-own-doubt", Doubt() if isinstance(node, HomeNode) and node.backups:
                return
            case "no-gap", GivenUp():
                return
            case "chain-volatile", Passed():
                node.committed(record)
                return
        if isinstance(record, Entered):
            self.numbers[node.number, record.n] = record.message
        node.write(record)
        match self.left_out, record:
            case ("confirm-early", Entered()) | ("held-lazy", Stated()):
                node.committed(record)
            case "ack-early", Arrived() | Passed() | NumbersLost():
                node.committed(record)
                node.after_commit()

    def taken(self, entry: EntryNode, message: Message) -> None:
        due = frozenset(home for home in self.homes if home.is_made)
        self.takes[message].append(Taken(self.now, entry, due))

    def confirmed(self, node: Node, waiter: object, level: Level) -> None:
        publisher, message = waiter  # type: ignore[misc]
        assert isinstance(node, EntryNode)
        self.confirmations.setdefault(message, (level, node, self.now))
        if level is Level.HELD:
            for home in self.due(message, node):
                if message not in arrived(home.disk.safe) and message not in self.lost_with[home]:
                    self.wrong.append(f"{message} is held, and not at {home.number}")
        self.send_answer(publisher, message)

    def refused(self, waiter: object) -> None:
        publisher, message = waiter  # type: ignore[misc]
        if publisher.level is Level.HELD and message in self.takes:
            self.send_answer(publisher, message)

    def send_answer(self, publisher: Publisher, message: Message) -> None:
        if self.is_calm or self.chance.random() >= self.loss:
            self.after(self.chance.uniform(0.1, 2), lambda: publisher.waiting.pop(message, None))

    def due(self, message: Message, entry: EntryNode) -> set[HomeNode]:
        return {home for taken in self.takes[message] if taken.entry is entry for home in taken.due}

    # --- faults -------------------------------------------------------------------------------------------------------

    def fault(self) -> None:
        roll = self.chance.random()
        node: Node = self.chance.choice([*self.entries, *self.homes])
        if roll < 0.08:
            node.slow_until = self.now + self.chance.uniform(10, 80)
        elif roll < 0.5:
            self._stop(node, 60)
        elif roll < 0.72:
            pair = frozenset((self.chance.choice(self.entries).number, self.chance.choice(self.homes).number))
            self.cut.add(pair)
            self.after(self.chance.uniform(5, 200), self.cut.discard, pair)
        elif roll < 0.8:
            self.chance.choice(self.homes).full_until = self.now + self.chance.uniform(5, 100)
        elif roll < 0.88:
            publisher = self.chance.choice(self.publishers)
            publisher.at = self.chance.choice(self.entries)
            publisher.stays += 1
        elif roll < 0.92:
            self._lose(node)
        elif isinstance(node, EntryNode) and node.is_up:
            self._back(node)

    def _stop(self, node: Node, most: float) -> None:
        if node.is_up:
            node.stop()
            self.after(self.chance.uniform(1, most), node.start)

    def _lose(self, node: Node) -> None:
        if not node.is_up:
            return
        if isinstance(node, HomeNode):
            self.lost_with[node] |= set(arrived(node.disk.records))
            self.given_up[node] |= any(isinstance(record, NumbersLost) for record in node.disk.records)
        node.lose_disk()
        self.after(self.chance.uniform(1, 30), node.start)

    def _back(self, node: EntryNode) -> None:
        """Make a backup, or go back to it."""
        if node.backup is None:
            node.backup = Disk(list(node.disk.safe), node.disk.synced, node.disk.life)
            return
        node.stop()
        node.disk, node.backup = node.backup, None
        node.ends_of_disk.append(self.now)
        node.was_restored = True
        self.after(self.chance.uniform(1, 30), node.start)

    def heal(self) -> None:
        self.is_calm = True
        self.cut.clear()
        for node in self.nodes.values():
            node.slow_until = 0.0
            if isinstance(node, HomeNode):
                node.full_until = 0.0
            node.start()

    def beat(self) -> None:
        for node in (*self.entries, *self.homes):
            if node.is_up:
                node.beat()
        self.after(BEAT, self.beat)

    def run(self, messages: int = 50) -> None:
        for publisher in self.publishers:
            self.after(self.chance.random(), publisher.go, messages)
        for _ in range(self.chance.choice((6, 14, 40))):
            self.after(self.chance.uniform(0, messages * 3), self.fault)
        self.after(messages * 3 + 200, self.heal)
        self.beat()
        while self._queue and self.now < messages * 3 + 1_500 and self.events < 60_000:
            self.now, _, call, arguments = heapq.heappop(self._queue)
            call(*arguments)


class WorldOfBackups(World):
    """Homes are put back to backups, too, with the log that they had. Each entry has a message at the end: by its chain
    a home learns what the backup lacks."""

    def fault(self) -> None:
        home = self.chance.choice(self.homes)
        if home.is_up and self.chance.random() < 0.2:
            self._back_home(home)
        else:
            super().fault()

    def _back_home(self, home: HomeNode) -> None:
        if home.backup is None:
            home.backup = Disk(list(home.disk.safe), home.disk.synced, home.disk.life)
            return
        lacking = home.disk.safe[home.backup.synced :]
        self.lost_with[home] |= set(arrived(lacking))
        self.given_up[home] |= any(isinstance(record, NumbersLost) for record in lacking)
        home.backups.append((home.backup.synced, lacking))
        home.stop()
        home.disk, home.backup = home.backup, None
        home.ends_of_disk.append(self.now)
        self.after(self.chance.uniform(1, 30), home.start)

    def heal(self) -> None:
        super().heal()
        for entry in self.entries:
            last = Publisher(self, len(self.publishers))
            last.at, last.level = entry, Level.STORED
            self.publishers.append(last)
            self.after(100, last.go, 1)


def arrived(records: list[Record]) -> list[Message]:
    return [record.message for record in records if isinstance(record, Arrived)]
