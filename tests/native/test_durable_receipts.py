"""Confirmations state whether a subscription has stored the message; and reports of a loss from a link."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.client.durable.policy import durable_of
from tamis.native import Admission, EventType, Table
from tamis.native.durables import SwitchDurables
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire.client_bodies import Ack, AckOf, Lost, Range, ranges_of
from tamis.protocol.wire.codes import ErrorCode, LossReason
from tamis.protocol.wire.data_frames import DataFrame, encode_data, encode_publish
from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.header import Flags, Transit
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.reader import FrameReader
from tests.native.slow_router import RING, STORED, SlowRouter

PLAIN = Flags.CONFIRM
ALICE, NEIGHBOUR, CONSUMER = 7, 40, 3
FLAGS = {"job": STORED, "other": STORED, "plain": PLAIN}


class Told(SlowRouter):
    """A router that stores jobs; one client and one link are checked frame by frame."""

    def __init__(self, folder: Path, version: int = 2, bytes_max: int = 1 << 24) -> None:
        super().__init__(folder, bytes_max)
        self.linked = Table()
        self.switch.join(self.linked, 10)
        generation = self.switch.begin_routes(9)
        self.switch.route(generation, 99, None, {NEIGHBOUR: NEIGHBOUR})
        self.switch.route(generation, NEIGHBOUR, NEIGHBOUR, {})
        self.switch.commit(2_000)
        self.link = self._connect(Admission(NEIGHBOUR, 1 << 20, 0, 0, 1 << 20, 0, is_link=True))
        self.alice = self._connect(Admission(ALICE, 1 << 24, 1 << 24, 10_000, 1 << 20, 1_000, version=version))
        self._transit = 0

    def _connect(self, admission: Admission) -> int:
        made = self.switch.open()
        assert made is not None
        self.switch.admit(made, admission)
        return made

    def frames(self, connection: int) -> list[bytes]:
        reader, found = FrameReader(), []
        reader.authenticated()
        while data := self.switch.output(connection, 1 << 20):
            reader.feed(data)
        found += [bytes(frame) for frame in reader]
        return found

    def acks(self) -> list[Ack]:
        bodies = [decode(frame) for frame in self.frames(self.alice)]
        return [body for body in bodies if isinstance(body, Ack) and body.of is AckOf.PUBLISH]

    def publish(self, *messages: tuple[int, str, Flags], size: int = 10) -> list[Ack]:
        """In one piece, as a client that has much to say does."""
        frames = [encode_publish(ALICE, n, 0, {"kind": kind}, b"x" * size, flags) for n, kind, flags in messages]
        self.look(self.switch.feed(self.alice, b"".join(frames)))
        return self.acks()

    def committed(self) -> list[Ack]:
        while self.log.commit():
            self.turn()
        return self.acks()

    def from_link(self, origin: int, counter: int, kind: str = "job", size: int = 10) -> None:
        self._transit += 1
        body = Message({"kind": kind}, b"x" * size, MessageId(origin, counter))
        transit = Transit(NEIGHBOUR, 4, self._transit)
        frame = encode_data(DataFrame(FrameKind.PUBLISH, body, hop_limit=5, transit=transit))
        self.look(self.switch.feed(self.link, frame))

    def close(self) -> None:
        self.switch.validate()
        super().close()
        self.linked.close()


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Told]:
    made = Told(tmp_path / "log")
    yield made
    made.close()


def run(first: int, last: int) -> tuple[Range, ...]:
    return (Range(first, last),)


def test_what_no_durable_wants_is_told_as_one_range_in_one_frame(told: Told) -> None:
    acks = told.publish(*((n, "other", STORED) for n in range(1, 101)))
    assert acks == [Ack(AckOf.PUBLISH, 0, run(1, 100), unstored=run(1, 100))]


def test_what_a_durable_has_is_told_from_the_disk(told: Told) -> None:
    assert told.publish(*((n, "job", STORED) for n in range(1, 101))) == []
    assert told.committed() == [Ack(AckOf.PUBLISH, 0, run(1, 100), stored=run(1, 100))]


def test_who_does_not_ask_the_disk_gets_the_bytes_of_before(told: Told) -> None:
    frames = [encode_publish(ALICE, n, 0, {"kind": kind}, b"", PLAIN) for n, kind in enumerate(("job", "other"), 1)]
    told.look(told.switch.feed(told.alice, b"".join(frames)))
    assert bytes.fromhex("0f000000 22000000 93 03 00 91 92 01 02") in told.frames(told.alice)


def test_version_1_has_no_place_for_it(tmp_path: Path) -> None:
    old = Told(tmp_path / "log", version=1)
    assert old.publish((1, "other", STORED), (2, "job", STORED)) == [Ack(AckOf.PUBLISH, 0, run(1, 1))]
    assert old.committed() == [Ack(AckOf.PUBLISH, 0, run(2, 2))]
    old.close()


@given(st.lists(st.sampled_from(sorted(FLAGS)), min_size=1, max_size=400), st.integers(0, 2**32), st.integers(1, 50))
def test_each_message_is_told_once_whatever_is_between(tmp_path_factory, kinds, seed, piece) -> None:
    """Any kinds in any order and pieces, commits between them: confirmed once, and in the list that is its own."""
    chance = random.Random(seed)
    told = Told(tmp_path_factory.mktemp("log"))
    acks: list[Ack] = []
    messages = [(n, kind, FLAGS[kind]) for n, kind in enumerate(kinds, 1)]
    for at in range(0, len(messages), piece):
        acks += told.publish(*messages[at : at + piece])
        if chance.random() < 0.3:
            acks += told.committed()
    acks += told.committed()
    lists: dict[str, list[int]] = {"ranges": [], "unstored": [], "stored": []}
    for ack in acks:
        assert not ack.refusals
        for name, numbers in lists.items():
            numbers += [n for first, last in getattr(ack, name) for n in range(first, last + 1)]
        for each in (ack.unstored, ack.stored):
            confirmed = {n for first, last in ack.ranges for n in range(first, last + 1)}
            assert {n for first, last in each for n in range(first, last + 1)} <= confirmed
    assert sorted(lists["ranges"]) == [n for n, _, _ in messages]
    assert sorted(lists["unstored"]) == [n for n, kind, _ in messages if kind == "other"]
    assert sorted(lists["stored"]) == [n for n, kind, _ in messages if kind == "job"]
    told.close()


def test_a_second_try_says_what_the_first_would_have_said(told: Told) -> None:
    told.publish((1, "job", STORED), (2, "other", STORED))
    told.committed()
    again = STORED | Flags.RETRY
    assert told.publish((1, "job", again), (2, "other", again)) == [
        Ack(AckOf.PUBLISH, 0, run(1, 2), unstored=run(2, 2), stored=run(1, 1))
    ]


def test_a_second_try_before_the_disk_waits_for_it(told: Told) -> None:
    told.publish((1, "job", STORED))
    assert told.publish((1, "job", STORED | Flags.RETRY)) == []
    acks = told.committed()
    assert {(ack.ranges, ack.unstored, ack.stored) for ack in acks} == {(run(1, 1), (), run(1, 1))}


def test_a_second_try_of_what_is_older_than_is_remembered_is_told_nothing(told: Told) -> None:
    """The router says that it was taken before; it does not know by whom it is stored."""
    told.publish((1_000_000, "other", STORED))
    ack = told.publish((1_000_000 - 5_000, "other", STORED | Flags.RETRY))
    assert all(not each.unstored and not each.stored for each in ack)


def test_what_came_over_a_link_before_its_publisher_did_is_told_and_not_stored_again(told: Told) -> None:
    told.from_link(ALICE, 5)
    told.committed()
    for _ in range(3):
        acks = [*told.publish((5, "job", STORED | Flags.RETRY)), *told.committed()]
        assert acks == [Ack(AckOf.PUBLISH, 0, run(5, 5), stored=run(5, 5))]
    assert told.durables.figures(1).appended == 1


def test_what_is_stored_here_is_not_delivered_again_when_it_comes_over_a_link(told: Told) -> None:
    told.publish((1, "job", STORED))
    told.committed()
    told.from_link(ALICE, 1)


def test_a_second_try_after_a_start_is_told_what_the_log_has(tmp_path: Path) -> None:
    first = Told(tmp_path / "log")
    first.publish((1, "job", STORED), (2, "other", STORED))
    first.committed()
    first.close()
    again = Told(tmp_path / "log")
    acks = again.publish((1, "job", STORED | Flags.RETRY), (2, "other", STORED | Flags.RETRY))
    assert acks == [Ack(AckOf.PUBLISH, 0, run(1, 2), unstored=run(2, 2), stored=run(1, 1))]
    again.close()


# --- losses of messages from a link ---


def losses(told: Told, consumer: int) -> list[Lost]:
    return [body for body in map(decode, told.frames(consumer)) if isinstance(body, Lost)]


def full(tmp_path: Path, count: int) -> tuple[Told, int]:
    """A subscription that refuses and has room for `count`, and its consumer."""
    told = Told(tmp_path / "log")
    told.durables.open(2, durable_of("few", 'kind = "few"', count=count, overflow="refuse").policy)
    consumer = told._connect(Admission(77, 1 << 20, 1 << 20, 100, 1 << 20, 0, version=2))
    told.durables.consume(2, consumer, CONSUMER, 0)
    return told, consumer


def test_what_a_full_durable_loses_of_a_link_is_counted_and_told(tmp_path: Path) -> None:
    told, consumer = full(tmp_path, 3)
    for n in range(1, 11):
        told.from_link(8, n, "few")
    told.committed()
    assert [(each.messages, each.reason, each.in_all) for each in losses(told, consumer)][-1] == (
        7,
        LossReason.LOG_FULL,
        True,
    )
    figures = told.durables.figures(2)
    assert (figures.open, figures.dropped) == (3, 7)
    told.close()


def test_it_is_counted_after_a_start(tmp_path: Path) -> None:
    told, _ = full(tmp_path, 3)
    for n in range(1, 11):
        told.from_link(8, n, "few")
    told.committed()
    told.close()
    again = SlowRouter(tmp_path / "log")
    again.durables.open(2, durable_of("few", 'kind = "few"', count=3, overflow="refuse").policy, recovered_from=1)
    assert again.durables.figures(2).dropped == 7
    again.close()


def test_what_is_lost_while_there_is_no_memory_is_counted_when_there_is_some(tmp_path: Path) -> None:
    told, consumer = full(tmp_path, 3)
    for n in range(1, 11):
        told.durables.fail_allocation(1)
        told.from_link(8, n, "few")
    told.durables.fail_allocation(0)
    told.from_link(8, 11, "few")
    told.turn()
    told.committed()
    figures = told.durables.figures(2)
    assert figures.open + figures.dropped == 11
    assert losses(told, consumer)[-1].messages == figures.dropped > 0
    told.close()


def test_a_message_that_is_too_large_to_be_kept_is_lost_as_undeliverable(tmp_path: Path) -> None:
    told, consumer = full(tmp_path, 3)
    told.from_link(8, 1, "few", size=(1 << 20) - 140)
    told.committed()
    assert [(each.messages, each.reason) for each in losses(told, consumer)] == [(1, LossReason.UNDELIVERABLE)]
    told.close()


# --- answers to ACKs ---


def ack_of(told: Told, consumer: int, request: int, positions: range) -> list[object]:
    body = Ack(AckOf.DELIVER, request, ranges_of(positions), subscription=CONSUMER)
    return told.switch.feed(consumer, encode(body)) or []


def answers(told: Told, consumer: int) -> list[int]:
    bodies = [decode(frame) for frame in told.frames(consumer)]
    return [body.request for body in bodies if isinstance(body, Ack) and body.of is AckOf.DELIVER]


def test_an_ack_that_changes_nothing_is_answered_at_once(tmp_path: Path) -> None:
    told, consumer = full(tmp_path, 3)
    told.committed()
    for request in range(1, 4):
        told.look(ack_of(told, consumer, request, range(50, 60)))
        assert answers(told, consumer) == [request], "nothing else is ever committed"
    told.close()


def test_an_ack_of_what_is_on_its_way_to_the_disk_waits_for_it(tmp_path: Path) -> None:
    told, consumer = full(tmp_path, 3)
    told.committed()
    told.from_link(8, 1, "few")
    told.look(ack_of(told, consumer, 1, range(50, 60)))
    assert answers(told, consumer) == []
    told.committed()
    assert answers(told, consumer) == [1]
    told.close()


@pytest.mark.parametrize("most", [1, 7])
def test_answers_that_wait_are_bounded_by_connection(tmp_path: Path, most: int) -> None:
    told, consumer = full(tmp_path, 3)
    told.durables.close()
    told.durables = SwitchDurables(told.switch, told.log, ring_bytes=RING, answers_max=most, has_no_thread=True)
    told.durables.open(3, durable_of("third", 'kind = "third"').policy)
    other = told._connect(Admission(78, 1 << 20, 1 << 20, 100, 1 << 20, 0, version=2))
    for connection in (consumer, other):
        told.durables.consume(3, connection, CONSUMER, 0)
    told.from_link(8, 1, "third")
    events = [event for request in range(1, most + 2) for event in ack_of(told, consumer, request, range(90, 99))]
    faults = [(event.type, event.connection, event.code) for event in events]
    assert faults == [(EventType.FAULT, consumer, ErrorCode.OVER_LIMIT)]
    told.look(ack_of(told, other, 1, range(90, 99)))
    told.committed()
    assert answers(told, other) == [1], "who asks within the bound is answered"
    told.close()


def test_an_answer_is_for_the_connection_that_asked_and_no_later_one(tmp_path: Path) -> None:
    """Its id and its client may be the same, and its requests have the same numbers."""
    told, consumer = full(tmp_path, 3)
    told.committed()
    told.from_link(8, 1, "few")
    told.look(ack_of(told, consumer, 1, range(50, 60)))
    told.switch.end(consumer, now=True)
    told.switch.forget(consumer, 100)
    again = told._connect(Admission(77, 1 << 20, 1 << 20, 100, 1 << 20, 0, version=2))
    assert again == consumer
    told.durables.consume(2, again, CONSUMER, 0)
    told.committed()
    assert answers(told, again) == []
    told.close()
