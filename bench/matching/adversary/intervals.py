"""Intervals: ranges on one name, or a few, that end just before the message or begin just behind it."""

from __future__ import annotations

import random
from collections.abc import Callable

from tamis.bench.matching.adversary.shapes import MESSAGES, Family, Knobs, Shape, attributes, where
from tamis.bench.matching.workloads.pieces import unordered
from tamis.protocol.filters import Op
from tamis.protocol.values import Value

_MIDDLE, _MOST = 500_000_000, 1_000_000_000
_HITS = 10

Interval = tuple[int, int]

_STYLES: dict[str, Callable[[int, random.Random], Interval]] = {
    "nested before": lambda number, _rng: (number, _MIDDLE - 1 - number),
    "nested behind": lambda number, _rng: (_MIDDLE + 1 + number, _MOST - number),
    "ends before": lambda number, rng: (rng.randrange(_MIDDLE // 2), _MIDDLE - 1 - number),
    "begins behind": lambda number, rng: (_MIDDLE + 1 + number, _MIDDLE + 2 + number + rng.randrange(_MIDDLE // 2)),
    "all widths": lambda number, rng: _beside(2 ** (number % 29), rng),
    "all widths, close": lambda number, _rng: (_MIDDLE - 1 - 2 ** (number % 29) - number // 29, _MIDDLE - 1),
    "staircase": lambda number, _rng: (_MIDDLE + 1 + 2 * number, _MIDDLE + 2 + 40 * number),
    "one wide": lambda number, rng: (0, _MIDDLE - 1) if number % 100 == 0 else _beside(10, rng),
}


def _beside(width: int, rng: random.Random) -> Interval:
    low = _MIDDLE + 1 + rng.randrange(1_000)
    return (low, low + width) if rng.randrange(2) else (low - 2_002 - width, low - 2_002)


def _value(knobs: Knobs, number: int) -> Value:
    if knobs["kind"] == "string":
        return f"{number:010d}"
    return number if knobs["kind"] == "integer" else number / 100 + 0.001


def _filters(knobs: Knobs, count: int, interval: Callable[[int], Interval]) -> list[bytes]:
    names = [f"n{k:02d}" for k in range(knobs["names"])]
    made = []
    for i in range(count):
        low, high = (_value(knobs, bound) for bound in interval(i // len(names)))
        name = names[i % len(names)]
        bounds = [where(name, Op.BETWEEN, low, high)]
        if knobs["bounds"] == "> and <":
            bounds = [where(name, Op.GT, low), where(name, Op.LT, high)]
        made.append(unordered(*bounds))
    return made


def _message(knobs: Knobs, place: Callable[[], int]) -> bytes:
    return attributes((f"n{k:02d}", _value(knobs, place())) for k in range(knobs["names"]))


def _hostile(knobs: Knobs, count: int, rng: random.Random) -> Shape:
    filters = _filters(knobs, count, lambda number: _STYLES[knobs["style"]](number, rng))
    return Shape(filters, [_message(knobs, lambda: _MIDDLE)] * MESSAGES)


def _plain(knobs: Knobs, count: int, rng: random.Random) -> Shape:
    """A message lies in ten of them."""
    width = max(_MOST * _HITS // count, 1)

    def interval(_number: int) -> Interval:
        low = rng.randrange(_MOST - width)
        return low, low + width

    filters = _filters(knobs, count, interval)
    return Shape(filters, [_message(knobs, lambda: rng.randrange(_MOST)) for _ in range(MESSAGES)])


INTERVALS = Family(
    about="10,000 ranges on few names that a message just misses",
    knobs={
        "style": tuple(_STYLES),
        "kind": ("integer", "fraction", "string"),
        "bounds": ("between", "> and <"),
        "names": (1, 8, 64),
    },
    hostile=_hostile,
    plain=_plain,
    known=({"style": "nested before", "kind": "fraction", "bounds": "between", "names": 1},),
)
