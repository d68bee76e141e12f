"""`copies_min` of a durable subscription on the wire: routers of earlier versions read what has it."""

from __future__ import annotations

import msgpack
import pytest

from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.wire._msgpack import pack
from tamis.protocol.wire.body_frames import decode_body, encode_body, frame_of
from tamis.protocol.wire.body_reader import BodyReader
from tamis.protocol.wire.durable_bodies import CreateDurable, DurablePolicy
from tamis.protocol.wire.home_bodies import StatedCopy, StatedDurable, packed_durable, read_durable
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.prefix import PREFIX_BYTES
from tamis.protocol.wire.schema import Record, record_of

FILTER, HOMES = b"\x91\x01", ("a", "b")
POLICY = DurablePolicy((FILTER,), copies_min=2)


def test_a_policy_without_copies_min_has_its_earlier_bytes_and_one_with_it_has_one_field_more() -> None:
    record = record_of(DurablePolicy)
    plain = record.plain(DurablePolicy((FILTER,)))
    assert record.plain(POLICY) == [*plain, 2]
    assert record.read(BodyReader(pack(plain), "TEST")).copies_min == 0


def test_an_earlier_version_skips_it() -> None:
    older = Record(DurablePolicy)
    older.fields = older.fields[: [field.name for field in older.fields].index("copies_min")]
    read = older.read(BodyReader(pack(record_of(DurablePolicy).plain(POLICY)), "TEST"))
    assert read == DurablePolicy((FILTER,))


def test_what_routers_state_of_a_copy_has_it() -> None:
    stated = StatedDurable("jobs", "", (FILTER,), 0, 0, 0, (StatedCopy(HOMES, 5, POLICY, ()),))
    assert read_durable(packed_durable(stated)) == stated


def test_it_is_at_most_the_number_of_homes() -> None:
    with pytest.raises(Refused, match="copies_min is at most 1, the number of homes, not 2"):
        CreateDurable(1, "jobs", POLICY, homes=("a",))
    made = CreateDurable(1, "jobs", POLICY, homes=HOMES)
    frame = encode_body(FrameKind.CREATE_DURABLE, made)
    assert decode_body(FrameKind.CREATE_DURABLE, CreateDurable, frame) == made
    request, name, policy, *rest = msgpack.unpackb(frame[PREFIX_BYTES:])
    beyond = frame_of(FrameKind.CREATE_DURABLE, pack([request, name, [*policy[:-1], 3], *rest]))
    with pytest.raises(FrameError, match="copies_min is at most 2, the number of homes, not 3"):
        decode_body(FrameKind.CREATE_DURABLE, CreateDurable, beyond)
