"""C walks over a DELIVER frame only where Python finds nothing wrong with it, and says the same of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tamis.client.durable.stored_message import stored_head
from tamis.native.deliveries import ROWS_MAX, DeliveryWalker
from tamis.protocol.limits import FRAME_BYTES_MAX
from tamis.protocol.wire.deliver_view import STORED_BITS_OFFSET, DeliverView
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.header import HEADER_BYTES
from tamis.protocol.wire.kinds import FrameKind
from tests.client.by_hand import delivery, handed
from tests.protocol.wire.vectors import VECTORS

WALKER = DeliveryWalker()
PLAIN = encode(delivery(9, payload=b"payload"))
STORED = encode(handed(9, 2**63 + 5, number=3))
REPLAYED = encode(handed(9, 6, replayed=True))
DEAD = encode(handed(9, 7, times=2, dead=True))
OTHERS = [vector.data for vector in VECTORS]


def test_plain_and_kept_frames_up_to_the_first_other() -> None:
    frames = [PLAIN, STORED, REPLAYED, DEAD, PLAIN]
    found = [sum(map(len, frames[: end + 1])) for end in range(len(frames))]
    more = encode(handed(9, 5, expiry=2**62)), encode(handed(9, 0, number=1))  # one more extension; position 0
    for other in b"", PLAIN[:-1], STORED[:-1], encode(delivery(1, 2)), PLAIN[:71], STORED[:92], *more:
        ends, ids, positions = WALKER.walk(b"".join(frames) + other)
        assert ends == found
        assert ids == [9] * 5
        assert positions == [0, 2**63 + 5, 6, 7, 0]
    assert WALKER.walk(b"") == ([], [], [])


def test_no_more_than_there_is_room_for() -> None:
    for found in WALKER.walk(STORED * (ROWS_MAX + 5)):
        assert len(found) == ROWS_MAX


def test_the_longest_frame_and_one_that_is_longer() -> None:
    empty = len(encode(delivery(9)))
    longest = encode(delivery(9, payload=bytes(FRAME_BYTES_MAX - empty)))
    assert WALKER.walk(longest)[0] == [FRAME_BYTES_MAX]
    longer = (FRAME_BYTES_MAX + 1).to_bytes(4, "little") + longest[4:] + b"\0"
    assert WALKER.walk(longer)[0] == []


def same_as_python(data: bytes) -> None:
    """Hold what C says of the frames that `data` begins with to what Python says."""
    start = 0
    for end, id_, position in zip(*WALKER.walk(data), strict=True):
        view = DeliverView(data[start:end])  # raises where anything is wrong
        assert view.kind is FrameKind.DELIVER
        assert view.satisfied == (id_,)
        assert view.extensions.get(ExtensionType.LOG_POSITION, 0) == position
        if position:
            assert stored_head(data[start:end])[:2] == (id_, position)
        start = end


@given(
    st.sampled_from([PLAIN, STORED, REPLAYED, DEAD]),
    st.integers(0, STORED_BITS_OFFSET),
    st.integers(0, 255),
    st.integers(0, 2 * max(len(PLAIN), len(STORED))),
)
def test_what_c_walks_over_python_takes(one: bytes, at: int, byte: int, size: int) -> None:
    frame = bytearray(one)
    frame[min(at, len(frame) - 1)] = byte
    same_as_python((bytes(frame) + STORED + PLAIN)[:size])


@given(st.lists(st.tuples(st.integers(0, 28), st.sampled_from([0, 1, 2, 4, 5, 8, 255])), min_size=2, max_size=9))
def test_extensions_with_many_bytes_changed_are_walked_over_only_if_python_takes_them(
    changes: list[tuple[int, int]],
) -> None:
    frame = bytearray(STORED)
    for at, byte in changes:
        frame[HEADER_BYTES + at] = byte
    same_as_python(bytes(frame) + PLAIN)


def test_of_every_other_kind_it_takes_none() -> None:
    for data in OTHERS:
        same_as_python(data)
