"""Names, strings and numbers that a stranger chose so that they collide: counted by the slots that searches look at.

Law: against every one of these tables a search costs at most twice what it costs where chance alone chose the keys.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable, Iterable
from functools import cache

import msgpack
import pytest

from tamis.native import Batch, Table, decode_attributes
from tamis.native.table import Probes
from tamis.protocol.errors import Refused
from tamis.protocol.filters import Op
from tamis.protocol.wire.attributes import encode_attributes
from tamis.protocol.wire.packed_filters import OPCODES

COUNT = 10_000
SEEDS = (None, 0, 1, 2**64 - 1)
OLD_K2, OLD_SIZE = 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3
OLD_FACTORS = (0xD6E8FEB86659FD93, 0x9E3779B97F4A7C15)


def table_of(engine: str, seed: int | None, rows: Iterable[list[object]]) -> Table:
    """One filter of one constraint for each row, each of an interface of its own."""
    packed = [msgpack.packb([row]) for row in rows]
    table = Table(engine, hash_seed=seed)
    table.add_many(Batch.of(packed), array("I", range(len(packed))))
    return table


def equal(name: str, value: object) -> list[object]:
    return [name, OPCODES[Op.EQ], value]


def zero_tail(size: int) -> str:
    """The last eight bytes with which a factor of the unkeyed hash was zero, whatever came before."""
    return ((OLD_K2 ^ size * OLD_SIZE) % 2**64).to_bytes(8, "little").decode()


def undone(hash_: int) -> int:
    """The integer that the unkeyed hash of numbers turned into this."""
    word = hash_ ^ hash_ >> 32
    word = word * pow(OLD_FACTORS[0], -1, 2**64) % 2**64
    word ^= word >> 32
    return word * pow(OLD_FACTORS[1], -1, 2**64) % 2**64


def wide(count: int) -> list[int]:
    """Integers without a code in the table, all with the same last 32 bits under the unkeyed hash."""
    words = (undone(high << 32 | 42) for high in range(4 * count))
    return [word - 2**64 if word >= 2**63 else word for word in words if 2**32 < word % 2**63 < 2**63 - 2**32][:count]


@cache
def wide_numbers() -> list[int]:
    return wide(1_000)


SHAPES: dict[str, Callable[[int], list[object]]] = {
    "sensors.%08d.celsius": lambda i: equal(f"sensors.{i:08d}.celsius", 2),
    "long names": lambda i: equal(f"{'p' * 100}{i:08d}{'s' * 100}", 2),
    "a tail that made a product zero": lambda i: equal("x", f"{i:08d}{'x' * 109}{zero_tail(125)}"),
    "the same under 64 names": lambda i: equal(f"x{i % 64}", f"{i:08d}{'x' * 109}{zero_tail(125)}"),
    "suffixes": lambda i: ["x", OPCODES[Op.SUFFIX], f"{i:08d}sssssssssssss"],
    "fractions": lambda i: equal("x", i + 0.5),
    "large fractions": lambda i: equal("x", (i + 0.5) * 2.0**20),
}


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_names_and_values_spread(engine: str, shape: str, seed: int | None) -> None:
    rng = random.Random(1)
    chosen = table_of(engine, seed, (SHAPES[shape](i) for i in range(COUNT))).probes()
    chance = table_of(engine, seed, (SHAPES[shape](rng.randrange(10**8)) for _ in range(COUNT))).probes()
    assert_plain(chosen, chance)


@pytest.mark.parametrize("seed", SEEDS)
def test_wide_integers_spread(engine: str, seed: int | None) -> None:
    """The unkeyed hash put all of them into one bucket, whose rows a message looks at one by one."""
    numbers = wide_numbers()
    rng = random.Random(1)
    table = table_of(engine, seed, (equal("x", number) for number in numbers))
    chance = table_of(engine, seed, (equal("x", rng.randrange(2**40, 2**62)) for _ in numbers))
    assert_plain(table.probes(), chance.probes())
    for number in numbers[:5]:
        assert table.match({"x": number}) == [numbers.index(number)]


def test_sixteen_bytes_or_seventeen(engine: str) -> None:
    """A name is compared whole, whichever way its hash is made."""
    for size in (1, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 255, 256):
        names = ["n" * size, "n" * (size - 1) + "m", "m" + "n" * (size - 1)]
        table = table_of(engine, 1, (equal(name, 2) for name in dict.fromkeys(names)))
        assert [table.match({name: 2}) for name in dict.fromkeys(names)] == [[i] for i in range(len(set(names)))]
        assert table.match({"n" * (size // 2) + "q" + "n" * (size - size // 2 - 1): 2}) == []


def assert_plain(chosen: Probes, chance: Probes) -> None:
    assert chosen.mean <= 2 * chance.mean
    assert chosen.longest <= 2 * chance.longest + 32, (chosen, chance)


# --- names of one message ------------------------------------------------------------------------------------------

PLACES = 512
LOW, HIGH = 0x9E3779B97F4A7C15, 0xE7037ED1A0B428DB
"""The key of the places in model/message.c, which everybody may read."""


def fold(a: int, b: int) -> int:
    return a * b % 2**64 ^ a * b >> 64


def place(name: str) -> int:
    """Of a name of 8 to 16 bytes."""
    data = name.encode()
    low, high = int.from_bytes(data[:8], "little"), int.from_bytes(data[-8:], "little")
    return (fold(low ^ LOW, high ^ HIGH) ^ len(data)) % PLACES


def test_names_that_meet_are_told_apart():
    """So many at one place are sorted instead of compared in pairs."""
    names = [name for i in range(20_000) if place(name := f"name{i:08d}") == 7][:30]
    assert len(names) == 30
    assert decode_attributes(encode_attributes(dict.fromkeys(names, 1))) == dict.fromkeys(names, 1)
    pair = msgpack.packb(names[0]) + b"\x01"
    for at in (0, 1, 15, 28):
        others = [msgpack.packb(name) + b"\x01" for name in names[1:]]
        others.insert(at, pair)
        with pytest.raises(Refused):
            decode_attributes(b"\xde\x00\x1f" + pair + b"".join(others))
