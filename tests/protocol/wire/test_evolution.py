"""Versions next to each other understand each other: the range that is negotiated, and fields that are appended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.protocol.errors import FrameError, Refused, VersionRefused
from tamis.protocol.limits import CONTROL_DEPTH_MAX
from tamis.protocol.wire.body_reader import BodyReader
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.frames import decode
from tamis.protocol.wire.kinds import FrameKind, is_skippable
from tamis.protocol.wire.register import KINDS
from tamis.protocol.wire.schema import APPENDED, FIELDS_MAX, U32, U64, Between, Name, record_of
from tamis.protocol.wire.session_bodies import Drain, Ping
from tamis.protocol.wire.versions import PROTOCOL_VERSION, SPOKEN, VersionRange, negotiate
from tests.protocol.wire.vectors import BODY_VECTORS, Vector, with_length

RANGES = st.tuples(st.integers(1, 5), st.integers(1, 5)).map(sorted).map(lambda pair: VersionRange(*pair))


@given(RANGES, RANGES)
def test_the_highest_common_version_is_chosen(ours: VersionRange, theirs: VersionRange) -> None:
    common = set(range(ours.low, ours.high + 1)) & set(range(theirs.low, theirs.high + 1))
    if common:
        assert negotiate(ours, theirs) == negotiate(theirs, ours) == max(common)
    else:
        with pytest.raises(VersionRefused) as caught:
            negotiate(ours, theirs)
        assert caught.value.code == ErrorCode.VERSION_REFUSED
        assert str(ours) in caught.value.problem
        assert str(theirs) in caught.value.problem


def test_we_speak_our_version() -> None:
    assert negotiate(SPOKEN, SPOKEN) == PROTOCOL_VERSION == 3


def appended(data: bytes, *fields: object) -> bytes:
    """The body with fields of a later version behind those that this one knows."""
    body = [*msgpack.unpackb(data[8:], use_list=True), *fields]
    return with_length(data[:8] + msgpack.packb(body))


LATER = [0, "text", b"bytes", None, 1.5, [], {}, [1, [2, [3]]], {"a": [1], "b": {"c": None}}, msgpack.ExtType(5, b"x")]


def left_out(vector: Vector) -> list[object]:
    """The defaults of appended fields that the body does not carry: a later version's stand behind them."""
    frame = decode(vector.data)
    fields = record_of(type(frame)).fields
    return [field.codec.plain(field.default) for field in fields[len(msgpack.unpackb(vector.data[8:])) :]]


@pytest.mark.parametrize("vector", BODY_VECTORS, ids=str)
def test_a_body_of_the_next_version_is_read_by_this_one(vector: Vector) -> None:
    assert decode(appended(vector.data, *left_out(vector), *LATER)) == decode(vector.data)
    assert appended(vector.data) == vector.data


@given(st.integers(1, 63))
def test_fields_are_bounded_in_number(more: int) -> None:
    ping = appended(bytes.fromhex("0a0000001500000091") + b"\x07", *range(more))
    assert decode(ping) == Ping(7)
    with pytest.raises(FrameError):
        decode(appended(ping, *range(FIELDS_MAX - more)))


def nested(depth: int) -> object:
    return [nested(depth - 1)] if depth > 1 else []


def test_what_is_skipped_is_bounded_in_depth() -> None:
    ping = bytes.fromhex("0a0000001500000091") + b"\x07"
    assert decode(appended(ping, nested(CONTROL_DEPTH_MAX))) == Ping(7)
    with pytest.raises(FrameError, match="levels deep"):
        decode(appended(ping, nested(CONTROL_DEPTH_MAX + 1)))


@dataclass(frozen=True, slots=True)
class DrainOfVersion2:
    """Drain as a later version might have it."""

    grace_ms: U32
    reason: Name
    until: U64 = 0
    successor: Name = "none"


def test_the_next_version_reads_a_body_of_this_one_with_its_defaults() -> None:
    body = msgpack.packb(record_of(Drain).plain(Drain(5, "upgrade")))
    later = record_of(DrainOfVersion2)
    assert later.read(BodyReader(body, "DRAIN")) == DrainOfVersion2(5, "upgrade")
    longer = msgpack.packb(later.plain(DrainOfVersion2(5, "upgrade", 9, "oslo")))
    assert record_of(Drain).read(BodyReader(longer, "DRAIN")) == Drain(5, "upgrade")


def test_a_field_without_a_default_must_be_there() -> None:
    with pytest.raises(FrameError, match="at least 2"):
        record_of(DrainOfVersion2).read(BodyReader(b"\x91\x01", "DRAIN"))


def test_a_default_is_checked_like_any_value() -> None:
    with pytest.raises(Refused):
        record_of(DrainOfVersion2).plain(DrainOfVersion2(5, "upgrade", -1))


def test_version_1_skips_the_kinds_that_version_2_brought() -> None:
    later = {kind for kind, meaning in KINDS.meanings.items() if meaning.since > 2}
    of_version_1 = {kind for kind in FrameKind if kind <= FrameKind.HELD}
    assert all(is_skippable(kind) for kind in set(FrameKind) - of_version_1 - later)
    assert {kind for kind in later if not is_skippable(kind)} == {
        *(FrameKind.DIRECTED, FrameKind.CUSTODY_ACK, FrameKind.CUSTODY_ASK, FrameKind.GAP),
        FrameKind.REMOTE_HELLO,  # inside REMOTE alone, which is skipped
    }


def test_version_3_skips_the_kinds_that_are_reserved() -> None:
    assert all(is_skippable(row.number) for row in KINDS.reserved)


class AppendedTwice(NamedTuple):
    """A record to which two fields were appended after its first version."""

    request: U32
    code: U32 = 0
    newest: Annotated[U64, APPENDED] = 0
    homes: Annotated[tuple[U64, ...], Between(0, 4), APPENDED] = ()


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (AppendedTwice(1), [1, 0]),
        (AppendedTwice(1, 2, 3), [1, 2, 3]),
        (AppendedTwice(1, 0, 0, (5,)), [1, 0, 0, [5]]),
    ],
)
def test_appended_fields_are_written_as_far_as_they_say_something(value: AppendedTwice, written: list[object]) -> None:
    assert record_of(AppendedTwice).plain(value) == written
    assert record_of(AppendedTwice).read(BodyReader(msgpack.packb(written), "TEST")) == value
