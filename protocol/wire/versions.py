"""The versions of the wire, and the choice of the one that two peers use.

Law: each side states its range; the version is the highest in both. Adjacent versions can read each other's bodies,
since a later one only appends fields (see `schema.py`).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from tamis.protocol.errors import VersionRefused
from tamis.protocol.wire.codes import ErrorCode

PROTOCOL_VERSION: Final = 3
CUSTODY_VERSION: Final = 3
"""The first version with DIRECTED, CUSTODY_ACK, CUSTODY_ASK and GAP. What is new since goes by capabilities."""


class VersionRange(NamedTuple):
    """The versions from `low` to `high`, both included."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low}" if self.low == self.high else f"{self.low} to {self.high}"


SPOKEN: Final = VersionRange(1, PROTOCOL_VERSION)


def negotiate(ours: VersionRange, theirs: VersionRange) -> int:
    """Return the highest version in both ranges; VersionRefused, with both ranges, if there is none."""
    version = min(ours.high, theirs.high)
    if version < max(ours.low, theirs.low):
        raise VersionRefused(
            ErrorCode.VERSION_REFUSED, f"no version in common: this side supports {ours}, the peer {theirs}"
        )
    return version
