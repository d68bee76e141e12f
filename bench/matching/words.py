"""Words that behave like a dictionary's: pronounceable, 3 to 12 letters, with common beginnings, endings and middles.

Law: the same words in the same order on every machine and in every run. They are made here and not read from a
dictionary file, which would differ from machine to machine.
"""

from __future__ import annotations

import random
from functools import cache
from itertools import islice

_SEED = 922
_LETTERS_MIN, _LETTERS_MAX = 3, 12

_BEGINNINGS = ["", "", "", "", "", "re", "un", "in", "con", "pre", "dis", "over", "sub", "ex"]
_ONSETS = [*"bcdfghlmnprstv", "st", "tr", "pl", "br", "cl", "sh", "gr"]
_VOWELS = ["a", "e", "i", "o", "u", "a", "e", "i", "o", "ea", "ou", "ai"]
_CODAS = ["", "", "", "n", "r", "l", "t", "s", "m", "nd", "st", "ck", "rt"]
_ENDINGS = ["", "", "", "", "", "", "s", "ed", "ing", "er", "ly", "tion", "ness", "able", "al"]


@cache
def names(count: int) -> tuple[str, ...]:
    """The names of attributes; none of them is among `words`. Their order is their popularity."""
    return _distinct(2 * count)[0::2]


@cache
def words(count: int) -> tuple[str, ...]:
    """The string values; none of them is among `names`."""
    return _distinct(2 * count)[1::2]


def _distinct(count: int) -> tuple[str, ...]:
    rng = random.Random(_SEED)
    seen: dict[str, None] = {}
    while len(seen) < count:
        word = _word(rng)
        if _LETTERS_MIN <= len(word) <= _LETTERS_MAX:
            seen[word] = None
    return tuple(islice(seen, count))


def _word(rng: random.Random) -> str:
    syllables = rng.choices([1, 2, 3], weights=[35, 50, 15])[0]
    middle = "".join(rng.choice(part) for _ in range(syllables) for part in (_ONSETS, _VOWELS, _CODAS))
    return rng.choice(_BEGINNINGS) + middle + rng.choice(_ENDINGS)
