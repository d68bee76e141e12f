"""Routers with custody on real logs, in the networks of tests/router/core/custody/world.py.

Law: what crosses a link is bytes of the wire; a crash leaves what the log has on disk.
"""

from __future__ import annotations

import itertools
import shutil
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pytest

from tamis.native.log import Log
from tamis.protocol.limits import FRAME_BYTES_MAX
from tamis.protocol.messages import Message as PublishedMessage
from tamis.protocol.messages import MessageId
from tamis.protocol.wire.custody_bodies import CustodyAsk, CustodyBody, LogLife
from tamis.protocol.wire.data_frames import DataFrame, decode_data, encode_data
from tamis.protocol.wire.directed_frames import directed, may_be_directed, undirected
from tamis.protocol.wire.extensions import Custody, ExtensionType
from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.header import Transit
from tamis.protocol.wire.kinds import FrameKind
from tamis.router.core.custody.commands import CustodyRefusal, Level
from tamis.router.core.custody.entry import ChainBounds, LevelWaiter, StatedHome
from tamis.router.core.custody.frames import Directed, Holds, Message
from tamis.router.core.custody.records import Entered, Record, Stated
from tamis.router.durable.custody import READ_BYTES, RouterCustody, message_id
from tests.router.core.custody.test_custody import judge
from tests.router.core.custody.world import EntryNode, HomeNode, Node, Statement, World

SMALL = {"bytes_max": 1 << 20, "segment_bytes": 1 << 14, "ring_bytes": 1 << 14, "has_no_threads": True}
DURABLE = 1
LIFE_BITS = 40


def publish(message: Message, source: int = 1, payload: bytes = b"...") -> bytes:
    publisher, counter = message
    body = PublishedMessage({"x": counter}, payload, MessageId(publisher + 1, counter))
    return encode_data(DataFrame(FrameKind.PUBLISH, body, hop_limit=5, transit=Transit(source, 1, counter)))


SIZE = len(publish((0, 1)))


def id_of(frame: bytes) -> Message:
    """Publishers of the world count from 0."""
    publisher, counter = message_id(frame)
    return publisher - 1, counter


LEFT_OUT = {
    "early": "records count as on disk when they are written",
    "no-read": "messages are sent once, and never from the log",
}


class ToldCustody(RouterCustody):
    """Tells the world what it writes, and leaves out what the world says."""

    def __init__(self, node: DrivenNode, *arguments: object, **named: object) -> None:
        self.node = node
        super().__init__(*arguments, **named)  # type: ignore[arg-type]

    def _write(self, record: Record, body: bytes) -> None:
        super()._write(record, body)
        if isinstance(record, Stated):
            return
        self.node.world.note_written(self.node, record)
        if self.node.world.left_out == "early":
            self.home.committed(record)
            self._carry_out(self.entry.committed(record))

    def _send_again(self, home: int, frames: deque[Directed]) -> None:
        if self.node.world.left_out != "no-read":
            super()._send_again(home, frames)


class DrivenNode(Node):
    """A node whose records are in a log. `disk` has the same records, for the judge."""

    world: DrivenWorld
    driver: ToldCustody
    folder: Path | None = None
    last_life = 0

    def make(self, written: LogLife) -> None:
        """Begin the life that the log has next."""
        if self.folder is None:
            self.folder, self.last_life = self.world.new_folder(), 0
        self.logfile = Log(self.folder, **SMALL)
        written = LogLife(self.log, self.logfile.next_number >> LIFE_BITS, self.last_life)
        self.last_life = written.life
        homes = {record.home: record.log for record in self.disk.records if isinstance(record, Stated)}
        bounds = ChainBounds(self.world.room * SIZE)
        self.driver = ToldCustody(self, self.number, self.logfile, written, self, homes, bounds, id_of=id_of)

    def hear_bytes(self, frame: object) -> None:
        if not isinstance(frame, bytes):
            raise AssertionError(frame)
        if frame[4] == FrameKind.DIRECTED:
            self.driver.directed(frame, self.world.now_us)
        else:
            self.driver.hear(decode(frame), self.world.now_us)  # type: ignore[arg-type]

    def _sync(self, boot: int) -> None:
        takes = self.world.chance.uniform(0.2, 5) + max(0.0, self.slow_until - self.world.now)
        self.world.after(takes, self._synced, boot, 0, 0)

    def _synced(self, boot: int, _first: int, _last: int) -> None:
        if boot != self.boot:
            return
        while self.logfile.commit():
            pass
        new = self.disk.records[self.disk.synced :]
        self.disk.synced, self.is_syncing = len(self.disk.records), False
        for record in new:
            if isinstance(record, Stated):
                self.driver.stated(record.home, record.log)
        self.driver.committed()
        self.after_commit()

    def stop(self) -> None:
        """Lose what is not on disk."""
        self.is_up = False
        self.boot += 1
        del self.disk.records[self.disk.synced :]
        assert self.folder is not None
        after = self.world.new_folder()
        shutil.copytree(self.folder, after, dirs_exist_ok=True)
        self.logfile.close()
        self.folder = after

    def lose_disk(self) -> None:
        super().lose_disk()
        self.folder = None

    def send(self, router: int, frame: bytes | CustodyBody) -> None:
        data = frame if isinstance(frame, bytes) else encode(frame)
        self.world.send(self, self.world.nodes[router], data)  # type: ignore[arg-type]

    def answer(self, waiter: object, result: Level | CustodyRefusal) -> None:
        if isinstance(result, Level):
            self.world.confirmed(self, waiter, result)
        else:
            self.world.refused(waiter)

    def read(self, home: int, after: int, size: int) -> None:
        """Read a while later, few records at a time."""
        assert size > 0
        self.world.after(self.world.chance.uniform(0.1, 2), self._read, self.boot, home, after)

    def _read(self, boot: int, home: int, after: int) -> None:
        if boot == self.boot:
            self.driver.was_read(home, list(itertools.islice(self.logfile.read(home, after, is_home=True), 3)))

    def store_statement(self, home: int, log: int) -> None:
        self.world.note_written(self, Stated(home, log))

    def say_holds(self, home: int, written: LogLife) -> None:
        self.world.send(self, self.world.nodes[home], Holds(self.number, written, home))


