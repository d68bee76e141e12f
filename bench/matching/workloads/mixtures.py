"""Mixtures for which no engine was tuned: several families of filters, drawn by a seed.

    names      a few, which families share; each has values of one kind (a tenth are of another), even or by Zipf,
               and some are absent from a part of the messages
    families   each names one to four of them, with an operator for each; some are much larger than others
    copies     of some mixtures a part of the filters occur many times

Law: a mixture is drawn from its number alone, so that equal numbers are equal mixtures on every machine. What is drawn
for a mixture does not depend on how many filters are asked for.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from tamis.bench.matching.workloads.kind import Kind, Size
from tamis.bench.matching.workloads.pieces import condition, conjunction, message, pack, zipf
from tamis.protocol.filters import Op
from tamis.protocol.values import Value

MIXTURE_COUNT: Final = 20
_CONDITIONS_MAX = 4
_OTHER_KIND = 0.1
_LIST = 5
_FEW = 20
_INTEGERS, _FRACTIONS = 100_000, 1_000.0
_OPS: Final = {
    "text": (Op.EQ, Op.EQ, Op.EQ, Op.IN, Op.PREFIX),
    "integer": (Op.EQ, Op.BETWEEN, Op.BETWEEN, Op.LT, Op.GT),
    "fraction": (Op.BETWEEN, Op.BETWEEN, Op.LT, Op.GT),
}


@dataclass(frozen=True, slots=True)
class _Name:
    """An attribute name: the kind of its values, how many there are, and the share of messages that have it."""

    name: str
    kind: str
    values: int
    is_skewed: bool
    present: float

    def draw(self, rng: random.Random) -> Value:
        """Return a value: ranks are drawn evenly, or such that small ones are common."""
        rank = int(self.values ** rng.random()) - 1 if self.is_skewed else rng.randrange(self.values)
        if self.kind == "text":
            return f"{self.name}-{rank}"
        if self.kind == "integer":
            return rank * (_INTEGERS // self.values)
        return round(rank * _FRACTIONS / self.values + 0.25, 2)


@dataclass(frozen=True, slots=True)
class _Term:
    """A condition of a family, before its values are drawn; `width` is that of a range, as a share of all values."""

    name: _Name
    op: Op
    width: float
    negated: bool

    def draw(self, rng: random.Random) -> bytes:
        name, value = self.name, self.name.draw(rng)
        if self.op is Op.BETWEEN and not isinstance(value, str):
            return condition(name.name, self.op, value, self._high(value, rng))
        if self.op is Op.IN:
            values = sorted({str(name.draw(rng)) for _ in range(_LIST)} | {f"{name.name}-x", f"{name.name}-y"})
            return condition(name.name, self.op, *values, negated=self.negated)
        return condition(name.name, self.op, value, negated=self.negated)

    def _high(self, low: float, rng: random.Random) -> Value:
        wide = self.width * rng.uniform(0.5, 1.5)
        return (
            int(low + _INTEGERS * wide) + 1 if self.name.kind == "integer" else round(low + _FRACTIONS * wide + 0.01, 2)
        )


@dataclass(frozen=True, slots=True)
class Mixture:
    names: tuple[_Name, ...]
    families: tuple[tuple[_Term, ...], ...]
    weights: tuple[float, ...]
    """Running sums."""
    copied: float
    """The share of filters that are copies of the first few."""

    def filters(self, size: Size, rng: random.Random) -> Iterator[bytes]:
        few: list[bytes] = []
        for _ in range(size.filters):
            if few and rng.random() < self.copied:
                yield rng.choice(few)
                continue
            (family,) = rng.choices(self.families, cum_weights=self.weights)
            drawn = conjunction(*(term.draw(rng) for term in family))
            if len(few) < _FEW:
                few.append(drawn)
            yield drawn

    def messages(self, size: Size, rng: random.Random) -> Iterator[bytes]:
        for _ in range(size.messages):
            parts = [pack(name.name) + pack(_said(name, rng)) for name in self.names if rng.random() < name.present]
            yield message(rng, *parts, pack("serial") + pack(rng.randrange(10**6)))


def _said(name: _Name, rng: random.Random) -> Value:
    if name.present < 1 and rng.random() < _OTHER_KIND:
        return True
    return name.draw(rng)


def _name(number: int, rng: random.Random) -> _Name:
    kind = rng.choice(list(_OPS))
    values = rng.choice([2, 5, 20, 1_000, 50_000]) if kind != "fraction" else rng.choice([1_000, 50_000])
    return _Name(f"{kind[0]}{number}", kind, values, rng.random() < 0.4, rng.choice([1.0, 1.0, 0.7, 0.3]))


def _term(name: _Name, rng: random.Random) -> _Term:
    op = rng.choice(_OPS[name.kind])
    negated = op in (Op.EQ, Op.PREFIX) and rng.random() < 0.1
    return _Term(name, op, 10 ** rng.uniform(-4, -0.5), negated)


def mixture(number: int) -> Mixture:
    """Return the mixture of this number."""
    rng = random.Random(f"mixture {number}")
    names = tuple(_name(i, rng) for i in range(rng.randint(3, 10)))
    families = []
    for _ in range(rng.randint(2, 6)):
        chosen = rng.sample(names, min(rng.randint(1, _CONDITIONS_MAX), len(names)))
        families.append(tuple(_term(name, rng) for name in chosen))
    is_skewed = rng.random() < 0.5
    weights = tuple(accumulate(zipf(rank) if is_skewed else 1.0 for rank in range(len(families))))
    return Mixture(names, tuple(families), weights, rng.choice([0.0, 0.0, 0.1, 0.5]))


def _kind(number: int) -> Kind:
    drawn = mixture(number)
    return Kind(
        about=f"Mixture {number}: {len(drawn.families)} families of filters over {len(drawn.names)} names.",
        hits="few or many",
        filters=drawn.filters,
        messages=drawn.messages,
        messages_measured=(300, 30),
    )


MIXTURES: Final = {f"mixture-{number}": _kind(number) for number in range(1, MIXTURE_COUNT + 1)}
