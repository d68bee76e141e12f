"""Filters in packed form: what every implementation must read, and what none may accept."""

from __future__ import annotations

import re
from pathlib import Path

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.filters import EVERYTHING, Constraint, Filter, Op
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.packed_filters import NEGATED, OPCODES, decode_filter, encode_filter
from tests.strategies import filters, wide_names

ROOT = Path(__file__).parents[3]


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(filters(name=wide_names()))
def test_what_was_written_is_read(filter_: Filter) -> None:
    packed = encode_filter(filter_)
    assert decode_filter(packed) == filter_
    assert decode_filter(memoryview(packed)) == filter_
    for end in range(len(packed)):
        with pytest.raises(FrameError):
            decode_filter(packed[:end])


def test_the_opcodes_are_those_of_c() -> None:
    text = (ROOT / "native" / "tm_api.h").read_text()
    in_c = {name: int(number) for name, number in re.findall(r"#define TM_OP_(\w+) (\d+)", text)}
    assert in_c == {op.name: opcode for op, opcode in OPCODES.items()} | {"NEGATED": NEGATED}
    assert set(OPCODES) == set(Op)


@pytest.mark.parametrize(
    ("constraints", "packed"),
    [
        ((), "90"),
        ((Constraint("a", Op.EXISTS),), "9192a16100"),
        ((Constraint("a", Op.EXISTS, negated=True),), "9192a161cc80"),
        ((Constraint("a", Op.LT, (500,)),), "9193a16106cd01f4"),
        ((Constraint("a", Op.IN, ("X", 1, True)),), "9195a16102c301a158"),
        ((Constraint("a", Op.BETWEEN, (1, 2.5)),), "9194a1610301cb4004000000000000"),
    ],
)
def test_the_bytes_are_frozen(constraints: tuple[Constraint, ...], packed: str) -> None:
    assert encode_filter(Filter(constraints)).hex() == packed
    assert decode_filter(bytes.fromhex(packed)) == Filter(constraints)


@pytest.mark.parametrize(
    "form",
    [
        *(None, 1, "a", {}, [1], [[]], [["a"]], [{"a": 1}], [["a", [], 1]], [["a", 1, [2]]]),
        *([["a", 12, 1]], [["a", 127, 1]], [["a", 140, 1]], [["a", 256, 1]], [["a", -1, 1]], [["a", True, 1]]),
        *([["a", "=", 1]], [["a", 1.0, 1]], [[1, 1, 1]], [["", 1, 1]], [["a" * 257, 1, 1]], [[b"a", 1, 1]]),
        *([["a", 0, 1]], [["a", 1]], [["a", 1, 1, 2]], [["a", 2]], [["a", 3, 1]], [["a", 3, 2, 1]], [["a", 3, 1, "b"]]),
        *(
            [["a", 4, True]],
            [["a", 9, 1]],
            [["a", 1, None]],
            [["a", 1, b"x"]],
            [["a", 1, 2**63]],
            [["a", 1, "x" * 1_025]],
        ),
        *([["a", 9, "x" * 129]], [["a", 2, *range(257)]], [["a", 1, float("nan")]], [["a", 1, 1]] * 17),
    ],
)
def test_a_malformed_filter_is_refused(form: object) -> None:
    with pytest.raises(FrameError) as caught:
        decode_filter(msgpack.packb(form))
    assert caught.value.code == ErrorCode.BAD_FILTER


@pytest.mark.parametrize("packed", ["", "c1", "9000", "dc0010", "ddffffffff", "9192a1", "9193a1ff0101", "91" * 3000])
def test_bytes_that_are_no_filter_are_refused(packed: str) -> None:
    with pytest.raises(FrameError):
        decode_filter(bytes.fromhex(packed))


@given(st.binary(max_size=20))
def test_any_bytes_decode_or_are_refused(data: bytes) -> None:
    try:
        filter_ = decode_filter(data)
    except FrameError:
        return
    assert decode_filter(encode_filter(filter_)) == filter_


def test_a_filter_is_bounded_in_bytes() -> None:
    values = tuple(f"{number:01023}" for number in range(65))
    fits, long = (Filter((Constraint("a", Op.IN, values[:count]),)) for count in (63, 65))
    assert decode_filter(encode_filter(fits)) == fits
    with pytest.raises(Refused, match="65536 bytes"):
        encode_filter(long)
    with pytest.raises(FrameError, match="65536 bytes"):
        decode_filter(bytes(65_537))


def test_everything_is_one_byte() -> None:
    assert encode_filter(EVERYTHING) == b"\x90"
