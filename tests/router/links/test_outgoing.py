"""Control frames that wait for a link: their order, and how few of them the switch gets at a time."""

from __future__ import annotations

import pytest

from tamis.protocol.wire.frames import decode
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.parts import Part, PartAssembler
from tamis.protocol.wire.routing_bodies import AdvertisedFilter, Held, LinkState, ReceiverAdvertisement
from tamis.router.connections.work import SlicedWork
from tamis.router.links import outgoing as module
from tamis.router.links.outgoing import WINDOW_BYTES, Outgoing
from tamis.router.links.packing import Packed


class Turns:
    """A loop's `call_soon`, turned by hand."""

    def __init__(self) -> None:
        self._callbacks = []

    def __call__(self, callback) -> None:
        self._callbacks.append(callback)

    def all(self) -> None:
        while self._callbacks:
            self._callbacks.pop(0)()


class Sink:
    """What the switch and the wire are to the queue; `writable` lets the wire take more."""

    def __init__(self) -> None:
        self.frames, self.overflows, self._callbacks = [], 0, []
        self.turns = Turns()
        self.work = SlicedWork(self.turns)
        self.queue = Outgoing(self.frames.append, self._callbacks.append, self._overflow)

    def _overflow(self) -> None:
        self.overflows += 1

    def writable(self) -> bool:
        """False: nobody waits for it."""
        waiting, self._callbacks[:] = list(self._callbacks), []
        assert len(waiting) <= 1
        for callback in waiting:
            callback()
        return bool(waiting)

    def post(self, body) -> Packed:
        packed = Packed(body, 65_536, self.work)
        self.queue.add(packed)
        return packed

    def drain(self) -> None:
        self.turns.all()
        while self.writable():
            pass


def advertisement(issuer: int, seq: int, filters: int = 1) -> ReceiverAdvertisement:
    rows = tuple(AdvertisedFilter(number, bytes(100)) for number in range(filters))
    return ReceiverAdvertisement(issuer, 1, seq, True, 0, rows, (), bytes(16), filters, False)


def state(seq: int) -> LinkState:
    return LinkState("a", 1, seq, ())


def test_a_short_body_leaves_at_once():
    sink = Sink()
    sink.post(state(1))
    sink.post(Held(1, 2, 3, (4,)))
    sink.post(advertisement(7, 1))
    assert [FrameKind(frame[4]) for frame in sink.frames] == [FrameKind.LSA, FrameKind.HELD, FrameKind.RA]
    assert (sink.queue.frames, sink.queue.bytes) == (3, sum(map(len, sink.frames)))
    assert sink.queue.queued_bytes == 0


def test_no_more_than_a_window_until_the_wire_takes_more():
    sink = Sink()
    sink.post(advertisement(7, 1, 5_000))
    sink.turns.all()
    handed = 0
    while sink.queue.queued_bytes:
        assert sum(map(len, sink.frames)) - handed <= WINDOW_BYTES
        handed = sum(map(len, sink.frames))
        assert sink.writable()
    assert PartAssembler().add(decode(sink.frames[0])) is None


def test_other_frames_pass_between_the_parts_of_a_body():
    sink = Sink()
    sink.post(advertisement(7, 1, 5_000))
    sink.turns.all()
    sink.post(state(1))
    sink.post(advertisement(8, 1))
    sink.drain()
    order = [(FrameKind(frame[4]), getattr(decode(frame), "origin", 0)) for frame in sink.frames]
    assert order.index((FrameKind.LSA, 0)) < len(order) - 4
    assert order.index((FrameKind.RA, 8)) < len(order) - 4


def test_bodies_of_one_issuer_stay_in_order_though_the_later_is_packed_first():
    sink = Sink()
    sink.post(advertisement(7, 1, 3_000))
    sink.post(advertisement(7, 2))
    sink.post(advertisement(7, 3, 2_000))
    sink.drain()
    assembler = PartAssembler()
    whole = [assembler.add(part) for part in map(decode, sink.frames) if isinstance(part, Part)]
    assert [body.seq for body in whole if body is not None] == [1, 2, 3]


def test_a_body_is_packed_once_for_all_links():
    one, two = Sink(), Sink()
    packed = Packed(advertisement(7, 1, 3_000), 65_536, one.work)
    one.queue.add(packed)
    two.queue.add(packed)
    assert one.frames == two.frames == []
    one.drain()
    two.drain()
    assert one.frames == two.frames
    assert all(ours is theirs for ours, theirs in zip(one.frames, two.frames, strict=True))


def test_parts_fit_the_frames_that_the_neighbour_takes():
    sink = Sink()
    sink.queue.add(Packed(advertisement(7, 1, 500), 4_096, sink.work))
    sink.drain()
    assert max(map(len, sink.frames)) <= 4_096
    assembler = PartAssembler()
    assert [assembler.add(decode(frame)) for frame in sink.frames][-1] == advertisement(7, 1, 500)


def test_too_much_is_told_and_after_the_end_nothing_leaves(monkeypatch):
    monkeypatch.setattr(module, "QUEUE_BYTES_MAX", 200_000)
    sink = Sink()
    sink.post(advertisement(7, 1, 1_500))
    sink.turns.all()
    assert sink.overflows == 0
    sink.post(advertisement(8, 1, 1_500))
    sink.turns.all()
    assert sink.overflows == 1
    sent = len(sink.frames)
    sink.queue.close()
    sink.drain()
    sink.post(state(1))
    assert len(sink.frames) == sent
    assert sink.queue.queued_bytes == 0


@pytest.mark.parametrize("count", [0, 1])
def test_the_bytes_are_those_of_split(count):
    sink = Sink()
    sink.post(advertisement(7, 1, count))
    assert PartAssembler().add(decode(sink.frames[0])) == advertisement(7, 1, count)
