"""A switch that is a home: messages of chains arrive on a link, and are stored by what a real log has of the chain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from tamis.client.durable.policy import durable_of
from tamis.native import EventType, SwitchEvent
from tamis.native.custody import ChainNews, ChainReport, SwitchCustody, chain_reports
from tamis.native.durable_figures import ArrivalFigures
from tamis.native.durables import SwitchDurables
from tamis.native.log import Log, LogChain, LogRecord
from tamis.protocol.messages import MessageId
from tamis.protocol.wire.custody_bodies import LogLife
from tamis.protocol.wire.data_frames import DataFrame, encode_data, encode_publish
from tamis.protocol.wire.directed_frames import undirected
from tamis.protocol.wire.durable_bodies import DurablePolicy, Overflow
from tamis.protocol.wire.extensions import Custody, Extensions, ExtensionType
from tamis.protocol.wire.header import Flags
from tamis.protocol.wire.kinds import FrameKind
from tests.native.test_directed import DirectingRouter
from tests.native.test_others import ALICE, FAR, ME, WEST, message

RING = 1 << 16
WRITTEN = LogLife(9, 3, 2)
"""The log of west, whose chain it is, and the life of it."""
DURABLE, OTHER = 1, 2
JOBS, EVERYTHING = durable_of("jobs", "x = 1").policy, durable_of("all", "true").policy
BEGUN = LogChain(WEST, WRITTEN.log, WRITTEN.life, 0, 0, 0, is_home=False)
STORED = Flags.CONFIRM | Flags.DURABLE


class HomeRouter(DirectingRouter):
    """A home between west, an entry, and east; its log commits on command."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self.policy: dict[int, DurablePolicy] = {DURABLE: JOBS}
        self.reports: list[ChainReport] = []
        self.counters = count(1)
        self._open()
        self.durables.open(DURABLE, JOBS)

    def _open(self) -> None:
        self.log = Log(self._folder, bytes_max=1 << 24, segment_bytes=1 << 18, ring_bytes=RING, has_no_threads=True)
        self.durables = SwitchDurables(self.switch, self.log, ring_bytes=RING, has_no_thread=True)
        self.custody = SwitchCustody(self.durables)

    def restart(self) -> None:
        """End it with what was committed, and begin it again."""
        self.durables.close()
        self.log.close()
        super().close()
        super().__init__()
        self._open()
        for number, policy in self.policy.items():
            self.durables.open(number, policy, recovered_from=1)

    def place(self, n: int, previous: int | None = None, **changes: object) -> Custody:
        before = n - 1 if previous is None else previous
        return Custody(ME, int(self.log.state()["log_id"]), WRITTEN, n, before)._replace(**changes)

    def directed(self, place: Custody, body: DataFrame | None = None, others: Extensions | None = None) -> DataFrame:
        """A message of west, with an id of its own, or that of `body`."""
        found = body or message(counter=next(self.counters))
        return replace(found, kind=FrameKind.DIRECTED, extensions={ExtensionType.CUSTODY: place, **(others or {})})

    def take(self, frame: DataFrame) -> list[ChainReport]:
        """Return what is reported of a frame from west."""
        return self.look(self.switch.feed(self.west, encode_data(frame)))

    def look(self, events: list[SwitchEvent]) -> list[ChainReport]:
        self.durables.validate()
        assert not [event for event in events if event.type == EventType.FAULT]
        found = [event.frame for event in events if event.type == EventType.CHAINS]
        assert len(found) <= 1
        return [report for frame in found for report in chain_reports(frame)]

    def commit(self) -> list[ChainReport]:
        while self.log.commit():
            pass
        return self.look(self.switch.poll(1_000))

    @property
    def stored(self) -> list[LogRecord]:
        return list(self.log.read(DURABLE))

    @property
    def figures(self) -> ArrivalFigures:
        return self.durables.arrivals()

    @property
    def chain(self) -> LogChain:
        found = self.custody.chain_of(WEST)
        assert found is not None
        return found

    def close(self) -> None:
        self.durables.close()
        self.log.close()
        super().close()


@pytest.fixture(name="home")
def _home(tmp_path: Path) -> Iterator[HomeRouter]:
    home = HomeRouter(tmp_path / "log")
    yield home
    home.close()


@pytest.fixture(name="begun")
def _begun(home: HomeRouter) -> HomeRouter:
    home.custody.set_chain(BEGUN)
    home.commit()
    return home


def only(reports: list[ChainReport]) -> ChainReport:
    [report] = reports
    return report


# --- what follows -----------------------------------------------------------------------------------------------------


def test_what_follows_is_stored_with_its_place_and_acknowledged_once_when_it_is_on_disk(begun):
    frames = [begun.directed(begun.place(n, previous)) for n, previous in ((5, 0), (6, 5), (9, 6))]
    for frame in frames:
        assert begun.take(frame) == []
    assert begun.chain.have == 9
    report = only(begun.commit())
    assert (report.entry, report.log, report.why) == (WEST, WRITTEN.log, ChainNews.MOVED)
    assert (report.have, report.on_disk, report.early) == (9, 9, 0)
    assert [record.source for record in begun.stored] == [(WEST, 5), (WEST, 6), (WEST, 9)]
    assert [record.body for record in begun.stored] == [undirected(encode_data(frame))[2] for frame in frames]
    assert begun.commit() == []
    assert begun.figures == ArrivalFigures(1, 3, 0, 0, 0, 0, 0, 0, 0)


