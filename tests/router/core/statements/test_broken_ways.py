"""Which changes of the network break a way of messages to here, and when clients are told."""

from __future__ import annotations

import pytest
from hypothesis import given

from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.routing_bodies import Adjacency, LinkState
from tamis.router.core.commands import Reroute, RoutesChanged
from tamis.router.core.events import LinkDown, Stalled
from tamis.router.core.routing.paths import Graph, PathCache
from tamis.router.core.routing.trees import make_trees
from tamis.router.core.times import HOLDS_MAX, MS, S, Times
from tests.router.core.bodies import state
from tests.router.core.graphs import World, checks, worlds
from tests.router.core.single import Single

TIMES = Times()
HOLD_US, UNNOTICED_US = TIMES.tree_hold_us, TIMES.unnoticed_us


def said(router: str, seq: int, *neighbours: str, epoch: int = 1, session: int = 1) -> LinkState:
    """A link state with sessions of one number."""
    return LinkState(router, epoch, seq, tuple(Adjacency(stable_number(name), session, 1) for name in neighbours))


def ring() -> Single:
    """me - a - b - c - d - me, long at rest."""
    single = Single()
    single.joins("a", "d")
    single.hears("a", said("a", 9, "me", "b"), said("b", 9, "a", "c"), said("c", 9, "b", "d"), said("d", 9, "c", "me"))
    single.waits(20 * S)
    assert len(single.core.core_state.trees.routers) == 5
    single.took(RoutesChanged)
    return single


def b_is_back(single: Single) -> None:
    a = LinkState("a", 1, 11, (Adjacency(stable_number("me"), 1, 1), Adjacency(stable_number("b"), 2, 1)))
    single.hears("a", said("b", 1, "a", "c", epoch=2), a, said("c", 11, "b", "d"))


def told(single: Single, for_us: int = 4 * HOLD_US) -> list[RoutesChanged]:
    single.waits(for_us)
    return single.took(RoutesChanged)


def test_a_cut_on_the_way_of_somebody_is_told_once_when_the_hold_is_over() -> None:
    single = ring()
    single.hears("a", said("a", 10, "me"))
    single.hears("d", said("b", 10, "c"))
    assert told(single, HOLD_US - 1) == []
    assert told(single) == [RoutesChanged(HOLD_US + UNNOTICED_US, HOLD_US, goes_on=False)]
    assert told(single) == []


def test_a_cut_that_is_on_the_way_of_nobody_is_not_told() -> None:
    single = ring()
    single.hears("a", said("b", 10, "a"))
    single.hears("d", said("c", 10, "d"))
    assert told(single) == []


def test_a_session_that_is_made_anew_at_once_has_lost_what_was_on_it() -> None:
    single = ring()
    single.hears("a", said("a", 10, "me", "b", session=2))
    assert len(told(single)) == 1


def test_the_old_way_counts_as_long_as_it_is_in_force() -> None:
    """A short cut comes: for the hold messages go by both ways, and who has not heard of it sends by the old one."""
    for after_us, count in ((HOLD_US - 1, 1), (HOLD_US, 0)):
        single = ring()
        single.up("b")
        single.catches_up("b")
        single.hears("a", said("b", 10, "a", "c", "me"))
        single.waits(100 * MS)  # new links are damped
        single.waits(after_us - 100 * MS)
        single.hears("a", said("a", 10, "me"))
        assert len(told(single)) == count


def test_a_shorter_way_and_a_cost_lose_nothing() -> None:
    single = ring()
    single.joins("b", "c")
    single.hears(
        "a", LinkState("a", 1, 10, (Adjacency(stable_number("me"), 1, 9), Adjacency(stable_number("b"), 1, 9)))
    )
    assert told(single) == []


def says_costs(single: Single, seq: int, name: str, before: tuple[str, int], after: tuple[str, int]) -> None:
    links = tuple(Adjacency(stable_number(other), 1, cost) for other, cost in (before, after))
    single.hears("a", LinkState(name, 1, seq, links))


