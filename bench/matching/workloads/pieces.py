"""What filters and messages are put together from: packed conditions and attributes, and how likely each is.

Law: pieces are packed once and joined as bytes. No object is made for a constraint: a million filters take seconds.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import msgpack

from tamis.native import Batch
from tamis.protocol.filters import Op
from tamis.protocol.values import Value
from tamis.protocol.wire.packed_filters import NEGATED, OPCODES

_BLOCK = 16_384  # draws made at once: `choices` costs a third of single draws
_SHORT = 16  # below so many items the header of an array or map is one byte
_HEAD = 2  # name and opcode

Weighted = Sequence[tuple[Value, float]]


# --- bytes -----------------------------------------------------------------------------------------------------------


def pack(value: Value) -> bytes:
    packed: bytes = msgpack.packb(value)
    return packed


def condition_head(name: str, op: Op, operands: int = 1, *, negated: bool = False) -> bytes:
    """A condition but for its operands, which follow, packed."""
    size = _HEAD + operands
    header = bytes([0x90 | size]) if size < _SHORT else b"\xdc" + size.to_bytes(2, "big")
    return header + pack(name) + bytes([0xCC]) * negated + bytes([OPCODES[op] | NEGATED * negated])


def condition(name: str, op: Op, *operands: Value, negated: bool = False) -> bytes:
    return condition_head(name, op, len(operands), negated=negated) + b"".join(map(pack, operands))


def conjunction(*conditions: bytes) -> bytes:
    """A filter of fewer than 16 conditions, in the order of their names, as in the normal form that a router sees.
    Names have fewer than 32 bytes, and of several conditions each has fewer than 14 operands."""
    return unordered(*(sorted(conditions, key=_name_on) if len(conditions) > 1 else conditions))


def unordered(*conditions: bytes) -> bytes:
    """The same in the order in which they come."""
    return bytes([0x90 | len(conditions)]) + b"".join(conditions)


def _name_on(condition: bytes) -> bytes:
    return condition[2:]  # behind the headers of the array and of the name


def message(rng: random.Random, *attributes: bytes) -> bytes:
    """Attributes are a packed name and a packed value each. Shuffled: an order of popularity, or of the alphabet, would
    flatter a matcher that leaves early."""
    shuffled = list(attributes)
    rng.shuffle(shuffled)
    return map_header(len(shuffled)) + b"".join(shuffled)


def map_header(size: int) -> bytes:
    return bytes([0x80 | size]) if size < _SHORT else b"\xde" + size.to_bytes(2, "big")


def packed(items: Iterable[bytes]) -> Batch:
    """As Batch.of, without a list of a million small objects on the way."""
    data, offsets = bytearray(), array("Q", [0])
    for item in items:
        data += item
        offsets.append(len(data))
    return Batch(data, offsets)


def constraint_count(filters: Batch) -> int:
    """Of filters that `conjunction` or `unordered` made."""
    data, offsets = filters.data, filters.offsets
    return sum(data[offsets[i]] & (_SHORT - 1) for i in range(len(filters)))


# --- distributions ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Choice:
    """Packed pieces and how likely each is, as the running sums that `choices` wants."""

    pieces: list[bytes]
    cumulative: list[float]

    @staticmethod
    def of(weighted: Iterable[tuple[bytes, float]]) -> Choice:
        pieces, weights = zip(*weighted, strict=True)
        return Choice(list(pieces), list(accumulate(weights)))

    def draw(self, rng: random.Random) -> Iterator[bytes]:
        """Without end."""
        while True:
            yield from rng.choices(self.pieces, cum_weights=self.cumulative, k=_BLOCK)


def zipf(rank: int) -> float:
    return 1 / (rank + 1)


def evenly(values: Sequence[Value], share: float = 1.0) -> Weighted:
    return [(value, share / len(values)) for value in values]


def named(names: Sequence[str], weight: Callable[[int], float]) -> Choice:
    return Choice.of((pack(name), weight(rank)) for rank, name in enumerate(names))


def choice_of(weighted: Weighted) -> Choice:
    return Choice.of((pack(value), weight) for value, weight in weighted)


def distinct(names: Iterator[bytes], size: int) -> list[bytes]:
    chosen: dict[bytes, None] = {}
    while len(chosen) < size:
        chosen[next(names)] = None
    return list(chosen)
