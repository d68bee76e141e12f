"""Broadcast layers: what routers with the same topology answer fits together, and delivers to everybody once."""

from __future__ import annotations

from collections import deque
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.router.core.routing.paths import Graph, PathCache
from tamis.router.core.routing.trees import Broadcast, make_trees
from tests.router.core.graphs import World, checks, number, worlds

pytestmark = pytest.mark.slow

LAYERS = get_args(Broadcast)
TREES = ("source-trees", "shared-tree")


def all_trees(world, broadcast, coarse=False):
    graph, cache = Graph.of(world.edges, world.routers), PathCache()
    return {router: make_trees(broadcast, graph, router, cache, coarse) for router in world.routers}


def trees_of(world: World, broadcast: Broadcast) -> dict[int, World]:
    """For each source, the topology without the edges that T(source) does not use."""
    roots = {source: source if broadcast != "shared-tree" else min(world.reach(source)) for source in world.routers}
    trees = {
        root: world.within({frozenset((router, world.next_hop(router, root))) for router in world.reach(root) - {root}})
        for root in set(roots.values())
    }
    return {source: trees[root] for source, root in roots.items()}


def spread(trees, source, wanted):
    """Who takes a message of `source` for these issuers, and how often, with all copies that were refused; by hops."""
    taken, refused = {source: 0}, 0
    queue = deque([source])
    while queue:
        at = queue.popleft()
        below = trees[at].below(source)
        for link in sorted({below[issuer] for issuer in wanted if issuer in below}):
            if trees[link].parent(source) != at:
                refused += 1
                continue
            assert link not in taken, "one router takes two copies"
            taken[link] = taken[at] + 1
            queue.append(link)
    return taken, refused


layers = pytest.mark.parametrize("broadcast", LAYERS)
true_trees = pytest.mark.parametrize("broadcast", TREES)
forms = pytest.mark.parametrize("coarse", [False, True])


@layers
@forms
@checks
@given(world=worlds())
def test_next_hops_and_parents_lead_to_the_router(broadcast, coarse, world):
    expected = trees_of(world, broadcast)
    for me, trees in all_trees(world, broadcast, coarse).items():
        assert trees.me == me
        assert trees.routers == world.reach(me)
        for router in world.routers:
            way = expected[router].next_hop(me, router)
            assert trees.next_hop(router) == trees.parent(router) == way


@true_trees
@forms
@checks
@given(world=worlds())
def test_a_child_is_who_has_me_as_its_parent(broadcast, coarse, world):
    trees = all_trees(world, broadcast, coarse)
    for source in world.routers:
        for me in world.reach(source):
            expected = {j for j in world.neighbours(me) if trees[j].parent(source) == me}
            assert trees[me].children(source) == tuple(sorted(expected))


@true_trees
@checks
@given(world=worlds())
def test_children_visit_every_router_in_reach_once(broadcast, world):
    trees = all_trees(world, broadcast)
    for source in world.routers:
        visited = [source]
        for router in visited:
            visited += trees[router].children(source)
            assert len(visited) <= len(world.routers)
        assert sorted(visited) == sorted(world.reach(source))


@checks
@given(worlds())
def test_with_reverse_path_all_links_but_the_parent_are_children(world):
    for me, trees in all_trees(world, "reverse-path").items():
        for source in world.reach(me):
            assert trees.children(source) == tuple(sorted(world.neighbours(me) - {trees.parent(source)}))
            ways = {issuer: world.next_hop(me, issuer) for issuer in world.reach(me) - {me}}
            assert trees.below(source) == {i: way for i, way in ways.items() if way != trees.parent(source)}


@true_trees
@checks
@given(world=worlds())
def test_below_a_child_is_its_part_of_the_tree(broadcast, world):
    whole = trees_of(world, broadcast)
    for me, trees in all_trees(world, broadcast).items():
        for source in world.reach(me):
            tree = whole[source]
            expected = {
                issuer: child
                for child in trees.children(source)
                for issuer in world.reach(me)
                if tree.passes(source, me, child, issuer)
            }
            assert trees.below(source) == expected


