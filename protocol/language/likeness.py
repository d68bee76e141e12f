"""Patterns with wildcards, of `LIKE` and of globs: their pieces, and the conditions that hold where one matches.

    p%  prefix    %s  suffix    %c%  contains    p%s  both, without the texts in which the two overlap

Law: whatever text a pattern matches, all conditions of its likeness hold of it, and none of the texts left out is it.
`is_exact` says that the reverse is true as well.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tamis.protocol import limits
from tamis.protocol.filters import Op
from tamis.protocol.language.mistake import SyntaxMistake


class Wild(enum.Enum):
    ANY = "any characters, or none"
    ONE = "one character"


Piece = str | Wild


class Likeness(NamedTuple):
    """The conditions on a text, and the texts that satisfy them and are none."""

    conditions: tuple[tuple[Op, str], ...]
    left_out: tuple[str, ...] = ()
    is_exact: bool = True


def pieces_of(parts: Iterable[Piece]) -> tuple[Piece, ...]:
    """Return a pattern with neighbouring texts joined and repeated `Wild.ANY` dropped."""
    pieces: list[Piece] = []
    texts: list[str] = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
            continue
        _close(pieces, texts)
        if part is not Wild.ANY or pieces[-1:] != [Wild.ANY]:
            pieces.append(part)
    _close(pieces, texts)
    return tuple(pieces)


def like_parts(pattern: str, escape: str, at: int, escapes_all: bool = False) -> Iterator[Piece]:
    """Yield the parts of a pattern of SQL, which stands at `at`. The escape stands before a wildcard or itself, with
    `escapes_all` before any character."""
    chars = iter(pattern)
    for char in chars:
        if char == escape:
            literal = next(chars, "")
            if not literal or (not escapes_all and literal not in ("%", "_", escape)):
                what = "nothing at the end of" if escapes_all else "only `%`, `_` and itself in"
                raise SyntaxMistake(at, f"`{escape}` escapes {what} this pattern")
            yield literal
        else:
            yield {"%": Wild.ANY, "_": Wild.ONE}.get(char, char)


def likeness(pieces: Sequence[Piece]) -> Likeness:
    match tuple(pieces):
        case ():
            return Likeness(((Op.EQ, ""),))
        case (str(text),):
            return Likeness(((Op.EQ, text),))
        case (Wild.ANY,):
            return Likeness(((Op.PREFIX, ""),))
        case (str(start), Wild.ANY):
            return Likeness(((Op.PREFIX, start),))
        case (Wild.ANY, str(end)):
            return Likeness(((Op.SUFFIX, end),))
        case (Wild.ANY, str(inner), Wild.ANY):
            return Likeness(((Op.CONTAINS, inner),))
        case (str(start), Wild.ANY, str(end)) if max(len(start), len(end)) <= limits.PATTERN_BYTES_MAX:
            return Likeness(((Op.PREFIX, start), (Op.SUFFIX, end)), overlaps(start, end))
        case several:
            return Likeness(tuple(_necessary(several)), is_exact=False)


def overlaps(start: str, end: str) -> tuple[str, ...]:
    """Return the texts that begin with `start` and end with `end`, and have no room for both."""
    sizes = range(1, min(len(start), len(end)) + 1)
    return tuple(start + end[size:] for size in sizes if start.endswith(end[:size]))


def _necessary(pieces: tuple[Piece, ...]) -> Iterator[tuple[Op, str]]:
    """Yield that there are all texts of the pattern, the first and the last one at the ends."""
    last = len(pieces) - 1
    yield Op.PREFIX, ""
    for place, piece in enumerate(pieces):
        if isinstance(piece, str):
            yield {0: Op.PREFIX, last: Op.SUFFIX}.get(place, Op.CONTAINS), piece


def _close(pieces: list[Piece], texts: list[str]) -> None:
    if text := "".join(texts):
        pieces.append(text)
    texts.clear()
