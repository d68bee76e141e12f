"""A frame is refused by the switch exactly where the codec in Python refuses it, with the same code."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.native import Table
from tamis.native.switch import Switch
from tamis.native.switch_values import Admission, EventType, SwitchOptions
from tamis.protocol.errors import FrameError
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.data_frames import DataFrame, encode_data
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.frames import decode
from tamis.protocol.wire.header import CONFIRM, FLAGS_OFFSET, HEADER_BYTES, KIND_OFFSET, check_transit
from tamis.protocol.wire.kinds import KINDS, SKIPPABLE, SKIPPED, FrameKind, is_skippable
from tamis.protocol.wire.reader import FrameReader

ORIGIN = 0x0102_0304_0506_0708
FRAME_BYTES_MAX = 8192
_EXTENSIONS = st.fixed_dictionaries(
    {},
    optional={
        ExtensionType.TRACE: st.integers(1, 9),
        ExtensionType.EXPIRY: st.just(2**64 - 1),
        ExtensionType.GROUP: st.sampled_from(["g", "é"]),
        0x0777: st.binary(max_size=3),
    },
)


@st.composite
def frames(draw: st.DrawFn) -> bytearray:
    attributes = draw(st.dictionaries(st.sampled_from("abé"), st.sampled_from(["", "x" * 20, 1, -1, 2**40, 1.5, True])))
    extensions = draw(_EXTENSIONS)
    flags = draw(st.sampled_from([0, 1, 2])) | (0x10 if ExtensionType.TRACE in extensions else 0)
    message = Message(attributes, draw(st.binary(max_size=5)), MessageId(ORIGIN, draw(st.integers(1, 5))))
    return bytearray(encode_data(DataFrame(FrameKind.PUBLISH, message, flags, extensions=extensions)))


def change(frame: bytearray, at: int, byte: int) -> bytearray:
    """One byte of it is another; the length stays right unless it is what changes."""
    frame[at % len(frame)] = byte
    return frame


def refusal(frame: bytes) -> int | None:
    """The code that the codec in Python gives; None: it is taken, or waited for."""
    reader = FrameReader(FRAME_BYTES_MAX)
    reader.authenticated()
    reader.feed(frame)
    try:
        for whole in reader:
            if whole[KIND_OFFSET] not in (FrameKind.PUBLISH, FrameKind.DRY_RUN):
                return -1  # handed up as it is, for Python to judge, or not for a client to send
            data = decode(whole)
            assert isinstance(data, DataFrame)
            check_transit(data.transit, from_client=True)
            if data.hop_limit or data.message.id.origin != ORIGIN:
                return -1
    except FrameError as error:
        return int(error.code)
    return None


def fault(frame: bytes) -> int | None:
    options = SwitchOptions(number=1, epoch=1, connections_max=1, publishers_max=1, hop_limit=1)
    with Table() as table:
        switch = Switch(table, replace(options, frame_bytes_max=FRAME_BYTES_MAX))
        connection = switch.open()
        assert connection is not None
        switch.admit(connection, Admission(ORIGIN, 9999, 9999, 99, 9999, 9))
        unasked = (EventType.OUTPUT, EventType.TRACED)
        events = [event for event in switch.feed(connection, frame) if event.type not in unasked]
        switch.validate()
        switch.close()
    faults = [event.code for event in events if event.type == EventType.FAULT]
    return faults[0] if faults else -1 if events else None


@pytest.mark.slow
@given(frames(), st.integers(0, 400), st.integers(0, 255))
@settings(max_examples=600)
def test_a_changed_byte_is_refused_alike(frame: bytearray, at: int, byte: int) -> None:
    data = bytes(change(frame, at, byte))
    expected, got = refusal(data), fault(data)
    if expected == -1:  # a frame of another kind or sender: refused by the switch, or handed up
        assert got is not None
    elif expected == ErrorCode.UNKNOWN_EXTENSION and data[FLAGS_OFFSET] & CONFIRM:
        assert got is None  # the refusal stands in an ACK
    else:
        assert got == expected


@given(frames())
def test_what_the_codec_writes_is_taken(frame: bytearray) -> None:
    assert fault(bytes(frame)) is None


def test_a_name_twice_and_every_cut_are_refused() -> None:
    good = encode_data(DataFrame(FrameKind.PUBLISH, Message({"ab": 1, "ac": 2}, b"", MessageId(ORIGIN, 1))))
    twice = good.replace(b"ac", b"ab")
    assert fault(twice) == refusal(twice) is not None
    for size in range(HEADER_BYTES, len(good)):
        cut = size.to_bytes(4, "little") + good[4:size]
        assert fault(cut) == refusal(cut) is not None


def test_it_knows_the_kinds_that_the_codec_knows() -> None:
    known = {kind for kind in range(SKIPPABLE) if fault(bytes([8, 0, 0, 0, kind, 0, 0, 0])) != ErrorCode.UNKNOWN_KIND}
    assert known == SKIPPED | {kind for kind in KINDS if not is_skippable(kind)}
