"""What people do to a word."""

from __future__ import annotations

from random import Random

LOOKALIKES = {"a": "а", "c": "с", "e": "е", "i": "і", "o": "о", "p": "р", "s": "ѕ", "x": "х", "y": "у"}  # noqa: RUF001
"""Latin letter: the Cyrillic letter that looks like it."""


def misspelt(rng: Random, word: str) -> str:
    """Return `word` with one letter left out, doubled, replaced, or two swapped; never the word itself."""
    while True:
        at = rng.randrange(len(word) - 1)
        found = rng.choice(
            (
                word[:at] + word[at + 1 :],
                word[:at] + word[at] + word[at:],
                word[:at] + word[at + 1] + word[at] + word[at + 2 :],
                word[:at] + rng.choice("etaoinshr") + word[at + 1 :],
            )
        )
        if found != word:
            return found


def lookalike(rng: Random, word: str) -> str:
    """Return `word` with one letter of another alphabet; the word itself where none looks alike."""
    places = [at for at, char in enumerate(word) if char in LOOKALIKES]
    if not places:
        return word
    at = rng.choice(places)
    return word[:at] + LOOKALIKES[word[at]] + word[at + 1 :]
