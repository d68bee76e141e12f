"""Values: constants of one kind on few names, which differ where a hash or an order might not look."""

from __future__ import annotations

import random

from tamis.bench.matching.adversary.shapes import MESSAGES, Family, Knobs, Shape, attributes, letters, numbered, where
from tamis.bench.matching.workloads.pieces import unordered
from tamis.protocol.filters import Op
from tamis.protocol.values import Value

_WIDE = 2**40
_OPS = {"=": Op.EQ, "in 20": Op.IN}
_LISTED = 20
_KNOWN = {"test": "=", "asked": "known"}


def _value(knobs: Knobs, number: int) -> Value:
    if knobs["kind"] == "string":
        return numbered(number, knobs["length"], knobs["varied"])
    if knobs["kind"] == "integer":
        return number * int(knobs["stride"])
    if knobs["kind"] == "wide integer":
        return _WIDE + number * int(knobs["stride"])
    return number * int(knobs["stride"]) + 0.5


def _drawn(knobs: Knobs, rng: random.Random) -> Value:
    if knobs["kind"] == "string":
        return letters(rng, knobs["length"])
    if knobs["kind"] == "integer":
        return rng.randrange(2**30)
    if knobs["kind"] == "wide integer":
        return rng.randrange(2**62)
    return rng.random() * 2**30


def _made(knobs: Knobs, values: list[Value], strangers: list[Value], rng: random.Random) -> Shape:
    names = [f"n{k:02d}" for k in range(knobs["names"])]
    listed = _LISTED if knobs["test"] == "in 20" else 1
    filters = [
        unordered(
            where(names[i % len(names)], _OPS[knobs["test"]], *(values[(i + k) % len(values)] for k in range(listed)))
        )
        for i in range(len(values))
    ]
    asked = strangers if knobs["asked"] == "unknown" else values
    return Shape(filters, [attributes((name, rng.choice(asked)) for name in names) for _ in range(MESSAGES)])


def _hostile(knobs: Knobs, count: int, rng: random.Random) -> Shape:
    both = [_value(knobs, number) for number in range(2 * count)]
    return _made(knobs, both[:count], both[count:], rng)


def _plain(knobs: Knobs, count: int, rng: random.Random) -> Shape:
    both = list({_drawn(knobs, rng): None for _ in range(2 * count)})
    return _made(knobs, both[:count], both[count:], rng)


VALUES = Family(
    about="10,000 constants that differ in six digits, or by a stride",
    knobs={
        "kind": ("string", "integer", "wide integer", "fraction"),
        "length": (8, 16, 17, 40, 125, 250, 984),
        "varied": ("begin", "middle", "end", "spread"),
        "stride": (1, 2**8, 2**16, 2**32),
        "test": tuple(_OPS),
        "names": (1, 8, 64),
        "asked": ("known", "unknown"),
    },
    hostile=_hostile,
    plain=_plain,
    known=(
        {"kind": "string", "length": 125, "varied": "end", "stride": 1, "names": 1} | _KNOWN,
        {"kind": "wide integer", "length": 8, "varied": "end", "stride": 2**32, "names": 64} | _KNOWN,
    ),
)
