"""What is encoded decodes to the same, for every kind; what cannot be decoded cannot be encoded."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.protocol import limits
from tamis.protocol.errors import Refused
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire.client_bodies import Ack, AckOf, Lost, Range, Unsubscribe, ranges_of
from tamis.protocol.wire.data_frames import DataFrame, encode_data, encode_publish
from tamis.protocol.wire.frames import BODY_OF, decode, encode, kind_of
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.schema import FIELDS_MAX, record_of
from tamis.protocol.wire.session_bodies import Auth, Authenticated, AuthMethod, Hello, Ping, Role
from tests.protocol.wire.frame_strategies import any_frame, data_frames, frames
from tests.protocol.wire.json_forms import json_form
from tests.strategies import wide_attributes


@pytest.mark.parametrize("kind", FrameKind)
@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(data=st.data())
def test_every_kind_decodes_to_what_was_encoded(kind: FrameKind, data: st.DataObject) -> None:
    frame = data.draw(frames(kind))
    encoded = encode(frame)
    decoded = decode(encoded)
    assert kind_of(decoded) is kind
    assert encoded[4] == kind
    assert int.from_bytes(encoded[:4], "little") == len(encoded)
    assert decoded == frame
    assert repr(json_form(decoded)) == repr(json_form(frame))  # tells 1 from 1.0 and True
    assert encode(decoded) == encoded


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(data_frames(FrameKind.PUBLISH))
def test_the_fast_way_writes_the_same_bytes(frame: DataFrame) -> None:
    fresh = DataFrame(FrameKind.PUBLISH, frame.message, frame.flags, 0, publish_time_ns=frame.publish_time_ns)
    plain = DataFrame(**{name: getattr(fresh, name) for name in ("kind", "message", "publish_time_ns")})
    message = frame.message
    arguments = (*message.id, frame.publish_time_ns, message.attributes, message.payload)
    assert encode_publish(*arguments) == encode_data(plain)
    sent = DataFrame(FrameKind.PUBLISH, message, frame.flags, 0, plain.transit, frame.publish_time_ns, frame.extensions)
    assert encode_publish(*arguments, frame.flags & 0xF, frame.extensions) == encode_data(sent)


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(any_frame(), st.integers(0, 300))
def test_a_frame_longer_than_the_peer_takes_is_refused(frame: object, room: int) -> None:
    size = len(encode(frame))
    if size <= room:
        assert len(encode(frame, room)) == size
    else:
        with pytest.raises(Refused, match="at most"):
            encode(frame, room)


def test_every_kind_but_data_has_a_body() -> None:
    assert set(BODY_OF) == {kind for kind in FrameKind if not kind.is_data}
    assert len(set(BODY_OF.values())) == len(BODY_OF)
    assert all(len(record_of(body).fields) < FIELDS_MAX for body in BODY_OF.values())


def encode_slowly(origin, counter, time_ns, attributes, payload=b"", flags=0, extensions=None) -> bytes:
    message = Message(attributes, payload, MessageId(origin, counter))
    return encode(DataFrame(FrameKind.PUBLISH, message, flags, publish_time_ns=time_ns, extensions=extensions or {}))


GOOD = {"origin": 1, "counter": 1, "time_ns": 0, "attributes": {"a": 1}}


@pytest.mark.parametrize(
    "change",
    [
        {"origin": 0},
        {"counter": 0},
        {"origin": 2**64},
        {"counter": -1},
        {"time_ns": -1},
        {"flags": 0x20},
        {"flags": 0x08},
        {"flags": 0x10},
        {"flags": 0x100},
        {"attributes": {"a": None}},
        {"attributes": {"a": [1]}},
        {"attributes": {"a": b"x"}},
        {"attributes": {"a": 2**63}},
        {"attributes": {"a": float("nan")}},
        {"attributes": {"a": "\ud800"}},
        {"attributes": {"\ud800": 1}},
        {"attributes": {"": 1}},
        {"attributes": {1: 1}},
        {"attributes": {"a" * 257: 1}},
        {"attributes": {"a": "é" * 32_769}},
        {"attributes": {f"a{i}": i for i in range(65)}},
        {"payload": bytes(limits.FRAME_BYTES_MAX)},
        {"extensions": {0x8000: b""}},
        {"extensions": {0x0005: (1,)}},
    ],
)
def test_what_cannot_be_decoded_cannot_be_published(change: dict[str, object]) -> None:
    assert encode_publish(**GOOD) == encode_slowly(**GOOD)
    with pytest.raises(Refused):
        encode_publish(**GOOD | change)
    with pytest.raises(Refused):
        encode_slowly(**GOOD | change)


LARGEST = [{"a": "é" * 32_768}, {f"a{i}": i for i in range(64)}, {"a" * 256: 2**63 - 1}, {}]


@pytest.mark.parametrize("attributes", LARGEST)
def test_the_largest_that_is_allowed_passes(attributes: dict[str, object]) -> None:
    assert dict(decode(encode_publish(1, 1, 0, attributes)).message.attributes) == attributes


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(wide_attributes())
def test_any_mapping_of_attributes_will_do(attributes: dict[str, object]) -> None:
    assert encode_publish(1, 1, 0, Message(attributes).attributes) == encode_publish(1, 1, 0, attributes)


HELLO = Hello(Role.ROUTER, "r1", 1, bytes(16), 1, 1, (), 4096, 1000, 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Ping(2**64),
        lambda: Ping(-1),
        lambda: Ping(True),
        lambda: Ping("1"),
        lambda: Lost(1, 1, 2**16),
        lambda: Unsubscribe(1, ()),
        lambda: Unsubscribe(1, tuple(range(10_001))),
        lambda: Unsubscribe(1, (1, 1)),
        lambda: Ack(AckOf.PUBLISH, 0, (Range(2, 1),)),
        lambda: Ack(AckOf.PUBLISH, 0, (Range(1, 1), Range(2, 2))),
        lambda: Ack(3, 0, ()),
        lambda: Auth(AuthMethod.NONE, b"x"),
        lambda: Auth(AuthMethod.SECRET, b"x"),
        lambda: Authenticated(b"x", 1, 1),
        lambda: Hello(Role.CLIENT, "c", 1, bytes(16), 1, 1, (), 4096, 1000, 1),
        lambda: Hello(Role.ROUTER, "r", 1, bytes(16), 2, 1, (), 4096, 1000, 1),
        lambda: Hello(Role.ROUTER, "", 1, bytes(16), 1, 1, (), 4096, 1000, 1),
        lambda: Hello(Role.ROUTER, "r" * 257, 1, bytes(16), 1, 1, (), 4096, 1000, 1),
        lambda: Hello(Role.ROUTER, "r", 1, bytes(15), 1, 1, (), 4096, 1000, 1),
        lambda: Hello(Role.ROUTER, "r", 1, bytes(16), 1, 1, ("c" * 33,), 4096, 1000, 1),
        lambda: Hello(Role.ROUTER, "r", 1, bytes(16), 1, 1, ("c",) * 17, 4096, 1000, 1),
        lambda: Hello(Role.ROUTER, "\ud800", 1, bytes(16), 1, 1, (), 4096, 1000, 1),
        lambda: Hello(Role.ROUTER, "r", 1, bytes(16), 1, 1, (), 4095, 1000, 1),
    ],
)
def test_a_body_out_of_bounds_is_not_encoded(make: object) -> None:
    encode(HELLO)
    with pytest.raises(Refused):
        encode(make())


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(st.sets(st.integers(0, 12)))
def test_ranges_are_the_fewest(numbers: set[int]) -> None:
    ranges = ranges_of(numbers)
    assert {n for first, last in ranges for n in range(first, last + 1)} == numbers
    assert len(ranges) == sum(n - 1 not in numbers for n in numbers)


def test_the_greeting_fits_what_a_stranger_may_send() -> None:
    wide = "é" * 128
    capabilities = tuple("c" * 32 for _ in range(16))
    hello = Hello(Role.ROUTER, wide, 2**64 - 1, bytes(16), 1, 2**32 - 1, capabilities, 2**20, 2**32 - 1, 2**32 - 1)
    auth = Auth(AuthMethod.TOKEN, bytes(limits.CREDENTIAL_BYTES_MAX))
    assert len(encode(hello)) + len(encode(auth)) <= limits.UNAUTHENTICATED_BYTES_MAX
