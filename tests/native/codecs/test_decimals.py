"""Floats as text: the powers of ten, and that Python reads and writes the same."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis.native
from tamis.native.codecs import EventForm, EventWriter
from tests.native.codecs.deliveries import deliver

POWERS = Path(tamis.native.__file__).parent / "relay" / "codecs" / "powers.c"
WRITER = EventWriter(EventForm.NDJSON)


def ceiling(exponent: int) -> int:
    """Return 10^exponent / 2^n, rounded up, with 128 bits."""
    power = 10 ** abs(exponent)
    if exponent >= 0:
        return -(-power * 2**128 // 2 ** power.bit_length())
    shift = 126 + power.bit_length()
    found = -(-(2**shift) // power)
    return found if found >= 2**127 else -(-(2 ** (shift + 1)) // power)


def test_the_powers_are_what_they_are_said_to_be() -> None:
    found = [int(high + low, 16) for high, low in re.findall(r"\{0x(\w{16}), 0x(\w{16})\}", POWERS.read_text())]
    assert found == [ceiling(exponent) for exponent in range(-342, 325)]


def check(reals: list[float]) -> None:
    """Each is written as `repr` writes it."""
    text = WRITER.write(b"".join(deliver({"x": real}) for real in reals)).text
    lines = text.decode().splitlines()
    assert len(lines) == len(reals)
    for real, line in zip(reals, lines, strict=True):
        assert line == f'{{"attributes":{{"x":{real!r}}},"payload":""}}'
        read = json.loads(line)["attributes"]["x"]
        assert struct.pack("<d", read) == struct.pack("<d", real)


@pytest.mark.slow
def test_floats_of_all_sizes_are_written_as_python_writes_them() -> None:
    random = Random(5)
    reals = [struct.unpack("<d", random.randbytes(8))[0] for _ in range(4_000)]
    reals += [2.0**power for power in range(-1074, 1024)]
    reals += [
        sign * float(f"{random.randrange(10**digits)}e{random.randint(-30, 30)}")
        for sign in (1, -1)
        for digits in range(1, 18)
        for _ in range(30)
    ]
    reals += [
        0.0,
        -0.0,
        5e-324,
        1e16,
        1e15,
        123456789012345680.0,
        1e-4,
        1e-5,
        9007199254740993.0,
        1.7976931348623157e308,
    ]
    sound = [real for real in reals if real - real == 0]
    for first in range(0, len(sound), 1_000):
        check(sound[first : first + 1_000])


@pytest.mark.slow
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_floats_are_written_as_python_writes_them(reals: list[float]) -> None:
    check(reals)
