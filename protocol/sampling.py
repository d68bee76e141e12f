"""The sample of messages that are recorded: chosen by id, so that all routers choose equal ones.

Law: the choice depends on the id and the share alone, and a greater share includes every smaller one. The result equals
that of native/records/records.h (a test compares them).
"""

from __future__ import annotations

from typing import Final

from tamis.protocol.messages import MessageId

ALL: Final = 2**64 - 1
_MASK: Final = 2**64 - 1


def threshold_of(share: float) -> int:
    """Return the bound below which the mix of a recorded message lies; ALL records every message, 0 none."""
    return min(int(share * 2**64), ALL)


def mix(id_: MessageId) -> int:
    """Return 64 evenly distributed bits computed from a message's id (the finaliser of splitmix64)."""
    mixed = (id_.origin ^ (id_.counter << 32 & _MASK | id_.counter >> 32)) + 0x9E3779B97F4A7C15 & _MASK
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & _MASK
    return mixed ^ mixed >> 31


def is_sampled(id_: MessageId, threshold: int) -> bool:
    return threshold == ALL or mix(id_) < threshold
