"""C reads a message as Python does: the same bytes are refused, and the same values come out."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tamis.native import decode_attributes
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.values import Value, canonical, identity
from tamis.protocol.wire.attributes import decode_attributes as decode_in_python
from tamis.protocol.wire.attributes import encode_attributes
from tests.native.spelling import spell
from tests.strategies import wide_attributes


def content(attributes: dict[str, Value]) -> dict[str, tuple[int, Value]]:
    return {name: identity(canonical(value)) for name, value in attributes.items()}


def damaged(data: bytes) -> st.SearchStrategy[bytes]:
    """`data` cut short, with something behind it, or with one byte changed."""
    places = st.integers(0, len(data) - 1)
    cut = places.map(lambda end: data[:end])
    longer = st.binary(min_size=1, max_size=3).map(lambda tail: data + tail)
    changed = st.tuples(places, st.integers(0, 255)).map(
        lambda change: data[: change[0]] + bytes([change[1]]) + data[change[0] + 1 :]
    )
    return cut | longer | changed


@given(attributes=wide_attributes())
def test_what_python_writes_c_reads(attributes: dict[str, Value]) -> None:
    read = decode_attributes(encode_attributes(attributes))
    assert content(read) == content(attributes)
    assert {name: type(value) for name, value in read.items()} == {
        name: type(canonical(value)) for name, value in attributes.items()
    }


@given(attributes=wide_attributes(), data=st.data())
def test_every_spelling_of_a_value_is_that_value(attributes: dict[str, Value], data: st.DataObject) -> None:
    spelled = spell(attributes, lambda spellings: data.draw(st.sampled_from(spellings)))
    assert content(decode_attributes(spelled)) == content(attributes)


@given(data=wide_attributes(max_size=4).map(encode_attributes).flatmap(damaged) | st.binary())
@example(data=b"\x82\xa1a\x01\xa1a\x02")
@example(data=b"\x81\xa1a\xcf" + b"\xff" * 8)
@example(data=b"\x81\xa1a\xcb\x7f\xf0" + bytes(6))
@example(data=b"\x81\xa1a\xca\x7f\xc0\x00\x00")
@example(data=b"\x81\xa0\x01")
@example(data=b"\x81\xa1a\xa3\xed\xa0\x80")
@example(data=b"\x81\xa1a\xa2\xc0\x80")
@example(data=b"\x81\xa1a\xc0")
@example(data=b"\x81\xc4\x01a\x01")
@example(data=b"\xdf\x00\x00\x00\x01\xa1a\x01")
def test_c_refuses_exactly_what_python_refuses(data: bytes) -> None:
    try:
        expected = decode_in_python(data)
    except FrameError:
        with pytest.raises(Refused):
            decode_attributes(data)
    else:
        assert content(decode_attributes(data)) == content(expected)


def test_the_largest_message() -> None:
    attributes: dict[str, Value] = {f"{i:03}" + "n" * 253: "x" * 1_000 for i in range(63)} | {"long": "y" * 65_536}
    assert decode_attributes(encode_attributes(attributes)) == attributes


@pytest.mark.parametrize(
    "attributes",
    [{f"a{i}": i for i in range(65)}, {"n" * 257: 1}, {"a": "x" * 65_537}, {"é" * 129: 1}, {"": 1}],
    ids=["65 attributes", "long name", "long string", "long name in bytes", "empty name"],
)
def test_past_a_limit(attributes: dict[str, Value]) -> None:
    with pytest.raises(Refused):
        decode_attributes(spell(attributes, lambda spellings: spellings[0]))
