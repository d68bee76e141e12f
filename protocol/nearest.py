"""The known word that is nearest to a mistyped one.

Law: a suggestion is a guess. It is given only for a word of ordinary length, because a search is slow, and only if a
known word is similar.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice
from typing import Final

CHARACTERS_MAX: Final = 64
"""Longer words get no suggestion."""
WORDS_MAX: Final = 500
"""The most known words that are compared; each takes microseconds."""


def nearest(word: str, known: Iterable[str], likeness_min: float = 0.6) -> str:
    """Return the one of `known` that is most similar to `word`; empty if none is similar."""
    if not 0 < len(word) <= CHARACTERS_MAX:
        return ""
    words = list(islice(known, WORDS_MAX))
    by_form = {known_word.lower(): known_word for known_word in reversed(words)}
    found = difflib.get_close_matches(word.lower(), by_form, n=1, cutoff=likeness_min)
    return by_form[found[0]] if found else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that suggests one of `known`; empty if none is similar to `word`."""
    near = nearest(word, known)
    return f", did you mean {near}?" if near else ""
