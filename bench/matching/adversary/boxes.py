"""Boxes: ranges over the same names that a message lies beside: all but one hold, or the boxes are equal or nested."""

from __future__ import annotations

import random
from collections.abc import Callable

from tamis.bench.matching.adversary.shapes import MESSAGES, Family, Knobs, Shape, attributes, where
from tamis.bench.matching.workloads.pieces import conjunction
from tamis.protocol.filters import Op
from tamis.protocol.values import Value

_MIDDLE, _MOST = 500_000, 1_000_000
_HITS = 10

Box = list[tuple[int, int]]


def _one_missed(number: int, dimensions: int, rng: random.Random) -> Box:
    """Wide in all names but one, where it begins just behind the message."""
    box = [(rng.randrange(_MIDDLE), _MIDDLE + 1 + rng.randrange(_MIDDLE)) for _ in range(dimensions)]
    low = _MIDDLE + 1 + rng.randrange(_MIDDLE // 2)
    box[number % dimensions] = (low, low + 1 + rng.randrange(_MIDDLE // 2))
    return box


def _last_missed(_number: int, dimensions: int, rng: random.Random) -> Box:
    return [*_one_missed(0, dimensions, rng)[1:], _one_missed(0, 1, rng)[0]]


def _nested(number: int, dimensions: int, _rng: random.Random) -> Box:
    """All around a point beside the message."""
    return [(_MIDDLE - number, _MIDDLE + 1 + number)] * (dimensions - 1) + [(_MIDDLE + 1 + number // 2, _MOST + number)]


def _equal(_number: int, dimensions: int, _rng: random.Random) -> Box:
    return [(0, _MOST)] * (dimensions - 1) + [(_MIDDLE + 1, _MOST)]


def _crosses(number: int, dimensions: int, rng: random.Random) -> Box:
    """Thin in one name, somewhere; the whole in the others."""
    box = [(0, _MOST)] * dimensions
    low = rng.randrange(_MOST)
    box[number % dimensions] = (low, low + 20)
    return box


def _touching(number: int, dimensions: int, rng: random.Random) -> Box:
    """The message lies on the corner: outside by one in one name, on the bound in the others."""
    box = [(rng.randrange(_MIDDLE), _MIDDLE) for _ in range(dimensions)]
    box[number % dimensions] = (rng.randrange(_MIDDLE - 1), _MIDDLE - 1)
    return box


_STYLES: dict[str, Callable[[int, int, random.Random], Box]] = {
    "one missed": _one_missed,
    "last missed": _last_missed,
    "nested": _nested,
    "equal": _equal,
    "crosses": _crosses,
    "touching": _touching,
}


def _small(_number: int, dimensions: int, count: int, rng: random.Random) -> Box:
    """A plain one: a message lies in ten of them."""
    side = min(_HITS / count, 1) ** (1 / dimensions)
    lows = [rng.random() * (1 - side) for _ in range(dimensions)]
    return [(int(_MOST * low), int(_MOST * (low + side))) for low in lows]


def _value(knobs: Knobs, number: int) -> Value:
    if knobs["kind"] == "string":
        return f"{number:07d}"
    return number if knobs["kind"] == "integer" else number + 0.25


def _names(knobs: Knobs, family: int) -> list[str]:
    return [f"f{family:02d}n{k}" for k in range(knobs["dimensions"])]


def _filter(knobs: Knobs, number: int, box: Box) -> bytes:
    parts = [
        where(name, Op.BETWEEN, _value(knobs, low), _value(knobs, high))
        for name, (low, high) in zip(_names(knobs, number % knobs["families"]), box, strict=True)
    ]
    return conjunction(*parts, *([where("c", Op.EQ, "c")] if knobs["shared"] else []))


def _message(knobs: Knobs, places: Callable[[], int]) -> bytes:
    names = [name for family in range(knobs["families"]) for name in _names(knobs, family)]
    return attributes([("c", "c"), *((name, _value(knobs, places())) for name in names)])


def _hostile(knobs: Knobs, count: int, rng: random.Random) -> Shape:
    style = _STYLES[knobs["style"]]
    filters = [_filter(knobs, i, style(i, knobs["dimensions"], rng)) for i in range(count)]
    return Shape(filters, [_message(knobs, lambda: _MIDDLE)] * MESSAGES)


def _plain(knobs: Knobs, count: int, rng: random.Random) -> Shape:
    filters = [_filter(knobs, i, _small(i, knobs["dimensions"], count, rng)) for i in range(count)]
    return Shape(filters, [_message(knobs, lambda: rng.randrange(_MOST)) for _ in range(MESSAGES)])


BOXES = Family(
    about="10,000 boxes that a message just misses",
    knobs={
        "style": tuple(_STYLES),
        "dimensions": (2, 3, 5, 7),
        "families": (1, 3, 9),
        "kind": ("integer", "fraction", "string"),
        "shared": (False, True),
    },
    hostile=_hostile,
    plain=_plain,
    known=({"style": "one missed", "dimensions": 2, "families": 1, "kind": "fraction", "shared": False},),
)
