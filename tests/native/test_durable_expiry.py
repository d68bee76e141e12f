"""Expired messages leave a durable subscription: a bounded number per turn, and none is delivered before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tamis.client.durable.policy import durable_of
from tamis.native import Admission, EventType, Switch, SwitchOptions, Table
from tamis.native.durables import SwitchDurables
from tamis.native.log import Log
from tamis.protocol.wire.client_bodies import Lost
from tamis.protocol.wire.codes import LossReason
from tamis.protocol.wire.data_frames import DataFrame, encode_publish
from tamis.protocol.wire.durable_bodies import DurablePolicy
from tamis.protocol.wire.frames import decode
from tamis.protocol.wire.header import Flags
from tamis.protocol.wire.reader import FrameReader

DURABLE, CONSUMER, PUBLISHER = 1, 7, 5
COUNT, LIFE_MS = 10_000, 60_000
A_TURN = 4_096
"""Messages that are looked at in a turn where each may end at a time of its own."""


def policy(**more: str) -> DurablePolicy:
    return durable_of("jobs", "n >= 0", for_=LIFE_MS / 1000, **more).policy  # type: ignore[arg-type]


class Router:
    """A switch with one durable subscription; messages of `publish` are on disk when it returns."""

    def __init__(self, folder: Path, of: DurablePolicy) -> None:
        self.log = Log(folder, bytes_max=1 << 26, segment_bytes=1 << 20, ring_bytes=1 << 22, has_no_threads=True)
        self.table = Table()
        options = SwitchOptions(number=99, epoch=1, connections_max=9, subscribers_max=9, publishers_max=9, hop_limit=9)
        self.switch = Switch(self.table, options)
        self.durables = SwitchDurables(self.switch, self.log, ring_bytes=1 << 22, has_no_thread=True)
        self.durables.open(DURABLE, of)
        self.publisher = self._connect(PUBLISHER)
        self.count = 0

    def _connect(self, number: int) -> int:
        opened = self.switch.open()
        assert opened is not None
        self.switch.admit(opened, Admission(number, 1 << 24, 1 << 24, 100_000, 1 << 20, 1_000, version=2))
        return opened

    def publish(self, count: int) -> None:
        for n in range(self.count, self.count + count):
            frame = encode_publish(PUBLISHER, n + 1, 0, {"n": n, "v": n % 3}, b"", Flags.CONFIRM | Flags.DURABLE)
            assert [e for e in self.switch.feed(self.publisher, frame) if e.type == EventType.FAULT] == []
            if n % 100 == 99:
                self.turn()
        self.count += count
        self.turn()
        self.switch.output(self.publisher, 1 << 24)

    def turn(self) -> None:
        self.log.commit()
        self.switch.poll(0)
        self.durables.validate()

    def consume(self) -> int:
        consumer = self._connect(CONSUMER)
        assert self.durables.consume(DURABLE, consumer, CONSUMER, credit=100, latest=False)
        return consumer

    def received(self, consumer: int) -> tuple[list[int], dict[LossReason, int]]:
        """The numbers of the messages that a member got since it was asked last, and what it was told as lost."""
        reader, numbers, lost = FrameReader(), [], {}
        reader.authenticated()
        while data := self.switch.output(consumer, 1 << 20):
            reader.feed(data)
        for frame in reader:
            body = decode(frame)
            if isinstance(body, DataFrame):
                numbers.append(int(body.message.attributes["n"]))  # type: ignore[arg-type]
            elif isinstance(body, Lost):
                lost[LossReason(body.reason)] = body.messages
        return numbers, lost

    def close(self) -> None:
        self.durables.close()
        self.switch.close()
        self.table.close()
        self.log.close()


@pytest.fixture(name="router", params=[{}, {"order_by": "v"}], ids=["end in their order", "end as they like"])
def _router(request, tmp_path: Path) -> Iterator[Router]:
    made = Router(tmp_path / "log", policy(**request.param))
    yield made
    made.close()


@pytest.mark.slow
def test_what_is_over_is_lost_and_never_given(router):
    router.publish(COUNT)
    router.durables.advance(LIFE_MS + 1)
    router.publish(10)
    consumer = router.consume()
    numbers: list[int] = []
    lost: dict[LossReason, int] = {}
    for _ in range(COUNT // A_TURN + 4):
        router.turn()
        more, told = router.received(consumer)
        numbers, lost = numbers + more, lost | told
    assert numbers == list(range(COUNT, COUNT + 10))
    assert lost == {LossReason.EXPIRED: COUNT}
    assert router.durables.figures(DURABLE).expired == COUNT


@pytest.mark.slow
def test_a_turn_looks_at_some_of_them_where_each_ends_as_it_likes(tmp_path):
    router = Router(tmp_path / "log", policy(order_by="v"))
    router.publish(COUNT)
    router.durables.advance(LIFE_MS + 1)
    router.turn()
    assert 0 < router.durables.figures(DURABLE).expired <= A_TURN
    router.close()


@pytest.mark.slow
def test_what_ends_later_stays(router):
    router.publish(2_000)
    router.durables.advance(LIFE_MS // 2)
    router.publish(2_000)
    router.durables.advance(LIFE_MS // 2 + 1)
    for _ in range(3):
        router.switch.tick()
        router.turn()
    assert (router.durables.figures(DURABLE).expired, router.durables.figures(DURABLE).open) == (2_000, 2_000)