class DrivenEntry(DrivenNode, EntryNode):
    def make(self, written: LogLife) -> None:
        super().make(written)
        self.entry = self.driver.entry
        self.entry.is_in_step = not self.ends_of_disk or self.knows_all

    def hear(self, frame: object) -> None:  # type: ignore[override]
        if isinstance(frame, Statement):
            if self.is_newest(frame):
                self.driver.state(frame.router, frame.log)
            self.entry.is_in_step |= self.knows_all
        else:
            self.hear_bytes(frame)

    def publish(self, message: Message, waiter: LevelWaiter) -> None:
        if self.entry.is_in_step and message not in self.entry._numbers:
            self.world.taken(self, message)
        self.driver.publish(publish(message, self.number), waiter, self.world.now_us)

    def homes_for(self, _frame: bytes) -> Collection[int]:
        return tuple(self.entry.homes)

    def durables_for(self, _frame: bytes) -> Sequence[int]:
        return ()

    def beat(self) -> None:
        self.say(self.world.homes)
        self.driver.tick(self.world.now_us)
        self.logfile.maintain()


class DrivenHome(DrivenNode, HomeNode):
    def make(self, written: LogLife) -> None:
        super().make(written)
        self.home = self.driver.home

    def hear(self, frame: object) -> None:  # type: ignore[override]
        self.home.is_full = self.world.now < self.full_until
        if isinstance(frame, Statement):
            if self.is_newest(frame):
                self.driver.know(frame.router, frame.log)
        elif isinstance(frame, Holds):
            self.driver.held(frame.entry, frame.written)
        else:
            self.hear_bytes(frame)

    def homes_for(self, _frame: bytes) -> Collection[int]:
        return ()

    def durables_for(self, _frame: bytes) -> Sequence[int]:
        return (DURABLE,)

    def after_commit(self) -> None:
        if len(self.home.covered()) == len(self.world.entries):
            self.is_made = True

    def beat(self) -> None:
        if self.world.now > self.made_at:
            self.say(self.world.entries)
        self.driver.tick(self.world.now_us)
        self.logfile.maintain()
        self.after_commit()


class DrivenWorld(World):
    """Without backups: the number of a life is of the clock of the machine."""

    entry_kind, home_kind = DrivenEntry, DrivenHome

    def __init__(self, seed: int, folder: Path, left_out: str = "") -> None:
        self._folders: Iterator[Path] = (folder / f"{seed}-{count}" for count in range(1 << 20))
        super().__init__(seed, left_out)

    def new_folder(self) -> Path:
        return next(self._folders)

    def _back(self, node: EntryNode) -> None:
        self._stop(node, 30)


def lived(seed: int, folder: Path, left_out: str = "") -> tuple[list[str], int, int]:
    world = DrivenWorld(seed, folder, left_out)
    world.run(20)
    nodes = [*world.entries, *world.homes]
    for node in nodes:
        if node.is_up:
            node.logfile.close()  # type: ignore[attr-defined]
    stored = sum(isinstance(record, Entered) for node in nodes for record in node.disk.safe)
    return judge(world), len(world.confirmations), stored


