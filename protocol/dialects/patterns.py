"""Patterns with wildcards, `LIKE` and globs, as conditions.

    p%  prefix    %s  suffix    %c%  contains    p%s  both, without the texts in which the two overlap

Law: whatever text a pattern matches, its rail holds. `_`, and text between two `%` of a pattern that has more of it,
are left to a glob of the residual.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence

from tamis.protocol.dialects.decide import globbed
from tamis.protocol.dialects.rails import NEVER, Rail, complement, every, holds, undecided
from tamis.protocol.filters import Op
from tamis.protocol.residual import Glob
from tamis.protocol.residual.patterns import ANY_CHARACTER, ANY_TEXT


class Wild(enum.Enum):
    ANY = "any characters, or none"
    ONE = "one character"


Piece = str | Wild


def pieces_of(parts: Iterable[Piece]) -> tuple[Piece, ...]:
    """Return a pattern with neighbouring texts joined and repeated `Wild.ANY` dropped."""
    pieces: list[Piece] = []
    for part in parts:
        last = pieces[-1] if pieces else None
        if part == "" or (part is Wild.ANY and last is Wild.ANY):
            continue
        if isinstance(part, str) and isinstance(last, str):
            pieces[-1] = last + part
        else:
            pieces.append(part)
    return tuple(pieces)


def matches(name: str, pieces: Sequence[Piece], shown: str) -> Rail:
    """Return where the attribute is a text that matches the pattern. `shown` is the pattern, for what is undecided."""
    match tuple(pieces):
        case ():
            return holds(name, Op.EQ, "")
        case (str(text),):
            return holds(name, Op.EQ, text)
        case (Wild.ANY,):
            return holds(name, Op.PREFIX, "")
        case (str(start), Wild.ANY):
            return holds(name, Op.PREFIX, start)
        case (Wild.ANY, str(end)):
            return holds(name, Op.SUFFIX, end)
        case (Wild.ANY, str(inner), Wild.ANY):
            return holds(name, Op.CONTAINS, inner)
        case (str(start), Wild.ANY, str(end)):
            without = complement(_overlaps(name, start, end))
            return every(holds(name, Op.PREFIX, start), holds(name, Op.SUFFIX, end), without)
        case several:
            return undecided(_necessary(name, several), f"the pattern {shown}", globbed(name, glob_of(several)))


def glob_of(pieces: Iterable[Piece]) -> Glob:
    wild = {Wild.ANY: ANY_TEXT, Wild.ONE: ANY_CHARACTER}
    return Glob(b"".join(piece.encode() if isinstance(piece, str) else wild[piece] for piece in pieces))


def _overlaps(name: str, start: str, end: str) -> Rail:
    """Return where the attribute begins with `start` and ends with `end`, and has no room for both."""
    sizes = range(1, min(len(start), len(end)) + 1)
    texts = [start + end[size:] for size in sizes if start.endswith(end[:size])]
    return holds(name, Op.IN, *texts) if texts else NEVER


def _necessary(name: str, pieces: tuple[Piece, ...]) -> Rail:
    """Return where the attribute has every text of the pattern, the first and the last one at its ends."""
    last = len(pieces) - 1
    rails = [holds(name, Op.PREFIX, "")]
    for place, piece in enumerate(pieces):
        if isinstance(piece, str):
            rails.append(holds(name, {0: Op.PREFIX, last: Op.SUFFIX}.get(place, Op.CONTAINS), piece))
    return every(*rails)
