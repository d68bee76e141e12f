"""Patterns of LIKE: `%` is any text, `_` one character; a backslash before one of the two makes it literal."""

from __future__ import annotations

import re
from typing import Final

from tamis.protocol.dialects.patterns import Piece, Wild, pieces_of
from tamis.protocol.residual import Glob
from tamis.protocol.residual.patterns import ANY_CHARACTER, ANY_TEXT

_PART: Final = re.compile(r"\\[%_]|.", re.DOTALL)
_WILD: Final = {"%": Wild.ANY, "_": Wild.ONE}
_BYTES: Final = {Wild.ANY: ANY_TEXT, Wild.ONE: ANY_CHARACTER}


def pieces_of_like(pattern: str) -> tuple[Piece, ...]:
    parts = (match[0] for match in _PART.finditer(pattern))
    return pieces_of(part[1] if len(part) > 1 else _WILD.get(part, part) for part in parts)


def glob_of_like(pattern: str) -> Glob:
    pieces = pieces_of_like(pattern)
    return Glob(b"".join(each.encode() if isinstance(each, str) else _BYTES[each] for each in pieces))


def is_like(text: str, pattern: str) -> bool:
    """Return whether a text matches. The bits of one integer are the places of the text that the pattern reaches, so
    that no pattern takes long."""
    whole = (1 << len(text) + 1) - 1
    masks: dict[Piece, int] = {}
    places = 1
    for piece in pieces_of_like(pattern):
        if piece is Wild.ANY:
            places = whole & -(places & -places)
            continue
        for char in piece if isinstance(piece, str) else (Wild.ONE,):
            if char is not Wild.ONE and char not in masks:
                masks[char] = int("".join("1" if each == char else "0" for each in reversed(text)) or "0", 2)
            places = (places & (whole if char is Wild.ONE else masks[char])) << 1 & whole
        if not places:
            return False
    return bool(places >> len(text))
