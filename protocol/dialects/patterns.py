"""Patterns with wildcards, `LIKE` and globs, as rails; what they are is in language/likeness.py.

Law: whatever text a pattern matches, its rail holds. `_`, and text between two `%` of a pattern that has more of it,
are left to a glob of the residual.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tamis.protocol.dialects.decide import globbed
from tamis.protocol.dialects.rails import Rail, complement, every, holds, undecided
from tamis.protocol.filters import Op
from tamis.protocol.language.likeness import Piece, Wild, likeness, pieces_of
from tamis.protocol.residual import Glob
from tamis.protocol.residual.patterns import ANY_CHARACTER, ANY_TEXT

__all__ = ["Piece", "Wild", "glob_of", "matches", "pieces_of"]


def matches(name: str, pieces: Sequence[Piece], shown: str) -> Rail:
    """Return where the attribute is a text that matches the pattern. `shown` is the pattern, for what is undecided."""
    found = likeness(pieces)
    rails = [holds(name, op, text) for op, text in found.conditions]
    if found.left_out:
        rails.append(complement(holds(name, Op.IN, *found.left_out)))
    rail = every(*rails)
    return rail if found.is_exact else undecided(rail, f"the pattern {shown}", globbed(name, glob_of(pieces)))


def glob_of(pieces: Iterable[Piece]) -> Glob:
    wild = {Wild.ANY: ANY_TEXT, Wild.ONE: ANY_CHARACTER}
    return Glob(b"".join(piece.encode() if isinstance(piece, str) else wild[piece] for piece in pieces))
