"""C walks over a DELIVER frame only where Python finds nothing wrong with it, and says the same of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tamis.native.deliveries import ROWS_MAX, DeliveryWalker
from tamis.protocol.limits import FRAME_BYTES_MAX
from tamis.protocol.wire.deliver_view import DeliverView
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.header import HEADER_BYTES
from tamis.protocol.wire.kinds import FrameKind
from tests.client.by_hand import delivery
from tests.protocol.wire.vectors import VECTORS

WALKER = DeliveryWalker()
FRAME = encode(delivery(9, payload=b"payload"))
OTHERS = [vector.data for vector in VECTORS]


def test_plain_frames_up_to_the_first_other() -> None:
    for other in b"", FRAME[:-1], encode(delivery(1, 2)), encode(delivery(9))[:71]:
        ends, ids = WALKER.walk(FRAME * 3 + other)
        assert ends == [len(FRAME), 2 * len(FRAME), 3 * len(FRAME)]
        assert ids == [9, 9, 9]
    assert WALKER.walk(b"") == ([], [])


def test_no_more_than_there_is_room_for() -> None:
    ends, _ = WALKER.walk(FRAME * (ROWS_MAX + 5))
    assert len(ends) == ROWS_MAX


def test_the_longest_frame_and_one_that_is_longer() -> None:
    empty = len(encode(delivery(9)))
    longest = encode(delivery(9, payload=bytes(FRAME_BYTES_MAX - empty)))
    assert WALKER.walk(longest)[0] == [FRAME_BYTES_MAX]
    longer = (FRAME_BYTES_MAX + 1).to_bytes(4, "little") + longest[4:] + b"\0"
    assert WALKER.walk(longer)[0] == []


@given(st.integers(0, HEADER_BYTES + 8 - 1), st.integers(0, 255), st.integers(0, 2 * len(FRAME)))
def test_what_c_walks_over_python_takes(at: int, byte: int, size: int) -> None:
    frame = bytearray(FRAME)
    frame[at] = byte
    data = (bytes(frame) + FRAME)[:size]
    ends, ids = WALKER.walk(data)
    start = 0
    for end, id_ in zip(ends, ids, strict=True):
        view = DeliverView(data[start:end])  # raises where anything is wrong
        assert view.kind is FrameKind.DELIVER
        assert view.satisfied == (id_,)
        start = end


def test_of_every_other_kind_it_takes_none() -> None:
    for data in OTHERS:
        ends, ids = WALKER.walk(data)
        if ends:
            assert DeliverView(data).satisfied == tuple(ids)
