"""Slow receivers that hold publishers back: what publishers have credit for is never dropped while they do."""

from __future__ import annotations

import pytest

from tamis.native import Admission, SlowPolicy, Switch, SwitchOptions, Table
from tamis.native.switch_figures import DROP_REASONS
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.data_frames import DataFrame, encode_publish
from tamis.protocol.wire.frames import decode
from tamis.protocol.wire.reader import FrameReader
from tests.native.test_switch import subscribing

QUEUE = 100_000
CREDIT = 60_000
BLOCK_MS = 60_000
PAYLOAD = bytes(900)


@pytest.fixture
def switch():
    table = Table()
    made = Switch(table, SwitchOptions(number=1, epoch=2, connections_max=40, publishers_max=40, hop_limit=9))
    yield made
    made.validate()
    made.close()
    table.close()


class Peer:
    """One connection without a socket. It publishes as far as its credit goes, and reads when it is told to."""

    def __init__(self, switch: Switch, number: int, block_ms: int = BLOCK_MS) -> None:
        self._switch, self._number = switch, number
        self.connection = switch.open()
        policy = SlowPolicy.BLOCK
        switch.admit(
            self.connection,
            Admission(number, QUEUE, CREDIT, 10_000, 1_048_576, 100, 600_000, 600_000, block_ms, policy),
        )
        self._reader = FrameReader()
        self._reader.authenticated()
        self._credit = self._used = 0
        self.sent = self.got = self.lost = 0

    def wants(self, predicate: str) -> None:
        self._switch.subscribe(self._switch.subscriber_of(self.connection), subscribing(1, predicate), 10)

    def reads(self, bytes_max: int = 1 << 30) -> None:
        while bytes_max > 0 and (data := self._switch.output(self.connection, min(bytes_max, 1_000))):
            bytes_max -= len(data)
            self._reader.feed(data)
        for frame in map(decode, self._reader):
            if isinstance(frame, bodies.Credit):
                self._credit = frame.bytes_total
            self.got += isinstance(frame, DataFrame)
            self.lost += frame.messages if isinstance(frame, bodies.Lost) else 0

    def publishes(self, x: int = 1, most: int = 500) -> int:
        """How many its credit allows, of so many."""
        before = self.sent
        while self.sent - before < most:
            self.reads()
            frame = encode_publish(self._number, self.sent + 1, 0, {"x": x}, PAYLOAD)
            if self._used + len(frame) > self._credit:
                break
            self._switch.feed(self.connection, frame)
            self.sent += 1
            self._used += len(frame)
        return self.sent - before

    @property
    def queued(self) -> int:
        return self._switch.connection(self.connection).queued_bytes


def dropped(switch: Switch) -> dict[str, int]:
    return {reason: count for reason, count in zip(DROP_REASONS, switch.figures().dropped, strict=True) if count}


@pytest.mark.parametrize("publishers", [1, 7])
def test_what_has_credit_fits_however_many_publish(switch, publishers):
    slow = Peer(switch, 100)
    slow.wants("x > 0")
    crowd = [Peer(switch, number) for number in range(1, publishers + 1)]
    while sum(one.publishes() for one in crowd):
        pass
    assert dropped(switch) == {}
    assert QUEUE // 2 < slow.queued <= QUEUE // 2 + publishers * CREDIT * 11 // 10
    for _ in range(50):
        slow.reads(30_000)
        for one in crowd:
            one.publishes(most=10)
    slow.reads()
    assert (slow.got, slow.lost, dropped(switch)) == (sum(one.sent for one in crowd), 0, {})


def test_who_is_held_back_for_several_waits_for_all_of_them(switch):
    """Six receivers; one of them reads again and again, and no credit comes of it as long as the others do not."""
    crowd = [Peer(switch, 100 + number) for number in range(6)]
    for receiver in crowd:
        receiver.wants("x > 0")
    publisher = Peer(switch, 1)
    while publisher.publishes():
        pass
    longest = max(receiver.queued for receiver in crowd)
    for _ in range(5):
        for receiver in crowd[1:]:
            receiver.reads()
        assert publisher.publishes() == 0
    assert crowd[0].queued == longest
    crowd[0].reads()
    assert publisher.publishes() > 0
    assert dropped(switch) == {}


def test_after_block_ms_it_is_as_if_the_newest_were_dropped(switch):
    slow, publisher = Peer(switch, 100, block_ms=1_000), Peer(switch, 1)
    slow.wants("x > 0")
    while publisher.publishes():
        pass
    assert dropped(switch) == {}
    switch.advance(1_001)
    switch.tick()
    assert publisher.publishes() == 500
    assert dropped(switch)["queue_full"] > 0
    assert slow.queued <= QUEUE + CREDIT
    slow.reads()
    publisher.publishes(most=1)
    slow.reads()
    assert slow.got + slow.lost == publisher.sent


def test_who_goes_away_holds_nobody_back(switch):
    slow, publisher = Peer(switch, 100), Peer(switch, 1)
    slow.wants("x > 0")
    while publisher.publishes():
        pass
    waiting = slow.queued
    switch.end(slow.connection, now=True)
    assert publisher.publishes() > 0
    found = dropped(switch)
    assert found["closed"] == publisher.sent - found["unmatched"], "each message that waited, and not one for all"
    assert switch.figures().drop_bytes[DROP_REASONS.index("closed")] >= waiting - 1_000
