"""Patterns: of few letters, so that each looks as if it would hold at every byte of a long text."""

from __future__ import annotations

import random
import string

from tamis.bench.matching.adversary.shapes import Family, Knobs, Shape, attributes, letters, where
from tamis.bench.matching.workloads.pieces import unordered
from tamis.protocol.filters import Op

_OPS = {"contains": (Op.CONTAINS,), "suffix": (Op.SUFFIX,), "all": (Op.CONTAINS, Op.PREFIX, Op.SUFFIX)}
_OTHER = "|"  # a letter that no text has


def _lengths(knobs: Knobs, number: int) -> int:
    most = int(knobs["length"])
    return 1 + number % most if knobs["lengths"] == "up to" else most


def _pattern(knobs: Knobs, number: int, alphabet: str, rng: random.Random) -> str:
    size = _lengths(knobs, number)
    tail = _OTHER if knobs["tail"] == "other" else ""
    return letters(rng, max(size - len(tail), 0), alphabet) + tail


def _text(knobs: Knobs, alphabet: str, rng: random.Random) -> str:
    return alphabet[0] * knobs["bytes"] if knobs["text"] == "one letter" else letters(rng, knobs["bytes"], alphabet)


def _made(knobs: Knobs, count: int, alphabet: str, rng: random.Random, is_plain: bool) -> Shape:
    names, ops = [f"n{k:02d}" for k in range(knobs["names"])], _OPS[knobs["test"]]
    filters = [
        unordered(where(names[i % len(names)], ops[i % len(ops)], _pattern(knobs, i, alphabet, rng)))
        for i in range(count)
    ]
    text = letters(rng, knobs["bytes"]) if is_plain else _text(knobs, alphabet, rng)
    return Shape(filters, [attributes((name, text) for name in names)])


def _hostile(knobs: Knobs, count: int, rng: random.Random) -> Shape:
    return _made(knobs, count, string.ascii_lowercase[: knobs["letters"]], rng, is_plain=False)


def _plain(knobs: Knobs, count: int, rng: random.Random) -> Shape:
    return _made(knobs, count, string.ascii_lowercase, rng, is_plain=True)


PATTERNS = Family(
    about="10,000 patterns of few letters",
    knobs={
        "test": tuple(_OPS),
        "letters": (1, 2, 3, 4),
        "length": (4, 8, 12, 20, 40, 128),
        "lengths": ("all", "up to"),
        "tail": ("same", "other"),
        "text": ("drawn", "one letter"),
        "bytes": (100, 4_096, 65_536),
        "names": (1, 4, 15),
    },
    hostile=_hostile,
    plain=_plain,
    known=tuple(
        dict(zip(("test", "letters", "length", "lengths", "tail", "text", "bytes", "names"), each, strict=True))
        for each in (
            ("contains", 2, 20, "all", "same", "drawn", 65_536, 15),
            ("contains", 1, 128, "up to", "other", "one letter", 65_536, 1),
        )
    ),
)
