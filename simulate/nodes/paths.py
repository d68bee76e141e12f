"""Shortest paths, computed once for all routers with an equal topology.

Law: graphs of equal digest are equal, so the first one, with the results derived from it, serves all routers.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from tamis.router.core.routing.paths import Graph, PathCache, Paths

GRAPHS_MAX: Final = 64
"""The most topologies in the cache: the routers of one network use few at a time."""


class SharedPaths(PathCache):
    def __init__(self, routers: int) -> None:
        super().__init__(paths_max=4 * routers + 1_024, routers_max=4_000_000)
        self._graphs: OrderedDict[int, Graph] = OrderedDict()

    def paths(self, graph: Graph, root: int) -> Paths:
        shared = self._graphs.setdefault(graph.digest, graph)
        self._graphs.move_to_end(graph.digest)
        if len(self._graphs) > GRAPHS_MAX:
            self._graphs.popitem(last=False)
        return super().paths(shared, root)
