"""Common parts of bodies that are sent in parts: the ticket of their parts, and their original bytes."""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple


class Ticket(NamedTuple):
    """The owner and freshness of a body: the issuer's (epoch, seq), or the requester's (epoch, request id)."""

    origin: int
    epoch: int
    seq: int


class Kept:
    """A body that may be passed on in its original bytes (`raw`)."""

    __slots__ = ()
    raw: bytes

    def keep(self, raw: bytes) -> None:
        """Store the original bytes of the body."""
        object.__setattr__(self, "raw", raw)

    def look(self) -> Generator[None, None, None]:
        """Find in slices what a receiver needs of a long body."""
        yield from ()
