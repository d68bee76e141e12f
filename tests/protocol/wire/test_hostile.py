"""Bytes that nobody honest sends: refused as a FrameError, in memory that the bytes themselves pay for."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import msgpack
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tamis.protocol.errors import FrameError
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.deliver_view import DeliverView
from tamis.protocol.wire.frames import BODY_OF, decode, encode
from tamis.protocol.wire.header import Transit, check_transit
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.parts import PartAssembler, ReplyPart
from tamis.protocol.wire.prefix import pack_prefix
from tests.protocol.wire.vectors import BODY_VECTORS, BY_NAME, VECTORS, Vector, with_length


def frame_of(kind: FrameKind, body: bytes) -> bytes:
    return pack_prefix(kind, 8 + len(body)) + body


def code_of(frame: bytes) -> int:
    with pytest.raises(FrameError) as caught:
        decode(frame)
    return caught.value.code


@settings(max_examples=settings.default.max_examples * 6 // 10)
@given(st.sampled_from(VECTORS), st.data())
def test_a_changed_frame_decodes_to_what_encodes_again_or_is_refused(vector: Vector, data: st.DataObject) -> None:
    changed = bytearray(vector.data)
    for at in data.draw(st.lists(st.integers(4, len(changed) - 1), min_size=1, max_size=3)):
        changed[at] = data.draw(st.integers(0, 255))
    try:
        frame = decode(bytes(changed))
    except FrameError:
        return
    assert decode(encode(frame)) == frame


@given(st.sampled_from(list(BODY_OF)), st.binary(max_size=40))
@example(FrameKind.PING, b"")
def test_random_bodies_are_refused_or_encode_again(kind: FrameKind, body: bytes) -> None:
    try:
        frame = decode(frame_of(kind, body))
    except FrameError:
        return
    assert decode(encode(frame)) == frame


@pytest.mark.parametrize("vector", BODY_VECTORS, ids=str)
def test_every_field_refuses_every_other_type(vector: Vector) -> None:
    fields = msgpack.unpackb(vector.data[8:])
    for at, field in enumerate(fields):
        for wrong in (None, True, -1, 2**64 - 1, 1.5, "\0", b"\0", [], {}, [[]], {"a": 1}, msgpack.Timestamp(1)):
            if type(wrong) is not type(field) and not (isinstance(wrong, int) and type(field) is int):
                changed = [*fields[:at], wrong, *fields[at + 1 :]]
                code_of(with_length(vector.data[:8] + msgpack.packb(changed)))


def test_a_missing_field_is_refused_unless_it_has_a_default() -> None:
    last_may_miss = {FrameKind.ACK, FrameKind.LOST, FrameKind.CREATE_DURABLE, FrameKind.CONSUME, FrameKind.REPLAY_END}
    last_may_miss |= {FrameKind.CUSTODY_ACK, FrameKind.CUSTODY_ASK, FrameKind.GAP, FrameKind.FINISHED}
    for vector in BODY_VECTORS:
        fields = msgpack.unpackb(vector.data[8:])
        if vector.kind not in last_may_miss and vector.name not in (
            "authenticated, known",
            "credit, of a keep",
            "pong, with the time",
            "list durables, elsewhere",
            "durables listed, elsewhere",
            "replay, with a residual program",
        ):
            assert code_of(with_length(vector.data[:8] + msgpack.packb(fields[:-1]))) == ErrorCode.MALFORMED
        assert code_of(with_length(vector.data[:8] + b"\x90")) == ErrorCode.MALFORMED


@pytest.mark.parametrize("at", [5, 6, 7])
def test_unused_bytes_of_the_prefix_are_zero(at: int) -> None:
    for vector in BODY_VECTORS:
        assert code_of(vector.data[:at] + b"\x01" + vector.data[at + 1 :]) == ErrorCode.RESERVED


def test_a_count_is_compared_with_the_bytes_that_are_left() -> None:
    for header in b"\xdd\xff\xff\xff\xff", b"\xdc\xff\xff", b"\x9f", b"\xdd\x00\x00\x00\x20":
        assert code_of(frame_of(FrameKind.UNSUBSCRIBE, b"\x92\x01" + header + b"\x01")) == ErrorCode.MALFORMED


def test_bytes_after_the_body_are_refused() -> None:
    assert code_of(frame_of(FrameKind.PING, b"\x91\x01\x01")) == ErrorCode.TRAILING_BYTES


def peak_bytes(receive: Callable[[], object]) -> int:
    """The most memory that refusing something took."""
    tracemalloc.start()
    try:
        receive()
    except FrameError:
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    raise AssertionError("not refused")


BOMBS = {
    "arrays": b"\x91" * 100_000,
    "wide arrays": b"\xdd\xff\xff\xff\xff" * 20_000,
    "arrays that would fit": b"\xdd\x00\x01\x00\x00" * 20_000,
    "short arrays": b"\xdc\xff\xff" * 33_000,
    "wide maps": b"\xdf\xff\xff\xff\xff" * 20_000,
    "maps": b"\x81\xa1a" * 33_000,
    "string": b"\xdb\xff\xff\xff\xff" + bytes(100_000),
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_memory_is_bounded_by_the_bytes_that_came(bomb: bytes) -> None:
    for kind in BODY_OF:
        for head in b"", b"\x9f", b"\x9f\x01\x01", b"\x9f" + b"\x01" * 12:
            frame = frame_of(kind, head + bomb)
            assert peak_bytes(lambda frame=frame: decode(frame)) < 2 * len(frame) + 20_000, kind


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_memory_of_attributes_is_bounded(bomb: bytes) -> None:
    for head in b"", b"\x81\xa1a", b"\xde\x00\x40\xa1a":
        area = head + bomb
        frame = with_length(BY_NAME["publish"].data[:60] + len(area).to_bytes(4, "little") + area)
        assert peak_bytes(lambda frame=frame: decode(frame)) < 6 * len(frame)


def test_memory_of_parts_is_bounded() -> None:
    part = ReplyPart(1, 1, 1, 1, 1, b"\x94\x01\x01\x01" + b"\xdd\x00\x0f\x00\x00" * 13_000)
    assert peak_bytes(lambda: PartAssembler().add(part)) < 3 * len(part.chunk)


HEADER = BY_NAME["publish"].data


@pytest.mark.parametrize(
    ("at", "bytes_", "code"),
    [
        (5, b"\x20", ErrorCode.RESERVED),
        (5, b"\x80", ErrorCode.RESERVED),
        (5, b"\x08", ErrorCode.MALFORMED),
        (5, b"\x10", ErrorCode.MALFORMED),
        (7, b"\x01", ErrorCode.RESERVED),
        (32, bytes(8), ErrorCode.MALFORMED),
        (40, bytes(8), ErrorCode.MALFORMED),
        (56, b"\x01\x00", ErrorCode.BAD_ATTRIBUTES),
        (56, b"\xff\xff", ErrorCode.MALFORMED),
        (58, b"\x01", ErrorCode.RESERVED),
        (60, b"\xff\xff\xff\xff", ErrorCode.MALFORMED),
        (60, bytes(4), ErrorCode.BAD_ATTRIBUTES),
        (60, b"\x14", ErrorCode.BAD_ATTRIBUTES),
        (60, b"\x12", ErrorCode.BAD_ATTRIBUTES),
        (64, b"\x83", ErrorCode.BAD_ATTRIBUTES),
        (4, b"\x03", ErrorCode.MALFORMED),
        (4, b"\x05", ErrorCode.UNKNOWN_KIND),
        (4, b"\x9f", ErrorCode.UNKNOWN_KIND),
    ],
)
def test_a_spoilt_header_is_refused(at: int, bytes_: bytes, code: ErrorCode) -> None:
    assert code_of(HEADER[:at] + bytes_ + HEADER[at + len(bytes_) :]) == code


@pytest.mark.parametrize("frame", [b"", HEADER[:63], with_length(HEADER[:63]), HEADER + b"x", BY_NAME["ping"].data])
def test_a_view_is_made_of_whole_data_frames_alone(frame: bytes) -> None:
    with pytest.raises(FrameError):
        DeliverView(frame)


def test_transit_says_whether_a_message_has_entered_the_network() -> None:
    check_transit(Transit(), from_client=True)
    check_transit(Transit(1, 0, 0), from_client=False)
    for transit, from_client in ((Transit(0, 1, 0), True), (Transit(1), True), (Transit(0, 1, 1), False)):
        with pytest.raises(FrameError) as caught:
            check_transit(transit, from_client)
        assert caught.value.code == ErrorCode.WRONG_SENDER
