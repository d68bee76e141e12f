"""The word that somebody may have meant.

Law: a suggestion is a guess. One is given only for a word of ordinary length, because a search costs, and only where a
known word is close.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice
from typing import Final

CHARACTERS_MAX: Final = 64
"""Longer words get no suggestion."""
WORDS_MAX: Final = 500
"""Known words that are looked at; each costs microseconds."""


def nearest(word: str, known: Iterable[str], likeness_min: float = 0.6) -> str:
    """Return the one of `known` that is most like `word`, or an empty text where none is close."""
    if not 0 < len(word) <= CHARACTERS_MAX:
        return ""
    words = list(islice(known, WORDS_MAX))
    by_form = {known_word.lower(): known_word for known_word in reversed(words)}
    found = difflib.get_close_matches(word.lower(), by_form, n=1, cutoff=likeness_min)
    return by_form[found[0]] if found else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that suggests one of `known`; an empty text where none is close to `word`."""
    near = nearest(word, known)
    return f", did you mean {near}?" if near else ""
