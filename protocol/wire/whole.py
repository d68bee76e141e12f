"""What bodies that travel in parts have in common: what their parts are known by, and the bytes in which they came."""

from __future__ import annotations

from typing import NamedTuple


class Ticket(NamedTuple):
    """Whose body it is and how fresh: the issuer's (epoch, seq), or the requester's (epoch, request id)."""

    origin: int
    epoch: int
    seq: int


class Kept:
    """A body that may be passed on in the bytes in which it came (`raw`)."""

    __slots__ = ()
    raw: bytes

    def keep(self, raw: bytes) -> None:
        """Note the bytes in which the body came."""
        object.__setattr__(self, "raw", raw)
