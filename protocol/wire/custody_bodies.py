"""Bodies of the chain from an entry to a home (CUSTODY_ACK, CUSTODY_ASK, GAP), and between two homes (FINISHED).

Law: each goes from next hop to next hop to the one router that it is for, unread by others; `hops` is how many are
left, so that none circulates. It names the log of both ends: a router that has lost its disk begins another log. The
numbers of a GAP are so few that it fits in the shortest frame that a router must accept.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Final, NamedTuple, cast

from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.limits import (
    CUSTODY_HOPS_MAX,
    CUSTODY_LACKING_MAX,
    FINISHED_RANGES_MAX,
    FINISHED_RUN_MAX,
    GAP_NUMBERS_MAX,
)
from tamis.protocol.wire.body_reader import BodyReader
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.schema import APPENDED, REST, U8, U32, U64, Between, Binary, Name, PositiveU64, Rest

_FINISHED_RANGE: Final = struct.Struct("<QQI")
FINISHED_RANGE_BYTES: Final = _FINISHED_RANGE.size
_BITS: Final = 7
_MORE: Final = 1 << _BITS
_NUMBER_BYTES: Final = 10
"""Of the longest number, packed."""


def packed_numbers(numbers: Iterable[int]) -> bytes:
    """Return rising numbers as the first and the steps between them, each in groups of seven bits, the low ones
    first."""
    packed, before = bytearray(), 0
    for n in numbers:
        step, before = n - before, n
        while step >= _MORE:
            packed.append(step % _MORE | _MORE)
            step >>= _BITS
        packed.append(step)
    return bytes(packed)


def unpacked_numbers(packed: bytes) -> tuple[int, ...]:
    """Return the numbers in `packed`; bytes of an unfinished number at its end are left out."""
    numbers: list[int] = []
    n = step = shift = 0
    for byte in packed:
        step |= (byte % _MORE) << shift
        shift += _BITS
        if byte < _MORE:
            n, step, shift = n + step, 0, 0
            numbers.append(n)
    return tuple(numbers)


@dataclass(frozen=True, slots=True)
class RisingNumbers:
    """The codec of at most `most` rising numbers, packed."""

    most: int

    @property
    def _bytes(self) -> Binary:
        return Binary(0, _NUMBER_BYTES * self.most)

    def read(self, reader: BodyReader) -> tuple[int, ...]:
        packed = self._bytes.read(reader)
        numbers = unpacked_numbers(packed)
        if packed[-1:] >= bytes([_MORE]) or not _are_rising(numbers) or len(numbers) > self.most:
            raise FrameError(ErrorCode.MALFORMED, f"{reader.what}: expected at most {self.most} rising numbers")
        return numbers

    def plain(self, value: object) -> bytes:
        numbers = cast("tuple[int, ...]", value)
        if not _are_rising(numbers) or len(numbers) > self.most:
            raise Refused(f"expected at most {self.most} rising numbers")
        return packed_numbers(numbers)

    def __str__(self) -> str:
        return str(self._bytes)


def _are_rising(numbers: Sequence[int]) -> bool:
    return all(before < n < 1 << 64 for before, n in zip((0, *numbers), numbers, strict=False))


class LogLife(NamedTuple):
    """A life of a log."""

    log: U64
    """The id of the log; a later log of the same router has a greater one."""
    life: U32
    before: U32
    """The life that this one follows; 0: none."""


class ChainRange(NamedTuple):
    """Numbers of a chain, from `first` to `last`."""

    first: U64
    last: U64


NO_LOG: Final = LogLife(0, 0, 0)
"""Of a router without a log."""


@dataclass(frozen=True, slots=True)
class CustodyAck:
    """CUSTODY_ACK (C4): all of the chain up to `have` is on the disk of the home. `window`: the bytes that it takes
    beyond. `lacking`: numbers of which some may be missing in a durable subscription there that wants them, for lack of
    room; all those above `lacking_since`, up to which any may be missing."""

    home: PositiveU64
    home_log: U64
    entry: PositiveU64
    entry_log: U64
    have: U64
    window: U64
    hops: U8 = CUSTODY_HOPS_MAX
    lacking_since: Annotated[U64, APPENDED] = 0
    lacking: Annotated[tuple[ChainRange, ...], Between(0, CUSTODY_LACKING_MAX), APPENDED] = ()
    rest: Annotated[Rest, REST] = field(default=(), compare=False, repr=False)

    @property
    def sender(self) -> int:
        return self.home

    @property
    def receiver(self) -> int:
        return self.entry

    def keeping(self, rest: Rest) -> CustodyAck:
        return replace(self, rest=rest)


@dataclass(frozen=True, slots=True)
class CustodyAsk:
    """CUSTODY_ASK (C3): a home lacks what follows `have`. A GAP in return has its `token`."""

    home: PositiveU64
    home_log: U64
    entry: PositiveU64
    entry_log: U64
    have: U64
    hops: U8 = CUSTODY_HOPS_MAX
    token: Annotated[U64, APPENDED] = 0
    rest: Annotated[Rest, REST] = field(default=(), compare=False, repr=False)

    @property
    def sender(self) -> int:
        return self.home

    @property
    def receiver(self) -> int:
        return self.entry

    def keeping(self, rest: Rest) -> CustodyAsk:
        return replace(self, rest=rest)


@dataclass(frozen=True, slots=True)
class ChainGap:
    """GAP (C7): the numbers that stood in the chain after `previous` and up to `n`, and were given up. No numbers: the
    home had acknowledged `n`, and asked for less (C10). `token` is that of the home's last CUSTODY_ASK; 0: it has sent
    none."""

    entry: PositiveU64
    written: LogLife
    home: PositiveU64
    home_log: U64
    n: U64
    previous: U64
    numbers: Annotated[tuple[int, ...], RisingNumbers(GAP_NUMBERS_MAX)]
    hops: U8 = CUSTODY_HOPS_MAX
    token: Annotated[U64, APPENDED] = 0
    rest: Annotated[Rest, REST] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.n <= self.previous:
            raise Refused(f"a gap goes on from {self.previous} to a later number, not {self.n}")
        if self.numbers and (self.numbers[0] <= self.previous or self.numbers[-1] != self.n):
            raise Refused(f"the numbers of a gap are after {self.previous}, and the last is {self.n}")

    @property
    def sender(self) -> int:
        return self.entry

    @property
    def receiver(self) -> int:
        return self.home

    def keeping(self, rest: Rest) -> ChainGap:
        return replace(self, rest=rest)


@dataclass(frozen=True, slots=True)
class CopyFinished:
    """FINISHED: messages of durable subscription `name` that consumers at `home` are done with, for another home of it.
    `packed` has ranges, which are numbered from `at` on: a publisher, its first counter, and how many follow. Without
    them it is an answer: `home` has all ranges before `at`, and takes others with this `token`."""

    home: PositiveU64
    home_log: U64
    other: PositiveU64
    other_log: U64
    name: Name
    at: U64
    token: U64
    packed: Annotated[bytes, Binary(0, FINISHED_RANGE_BYTES * FINISHED_RANGES_MAX)]
    hops: U8 = CUSTODY_HOPS_MAX
    rest: Annotated[Rest, REST] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.packed) % FINISHED_RANGE_BYTES:
            raise Refused(f"each range takes {FINISHED_RANGE_BYTES} bytes, and there are {len(self.packed)} bytes")
        if any(not 0 < messages <= FINISHED_RUN_MAX for _, _, messages in _FINISHED_RANGE.iter_unpack(self.packed)):
            raise Refused(f"a range has 1 to {FINISHED_RUN_MAX} messages")

    @property
    def sender(self) -> int:
        return self.home

    @property
    def receiver(self) -> int:
        return self.other

    def keeping(self, rest: Rest) -> CopyFinished:
        return replace(self, rest=rest)


CustodyBody = CustodyAck | CustodyAsk | ChainGap | CopyFinished
