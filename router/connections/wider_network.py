"""Interface to the other routers, and its implementation for a router without links.

Law: a router without links has a network without links that is always in step, so that no caller distinguishes the
cases.
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
        """Whether each linked neighbour has the state that this router had when their link came up."""

    @property
    def was_in_step(self) -> bool:
        """Whether `is_in_step` has been true at least once."""

    @property
    def queued_bytes(self) -> int:
        """Number of bytes that wait to be sent over links."""

    def start(self) -> None:
        """Start to dial the neighbours that this router connects to, and redial them when necessary."""

    def tick(self) -> None:
        """Do the periodic work; called ten times a second."""

    def unlinked(self) -> Mapping[str, int]:
        """Return the number of messages by neighbour that found no link, a part in each call, and reset them. An empty
        result means that all are reported."""

    def reaches(self, router_id: str) -> bool:
        """Return whether there is a route to another router."""

    def leave(self) -> None:
        """Announce that this router leaves, so that others route around it; it still forwards what arrives."""

    def is_left(self) -> bool:
        """Return whether the others route around this router and no message passed since the last call."""


class NoNetwork:
    """The network of a router without links."""

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