@pytest.mark.parametrize(
    ("changes", "apart_us", "count"),
    [(3, 300 * MS, 0), (4, 300 * MS, 1), (4, HOLD_US, 0)],
    ids=["as many as are in force", "one more", "one more, later"],
)
def test_trees_that_are_given_up_early_may_have_lost_what_was_on_its_way(changes, apart_us, count) -> None:
    """me - a - b - c - d - e - f - me: each edge that becomes dear moves the place where the two ways meet."""
    single = Single()
    single.joins("a", "f")
    around = ("me", *"abcdef", "me")
    for before, name, after in zip(around, around[1:], around[2:], strict=False):
        says_costs(single, 9, name, (before, 1), (after, 1))
    single.waits(20 * S)
    assert len(single.core.core_state.trees.routers) == 7
    single.took(RoutesChanged)
    dear = [("b", "a", "c", 10), ("d", "c", "e", 20), ("a", "me", "b", 40), ("e", "d", "f", 80)]
    trees = [single.core.core_state.trees.onward]
    for name, before, after, cost in dear[:changes]:
        says_costs(single, 10, name, (before, 1), (after, cost))
        single.waits(apart_us)
        assert single.core.core_state.trees.onward not in trees
        trees.append(single.core.core_state.trees.onward)
    assert len(told(single)) == count


def test_a_router_that_dies_is_missed_until_it_is_back() -> None:
    single = ring()
    single.hears("a", said("a", 10, "me"))
    single.hears("d", said("c", 10, "d"))
    [away] = told(single)
    assert away.goes_on
    assert away.span_us == pytest.approx(HOLD_US + UNNOTICED_US, abs=TIMES.reroute_every_us)
    single.waits(60 * S)
    b_is_back(single)
    [back] = told(single)
    assert back.goes_on is False
    assert back.span_us == pytest.approx(60 * S + 5 * HOLD_US + UNNOTICED_US, abs=1 * S), "since it went"
    assert told(single) == []


def test_who_comes_back_after_it_was_forgotten_was_missed_all_the_same() -> None:
    single = ring()
    single.hears("a", said("a", 10, "me"))
    single.hears("d", said("c", 10, "d"))
    single.waits(TIMES.age_out_us + 10 * S)
    single.took(RoutesChanged)
    b_is_back(single)
    [back] = told(single)
    assert back.span_us > TIMES.age_out_us


def test_a_router_that_is_new_was_missed_by_nobody() -> None:
    single = ring()
    single.hears("a", said("x", 1, "a"), said("a", 10, "me", "b", "x"))
    assert told(single) == []


def test_whoever_knew_nobody_missed_what_was_said_until_then() -> None:
    single = Single()
    single.waits(30 * S)
    single.joins("a")
    [first] = told(single)
    assert first == RoutesChanged(30 * S + HOLD_US + UNNOTICED_US, HOLD_US, goes_on=False)
    single.hears("a", said("x", 1, "a"), said("a", 10, "me", "x"))
    assert told(single) == []


def test_a_router_that_leaves_in_good_order_loses_nothing() -> None:
    single = ring()
    single.hears("a", said("b", 10))
    single.waits(Times().tree_hold_us)
    single.hears("a", said("a", 10, "me"))
    single.hears("d", said("c", 10, "d"))
    assert told(single) == []
    b_is_back(single)
    assert told(single) == []


def test_a_router_that_says_that_it_leaves_does_whatever_it_said_before() -> None:
    """Numbers of statements count advertisements, too, and a router may have one link."""
    single = ring()
    single.hears("a", LinkState("b", 1, 12, (), leaving=True))
    single.waits(Times().tree_hold_us)
    single.hears("a", said("a", 10, "me"))
    single.hears("d", said("c", 10, "d"))
    assert told(single) == []


def test_a_link_that_breaks_while_a_router_leaves_is_a_loss() -> None:
    """Messages were on it that nobody has forwarded: a router that leaves keeps its sessions for the hold."""
    single = ring()
    single.hears("a", said("b", 10))
    single.waits(Times().tree_hold_us - 1)
    single.hears("a", said("a", 10, "me"))
    assert len(told(single)) == 1


def test_a_statement_without_links_that_does_not_follow_one_with_several_is_a_loss() -> None:
    for bare in (said("b", 11), said("b", 10, epoch=2)):
        single = ring()
        single.hears("a", bare)
        assert len(told(single)) == 1


def test_own_links_that_end_together_are_a_loss() -> None:
    single = ring()
    single.down("a")
    single.down("d")
    [away] = told(single)
    assert away.goes_on