def test_many_in_one_read_are_one_report(begun):
    data = b"".join(encode_data(begun.directed(begun.place(n))) for n in range(1, 51))
    assert begun.look(begun.switch.feed(begun.west, data)) == []
    assert only(begun.commit()).on_disk == 50
    assert len(begun.stored) == 50


def test_consumers_get_it_and_live_subscribers_do_not(begun):
    begun.subscribe(1, "true")
    begun.take(begun.directed(begun.place(1)))
    begun.commit()
    assert [frame for frame in begun.sent(begun.alice) if isinstance(frame, DataFrame)] == []
    assert begun.durables.figures(DURABLE).open == 1


def test_what_is_repeated_is_stored_once_and_said_again(begun):
    frame = begun.directed(begun.place(1))
    begun.take(frame)
    again = only(begun.take(frame))
    assert (again.why, again.have, again.on_disk) == (ChainNews.REPEATED, 1, 0), "it is not on disk yet"
    begun.commit()
    again = only(begun.take(frame))
    assert (again.why, again.on_disk) == (ChainNews.REPEATED, 1)
    assert len(begun.stored) == 1
    assert begun.figures.repeated == 2


def test_what_comes_early_is_dropped_and_said_until_what_is_missing_has_come(begun):
    begun.take(begun.directed(begun.place(1)))
    third, fourth = begun.directed(begun.place(3)), begun.directed(begun.place(4))
    report = only(begun.take(fourth))
    assert (report.why, report.have, report.early) == (ChainNews.EARLY, 1, 3)
    assert only(begun.take(third)).early == 2
    begun.take(begun.directed(begun.place(2)))
    for frame in (third, fourth):
        assert begun.take(frame) == []
    assert only(begun.commit()).on_disk == 4
    assert [record.source[1] for record in begun.stored] == [1, 2, 3, 4]
    assert begun.figures.early == 2


# --- what is passed over ----------------------------------------------------------------------------------------------


def passed_over(begun: HomeRouter, frame: DataFrame) -> None:
    """Check that `frame`, number 7, moves the chain on disk without a message (C5)."""
    stored = len(begun.stored)
    assert begun.take(frame) == []
    assert only(begun.commit()).on_disk == 7
    assert len(begun.stored) == stored
    begun.restart()
    assert begun.chain.have == 7


def test_what_nothing_wants_is_passed_over_on_disk(begun):
    passed_over(begun, begun.directed(begun.place(7, 0), message(counter=7, x=2)))


def test_what_has_expired_is_passed_over_on_disk(begun):
    passed_over(begun, begun.directed(begun.place(7, 0), others={ExtensionType.EXPIRY: 1}))


def test_what_another_entry_brought_is_passed_over_on_disk(begun):
    begun.custody.set_chain(replace(BEGUN, router=FAR))
    body = message(source=FAR, counter=7)
    begun.take(begun.directed(begun.place(1), body))
    begun.commit()
    passed_over(begun, begun.directed(begun.place(7, 0), message(counter=7)))


def test_an_id_is_known_after_a_restart(begun):
    begun.take(begun.directed(begun.place(1), message(counter=7)))
    begun.commit()
    begun.restart()
    begun.take(begun.directed(begun.place(7, 1), message(counter=7)))
    assert begun.figures.known == 1


def test_what_its_publisher_brought_is_passed_over_and_the_other_way_round(begun):
    frame = encode_publish(ALICE, 1, 0, {"x": 1}, b"", STORED)
    begun.switch.feed(begun.alice, frame)
    moved = message(counter=1)
    moved = replace(moved, message=replace(moved.message, id=MessageId(ALICE, 1)))
    begun.take(begun.directed(begun.place(1), moved))
    assert (begun.figures.known, begun.figures.passed) == (1, 1)
    second = replace(moved, message=replace(moved.message, id=MessageId(ALICE, 2)))
    begun.take(begun.directed(begun.place(2), second))
    begun.switch.feed(begun.alice, encode_publish(ALICE, 2, 0, {"x": 1}, b"", STORED))
    begun.commit()
    assert len(begun.stored) == 2
    assert begun.durables.figures(DURABLE).appended == 2


def test_only_what_has_room_is_stored_and_the_chain_goes_on(begun):
    small = replace(JOBS, bytes=100, overflow=Overflow.REFUSE)
    begun.durables.open(OTHER, small)
    begun.policy[OTHER] = small
    for n in (1, 2, 3):
        begun.take(begun.directed(begun.place(n)))
    assert only(begun.commit()).on_disk == 3
    assert [begun.durables.figures(number).open for number in (DURABLE, OTHER)] == [3, 1]
    begun.switch.tick()
    assert begun.durables.figures(OTHER).dropped == 2


