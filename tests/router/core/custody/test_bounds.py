"""C15: what waits for a home is within bounds of age and of bytes."""

from __future__ import annotations

from tamis.protocol.wire.custody_bodies import CustodyAck, LogLife
from tamis.router.core.custody.commands import Command, Confirm, CustodyRefusal, Level, Refuse, Write
from tamis.router.core.custody.entry import ChainBounds, EntryCustody, LevelWaiter
from tamis.router.core.custody.records import Entered, GivenUp, Record, Stated

ME, HOME, OTHER, LOG = 1, 11, 12, 77
LIFE = LogLife(5, 1, 0)
SIZE, ROOM, AGE_US = 100, 300, 64_000_000
LATE_US = AGE_US + AGE_US // 64
REFUSED = CustodyRefusal.NO_ROOM


class BoundedEntry(EntryCustody):
    """An entry with two homes, and the records that it has written."""

    def __init__(self, bounds: ChainBounds, records: tuple[Record, ...] = (), life: int = LIFE.life) -> None:
        super().__init__(ME, LIFE._replace(life=life, before=life - 1), bounds, records)
        self.is_in_step = True
        for home in (HOME, OTHER):
            self.state(home, LOG)
            self.committed(Stated(home, LOG))
        self.records: list[Record] = list(records)

    def publish(self, counter: int, now_us: int = 0, level: Level = Level.STORED) -> list[Command]:
        """Return what it says of a message once its records are on disk."""
        commands = self.enter((0, counter), SIZE, (HOME, OTHER), LevelWaiter(counter, level), now_us)
        written = [command.record for command in commands if isinstance(command, Write)]
        self.records += written
        said = [*commands, *(command for record in written for command in self.committed(record))]
        return [command for command in said if isinstance(command, Confirm | Refuse)]

    def has(self, home: int) -> None:
        """Take the acknowledgement of all of a chain."""
        self.acknowledged(CustodyAck(home, LOG, ME, LIFE.log, self.chains[home].last, 1_000), 0)


def homes_of(entry: BoundedEntry, counter: int) -> list[tuple[int, ...]]:
    return [each.homes for each in entry.records if isinstance(each, Entered) and each.message == (0, counter)]


def full() -> BoundedEntry:
    """Return an entry that refuses; a home has no room."""
    entry = BoundedEntry(ChainBounds(ROOM, 1_000, refuses=True))
    for counter in (1, 2, 3):
        assert entry.publish(counter) == [Confirm(counter, Level.STORED)]
        entry.has(OTHER)
    return entry


def test_what_has_waited_for_too_long_is_given_up_and_its_publisher_refused() -> None:
    entry = BoundedEntry(ChainBounds(age_us=AGE_US))
    entry.publish(1, level=Level.HELD)
    entry.publish(2, now_us=AGE_US)
    assert LATE_US in entry.dues_us()
    assert not [command for command in entry.tick(LATE_US - 1) if isinstance(command, Write)]
    commands = entry.tick(LATE_US)
    first = entry.records[0]
    assert isinstance(first, Entered)
    assert [each.record for each in commands if isinstance(each, Write)] == [
        GivenUp(HOME, (first.n,)),
        GivenUp(OTHER, (first.n,)),
    ]
    assert Refuse(1, CustodyRefusal.CUSTODY_FULL) in commands


def test_a_start_knows_since_when_messages_wait() -> None:
    entry = BoundedEntry(ChainBounds(age_us=AGE_US))
    entry.publish(1, now_us=5)
    again = BoundedEntry(ChainBounds(age_us=AGE_US), tuple(entry.records), life=2)
    assert not [command for command in again.tick(LATE_US) if isinstance(command, Write)]
    assert [command for command in again.tick(LATE_US + 5) if isinstance(command, Write)]


def test_without_room_it_is_stored_for_others_and_refused_and_nothing_is_given_up() -> None:
    entry = full()
    assert entry.publish(4) == [Refuse(4, REFUSED)]
    assert homes_of(entry, 4) == [(OTHER,)]
    assert not [each for each in entry.records if isinstance(each, GivenUp)]
    assert entry.publish(4) == [Refuse(4, REFUSED)]
    entry.has(HOME)
    assert entry.publish(4) == [Confirm(4, Level.STORED)]
    assert homes_of(entry, 4) == [(OTHER,), (HOME,)]
    assert entry.publish(4) == [Confirm(4, Level.STORED)]
    assert homes_of(entry, 4) == [(OTHER,), (HOME,)]


def test_a_home_that_has_it_needs_no_room_for_it() -> None:
    entry = full()
    entry.publish(4)
    for counter in range(2):
        entry.enter((1, counter), SIZE, (OTHER,), LevelWaiter(0, Level.STORED), 0)
    assert not entry.chains[OTHER].has_room(SIZE)
    entry.has(HOME)
    assert entry.publish(4) == [Confirm(4, Level.STORED)]


def test_a_publisher_that_waits_for_homes_has_all_of_them_get_it_again() -> None:
    entry = full()
    entry.publish(4, level=Level.HELD)
    entry.has(HOME)
    assert entry.publish(4, level=Level.HELD) == []
    assert homes_of(entry, 4) == [(OTHER,), (HOME, OTHER)]


def test_after_a_start_all_homes_get_it_again_once() -> None:
    entry = full()
    entry.publish(4)
    again = BoundedEntry(ChainBounds(ROOM, 1_000, refuses=True), tuple(entry.records), life=2)
    for home in (HOME, OTHER):
        again.has(home)
    for _ in range(2):
        assert again.publish(4) == [Confirm(4, Level.STORED)]
    assert homes_of(again, 4) == [(OTHER,), (HOME, OTHER)]
    last = BoundedEntry(ChainBounds(ROOM, 1_000, refuses=True), tuple(again.records), life=3)
    assert last.publish(4) == [Confirm(4, Level.STORED)]
    assert homes_of(last, 4) == [(OTHER,), (HOME, OTHER)]
