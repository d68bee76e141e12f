"""Publishers of what is kept wait while the disk is behind: here it commits when the test says so."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tamis.client.terms import keep_of
from tamis.native import Admission, EventType, Switch, SwitchOptions, Table
from tamis.native.keeps import SwitchKeeps
from tamis.native.log import Log
from tamis.protocol.wire.client_bodies import Ack, AckOf, Credit
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.frames import decode
from tamis.protocol.wire.header import Flags
from tamis.protocol.wire.reader import FrameReader

RING = 1 << 16
FRAMES = 400
KEPT = Flags.CONFIRM | Flags.DURABLE
TERMS = keep_of("jobs", 'kind = "job"').terms


class Publisher:
    """A client that publishes as its credit allows, and what it was told."""

    def __init__(self, router: SlowRouter, number: int, credit: int) -> None:
        opened = router.switch.open()
        assert opened is not None
        self.router, self.number, self.connection, self.credit = router, number, opened, credit
        self.counters = count(1)
        self.confirmed: list[int] = []
        self.refused: dict[int, RefusalCode] = {}
        self._reader = FrameReader()
        router.switch.admit(opened, Admission(number, 1 << 24, 1 << 24, credit, 1 << 20, 1_000, version=2))
        self._reader.authenticated()

    def publish(self, kind: str = "job", flags: Flags = KEPT, size: int = 900) -> int:
        counter = next(self.counters)
        assert counter <= self.credit
        frame = encode_publish(self.number, counter, 0, {"kind": kind}, b"x" * size, flags)
        self.router.look(self.router.switch.feed(self.connection, frame))
        return counter

    def look(self) -> None:
        while data := self.router.switch.output(self.connection, 1 << 20):
            self._reader.feed(data)
        for frame in self._reader:
            body = decode(frame)
            if isinstance(body, Ack) and body.of is AckOf.PUBLISH:
                self.confirmed += [n for first, last in body.ranges for n in range(first, last + 1)]
                self.refused |= {each.number: RefusalCode(each.code) for each in body.refusals}
            elif isinstance(body, Credit):
                self.credit = body.frames_total


class SlowRouter:
    """A switch over a log that commits when it is told to."""

    def __init__(self, folder: Path, bytes_max: int = 1 << 24) -> None:
        self.log = Log(folder, bytes_max=bytes_max, segment_bytes=1 << 18, ring_bytes=RING, has_no_threads=True)
        self.table = Table()
        options = SwitchOptions(
            number=99, epoch=1, connections_max=20, subscribers_max=40, publishers_max=20, hop_limit=9
        )
        self.switch = Switch(self.table, options)
        self.keeps = SwitchKeeps(self.switch, self.log, ring_bytes=RING, has_no_thread=True)
        self.keeps.open(1, TERMS)
        self.waiting: set[int] = set()
        self.publishers: list[Publisher] = []

    def publisher(self, number: int, credit: int = 1_000) -> Publisher:
        made = Publisher(self, number, credit)
        self.publishers.append(made)
        return made

    def look(self, events) -> None:
        for event in events:
            assert event.type != EventType.FAULT
            if event.type == EventType.WAITS:
                self.waiting.add(event.connection)
            elif event.type == EventType.GOES_ON:
                self.waiting.discard(event.connection)
        for each in self.publishers:
            each.look()
        self.keeps.validate()

    def turn(self) -> None:
        self.look(self.switch.poll(1_000))
        self.look(self.switch.tick())

    @property
    def held(self) -> int:
        return self.keeps.all_figures().held

    def close(self) -> None:
        self.keeps.close()
        self.switch.close()
        self.table.close()
        self.log.close()


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[SlowRouter]:
    made = SlowRouter(tmp_path / "log")
    yield made
    made.close()


def test_who_publishes_what_is_kept_is_slowed_and_never_refused(slow):
    fast, plain, other = slow.publisher(1), slow.publisher(2), slow.publisher(3)
    asked = [fast.publish() for _ in range(FRAMES)]
    assert slow.waiting == {fast.connection}
    waits = slow.keeps.all_figures().waits
    assert RING // 4 < waits * 1_000 < RING
    assert fast.confirmed == []
    # Another one that asks for no disk has its first message kept, from which on it waits, too.
    of_plain = [plain.publish(flags=Flags.CONFIRM) for _ in range(20)]
    assert plain.confirmed == of_plain[:1]
    # Who has nothing kept is not concerned.
    of_other = [other.publish("other", Flags.CONFIRM) for _ in range(20)]
    assert other.confirmed == of_other
    assert slow.waiting == {fast.connection, plain.connection}
    assert slow.held == 2
    for _ in range(FRAMES):
        slow.log.commit()
        slow.turn()
    assert (fast.confirmed, fast.refused) == (asked, {})
    assert (plain.confirmed, plain.refused) == (of_plain, {})
    assert (slow.waiting, slow.held, slow.keeps.figures(1).open) == (set(), 0, FRAMES + 20)


def test_credit_is_withheld_while_the_disk_is_behind_and_given_again(slow):
    fast, other = slow.publisher(1, credit=100), slow.publisher(2, credit=100)
    sent = 0
    while sent < fast.credit:
        sent = fast.publish()
    assert slow.held == 1
    assert sent * 900 > RING
    before = fast.credit
    for _ in range(100):
        other.publish("other", Flags.CONFIRM)
    assert other.credit > 100
    assert fast.credit == before
    for _ in range(sent):
        slow.log.commit()
        slow.turn()
    assert fast.credit > before
    assert (fast.confirmed, fast.refused) == (list(range(1, sent + 1)), {})


def test_a_full_log_is_said_to_those_who_wait(tmp_path):
    full = SlowRouter(tmp_path / "log", bytes_max=1 << 21)
    publishers = [full.publisher(number, credit=10_000) for number in (1, 2, 3)]
    asked = {each.number: [each.publish() for _ in range(1_000)] for each in publishers}
    assert full.held == 3
    for _ in range(500):
        full.log.commit()
        full.turn()
    assert full.held == 0
    for each in publishers:
        assert sorted(each.confirmed + list(each.refused)) == asked[each.number]
        assert set(each.refused.values()) == {RefusalCode.LOG_FULL}
    assert sum(len(each.confirmed) for each in publishers) == full.keeps.figures(1).open
    full.close()


@pytest.mark.parametrize("is_now", [True, False])
def test_a_connection_that_ends_waits_no_more(slow, is_now):
    fast = slow.publisher(1)
    for _ in range(FRAMES):
        fast.publish()
    assert slow.held == 1
    slow.publishers.clear()
    slow.look(slow.switch.end(fast.connection, now=is_now) or [])
    slow.turn()
    assert slow.held == (0 if is_now else slow.held)
    for _ in range(FRAMES):
        slow.log.commit()
        slow.turn()
    assert slow.held == 0


def test_a_drain_lets_go_of_those_who_wait(slow):
    fast = slow.publisher(1)
    asked = [fast.publish() for _ in range(FRAMES)]
    slow.switch.drain(True)
    for _ in range(FRAMES):
        slow.log.commit()
        slow.turn()
    assert sorted(fast.confirmed + list(fast.refused)) == asked
    assert slow.held == 0
