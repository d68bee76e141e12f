"""Strategy `link-matching`: paper 002, on any graph.

Law: a router states every distinct filter of its clients, whether or not another one covers it, and sets none aside. So
a subscription that ends takes one filter back and never brings another one back, and what a router states is what its
clients want, filter by filter. Equal filters of one router are one, as they lead to the same place.

The paper's mask of a spanning tree is the route of a source: behind which link each issuer lies. A match at a router
refines the trit of each link from there, and ends when no link is undecided: that is what a view of the network table
and the engine do for every strategy (docs/design/switch.md).
"""

from __future__ import annotations

from tamis.router.core.statements.cover import Cover


class NoCover(Cover):
    """Looks at no filter, and so finds none covered."""

    def add(self, packed: bytes) -> None:
        """Do nothing: the filter stays advertised."""
