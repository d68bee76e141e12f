"""The path of a message of a source, seen from one router: the broadcast layer that a topology file chose.

Law: routers with equal topologies compute equal trees: the parent of a router has it as a child (source trees and
shared tree). Trees never change; a change of topology makes new ones.

    source_trees.py   T(s): the shortest paths from s, exact or coarse
    shared_tree.py    one tree for all
    rooted_tree.py    the tree of a root; `forest.py` has several
    reverse_path.py   every link but the parent
    layer.py          their common part
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, Protocol

from tamis.router.core.routing.paths import Graph, PathCache
from tamis.router.core.routing.reverse_path import ReversePath
from tamis.router.core.routing.shared_tree import SharedTree
from tamis.router.core.routing.source_trees import CoarseSourceTrees, SourceTrees

GENERATIONS_MAX: Final = 4
"""The most generations of trees that are in force at one time, the newest included: a topology that changes faster than
that has no stable paths. The switch has an equal limit."""

Broadcast = Literal["source-trees", "shared-tree", "reverse-path"]


class Trees(Protocol):
    """T(s) for every source s, as seen from one router."""

    @property
    def me(self) -> int: ...

    @property
    def routers(self) -> frozenset[int]:
        """All reachable routers, this one included."""

    def next_hop(self, router: int) -> int | None:
        """Return the neighbour towards `router`; None for this router and for unreachable ones."""

    def parent(self, source: int) -> int | None:
        """Return the neighbour from which messages of `source` are accepted; None: from no neighbour."""

    def children(self, source: int) -> tuple[int, ...]:
        """Return the neighbours to which messages of `source` may go, ascending; none if it is unreachable."""

    def below(self, source: int) -> Mapping[int, int]:
        """Return the child for each issuer that lies behind one, either exactly or by next hop alone (coarse form)."""

    @property
    def onward(self) -> Mapping[int, int]:
        """Maps each other reachable router to the next router on the path of its messages to here."""

    @property
    def hops(self) -> Mapping[int, int]:
        """Maps each reachable router to the number of links between it and this one along the path of messages."""

    def hop_limit(self) -> int:
        """Return the hop limit of messages that enter here: enough for the farthest router and HOPS_TO_SPARE more; at
        most 255."""


def make_trees(broadcast: Broadcast, graph: Graph, me: int, cache: PathCache, coarse: bool) -> Trees:
    """Make the trees of the layer `broadcast` for router `me`. They compute their tables on demand. A router that is
    not in the graph reaches itself alone."""
    if broadcast == "shared-tree":
        return SharedTree(graph, me, cache)
    if broadcast == "reverse-path":
        return ReversePath(graph, me, cache)
    return CoarseSourceTrees(graph, me, cache) if coarse else SourceTrees(graph, me, cache)
