"""The other routers, as the rest of this router sees them, and the case that there are none.

Law: a router that stands alone has a network of no links, in which all is well, so that no part has to ask which case
it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol


class LinkSession(Protocol):
    """A link that is up."""

    name: str
    """The id of the neighbour."""
    session: int
    connection: int


class WiderNetwork(Protocol):
    @property
    def links(self) -> Sequence[LinkSession]:
        """The links that are up."""

    @property
    def is_in_step(self) -> bool:
        """Whether each linked neighbour holds what this router held when their link came up."""

    @property
    def was_in_step(self) -> bool:
        """Whether `is_in_step` has been true at least once."""

    @property
    def queued_bytes(self) -> int:
        """How many bytes wait to be sent over links."""

    def start(self) -> None:
        """Dial the neighbours that this router connects to, and keep on."""

    def tick(self) -> None:
        """Do what is due; to be called ten times a second."""

    def unlinked(self) -> Mapping[str, int]:
        """Return by neighbour how many messages found no link since the last call. One call returns a part; an empty
        one, all are told."""

    def reaches(self, router_id: str) -> bool:
        """Return whether messages find a way to another router."""

    def leave(self) -> None:
        """State that this router leaves, so that the others go around it; it goes on with what still comes."""

    def is_left(self) -> bool:
        """Return whether the others go around this router, and no message passed since the last call."""


class NoNetwork:
    """The network of a router that stands alone."""

    links: Sequence[LinkSession] = ()
    is_in_step = was_in_step = True
    queued_bytes = 0

    def start(self) -> None:
        """Do nothing: there is no neighbour to dial."""

    def tick(self) -> None:
        """Do nothing: nothing is due."""

    def unlinked(self) -> Mapping[str, int]:
        return {}

    def reaches(self, router_id: str) -> bool:  # noqa: ARG002
        return False

    def leave(self) -> None:
        """Do nothing: no message goes through this router."""

    def is_left(self) -> bool:
        return True
