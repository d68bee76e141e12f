"""The other routers, as the rooms of this router see them; and their absence.

Law: a router that stands alone asks nobody whether it does: it has a network of no links, in which all is well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol


class LinkSession(Protocol):
    """A link that is up."""

    name: str
    """Of the neighbour."""
    session: int
    connection: int


class WiderNetwork(Protocol):
    @property
    def links(self) -> Sequence[LinkSession]:
        """The links that are up."""

    @property
    def is_in_step(self) -> bool:
        """Each neighbour that is linked holds what this router held when their link came up."""

    @property
    def was_in_step(self) -> bool:
        """At least once."""

    @property
    def queued_bytes(self) -> int:
        """How much waits to be sent over links."""

    def start(self) -> None:
        """Dial those neighbours that this router connects to, and keep on."""

    def tick(self) -> None:
        """To be called ten times a second."""

    def unlinked(self) -> Mapping[str, int]:
        """By neighbour, messages that found no link since this was asked last; some of them, none when all are told."""

    def leave(self) -> None:
        """Let the others go around this router, which goes on with what still comes."""

    def is_left(self) -> bool:
        """The others go around it, and since this was asked last nothing has passed."""


class NoNetwork:
    """Of a router that stands alone."""

    links: Sequence[LinkSession] = ()
    is_in_step = was_in_step = True
    queued_bytes = 0

    def start(self) -> None:
        """There is nobody to dial."""

    def tick(self) -> None:
        """Nothing waits for it."""

    def unlinked(self) -> Mapping[str, int]:
        return {}

    def leave(self) -> None:
        """Nobody goes through it."""

    def is_left(self) -> bool:
        return True
