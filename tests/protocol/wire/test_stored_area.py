"""What a DELIVER of a keep says before its message, read at once and read by the machinery for all extensions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tamis.protocol.errors import FrameError
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.deliver_view import DeliverView, StoredArea, stored_area
from tamis.protocol.wire.extensions import DeliveryCount, ExtensionType
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.header import HEADER_BYTES, Transit
from tamis.protocol.wire.kinds import FrameKind

U32, U64 = st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1)
AREA_BYTES = 29


def frame_of(id_: int, position: int, count: DeliveryCount) -> bytes:
    extensions = {
        ExtensionType.SATISFIED: (id_,),
        ExtensionType.LOG_POSITION: position,
        ExtensionType.DELIVERIES: count,
    }
    message = Message({"n": 1}, b"", MessageId(7, 1))
    return encode(DataFrame(FrameKind.DELIVER, message, 0, 8, Transit(1, 1, 1), 5_000, extensions))


@given(U32, U64, U32, st.booleans(), st.booleans())
def test_it_says_what_was_written(id_, position, times, maybe, dead):
    frame = frame_of(id_, position, DeliveryCount(times, times == 0, maybe, dead))
    assert stored_area(frame) == StoredArea(id_, position, times, times == 0, maybe, dead)
    assert DeliverView(frame).satisfied == (id_,)


@given(st.integers(0, AREA_BYTES - 1), st.integers(0, 255))
def test_with_any_byte_changed_it_says_what_the_extensions_say_or_nothing(at, byte):
    frame = bytearray(frame_of(5, 9, DeliveryCount(2, replayed=False, maybe_duplicate=True, dead_letter=False)))
    frame[HEADER_BYTES + at] = byte
    area = stored_area(bytes(frame))
    try:
        extensions = DeliverView(bytes(frame)).extensions
    except FrameError:
        assert area is None
        return
    if area is not None:
        assert extensions == {
            ExtensionType.SATISFIED: (area.id,),
            ExtensionType.LOG_POSITION: area.position,
            ExtensionType.DELIVERIES: DeliveryCount(*area[2:]),
        }