@true_trees
@checks
@given(world=worlds())
def test_the_coarse_form_adds_issuers_and_no_children(broadcast, world):
    exact = all_trees(world, broadcast)
    for me, trees in all_trees(world, broadcast, coarse=True).items():
        for source in world.routers:
            assert trees.children(source) == exact[me].children(source)
            assert trees.below(source).items() >= exact[me].below(source).items()
            for issuer, child in trees.below(source).items():
                assert child == trees.next_hop(issuer)
                assert child in trees.children(source)


@layers
@forms
@checks
@given(world=worlds(), data=st.data())
def test_deliveries_are_complete_and_single_within_the_hop_limit(broadcast, coarse, world, data):
    trees = all_trees(world, broadcast, coarse)
    source = data.draw(st.sampled_from(world.routers))
    wanted = data.draw(st.sets(st.sampled_from(world.routers)))
    taken, refused = spread(trees, source, wanted)
    assert taken.keys() >= wanted & world.reach(source)
    assert refused == 0 or broadcast == "reverse-path"
    if not coarse and broadcast in TREES:
        tree = trees_of(world, broadcast)[source]
        useful = {at for at in world.routers for issuer in wanted if tree.passes(source, at, issuer)}
        assert taken.keys() == useful | {source}


@layers
@checks
@given(world=worlds())
def test_the_hop_limit_is_the_longest_way_and_four(broadcast, world):
    trees = all_trees(world, broadcast)
    for source in world.routers:
        taken, _ = spread(trees, source, world.routers)
        assert taken.keys() == world.reach(source)
        assert trees[source].hop_limit() == 2 * max(taken.values()) + 4


@layers
@forms
def test_sources_out_of_reach_lead_nowhere(broadcast, coarse):
    graph = Graph.of([(1, 2, 1), (8, 9, 1)], [5])
    for me, stranger in ((1, 8), (5, 1), (7, 1), (1, 77)):
        trees = make_trees(broadcast, graph, me, PathCache(), coarse)
        assert trees.next_hop(stranger) is trees.parent(stranger) is None
        assert trees.children(stranger) == ()
        assert trees.below(stranger) == {}
    alone = make_trees(broadcast, graph, 5, PathCache(), coarse)
    assert (alone.routers, alone.children(5), alone.below(5), alone.hop_limit()) == ({5}, (), {}, 4)


@layers
def test_a_hop_limit_is_one_byte(broadcast):
    line = Graph.of((number(index), number(index + 1), 1) for index in range(200))
    assert make_trees(broadcast, line, number(0), PathCache(), False).hop_limit() == 255
    assert make_trees(broadcast, line, number(100), PathCache(), False).hop_limit() == 204


@pytest.mark.parametrize("asked", [number(0), number(7)])
def test_only_paths_that_are_needed_are_computed(asked):
    """A leaf asks for its own paths and its neighbour's; the coarse form for no source's."""
    star = Graph.of((number(20), number(index), 1) for index in range(20))
    for coarse in (False, True):
        cache = PathCache()
        leaf = make_trees("source-trees", star, number(3), cache, coarse)
        assert len(cache) == 0
        assert leaf.below(asked) == {}
        assert len(cache) == 2
    line = Graph.of((number(index), number(index + 1), 1) for index in range(9))
    for coarse, needed in ((False, 4), (True, 3)):
        cache = PathCache()
        middle = make_trees("source-trees", line, number(4), cache, coarse)
        assert middle.below(asked)
        assert len(cache) == needed


@pytest.mark.parametrize("broadcast", ["source-trees", "shared-tree", "reverse-path"])
def test_a_router_is_itself_by_its_number_not_by_the_object(broadcast):
    trees = make_trees(broadcast, Graph.of([(10**18, 5, 1)]), 10**18, PathCache(), coarse=False)
    me = int(str(10**18))
    assert (trees.parent(me), trees.children(me), dict(trees.below(me))) == (None, (5,), {5: 5})