@pytest.mark.parametrize("first", [0, pytest.param(500, marks=pytest.mark.slow)])
def test_no_confirmed_message_is_lost_or_stored_twice(tmp_path: Path, first: int) -> None:
    confirmed = entered = 0
    for seed in range(first, first + (6 if first == 0 else 100)):
        wrong, confirmations, stored = lived(seed, tmp_path)
        assert wrong == [], seed
        confirmed += confirmations
        entered += stored
    assert min(confirmed, entered) > 50


@pytest.mark.parametrize("left_out", LEFT_OUT)
def test_what_is_left_out_is_noticed(tmp_path: Path, left_out: str) -> None:
    assert any(lived(seed, tmp_path, left_out)[0] for seed in range(20)), LEFT_OUT[left_out]


def test_a_home_gets_what_the_entry_stored() -> None:
    place = Custody(11, 7, LogLife(9, 3, 2), 5, 4)
    stored = publish((3, 9), source=77)
    frame = directed(stored, place, 200)
    found = decode_data(frame)
    assert (found.kind, found.hop_limit, found.transit.source) == (FrameKind.DIRECTED, 200, 77)
    assert found.extensions == {ExtensionType.CUSTODY: place}
    assert undirected(frame) == (place, 77, stored[:6] + bytes([200]) + stored[7:])


def test_a_message_without_room_for_its_place_is_refused(tmp_path: Path) -> None:
    world = DrivenWorld(1, tmp_path)
    entry = world.entries[0]
    entry.entry.homes[11], entry.entry.is_in_step = StatedHome(7, True), True
    answers: list[object] = []
    entry.answer = lambda _, result: answers.append(result)  # type: ignore[attr-defined]
    payload = bytes(FRAME_BYTES_MAX - SIZE)
    for shorter, fits in ((0, False), (60, True)):
        frame = publish((0, 1), payload=payload[shorter:])
        assert may_be_directed(frame) is fits
    entry.driver.publish(publish((0, 1), payload=payload), LevelWaiter(None, Level.STORED), 0)  # type: ignore[attr-defined]
    assert answers == [CustodyRefusal.TOO_LARGE]
    for node in world.nodes.values():
        node.logfile.close()  # type: ignore[attr-defined]


class Asked(RouterCustody):
    """The custody of an entry, and what it has its owner do."""

    def __init__(self, log: Log) -> None:
        self.log, self.reads, self.sent = log, list[tuple[int, int, int]](), list[int]()
        super().__init__(1, log, LogLife(5, log.next_number >> LIFE_BITS, 0), self, {11: 7}, id_of=id_of)
        self.entry.is_in_step = True

    def homes_for(self, _frame: bytes) -> Collection[int]:
        return (11,)

    def durables_for(self, _frame: bytes) -> Sequence[int]:
        return ()

    def send(self, _router: int, frame: bytes | CustodyBody) -> None:
        assert isinstance(frame, bytes)
        self.sent.append(undirected(frame)[0].n)

    def read(self, home: int, after: int, size: int) -> None:
        self.reads.append((home, after, size))

    def answer(self, waiter: object, result: object) -> None:
        raise AssertionError(waiter, result)

    store_statement = say_holds = answer

    def ask(self, have: int, now_us: int) -> None:
        self.hear(CustodyAsk(11, 7, 1, 5, have), now_us)

    def give(self, count: int) -> None:
        """Give it the first records of the read that it waits for."""
        [(home, after, _)], self.reads = self.reads, []
        self.was_read(home, list(itertools.islice(self.log.read(home, after, is_home=True), count)))


def test_what_is_sent_again_is_read_part_by_part_by_the_owner(tmp_path: Path) -> None:
    with Log(tmp_path, **SMALL) as log:
        first = log.next_number
        made = Asked(log)
        for counter in range(1, 7):
            made.publish(publish((0, counter)), LevelWaiter(None, Level.HELD), 0)
        while log.commit():
            pass
        numbers = list(range(first, first + 6))
        assert (made.sent, made.reads) == (numbers, [])
        made.ask(0, 10**6)
        assert made.reads == [(11, first - 1, READ_BYTES)]
        made.give(2)
        made.ask(0, 2 * 10**6)
        assert made.reads == [(11, first + 1, READ_BYTES)], "one read at a time"
        made.give(1)
        assert made.reads == [(11, first - 1, READ_BYTES)], "it goes back, without what was read"
        made.give(4)
        made.give(9)
        assert made.sent[6:] == [*numbers[:2], *numbers]
        assert made.reads == []
        made.ask(0, 3 * 10**6)
        made.give(0)
        assert made.reads == [], "it is not on disk: due again later"
