"""Which way a message of a source goes, for one router: the broadcast layer that a topology file chose.

Law: whoever has the same topology gives the same answers, so the parent of one router has it as a child (source trees and
shared tree). Trees never change; a change of topology makes new ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Trees(Protocol):
    """T(s) for every source s, as seen from one router."""

    me: int
    routers: frozenset[int]
    """All that can be reached, this one included."""

    def next_hop(self, router: int) -> int | None:
        """The neighbour towards a router; None for this one and for those out of reach."""

    def parent(self, source: int) -> int | None:
        """The neighbour from which messages of `source` are taken; None: none are (or they enter here)."""

    def children(self, source: int) -> tuple[int, ...]:
        """The neighbours to which messages of `source` may go, ascending; nobody where the source is out of reach."""

    def below(self, source: int) -> Mapping[int, int]:
        """For each issuer that lies behind a child: that child. Exact, or by next hop alone (the coarse form)."""

    def hop_limit(self) -> int:
        """For messages that enter here: as far as the farthest router, and four."""