# --- other copies -----------------------------------------------------------------------------------------------------


def test_copies_for_live_subscribers_are_not_stored_beside_the_chain(begun):
    begun.subscribe(1, "true")
    copy = message(counter=1)
    begun.switch.feed(begun.west, encode_data(copy))
    begun.take(begun.directed(begun.place(1), copy))
    begun.switch.feed(begun.west, encode_data(message(counter=2)))
    begun.commit()
    assert len(begun.stored) == 1
    assert [frame.message.id.counter for frame in begun.sent(begun.alice) if isinstance(frame, DataFrame)] == [1, 2]
    assert begun.figures.from_trees == 2


def test_a_copy_that_was_stored_before_the_chain_began_is_known_to_it(home):
    home.switch.feed(home.west, encode_data(message(counter=1)))
    home.custody.set_chain(BEGUN)
    home.take(home.directed(home.place(1), message(counter=1)))
    home.commit()
    assert len(home.stored) == 1
    assert home.figures.known == 1


def test_after_the_end_of_a_chain_copies_are_stored_again(begun):
    begun.take(begun.directed(begun.place(1), message(counter=1)))
    begun.custody.end_chain(WEST)
    begun.switch.feed(begun.west, encode_data(message(counter=2)))
    begun.take(begun.directed(begun.place(2)))
    begun.commit()
    assert len(begun.stored) == 2
    assert begun.custody.chain_of(WEST) is None
    assert begun.log.chains() == []
    assert begun.figures.strange == 1
    with pytest.raises(KeyError):
        begun.custody.end_chain(WEST)


# --- logs and lives ---------------------------------------------------------------------------------------------------


def test_a_router_without_a_chain_is_dropped_and_not_reported(home):
    assert home.take(home.directed(home.place(1))) == []
    assert (home.stored, home.figures.strange, home.dropped("directed")) == ([], 1, 1)


@pytest.mark.parametrize("later", [LogLife(9, 4, 3), LogLife(10, 1, 0)])
def test_a_later_life_is_reported_and_taken_once_it_is_begun(begun, later):
    begun.take(begun.directed(begun.place(1)))
    frame = begun.directed(begun.place(2, written=later))
    report = only(begun.take(frame))
    assert (report.why, report.later) == (ChainNews.LATER, later)
    have = 1 if later.log == WRITTEN.log else 0
    begun.custody.set_chain(replace(begun.chain, log=later.log, life=later.life, have=have))
    follows = begun.directed(begun.place(2, have, written=later))
    assert begun.take(follows) == []
    assert only(begun.commit()).on_disk == 2
    assert len(begun.stored) == 2


def test_an_earlier_log_is_dropped_and_an_earlier_life_of_the_log_is_not(begun):
    assert begun.take(begun.directed(begun.place(1, written=LogLife(8, 9, 0)))) == []
    assert begun.take(begun.directed(begun.place(1, written=LogLife(9, 2, 1)))) == []
    assert (begun.figures.strange, begun.figures.arrived) == (1, 1)


def test_what_is_for_an_earlier_log_of_this_router_is_answered_with_what_this_one_has(begun):
    report = only(begun.take(begun.directed(begun.place(1, home_log=5))))
    assert (report.why, report.have, report.on_disk) == (ChainNews.REPEATED, 0, 0)
    assert begun.stored == []


def test_a_chain_is_set_forward_alone_within_a_life(begun):
    begun.take(begun.directed(begun.place(3, 0)))
    with pytest.raises(ValueError, match="less than what it has"):
        begun.custody.set_chain(replace(BEGUN, have=2))
    begun.custody.set_chain(replace(begun.chain, have=8, lost=4))
    assert only(begun.commit()).on_disk == 8
    assert begun.take(begun.directed(begun.place(9))) == []
    begun.commit()
    begun.restart()
    assert (begun.chain.have, begun.chain.lost) == (9, 4)
    assert begun.take(begun.directed(begun.place(10))) == []


# --- bounds -----------------------------------------------------------------------------------------------------------


def test_without_room_in_the_log_nothing_is_taken_until_it_has_room(begun):
    body = message(counter=1)
    large = replace(body, message=replace(body.message, payload=bytes(RING // 3)))
    frames = [
        begun.directed(begun.place(n), replace(large, message=replace(large.message, id=MessageId(99, n))))
        for n in range(1, 5)
    ]
    reports = [begun.take(frame) for frame in frames]
    [full] = {report.why for found in reports for report in found if ChainNews.FULL in report.why}
    assert full is ChainNews.FULL
    taken = begun.chain.have
    assert 0 < taken < 4
    assert begun.durables.figures(DURABLE).dropped == 0, "the entry sends it again"
    begun.commit()
    for frame in frames[taken:]:
        begun.take(frame)
        begun.commit()
    assert [record.source[1] for record in begun.stored] == [1, 2, 3, 4]
    assert begun.figures.not_taken > 0


def test_without_a_log_it_is_dropped(home):
    home.durables.close()
    home.switch.feed(home.west, encode_data(home.directed(home.place(1))))
    assert home.dropped("directed") == 1
