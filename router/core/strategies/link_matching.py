"""Strategy `link-matching`: paper 002, on any graph.

Law: a router states every distinct filter of its clients, whether or not another one covers it, and sets none aside.
The end of a subscription therefore withdraws one filter and never adds one, and the statement of a router equals the
interest of its clients, filter by filter. Equal filters of one router are one, as they lead to one destination.

The paper's mask of a spanning tree is the route of a source: the link behind which each issuer lies. A match at a
router refines the trit of each link from there, and ends when no link is undecided: a view of the network table and the
engine do this for every strategy (docs/design/switch.md).
"""

from __future__ import annotations

from tamis.router.core.statements.cover import Cover


class NoCover(Cover):
    """A cover that examines no filter, and finds none covered."""

    def add(self, packed: bytes) -> None:
        """Do nothing: the filter stays advertised."""
