"""Which way a message of a source goes, for one router: the broadcast layer that a topology file chose.

Law: routers that have the same topology give the same answers, so the parent of one router has it as a child (source
trees and shared tree). Trees never change; a change of topology makes new ones.

    source_trees.py   T(s): the shortest paths from s, exact or coarse
    shared_tree.py    one tree for all
    rooted_tree.py    the tree of a root; `forest.py` has several
    reverse_path.py   every link but the parent
    layer.py          what they have in common
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, Protocol

from tamis.router.core.routing.paths import Graph, PathCache
from tamis.router.core.routing.reverse_path import ReversePath
from tamis.router.core.routing.shared_tree import SharedTree
from tamis.router.core.routing.source_trees import CoarseSourceTrees, SourceTrees

GENERATIONS_MAX: Final = 4
"""How many generations of trees are in force at once, the newest included: a topology that changes faster than that has
no paths that stay. The switch has as many."""

Broadcast = Literal["source-trees", "shared-tree", "reverse-path"]


class Trees(Protocol):
    """T(s) for every source s, as seen from one router."""

    @property
    def me(self) -> int: ...

    @property
    def routers(self) -> frozenset[int]:
        """All routers that can be reached, this one included."""

    def next_hop(self, router: int) -> int | None:
        """Return the neighbour towards `router`; None for this router and for those out of reach."""

    def parent(self, source: int) -> int | None:
        """Return the neighbour from which messages of `source` are taken; None: none are taken (or they enter here)."""

    def children(self, source: int) -> tuple[int, ...]:
        """Return the neighbours to which messages of `source` may go, ascending; none where it is out of reach."""

    def below(self, source: int) -> Mapping[int, int]:
        """Return for each issuer that lies behind a child: that child. Exact, or by next hop alone (coarse form)."""

    @property
    def onward(self) -> Mapping[int, int]:
        """For each other router in reach: the next router on the way of its messages to here."""

    @property
    def hops(self) -> Mapping[int, int]:
        """How many links lie between each router in reach and this one, as messages go."""

    def hop_limit(self) -> int:
        """Return the hop limit of messages that enter here: enough for the farthest router and HOPS_TO_SPARE more; at
        most 255."""


def make_trees(broadcast: Broadcast, graph: Graph, me: int, cache: PathCache, coarse: bool) -> Trees:
    """Make the trees of the layer `broadcast` for router `me`. They compute nothing before it is asked for. A router
    that the graph does not know reaches itself alone."""
    if broadcast == "shared-tree":
        return SharedTree(graph, me, cache)
    if broadcast == "reverse-path":
        return ReversePath(graph, me, cache)
    return CoarseSourceTrees(graph, me, cache) if coarse else SourceTrees(graph, me, cache)
