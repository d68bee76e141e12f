"""Seeded filters and messages, in the wire forms that a router sees.

    sigcomm03   paper 004, table 1: names by Zipf; half strings (of 1,000 words) and half integers (of 100), drawn
                evenly; 1 to 9 constraints a filter, 1 to 19 attributes a message
    cu922       paper 000, section 4.1: names drawn evenly; 40 % strings, 40 % integers, 20 % booleans, values by a
                linear distribution; 1 to 5 constraints a filter, 3 to 10 attributes a message
    market      symbol = "S<k>" and side = "buy" and price < N, symbols by Zipf
    prices      one attribute in hundredths, names and values drawn evenly: half of the filters are `between` bounds up
                to 5.00 apart, the others `<` or `>`; 5 attributes a message

Law: equal arguments give equal bytes, on every machine; the messages do not depend on how many filters there are. The
order of a message's attributes is shuffled: popular names first would flatter a matcher that leaves early.

Where the papers are silent: a filter names an attribute once (two equalities on one name would contradict each other
and a network refuses such a filter); the linear distribution of cu922 gives the k-th of n values the weight n - k, over
100 words and the integers 0 to 99; its booleans take `=` alone, since ours have no order.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import msgpack

from tamis.bench.matching import words
from tamis.native import Batch
from tamis.protocol.filters import Op
from tamis.protocol.values import Value
from tamis.protocol.wire.packed_filters import OPCODES

_BLOCK = 16_384  # draws made at once: `choices` costs a third of single draws


@dataclass(frozen=True, slots=True)
class Workload:
    """Which interface a filter belongs to is said apart, by `spread`: it changes nothing in the bytes."""

    filters: Batch
    messages: Batch
    constraint_count: int


@dataclass(frozen=True, slots=True)
class _Choice:
    """Packed pieces and how likely each is, as the running sums that `choices` wants."""

    pieces: list[bytes]
    cumulative: list[float]

    @staticmethod
    def of(weighted: Iterable[tuple[bytes, float]]) -> _Choice:
        pieces, weights = zip(*weighted, strict=True)
        return _Choice(list(pieces), list(accumulate(weights)))

    def draw(self, rng: random.Random) -> Iterator[bytes]:
        """Without end."""
        while True:
            yield from rng.choices(self.pieces, cum_weights=self.cumulative, k=_BLOCK)


@dataclass(frozen=True, slots=True)
class _Model:
    """The distributions of a paper. A condition is an operator and its operand, packed."""

    names: _Choice
    conditions: _Choice
    values: _Choice
    constraints_per_filter: range
    attributes_per_message: range

    def filters(self, count: int, rng: random.Random) -> tuple[Batch, int]:
        sizes = self._sizes(self.constraints_per_filter, count, rng)
        names, conditions = self.names.draw(rng), self.conditions.draw(rng)
        packed = (
            bytes([0x90 | size]) + b"".join(b"\x93" + name + next(conditions) for name in _distinct(names, size))
            for size in sizes
        )
        return _packed(packed), sum(sizes)

    def messages(self, count: int, rng: random.Random) -> Batch:
        names, values = self.names.draw(rng), self.values.draw(rng)
        packed = []
        for size in self._sizes(self.attributes_per_message, count, rng):
            chosen = _distinct(names, size)
            rng.shuffle(chosen)
            packed.append(_map_header(size) + b"".join(name + next(values) for name in chosen))
        return _packed(packed)

    def _sizes(self, allowed: range, count: int, rng: random.Random) -> list[int]:
        return [min(size, len(self.names.pieces)) for size in rng.choices(allowed, k=count)]


def make(workload: str, filter_count: int, message_count: int, name_count: int, seed: int) -> Workload:
    """The workload of this name; `name_count` is how many attribute names there are (for market: symbols)."""
    if workload not in WORKLOADS:
        raise ValueError(f"no workload {workload!r}; one of {', '.join(WORKLOADS)}")
    filter_rng, message_rng = (random.Random(f"{workload} {part} {seed}") for part in ("filters", "messages"))
    return WORKLOADS[workload](filter_count, message_count, name_count, filter_rng, message_rng)


def spread(filter_count: int, interface_count: int) -> array[int]:
    """The interface of each filter: dealt out in turn, so that every interface has the same number of them, give or
    take one. The filters are drawn independently, so this is as random as drawing the interfaces too."""
    return array("I", (index % interface_count for index in range(filter_count)))


def _sigcomm03(
    filter_count: int, message_count: int, name_count: int, filter_rng: random.Random, message_rng: random.Random
) -> Workload:
    strings = {Op.EQ: 0.35, Op.PREFIX: 0.15, Op.SUFFIX: 0.15, Op.CONTAINS: 0.15, Op.LT: 0.10, Op.GT: 0.10}
    integers = {Op.EQ: 0.60, Op.LT: 0.20, Op.GT: 0.20}
    words_evenly = _evenly(words.words(1000), 0.5)
    integers_evenly = _evenly(range(100), 0.5)
    model = _Model(
        names=_named(name_count, _zipf),
        conditions=_Choice.of([*_conditions(strings, words_evenly), *_conditions(integers, integers_evenly)]),
        values=_values([*words_evenly, *integers_evenly]),
        constraints_per_filter=range(1, 10),
        attributes_per_message=range(1, 20),
    )
    return _drawn(model, filter_count, message_count, filter_rng, message_rng)


def _cu922(
    filter_count: int, message_count: int, name_count: int, filter_rng: random.Random, message_rng: random.Random
) -> Workload:
    ordered = {Op.EQ: 0.60, Op.LT: 0.20, Op.GT: 0.20}
    strings, integers = _linear(words.words(100), 0.4), _linear(range(100), 0.4)
    booleans = _evenly([False, True], 0.2)
    conditions = [_conditions(ordered, strings), _conditions(ordered, integers), _conditions({Op.EQ: 1.0}, booleans)]
    model = _Model(
        names=_named(name_count, lambda _rank: 1.0),
        conditions=_Choice.of(pair for kind in conditions for pair in kind),
        values=_values([*strings, *integers, *booleans]),
        constraints_per_filter=range(1, 6),
        attributes_per_message=range(3, 11),
    )
    return _drawn(model, filter_count, message_count, filter_rng, message_rng)


def _market(
    filter_count: int, message_count: int, name_count: int, filter_rng: random.Random, message_rng: random.Random
) -> Workload:
    symbols = _Choice.of((_pack(f"S{rank}"), _zipf(rank)) for rank in range(name_count))
    symbol, side, price = (_pack(name) for name in ("symbol", "side", "price"))
    equal, less = _pack(OPCODES[Op.EQ]), _pack(OPCODES[Op.LT])
    head, middle = b"\x93\x93" + symbol + equal, b"\x93" + side + equal + _pack("buy") + b"\x93" + price + less
    wanted = symbols.draw(filter_rng)
    filters = (head + next(wanted) + middle + _pack(filter_rng.randint(1, 1000)) for _ in range(filter_count))
    offered = symbols.draw(message_rng)
    packed = []
    for _ in range(message_count):
        sides = _pack(message_rng.choice(["buy", "sell"]))
        parts = [symbol + next(offered), side + sides, price + _pack(message_rng.randint(1, 1000))]
        message_rng.shuffle(parts)
        packed.append(_map_header(len(parts)) + b"".join(parts))
    return Workload(_packed(filters), _packed(packed), 3 * filter_count)


def _prices(
    filter_count: int, message_count: int, name_count: int, filter_rng: random.Random, message_rng: random.Random
) -> Workload:
    names = _named(name_count, lambda _rank: 1.0)

    def condition() -> bytes:
        low = filter_rng.randrange(100_000)
        op = filter_rng.choice([Op.BETWEEN, Op.BETWEEN, Op.LT, Op.GT])
        bounds = [low, low + filter_rng.randint(1, 500)] if op is Op.BETWEEN else [low]
        return _pack(OPCODES[op]) + b"".join(_pack(bound / 100) for bound in bounds)

    def values() -> Iterator[bytes]:
        while True:
            yield _pack(message_rng.randrange(100_000) / 100)

    chosen = names.draw(filter_rng)
    conditions = (condition() for _ in range(filter_count))
    filters = (bytes([0x91, 0x93 + (part[0] == OPCODES[Op.BETWEEN])]) + next(chosen) + part for part in conditions)
    size, offered, value = min(5, name_count), names.draw(message_rng), values()
    messages = (
        _map_header(size) + b"".join(name + next(value) for name in _distinct(offered, size))
        for _ in range(message_count)
    )
    return Workload(_packed(filters), _packed(messages), filter_count)


WORKLOADS: dict[str, Callable[[int, int, int, random.Random, random.Random], Workload]] = {
    "sigcomm03": _sigcomm03,
    "cu922": _cu922,
    "market": _market,
    "prices": _prices,
}


def _drawn(
    model: _Model, filter_count: int, message_count: int, filter_rng: random.Random, message_rng: random.Random
) -> Workload:
    filters, constraint_count = model.filters(filter_count, filter_rng)
    return Workload(filters, model.messages(message_count, message_rng), constraint_count)


# --- distributions ---------------------------------------------------------------------------------------------------

_Weighted = Sequence[tuple[Value, float]]


def _zipf(rank: int) -> float:
    return 1 / (rank + 1)


def _evenly(values: Sequence[Value], share: float) -> _Weighted:
    return [(value, share / len(values)) for value in values]


def _linear(values: Sequence[Value], share: float) -> _Weighted:
    count = len(values)
    return [(value, share * (count - rank) / (count * (count + 1) / 2)) for rank, value in enumerate(values)]


def _named(count: int, weight: Callable[[int], float]) -> _Choice:
    return _Choice.of((_pack(name), weight(rank)) for rank, name in enumerate(words.names(count)))


def _conditions(ops: dict[Op, float], values: _Weighted) -> Iterator[tuple[bytes, float]]:
    for op, share in ops.items():
        number = _pack(OPCODES[op])
        yield from ((number + _pack(value), share * weight) for value, weight in values)


def _values(weighted: _Weighted) -> _Choice:
    return _Choice.of((_pack(value), weight) for value, weight in weighted)


# --- bytes -----------------------------------------------------------------------------------------------------------


def _pack(value: Value) -> bytes:
    packed: bytes = msgpack.packb(value)
    return packed


def _map_header(size: int) -> bytes:
    return bytes([0x80 | size]) if size < 16 else b"\xde" + size.to_bytes(2, "big")


def _distinct(names: Iterator[bytes], size: int) -> list[bytes]:
    chosen: dict[bytes, None] = {}
    while len(chosen) < size:
        chosen[next(names)] = None
    return list(chosen)


def _packed(items: Iterable[bytes]) -> Batch:
    """As Batch.of, without a list of a million small objects on the way."""
    data, offsets = bytearray(), array("Q", [0])
    for item in items:
        data += item
        offsets.append(len(data))
    return Batch(data, offsets)
