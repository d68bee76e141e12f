"""The workloads of the papers, and paper 004's with values that do not repeat.

    sigcomm03   paper 004, table 1: names by Zipf; half strings (of 1,000 words) and half integers (of 100), drawn
                evenly; 1 to 9 constraints a filter, 1 to 19 attributes a message; the filters of an interface are a
                number from 1 to twice the mean, evenly drawn (`sigcomm03-even`: the mean)
    words       the same with 50,000 words and 10^6 integers
    gryphon     paper 002, chart 2: 10 attributes of 3 values; `gryphon-5`, chart 1: of 5 values
    cu922       paper 000, section 4.1: names drawn evenly; 40 % strings, 40 % integers, 20 % booleans, values by a
                linear distribution; 1 to 5 constraints a filter, 3 to 10 attributes a message

Law: messages do not depend on how many filters there are.

Where the papers are silent: a filter names an attribute once (two equalities on one name would contradict each other
and a network refuses such a filter); the linear distribution of cu922 gives the k-th of n values the weight n - k, over
100 words and the integers 0 to 99; its booleans take `=` alone, since ours have no order. Constraints stand in the
order in which they were drawn, popular names first, and not in that of the normal form.
Paper 002 gives no exponent of its Zipf distributions (1 here) and does not say how regions differ (the values are
turned by the region; filters and messages come from all three); nor can its probabilities give its selectivity, so that
more match here than it says.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from tamis.bench.matching import words
from tamis.bench.matching.workloads.kind import Kind, Size, unevenly
from tamis.bench.matching.workloads.kind import evenly as deal_evenly
from tamis.bench.matching.workloads.pieces import (
    Choice,
    Weighted,
    choice_of,
    condition_head,
    distinct,
    evenly,
    map_header,
    message,
    named,
    pack,
    unordered,
    zipf,
)
from tamis.protocol.filters import Op
from tamis.protocol.values import Value
from tamis.protocol.wire.packed_filters import OPCODES

_STRINGS = {Op.EQ: 0.35, Op.PREFIX: 0.15, Op.SUFFIX: 0.15, Op.CONTAINS: 0.15, Op.LT: 0.10, Op.GT: 0.10}
_INTEGERS = {Op.EQ: 0.60, Op.LT: 0.20, Op.GT: 0.20}

Pieces = Callable[[random.Random], Iterator[bytes]]


@dataclass(frozen=True, slots=True)
class _Model:
    """The distributions of a paper. A condition is an operator and its operand, packed."""

    weight: Callable[[int], float]
    conditions: Pieces
    values: Pieces
    constraints_per_filter: range
    attributes_per_message: range

    def filters(self, size: Size, rng: random.Random) -> Iterator[bytes]:
        counts = _counts(self.constraints_per_filter, size.filters, size.names, rng)
        names, conditions = self._names(size, rng), self.conditions(rng)
        for count in counts:
            yield unordered(*[b"\x93" + name + next(conditions) for name in distinct(names, count)])

    def messages(self, size: Size, rng: random.Random) -> Iterator[bytes]:
        counts = _counts(self.attributes_per_message, size.messages, size.names, rng)
        names, values = self._names(size, rng), self.values(rng)
        for count in counts:
            chosen = distinct(names, count)
            rng.shuffle(chosen)
            yield map_header(count) + b"".join(name + next(values) for name in chosen)

    def _names(self, size: Size, rng: random.Random) -> Iterator[bytes]:
        return named(words.names(size.names), self.weight).draw(rng)


def _counts(allowed: range, count: int, most: int, rng: random.Random) -> list[int]:
    return [min(size, most) for size in rng.choices(allowed, k=count)]


def _conditions(ops: dict[Op, float], values: Weighted) -> Iterator[tuple[bytes, float]]:
    for op, share in ops.items():
        number = pack(OPCODES[op])
        yield from ((number + pack(value), share * weight) for value, weight in values)


# --- paper 004 -------------------------------------------------------------------------------------------------------


def _sigcomm03_conditions(rng: random.Random) -> Iterator[bytes]:
    strings, integers = evenly(words.words(1000), 0.5), evenly(range(100), 0.5)
    return Choice.of([*_conditions(_STRINGS, strings), *_conditions(_INTEGERS, integers)]).draw(rng)


def _sigcomm03_values(rng: random.Random) -> Iterator[bytes]:
    return choice_of([*evenly(words.words(1000), 0.5), *evenly(range(100), 0.5)]).draw(rng)


_SIGCOMM03 = _Model(zipf, _sigcomm03_conditions, _sigcomm03_values, range(1, 10), range(1, 20))

SIGCOMM03 = Kind(
    about="Paper 004, table 1, to the letter: filters of 1 to 9 constraints on 1,000 names, drawn by a generator.",
    hits="about F / 550",
    filters=_SIGCOMM03.filters,
    messages=_SIGCOMM03.messages,
    deal=unevenly,
    interfaces=(20, 200, None),
)
SIGCOMM03_EVEN = replace(
    SIGCOMM03,
    about="The filters of paper 004, with as many on each interface: the first measurement of this project.",
    deal=deal_evenly,
    interfaces=(20, 200),
    drawn_as="sigcomm03",
)


# --- values that do not repeat ---------------------------------------------------------------------------------------

_WORDS, _NUMBERS = 50_000, 10**6


def _open_conditions(rng: random.Random) -> Iterator[bytes]:
    kinds = [(op, share, True) for op, share in _STRINGS.items()] + [
        (op, share, False) for op, share in _INTEGERS.items()
    ]
    pieces = [(pack(OPCODES[op]), is_string) for op, _, is_string in kinds]
    values = _OpenValues(rng)
    while True:
        for op, is_string in rng.choices(pieces, [share for _, share, _ in kinds], k=1_000):
            yield op + (values.word() if is_string else values.number())


def _open_values(rng: random.Random) -> Iterator[bytes]:
    values = _OpenValues(rng)
    while True:
        yield values.word() if rng.random() < 0.5 else values.number()


class _OpenValues:
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._words = [pack(word) for word in words.words(_WORDS)]

    def word(self) -> bytes:
        return self._words[int(self._rng.random() * _WORDS)]

    def number(self) -> bytes:
        return pack(int(self._rng.random() * _NUMBERS))


_OPEN = replace(_SIGCOMM03, conditions=_open_conditions, values=_open_values)

WORDS = replace(
    SIGCOMM03,
    about="Filters with arbitrary words and numbers: those of paper 004 with 50,000 words and 10^6 integers.",
    hits="about F / 640",
    filters=_OPEN.filters,
    messages=_OPEN.messages,
    interfaces=(None,),
)


# --- paper 000 -------------------------------------------------------------------------------------------------------


def _linear(values: Sequence[Value], share: float) -> Weighted:
    count = len(values)
    return [(value, share * (count - rank) / (count * (count + 1) / 2)) for rank, value in enumerate(values)]


def _cu922_of_each_type() -> tuple[Weighted, Weighted, Weighted]:
    return _linear(words.words(100), 0.4), _linear(range(100), 0.4), evenly([False, True], 0.2)


def _cu922_conditions(rng: random.Random) -> Iterator[bytes]:
    strings, integers, booleans = _cu922_of_each_type()
    conditions = [
        _conditions(_INTEGERS, strings),
        _conditions(_INTEGERS, integers),
        _conditions({Op.EQ: 1.0}, booleans),
    ]
    return Choice.of(pair for kind in conditions for pair in kind).draw(rng)


def _cu922_values(rng: random.Random) -> Iterator[bytes]:
    return choice_of([pair for of_type in _cu922_of_each_type() for pair in of_type]).draw(rng)


_CU922 = _Model(lambda _rank: 1.0, _cu922_conditions, _cu922_values, range(1, 6), range(3, 11))

CU922 = Kind(
    about="Paper 000, section 4.1: filters of 1 to 5 constraints, values by a linear distribution.",
    hits="about F / 9,000",
    filters=_CU922.filters,
    messages=_CU922.messages,
)


# --- paper 002 -------------------------------------------------------------------------------------------------------

_GRYPHON_NAMES = [f"a{rank}" for rank in range(10)]
_REGIONS = 3
_FIRST_SHARE = 0.98  # of the filters that care about the first attribute; each further one is `decay` times as likely


def _gryphon_values(values: int, rng: random.Random) -> Iterator[int]:
    """Of one region: by Zipf, each time from another first value on."""
    weights, turn = [zipf(rank) for rank in range(values)], rng.randrange(_REGIONS)
    while True:
        yield (rng.choices(range(values), weights)[0] + turn) % values


def _gryphon_filters(values: int, decay: float, size: Size, rng: random.Random) -> Iterator[bytes]:
    heads = [condition_head(name, Op.EQ) for name in _GRYPHON_NAMES]
    for _ in range(size.filters):
        drawn = _gryphon_values(values, rng)
        cares = [rng.random() < _FIRST_SHARE * decay**rank for rank in range(len(heads))]
        yield unordered(*(head + pack(next(drawn)) for head, care in zip(heads, cares, strict=True) if care))


def _gryphon_messages(values: int, size: Size, rng: random.Random) -> Iterator[bytes]:
    names = [pack(name) for name in _GRYPHON_NAMES]
    for _ in range(size.messages):
        drawn = _gryphon_values(values, rng)
        yield message(rng, *(name + pack(next(drawn)) for name in names))


def _gryphon(about: str, hits: str, values: int, decay: float) -> Kind:
    return Kind(about, hits, partial(_gryphon_filters, values, decay), partial(_gryphon_messages, values))


GRYPHON = _gryphon(
    "Paper 002, chart 2: brokers of one feed whose 10 attributes have 3 values each; most filters use the first ones.",
    "about F / 60",
    3,
    0.82,
)
GRYPHON_5 = _gryphon("Paper 002, chart 1: as chart 2 with 5 values each.", "about F / 315", 5, 0.85)

PAPERS = {
    "sigcomm03": SIGCOMM03,
    "sigcomm03-even": SIGCOMM03_EVEN,
    "cu922": CU922,
    "words": WORDS,
    "gryphon": GRYPHON,
    "gryphon-5": GRYPHON_5,
}
