"""The shortest paths of a graph for the judge: all of them, if several have equal costs.

Law: routers may choose among equally short paths; a promise is checked on all of these paths.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush

Edge = tuple[int, int]
Graph = Mapping[int, Mapping[int, int]]
"""Maps a router to its neighbours, each with the cost of the edge."""


def graph_of(costs: Mapping[Edge, int], routers: list[int]) -> dict[int, dict[int, int]]:
    graph: dict[int, dict[int, int]] = {router: {} for router in routers}
    for (a, b), cost in costs.items():
        graph[a][b] = cost
        graph[b][a] = cost
    return graph


def costs_from(graph: Graph, start: int) -> dict[int, int]:
    """Return the least cost from `start` to each router in reach."""
    done: dict[int, int] = {}
    heap = [(0, start)]
    while heap:
        cost, router = heappop(heap)
        if router in done:
            continue
        done[router] = cost
        for neighbour, more in graph[router].items():
            if neighbour not in done:
                heappush(heap, (cost + more, neighbour))
    return done


def edges_between(graph: Graph, start: int, end: int) -> set[Edge] | None:
    """Return all edges that lie on any shortest path from `start` to `end`; None if there is no path."""
    there, back = costs_from(graph, start), costs_from(graph, end)
    total = there.get(end)
    if total is None:
        return None
    return {(min(a, b), max(a, b)) for a in there for b, cost in graph[a].items() if there[a] + cost + back[b] == total}


def edges_by_root(graph: Graph, start: int, end: int) -> set[Edge] | None:
    """Return all edges on which the path from `start` to `end` may lie in a tree rooted at the smallest router number;
    None if there is no path."""
    root = min(component(graph, start))
    there, back = edges_between(graph, root, start), edges_between(graph, root, end)
    return None if there is None or back is None else there | back


def component(graph: Graph, start: int) -> set[int]:
    found = {start}
    front = [start]
    while front:
        for neighbour in graph[front.pop()]:
            if neighbour not in found:
                found.add(neighbour)
                front.append(neighbour)
    return found
