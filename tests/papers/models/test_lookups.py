"""The model of paper 001: small trees by hand, equal deliveries, and its tree as another program counted it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.papers.models.lookups import (
    Finds,
    KeyOrder,
    LinkSearch,
    Tree,
    Work,
    always,
    destinations,
    hashed,
    measured,
    neighbours_of,
    never,
    ordered,
    partial,
)

LINE = {0: [1], 1: [0, 2], 2: [1, 3], 3: [2]}


def told(work: Work) -> tuple[int, int, int, int]:
    return work.visits, work.matches, work.lookups, work.keys_max


def test_a_line_by_hand() -> None:
    """Two subscriptions match at 1, one at 3; the event enters at 0."""
    tree, matching = Tree(LINE), frozenset({(1, 0), (1, 1), (3, 0)})
    assert told(never(tree, matching, 0)) == (4, 2 + 2 + 2 + 1, 0, 0)
    assert told(always(tree, matching, 0)) == (4, 2, 9, 3)
    assert told(partial(tree, matching, 0, 3)) == (4, 2, 3 + 1 + 1, 3)  # complete: no further match
    # two of three keys, both of 1, which matches for its clients and again for its link: there one key is all
    assert told(partial(tree, matching, 0, 2)) == (4, 2 + 2, 2 + 1 + 1, 2)
    assert told(destinations(tree, matching, 0)) == (4, 5, 0, 0)


def test_what_is_searched_on_the_line() -> None:
    """Router k has 10 to the k subscriptions; the event enters at 1 and is wanted at 3."""
    tree, matching = Tree(LINE, {router: 10**router for router in LINE}), frozenset({(3, 0)})
    at_1 = {
        LinkSearch(True, Finds.ONE, 1): 1,
        LinkSearch(True, Finds.ONE, 1_100): 1,
        LinkSearch(True, Finds.ALL, 10): 1,
    }
    beyond = {
        LinkSearch(False, Finds.ONE, 1_000): 1,
        LinkSearch(False, Finds.ALL, 100): 1,
        LinkSearch(False, Finds.ALL, 1_000): 1,
    }
    assert never(tree, matching, 1).searched == at_1 | beyond
    finds = {Finds.ONE: Finds.SOME, Finds.ALL: Finds.ALL}
    assert partial(tree, matching, 1, 5).searched == {each._replace(finds=finds[each.finds]): 1 for each in at_1}
    assert always(tree, matching, 1).searched == {each._replace(finds=Finds.ALL): 1 for each in at_1}


def test_nobody_wants_it() -> None:
    tree = Tree(LINE)
    assert [told(found) for found in (never(tree, frozenset(), 1), partial(tree, frozenset(), 1, 9))] == [
        (1, 3, 0, 0)
    ] * 2


@given(st.integers(0, 1 << 30), st.integers(2, 12), st.integers(1, 6))
def test_all_deliver_to_the_same_and_visit_the_same(seed: int, size: int, limit: int) -> None:
    rng = random.Random(seed)
    neighbours: dict[int, list[int]] = {0: []}
    for router in range(1, size):
        parent = rng.randrange(router)
        neighbours[router] = [parent]
        neighbours[parent].append(router)
    tree = Tree(neighbours)
    matching = frozenset((rng.randrange(size), number) for number in range(rng.randint(0, 12)))
    entry = rng.randrange(size)
    plain = never(tree, matching, entry)
    for other in (always(tree, matching, entry), partial(tree, matching, entry, limit)):
        assert (other.visits, other.delivered) == (plain.visits, plain.delivered)
    cut = partial(tree, matching, entry, limit)
    assert cut.matches <= plain.matches
    assert cut.keys_max <= limit
    whole = partial(tree, matching, entry, max(1, len(matching)))
    assert whole.matches == len(neighbours[entry]) + 1


@pytest.mark.slow
@pytest.mark.parametrize(("density", "visits", "before", "after"), [(0.05, 74, 156, 63), (0.2, 89, 182, 85)])
def test_the_papers_tree_costs_what_a_program_of_its_own_counted(
    density: float, visits: int, before: int, after: int
) -> None:
    """Matches an event without reuse, and with up to 60 keys: within a quarter, as few events are drawn."""
    neighbours = neighbours_of("configs/topologies/tree100.yaml")
    events = 60
    found = measured(neighbours, 10_000, events, density)
    assert found["never"].visits / events == pytest.approx(visits, rel=0.25)
    assert found["never"].matches / events == pytest.approx(before, rel=0.25)
    assert found["partial 60"].matches / events == pytest.approx(after, rel=0.25)


@given(st.integers(0, 1 << 30), st.integers(1, 9), st.sampled_from(KeyOrder))
def test_a_match_that_stops_finds_the_first_keys_of_its_order(seed: int, limit: int, order: KeyOrder) -> None:
    """Two routers: the keys on their link are the least ones, by a sort of their own."""
    rng = random.Random(seed)
    tree, matching = Tree({0: [1], 1: [0]}), frozenset((1, rng.randrange(99)) for _ in range(rng.randint(1, 20)))
    ranks = {key: int.from_bytes(hashed(key), "big") for key in matching}
    least = sorted(matching, key=(lambda key: ranks[key]) if order is KeyOrder.HASH else None)[:limit]
    work = partial(tree, matching, 0, limit, order)
    assert (work.keys, work.lookups) == (len(least), len(least))
    assert ordered(matching, order)[:limit] == least
    assert work.delivered == matching


def test_the_order_of_keys_decides_which_links_need_no_match() -> None:
    """A hash takes keys of many routers, and the router number those of one: behind a line the far end goes without."""
    line = {router: [other for other in (router - 1, router + 1) if 0 <= other < 6] for router in range(6)}
    matching = frozenset((router, number) for router in range(1, 6) for number in range(8))
    matches = {order: partial(Tree(line), matching, 0, 8, order).matches for order in KeyOrder}
    assert matches[KeyOrder.HASH] < matches[KeyOrder.ROUTER]