@pytest.mark.parametrize("ends_first", [True, False])
def test_what_a_router_notices_after_a_standstill_happened_as_it_came_to_stand(ends_first: bool) -> None:
    single = ring()
    stood_us = single.now_us
    single.now_us += 5 * S
    events = [LinkDown(stable_number("a"), 1), Stalled(stood_us)]
    for event in events if ends_first else reversed(events):
        single.handle(event)
    assert told(single) == [RoutesChanged(5 * S + HOLD_US + UNNOTICED_US, HOLD_US, goes_on=False)]


def test_one_standstill_after_another_is_one() -> None:
    single = ring()
    for _ in range(2):
        single.now_us += 5 * S
        single.handle(Stalled(single.now_us - 5 * S))
    single.waits(UNNOTICED_US)
    single.down("a")
    [once] = told(single)
    assert once.span_us == 10 * S + UNNOTICED_US + HOLD_US + UNNOTICED_US


def test_who_went_out_of_reach_in_a_standstill_is_missed_since_then() -> None:
    single = ring()
    stood_us = single.now_us
    single.now_us += 5 * S
    single.down("a")
    single.down("d")
    single.handle(Stalled(stood_us))
    [away] = told(single)
    assert away.goes_on
    assert away.span_us == pytest.approx(5 * S + HOLD_US + UNNOTICED_US, abs=TIMES.reroute_every_us)
    single.waits(60 * S)
    single.joins("a", session=2)
    [back] = told(single)
    assert back.span_us >= 65 * S


def test_a_standstill_that_broke_no_way_is_not_told_and_soon_forgotten() -> None:
    single = ring()
    single.now_us += 5 * S
    single.handle(Stalled(single.now_us - 5 * S))
    assert told(single) == []
    single.down("a")
    [later] = told(single)
    assert later.span_us == HOLD_US + UNNOTICED_US


def test_what_follows_within_the_hold_is_told_together() -> None:
    single = ring()
    for turn in range(3):
        single.hears("a", said("a", 10 + turn, "me", "b", session=2 + turn))
        assert told(single, HOLD_US // 2) == []
    [once] = told(single)
    assert once.span_us == 2 * HOLD_US + UNNOTICED_US


def test_a_network_that_never_rests_is_told_of_all_the_same() -> None:
    single = ring()
    for turn in range(40):
        single.hears("a", said("a", 10 + turn, "me", "b", session=2 + turn))
        single.waits(HOLD_US // 2)
    spans = [each.span_us - UNNOTICED_US for each in single.took(RoutesChanged)]
    assert spans == [HOLDS_MAX * HOLD_US] * 4


@checks
@given(worlds())
@pytest.mark.parametrize("broadcast", ["source-trees", "reverse-path"])
def test_onward_is_the_next_router_on_the_way_to_here(broadcast: str, world: World) -> None:
    me = world.routers[0]
    onward = make_trees(broadcast, Graph.of(world.edges, world.routers), me, PathCache(), False).onward
    assert onward == {router: world.next_hop(router, me) for router in world.reach(me) if router != me}


@checks
@given(worlds())
def test_onward_in_one_tree_for_all_leads_to_here_by_its_edges(world: World) -> None:
    me = world.routers[0]
    trees = {
        router: make_trees("shared-tree", Graph.of(world.edges, world.routers), router, PathCache(), False)
        for router in world.reach(me)
    }
    onward = trees[me].onward
    assert onward == {router: trees[router].next_hop(me) for router in world.reach(me) if router != me}


def test_state_is_as_the_others_state_it() -> None:
    assert said("a", 3, "b") == state("a", 3, "b")


def test_ways_count_as_whole_again_when_the_hold_is_over() -> None:
    """What comes by new trees waits for what went the old ones only where that can still come (R5c)."""
    single = ring()
    single.took(Reroute)
    single.hears("a", said("a", 10, "me", "b", session=2))
    assert single.took(Reroute) == [], "the graph is what it was"
    for seq, waits_us, is_whole in ((11, 20 * MS, False), (12, HOLD_US, True)):
        single.waits(waits_us)
        links = (Adjacency(stable_number(name), 2, seq - 9) for name in ("me", "b"))
        single.hears("a", LinkState("a", 1, seq, tuple(links)))
        single.waits(20 * MS)
        assert [each.is_whole for each in single.took(Reroute)] == [is_whole]


def test_a_router_has_been_alone_since_it_started() -> None:
    """Not since the machine did, whose clock it reads."""
    single = Single(started_us=7_000 * S)
    single.waits(S)
    single.joins("a")
    [first] = told(single)
    assert first.span_us == S + HOLD_US + UNNOTICED_US
