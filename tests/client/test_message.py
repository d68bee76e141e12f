from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tamis.client.message import Message
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.wire import header
from tamis.protocol.wire.data_frames import encode_data
from tamis.protocol.wire.numbers import stable_number
from tests.client.by_hand import delivery


def received(*ids: int, payload: bytes = b"", flags: int = 0) -> Message:
    return Message(encode_data(delivery(*ids, payload=payload, flags=flags)))


def test_everything_a_message_says() -> None:
    message = received(3, 5, payload=b"hello", flags=header.OWN)
    assert message["n"] == 1
    assert "class" in message
    assert "x" not in message
    assert dict(message.attributes) == {"n": 1, "class": "alert"}
    assert message.payload == b"hello"
    assert message.id == (7, 1)
    assert message.matched == (3, 5)
    assert message.own
    assert message.publish_time_ns == 5_000
    assert message.time == datetime(1970, 1, 1, microsecond=5, tzinfo=UTC)
    assert "'class': 'alert'" in repr(message)
    assert message.frame_bytes == len(encode_data(delivery(3, 5, payload=b"hello")))


def test_a_publisher_is_known_by_the_number_of_its_name() -> None:
    frame = bytearray(encode_data(delivery(1)))
    frame[header.ID_OFFSET : header.ID_OFFSET + 8] = bytes.fromhex("961b5c4f5e5a0d9e")
    assert not Message(bytes(frame)).is_from("press-1")
    frame[header.ID_OFFSET : header.ID_OFFSET + 8] = stable_number("press-1").to_bytes(8, "little")
    assert Message(bytes(frame)).is_from("press-1")
    with pytest.raises(Refused):
        Message(bytes(frame)).is_from("")


def test_attributes_are_decoded_once_and_cannot_be_changed() -> None:
    message = received(1)
    assert message.attributes is message.attributes
    with pytest.raises(TypeError):
        message.attributes["n"] = 2  # type: ignore[index]
    with pytest.raises(KeyError):
        message["absent"]


def test_a_message_of_somebody_else_without_a_time() -> None:
    frame = bytearray(encode_data(delivery(1)))
    frame[header.TIME_OFFSET : header.TIME_OFFSET + 8] = bytes(8)
    message = Message(bytes(frame))
    assert not message.own
    assert message.time is None


def test_attributes_that_are_wrong_are_found_when_they_are_asked_for() -> None:
    frame = encode_data(delivery(1))
    message = Message(frame.replace(b"\xa1n", b"\xa1\xff"))
    with pytest.raises(FrameError):
        message["n"]


def test_a_header_that_is_wrong_is_found_at_once() -> None:
    with pytest.raises(FrameError):
        Message(encode_data(delivery(1))[:-1])
