"""Attribute maps: Python and C accept the same bytes and read the same values."""

from __future__ import annotations

import math
import struct

import msgpack
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tamis.native import decode_attributes as native_decode
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.values import canonical
from tamis.protocol.wire.attributes import decode_attributes, encode_attributes
from tamis.protocol.wire.codes import ErrorCode
from tests.protocol.wire.vectors import DATA_VECTORS, Vector
from tests.strategies import wide_attributes


def by_python(data: bytes) -> str:
    try:
        return repr({name: canonical(value) for name, value in decode_attributes(data).items()})
    except FrameError as error:
        return "refused" if error.code == ErrorCode.BAD_ATTRIBUTES else f"code {error.code}"


def by_c(data: bytes) -> str:
    try:
        return repr(native_decode(data))
    except Refused:
        return "refused"


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(wide_attributes())
def test_what_was_written_is_read(attributes: dict[str, object]) -> None:
    data = encode_attributes(attributes)
    assert repr(decode_attributes(data)) == repr(attributes)
    assert by_python(data) == by_c(data) != "refused"


@pytest.mark.parametrize("vector", DATA_VECTORS, ids=str)
def test_both_agree_on_every_change_of_one_byte(vector: Vector) -> None:
    data = vector.attributes
    for at in range(len(data)):
        for byte in (*range(0, 256, 7), 0x7F, 0x80, 0xC0, 0xC1, 0xC2, 0xDE, 0xDF, 0xFF):
            changed = data[:at] + bytes([byte]) + data[at + 1 :]
            assert by_python(changed) == by_c(changed), changed.hex()
        assert by_python(data[:at]) == by_c(data[:at]) == "refused"


WIRE_ELEMENTS = st.one_of(
    st.binary(max_size=6),
    st.sampled_from([b"\x80", b"\x81", b"\x82", b"\xa1a", b"\xa1b", b"\xd9\x01a", b"\xda\x00\x01a", b"\xa0"]),
    st.sampled_from(
        [b"\x01", b"\xe0", b"\xc0", b"\xc1", b"\xc3", b"\x90", b"\x91", b"\xc4\x01a", b"\xd4\x01a", b"\xd6\xff"]
    ),
    st.floats(width=32).map(lambda f: b"\xca" + struct.pack(">f", f)),
    st.floats().map(lambda f: b"\xcb" + struct.pack(">d", f)),
    st.integers(0, 2**64 - 1).map(lambda i: b"\xcf" + i.to_bytes(8, "big")),
    st.integers(0, 2**32 - 1).map(lambda i: b"\xd3" + i.to_bytes(8, "big", signed=True)),
)


@given(st.lists(WIRE_ELEMENTS, max_size=8).map(b"".join))
@example(b"\x82\xa1a\x01\xa1a\x01")
@example(b"\x82\xa1a\x01\xd9\x01a\x01")
@example(b"\xde\x00\x01\xa1a\xcf\x80\x00\x00\x00\x00\x00\x00\x00")
@example(b"\xdf\x00\x00\x00\x01\xa1a\xca\x7f\x80\x00\x00")
@example(b"\xdf\xff\xff\xff\xff")
@example(b"\x81\xa1a\xdb\xff\xff\xff\xff")
@example(b"\x81\xa1a\xa3\xed\xa0\x80")
@example(b"\x81\xc4\x01a\x01")
@example(b"\x81\xa1a\xd6\xff\x00\x00\x00\x00")
@example(b"\x81\xa1a\x81\xa1a\x01")
@example(b"")
def test_both_agree_on_bytes_that_nobody_wrote(data: bytes) -> None:
    assert by_python(data) == by_c(data)


@pytest.mark.parametrize("count", [0, 1, 15, 16, 64, 65, 66])
def test_the_count_is_bounded(count: int) -> None:
    data = msgpack.packb({f"a{i}": i for i in range(count)})
    assert (by_python(data) == "refused") is (count > 64) is (by_c(data) == "refused")


@pytest.mark.parametrize(("size", "refused"), [(65_536, False), (65_537, True)])
def test_a_string_is_bounded_in_bytes(size: int, refused: bool) -> None:
    for text in "a" * size, "é" * (size // 2) + "a" * (size % 2):
        data = msgpack.packb({"a": text})
        assert (by_python(data) == "refused") is refused is (by_c(data) == "refused")


def test_names_that_were_seen_are_bounded_and_stay_checked() -> None:
    for number in range(5_000):
        encode_attributes({f"made up {number}": number})
    for name in "", "a" * 257, 7:
        with pytest.raises(Refused):
            encode_attributes({name: 1})


def test_subclasses_of_the_four_types_pass() -> None:
    class Text(str):
        __slots__ = ()

    assert decode_attributes(encode_attributes({"a": ErrorCode.TOO_LONG, "b": Text("x")})) == {"a": 1, "b": "x"}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_float_is_finite(value: float) -> None:
    assert by_python(msgpack.packb({"a": value})) == by_c(msgpack.packb({"a": value})) == "refused"
