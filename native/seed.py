"""The secret of a hash table (docs/decisions/0008-keyed-hashes.md)."""

from __future__ import annotations

import secrets
from typing import Final

SEED_BITS: Final = 64


def random_seed() -> int:
    """Return a new random secret."""
    return secrets.randbits(SEED_BITS)
