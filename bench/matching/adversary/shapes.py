"""What a family of hostile shapes is, and the texts that several families are made of.

Law: equal knobs, counts and seeds give equal bytes. A seed of the table's hash is nobody's knob: a client does not
know it.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tamis.bench.matching.workloads.pieces import condition, map_header, pack
from tamis.native import Batch
from tamis.protocol.filters import Op
from tamis.protocol.limits import ATTRIBUTES_MAX, FRAME_BYTES_MAX
from tamis.protocol.values import Value

Knobs = Mapping[str, Any]
MESSAGES: Final = 10
_ROOM: Final = 1_024  # of a frame, for what a message has besides its attributes


@dataclass(frozen=True, slots=True)
class Shape:
    """Packed filters of one client, and packed messages that they are to slow down."""

    filters: list[bytes]
    messages: list[bytes]

    def batches(self) -> tuple[Batch, Batch]:
        return Batch.of(self.filters), Batch.of(self.messages)


Make = Callable[[Knobs, int, random.Random], Shape]


@dataclass(frozen=True, slots=True)
class Family:
    """`knobs` are the values that each may have; `hostile` and `plain` make a shape of a choice of them. `known` are
    choices that did harm once: they are tried first."""

    about: str
    knobs: Mapping[str, tuple[Any, ...]]
    hostile: Make
    plain: Make
    known: tuple[Knobs, ...] = ()


def attributes(named: Iterable[tuple[str, Value]]) -> bytes:
    """A packed message; ValueError if a router would refuse its size."""
    pairs = [pack(name) + pack(value) for name, value in dict(named).items()]
    packed = map_header(len(pairs)) + b"".join(pairs)
    if len(pairs) > ATTRIBUTES_MAX or len(packed) > FRAME_BYTES_MAX - _ROOM:
        raise ValueError(f"a message of {len(pairs)} attributes and {len(packed)} bytes")
    return packed


def where(name: str, op: Op, *operands: Value, negated: bool = False) -> bytes:
    return condition(name, op, *operands, negated=negated)


def letters(rng: random.Random, count: int, alphabet: str = string.ascii_lowercase) -> str:
    return "".join(rng.choices(alphabet, k=count))


def numbered(number: int, length: int, varied: str) -> str:
    """A text of at least six letters that differs from others in six digits alone: at its begin, middle or end, or
    spread over it."""
    digits, filler = f"{number % 1_000_000:06d}", max(length - 6, 0)
    if varied == "spread":
        each, rest = divmod(filler, 6)
        return "".join("x" * each + digit for digit in digits) + "x" * rest
    before = {"begin": 0, "middle": filler // 2, "end": filler}[varied]
    return "x" * before + digits + "x" * (filler - before)
