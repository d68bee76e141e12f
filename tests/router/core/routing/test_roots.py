"""Roots of classes: who is in reach decides, and nothing else."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.router.core.routing.forest import NO_FOREST, Forest
from tamis.router.core.routing.paths import Graph, PathCache
from tamis.router.core.routing.rooted_tree import RootedTree
from tamis.router.core.routing.roots import REST, RootChoice, Roots, agreed_text, root_of, roots_of, weight
from tests.router.core.graphs import number, random_edges

ROUTERS = st.integers(1, 2**64 - 1)
REACH = st.sets(ROUTERS, min_size=1, max_size=12)
CHOICES = st.builds(RootChoice, st.text(max_size=8), st.lists(ROUTERS, max_size=3, unique=True).map(tuple))


@given(CHOICES, REACH, st.randoms())
def test_it_does_not_matter_in_which_order_routers_are_heard_of(choice, reach, chance):
    shuffled = list(reach)
    chance.shuffle(shuffled)
    assert root_of(choice, reach) == root_of(choice, shuffled) == root_of(choice, dict.fromkeys(shuffled))
    assert root_of(choice, reach) in reach


@given(st.text(max_size=8), REACH, st.data())
def test_the_first_one_listed_that_is_in_reach_is_taken_and_the_next_where_it_fails(name, reach, data):
    listed = data.draw(st.permutations(sorted(reach)))
    choice = RootChoice(name, tuple(listed))
    for failed in range(len(listed)):
        assert root_of(choice, set(listed[failed:])) == listed[failed]
    assert root_of(choice, {0}) == root_of(RootChoice(name), {0}) == 0  # nobody of the list: as without one


@given(st.text(max_size=8), REACH, ROUTERS)
def test_who_comes_or_goes_moves_only_what_it_gets_or_had(name, reach, other):
    choice = RootChoice(name)
    before, after = root_of(choice, reach - {other} or {0}), root_of(choice, reach | {other})
    assert after in (before, other) or before == 0


def test_classes_are_spread_over_the_routers_by_hash():
    reach = [number(index) for index in range(10)]
    found = Counter(root_of(RootChoice(f"class {index}"), reach) for index in range(2_000))
    assert found.keys() == set(reach)
    assert max(found.values()) < 2 * min(found.values())


def test_the_weight_is_what_the_page_says():
    expected = hashlib.blake2b(b"quotes" + (7).to_bytes(8, "little"), digest_size=8).digest()
    assert weight("quotes", 7) == int.from_bytes(expected, "little")
    assert roots_of([RootChoice("a", (3, 2)), RootChoice(REST)], {2, 5}) == (2, root_of(RootChoice(REST), {2, 5}))


# --- the trees of roots


@pytest.mark.slow
@settings(max_examples=20)
@given(st.integers(2, 8), st.randoms(use_true_random=False))
def test_on_the_tree_of_a_root_all_that_are_in_reach_of_it_fit_together(size, chance):
    edges = [edge for edge in random_edges(size, chance.randint(0, 3), chance) if chance.random() < 0.85]
    graph = Graph.of(edges, map(number, range(size)))
    cache, root = PathCache(), number(chance.randrange(size))
    trees = {router: RootedTree(graph, router, cache, root) for router in graph.neighbours}
    assert trees[root].parent(root) is None
    for router, tree in trees.items():
        up = tree.parent(root)
        below = set(tree.below(root).values())
        for other in tree.links:
            assert router in trees[other].links  # a link of the tree is one at both ends
            assert (other == up) != (other in below)
        ways = {tree.next_hop(other) for other in tree.routers} - {None}
        assert ways == set(tree.links)
        if root in tree.routers:
            assert sum(len(each.links) for each in map(trees.get, tree.routers)) == 2 * (len(tree.routers) - 1)
            farthest = max(_steps(trees, router, other) for other in tree.routers)
            assert farthest <= tree.hop_limit()


def _steps(trees, one, other):
    """How many links lie between two routers, one step at a time."""
    steps = 0
    while one != other:
        one = trees[one].next_hop(other)
        steps += 1
    return steps


def test_a_root_out_of_reach_has_nobody_on_its_tree():
    graph = Graph.of([(1, 2, 1)], [1, 2, 3])
    tree = RootedTree(graph, 1, PathCache(), 3)
    assert (tree.links, tree.parent(3), tree.parent(2), tree.below(3), tree.hop_limit()) == ((), None, None, {}, 4)


def test_the_first_class_that_a_message_is_in_names_its_root():
    forest = Forest({}, (10, 20, 30))
    assert [forest.root_of(classes) for classes in ((), (0,), (1,), (1, 0))] == [30, 10, 20, 10]
    assert NO_FOREST.root_of((0,)) is None


# --- roots over time, and what routers agree on


@given(st.lists(st.tuples(st.sets(st.integers(1, 6), max_size=4), st.integers(0, 3)), min_size=1, max_size=12))
def test_a_root_is_named_once_it_has_been_chosen_for_the_hold(moves: list[tuple[set[int], int]]) -> None:
    """Compared with a history of all choices."""
    classes, hold_us, now_us = (RootChoice("a", (3,)), RootChoice(REST)), 4, 0
    roots, history = Roots(classes, 1, hold_us), list[tuple[int, tuple[int, ...]]]()
    for reach, later_us in moves:
        now_us += later_us
        roots.follow(reach, now_us)
        history.append((now_us, roots_of(classes, reach) if reach else ()))
        assert roots.chosen == history[-1][1]
        since_us = []
        for place, root in enumerate(roots.chosen):
            kept = list(itertools.takewhile(lambda then: then[1][place : place + 1] == (root,), reversed(history)))  # noqa: B023
            since_us.append(kept[-1][0])
        for at_us in range(now_us, now_us + hold_us + 1):
            expected = [
                root if at_us >= since + hold_us else 0 for root, since in zip(roots.chosen, since_us, strict=True)
            ]
            assert list(roots.named(at_us)) == expected
            later = [since + hold_us for since in since_us if since + hold_us > at_us]
            assert roots.next_us(at_us) == min(later, default=None)
        assert all(
            classes >> place & 1
            for place, root in enumerate(roots.chosen)
            for classes in [roots.classes_by_root()[root]]
        )


def test_what_routers_agree_on_is_all_that_a_choice_follows_from() -> None:
    different = [
        (),
        (RootChoice(REST),),
        (RootChoice("a"), RootChoice(REST)),
        (RootChoice("b"), RootChoice(REST)),
        (RootChoice("a", (1,)), RootChoice(REST)),
        (RootChoice("a", (1, 2)), RootChoice(REST)),
        (RootChoice("a", (2, 1)), RootChoice(REST)),
        (RootChoice("a"), RootChoice(REST, (1,))),
        (RootChoice("a", (), (b"f",)), RootChoice(REST)),
        (RootChoice("a", (), (b"f", b"g")), RootChoice(REST)),
        (RootChoice("a", (), (b"fg",)), RootChoice(REST)),
        (RootChoice("a", (), (b"f",)), RootChoice("g"), RootChoice(REST)),
        (RootChoice("a"), RootChoice("b"), RootChoice(REST)),
        (RootChoice("b"), RootChoice("a"), RootChoice(REST)),
    ]
    texts = [agreed_text(choices) for choices in different]
    assert len(set(texts)) == len(different)
    assert texts == [agreed_text([*choices]) for choices in different]
    assert all(text.startswith("roots-") and " " not in text for text in texts), "one word of a layout"
