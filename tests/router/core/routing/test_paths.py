"""Shortest paths: unique, symmetric, and the same for all who know the same edges."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.router.core.routing.paths import HASH_BITS, Graph, PathCache, edge_hash, shortest_paths
from tests.router.core.graphs import checks, hash_of, number, worlds


def pair(length: int) -> tuple[int, int]:
    return length >> HASH_BITS, length % (1 << HASH_BITS)


def path_to(paths, router):
    path = [router]
    while path[-1] in paths.previous:
        path.append(paths.previous[path[-1]])
    return path


def simple_paths(world, path, target):
    """Every way from the end of `path` to `target` that visits no router twice."""
    if path[-1] == target:
        yield path
        return
    for router in world.neighbours(path[-1]) - set(path):
        yield from simple_paths(world, [*path, router], target)


# --- paths -----------------------------------------------------------------------------------------------------------


@checks
@given(worlds())
def test_distances_are_those_of_three_loops(world):
    graph = Graph.of(world.edges, world.routers)
    for root in world.routers:
        paths = shortest_paths(graph, root)
        assert {router: pair(length) for router, length in paths.distance.items()} == {
            router: world.distance[root, router] for router in world.reach(root)
        }


@checks
@given(worlds(6))
def test_no_other_path_is_as_short(world):
    graph = Graph.of(world.edges, world.routers)
    for root in world.routers:
        paths = shortest_paths(graph, root)
        for router in paths.distance:
            lengths = {}
            for path in simple_paths(world, [root], router):
                costs = [world.links[edge] for edge in pairwise(path)]
                lengths[sum(cost for cost, _ in costs), sum(hash_ for _, hash_ in costs)] = path
            assert lengths[min(lengths)] == path_to(paths, router)[::-1]


@checks
@given(worlds())
def test_the_way_back_is_the_way_there_and_parts_of_it_are_shortest_paths(world):
    graph = Graph.of(world.edges, world.routers)
    all_paths = {root: shortest_paths(graph, root) for root in world.routers}
    for root, paths in all_paths.items():
        for router in paths.distance:
            path = path_to(paths, router)
            assert path[-1] == root
            assert path == path_to(all_paths[router], root)[::-1]
            for at, middle in enumerate(path):
                assert path_to(all_paths[middle], router) == path[: at + 1]
                assert path_to(paths, middle) == path[at:]


@checks
@given(worlds())
def test_hops_and_branches_are_those_of_the_paths(world):
    graph = Graph.of(world.edges, world.routers)
    for root in world.routers:
        paths = shortest_paths(graph, root)
        ways = {router: path_to(paths, router)[::-1] for router in paths.distance}
        assert paths.hops == {router: len(way) - 1 for router, way in ways.items()}
        for through in world.routers:
            past = {router: way[way.index(through) + 1 :] for router, way in ways.items() if through in way}
            assert paths.branches(through) == {router: rest[0] for router, rest in past.items() if rest}


@checks
@given(worlds())
def test_both_tables_go_by_growing_length(world):
    paths = shortest_paths(Graph.of(world.edges, world.routers), world.routers[0])
    assert list(paths.distance.values()) == sorted(paths.distance.values())
    assert [world.routers[0], *paths.previous] == list(paths.distance)


def test_cost_comes_before_the_hash():
    """The detour has one edge more, so a larger sum of hashes; it is cheaper by one."""
    graph = Graph.of([(1, 2, 5), (1, 3, 2), (3, 2, 2)])
    assert path_to(shortest_paths(graph, 1), 2) == [2, 3, 1]
    assert path_to(shortest_paths(graph.changed([(1, 2, 4)]), 1), 2) == [2, 1]


def test_edges_of_no_cost_have_a_length():
    paths = shortest_paths(Graph.of([(1, 2, 0), (2, 3, 0)]), 1)
    assert list(paths.distance) == [1, 2, 3]


@checks
@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_the_hash_of_an_edge_is_fixed(one, other):
    assert edge_hash(min(one, other), max(one, other)) == hash_of(one, other)


def test_a_router_that_no_edge_names_reaches_itself():
    for graph in (Graph(), Graph.of([], [7]), Graph.of([(1, 2, 1)])):
        paths = shortest_paths(graph, 7)
        assert (paths.distance, paths.previous, paths.hops) == ({7: 0}, {}, {7: 0})


# --- graphs ----------------------------------------------------------------------------------------------------------


@checks
@given(worlds(), st.randoms(use_true_random=False))
def test_the_same_edges_make_the_same_graph_in_any_order(world, random):
    edges = [(*random.sample((one, other), 2), cost) for one, other, cost in world.edges]
    random.shuffle(edges)
    one, other = Graph.of(world.edges, world.routers), Graph.of(edges, reversed(world.routers))
    assert one == other
    assert hash(one) == hash(other)
    for root in world.routers:
        ours, theirs = shortest_paths(one, root), shortest_paths(other, root)
        assert list(ours.previous.items()) == list(theirs.previous.items())


@checks
@given(worlds(8), worlds(8))
def test_the_digest_tells_edges_apart(one, other):
    same = set(one.edges) == set(other.edges)
    assert (Graph.of(one.edges).digest == Graph.of(other.edges).digest) is same


@checks
@given(worlds(8), worlds(8))
def test_a_changed_graph_is_the_one_made_of_what_is_true_now(before, after):
    graph, twin = Graph.of(before.edges), Graph.of(before.edges)
    gone = {edge[:2] for edge in before.edges} - {edge[:2] for edge in after.edges}
    changed = graph.changed([*after.edges, *((one, other, None) for one, other in gone)])
    assert changed == Graph.of(after.edges)
    assert graph == twin


def test_a_digest_stays_within_128_bits():
    graph = Graph.of((number(index), number(index + 1), 1) for index in range(50))
    assert 0 <= graph.digest < 2**128
    assert graph.changed((number(index), number(index + 1), None) for index in range(50)).digest == 0


def test_the_last_word_on_an_edge_counts():
    assert Graph.of([(1, 2, 5), (2, 1, 3)]) == Graph.of([(1, 2, 3)])
    assert Graph().changed([(1, 2, None)], [1, 2]) == Graph.of([], [1, 2])


def test_nobody_is_his_own_neighbour():
    with pytest.raises(ValueError, match="own neighbour"):
        Graph.of([(1, 1, 1)])


# --- the cache -------------------------------------------------------------------------------------------------------


def line(size: int) -> Graph:
    return Graph.of((router, router + 1, 1) for router in range(1, size))


def test_equal_graphs_share_their_paths():
    cache = PathCache()
    assert cache.paths(line(5), 1) is cache.paths(line(5), 1)
    assert cache.paths(line(5), 1) is not cache.paths(line(5), 2)
    assert cache.paths(line(5), 1) is not cache.paths(line(6), 1)


def test_the_least_recent_paths_go_first():
    cache, graph = PathCache(paths_max=2), line(5)
    first, second = cache.paths(graph, 1), cache.paths(graph, 2)
    assert cache.paths(graph, 1) is first
    cache.paths(graph, 3)
    assert len(cache) == 2
    assert cache.paths(graph, 1) is first
    assert cache.paths(graph, 2) is not second


def test_the_cache_is_bounded_by_routers_too_and_keeps_the_latest():
    cache = PathCache(routers_max=2)
    for root in (1, 2, 3):
        cache.paths(Graph(), root)
    assert len(cache) == 2
    cache = PathCache(routers_max=10)
    for root in (1, 2, 3):
        cache.paths(line(5), root)
    assert len(cache) == 2
    large = cache.paths(line(50), 1)
    assert len(cache) == 1
    assert cache.paths(line(50), 1) is large
    cache.paths(line(5), 1)
    cache.paths(line(5), 2)
    assert len(cache) == 2


def test_routers_without_an_edge_can_be_named_and_change_nothing_else():
    graph = Graph.of([(1, 2, 5)], (2, 7))
    assert graph.neighbours == {1: {2: 5}, 2: {1: 5}, 7: {}}
    assert graph.digest == Graph.of([(1, 2, 5)]).digest
