"""R4, R5, R8: what a router says of its links, and what it makes of what others say."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.routing_bodies import Adjacency, LinkState
from tamis.router.core.commands import Install, NeighbourSession, RaiseEpoch, Reroute, Send
from tamis.router.core.events import ShuttingDown
from tamis.router.core.timers import Due
from tamis.router.core.times import MS, S
from tests.router.core.bodies import state, whole
from tests.router.core.single import Single

ME, A, B, C, X = map(stable_number, ("me", "a", "b", "c", "x"))
AGE_US = 600 * S


def links_said(single: Single) -> list[list[int]]:
    return [[link.neighbour for link in body.links] for body in single.took(LinkState)]


def mine(single: Single) -> LinkState:
    return single.core.core_state.topology.states[ME].body


def joined(*neighbours: str) -> Single:
    """Links that came up long ago."""
    single = Single()
    single.joins(*neighbours)
    single.waits(3 * S)
    single.took(Send)
    return single


def test_at_the_start_a_router_reaches_itself_and_says_so():
    single = Single()
    [reroute] = single.took(Reroute)
    assert reroute.trees.routers == {ME}
    assert mine(single) == LinkState("me", 1, 2, ())


def test_a_link_is_told_once_this_end_has_caught_up():
    single = joined("a")
    single.up("b", session=7, cost=4)
    assert links_said(single) == []
    single.catches_up("b", session=7)
    [said] = single.took(LinkState, "b")
    assert said.links == (Adjacency(A, 1, 1), Adjacency(B, 7, 4))


def test_a_link_takes_part_in_flooding_before_that():
    single = joined("a")
    single.up("b")
    single.hears("a", state("x", 1))
    assert single.took(LinkState, "b") == [state("x", 1)]


def test_new_links_wait_the_longer_the_more_of_them_come():
    single = Single()
    single.joins("a")
    single.took(LinkState)
    for neighbour in ("b", "c", "x"):
        single.up(neighbour)
        single.catches_up(neighbour)
    assert links_said(single) == []
    single.waits(100 * MS - 1)
    assert links_said(single) == []
    single.waits(1)
    assert links_said(single) == [[A, B, C, X]]


def test_a_lost_link_is_told_at_once():
    single = Single()
    single.joins("a", "b")
    single.waits(100 * MS)
    single.took(LinkState)
    for lost, left in (("b", [A]), ("a", [])):
        single.down(lost)
        assert mine(single).links == tuple(Adjacency(neighbour, 1, 1) for neighbour in left)


def test_a_lost_link_is_told_at_once_also_while_a_new_one_waits():
    single = Single()
    single.joins("a")
    single.up("b")
    single.catches_up("b")
    single.waits(100 * MS)
    single.up("c")
    single.catches_up("c")
    single.took(LinkState)
    single.down("a")
    assert A not in {link.neighbour for link in mine(single).links}
    assert len(single.took(LinkState, "b")) == 1


def test_a_link_that_comes_and_goes_is_told_when_it_went_and_ever_more_seldom_that_it_came():
    single = joined("b")
    told_us = []
    for session in range(1, 200):
        single.joins("a", session=session)
        for _ in range(10):
            single.waits(5 * MS)
            if single.took(LinkState, "b") and A in {link.neighbour for link in mine(single).links}:
                told_us.append(single.now_us)
        single.down("a", session)
    gaps = [later - earlier for earlier, later in pairwise(told_us)]
    assert max(gaps[3:]) >= 800 * MS
    assert min(gaps[5:]) >= 800 * MS


def test_a_new_session_takes_the_place_of_the_old_and_its_link_is_told_anew():
    single = joined("a", "b")
    single.up("a", session=2)
    assert mine(single).links == (Adjacency(B, 1, 1),)
    single.catches_up("a", session=2)
    assert set(mine(single).links) == {Adjacency(A, 2, 1), Adjacency(B, 1, 1)}


def test_news_is_passed_on_to_all_but_whom_it_came_from_and_once():
    single = joined("a", "b", "c")
    single.hears("a", state("x", 3))
    [send] = [send for send in single.took(Send) if send.body == state("x", 3)]
    assert send.to == (NeighbourSession(B, 1), NeighbourSession(C, 1))
    single.hears("b", state("x", 3))
    assert single.took(Send) == []


def test_whoever_says_something_older_is_told_what_is_newer_at_most_once_a_second():
    single = joined("a", "b")
    single.hears("a", state("x", 3))
    single.took(Send)
    single.hears("b", state("x", 2), state("x", 1))
    assert single.took(Send) == [Send((NeighbourSession(B, 1),), state("x", 3))]
    single.waits(1 * S - 1)
    single.hears("b", state("x", 2))
    assert single.took(Send) == []
    single.hears("a", state("x", 2))
    assert single.took(LinkState, "a") == [state("x", 3)]
    single.waits(1)
    single.hears("b", state("x", 2))
    assert single.took(LinkState, "b") == [state("x", 3)]


def test_of_two_statements_of_equal_freshness_both_go_to_the_issuer_and_the_first_stays():
    single = joined("a", "b")
    first, second = state("x", 3, "a"), state("x", 3, "b")
    single.hears("a", state("a", 9, "me", "x"), first)
    single.waits(20 * MS)
    single.took(Send)
    single.hears("b", second)
    assert single.took(Send) == [Send((NeighbourSession(A, 1),), first), Send((NeighbourSession(A, 1),), second)]
    single.hears("b", second)
    assert single.took(Send) == []
    assert single.core.core_state.topology.states[X].body == first


@pytest.mark.parametrize("heard", [state("me", 9, epoch=2), state("me", 99), state("me", 99, "x")])
def test_a_newer_statement_of_this_router_is_jumped_past(heard):
    single = joined("a")
    before = mine(single)
    single.hears("a", heard)
    assert mine(single).links == before.links
    assert (mine(single).epoch, mine(single).seq) > (heard.epoch, heard.seq)
    assert single.took(LinkState, "a") == [mine(single)]


def test_another_statement_of_this_router_of_equal_freshness_is_jumped_past_and_ones_own_is_not():
    single = joined("a")
    said = mine(single)
    single.hears("a", said)
    single.hears("a", state("me", said.seq - 1, "x"))
    assert mine(single) is said
    single.hears("a", state("me", said.seq, "x"))
    assert mine(single).epoch > said.epoch
    assert single.took(RaiseEpoch) == [RaiseEpoch(mine(single).epoch)]


def test_trees_follow_the_graph_at_most_every_20_ms():
    single = joined("a")
    single.took(Send)
    single.hears("a", state("a", 5, "me", "b"), state("b", 5, "a"))
    single.hears("a", state("b", 6, "a", "c"), state("c", 6, "b"))
    [at_once] = single.took(Reroute)
    assert at_once.trees.routers == {ME, A, B}
    single.waits(20 * MS - 1)
    assert single.took(Reroute) == []
    single.waits(1)
    [later] = single.took(Reroute)
    assert later.trees.routers == single.core.core_state.trees.routers == {ME, A, B, C}
    single.waits(1 * S)
    assert single.took(Reroute) == []


def test_a_statement_that_leaves_the_graph_as_it_is_moves_no_tree():
    single = joined("a")
    trees = single.core.core_state.trees
    single.hears("a", state("a", 5, "me"), state("a", 6, "me", "nobody"))
    single.waits(1 * S)
    assert single.took(Reroute) == []
    assert single.core.core_state.trees is trees


def test_a_graph_that_is_as_before_when_its_time_has_come_moves_no_tree():
    single = joined("a")
    single.hears("a", state("a", 5, "me", "b"), state("b", 5, "a"), state("b", 6), state("b", 7, "a"))
    assert len(single.took(Reroute)) == 1
    single.waits(1 * S)
    assert single.took(Reroute) == []


def test_an_unreachable_router_is_kept_for_ten_minutes_and_then_gone_without_a_trace():
    single = joined("a")
    single.hears("a", state("a", 5, "me", "x"), state("x", 5, "a"), whole("x", 6, {1: b"f"}))
    single.waits(1 * S)
    single.hears("a", state("a", 6, "me"))
    single.took(Install)
    single.waits(AGE_US - 1)
    assert single.core.core_state.rib.entries[X].filters == {1: b"f"}
    assert X in single.core.core_state.topology.states
    assert single.took(Install) == []
    single.waits(1)
    assert single.took(Install) == [Install(X, {}, (1,))]
    assert X not in single.core.core_state.rib.entries
    assert X not in single.core.core_state.topology.states
    single.hears("a", whole("x", 1, {1: b"f"}))
    assert single.core.core_state.rib.entries[X].filters == {1: b"f"}, "and may begin anew"


def test_a_router_that_comes_back_in_time_is_kept():
    single = joined("a")
    single.hears("a", state("a", 5, "me", "x"), state("x", 5, "a"), whole("x", 6, {1: b"f"}))
    single.waits(1 * S)
    single.hears("a", state("a", 6, "me"))
    single.waits(AGE_US - 1)
    single.hears("a", state("a", 7, "me", "x"))
    single.waits(2 * AGE_US)
    assert single.core.core_state.rib.entries[X].filters == {1: b"f"}
    assert single.took(Install) == [Install(X, {1: b"f"}, ())]


def test_what_is_heard_of_a_router_that_never_comes_within_reach_ages_too_and_only_once():
    single = joined("a")
    single.hears("a", state("x", 1), whole("b", 1, {}))
    single.waits(AGE_US // 2)
    single.hears("a", state("x", 2), whole("b", 2, {}))
    single.waits(AGE_US // 2 - 1)
    assert set(single.core.core_state.topology.states) == {ME, A, X}
    assert set(single.core.core_state.rib.entries) == {ME, B}
    single.waits(1)
    assert set(single.core.core_state.topology.states) == {ME, A}
    assert set(single.core.core_state.rib.entries) == {ME}


# --- in step, and leaving --------------------------------------------------------------------------------------------


def test_a_link_is_in_step_once_both_ends_list_it():
    single = Single()
    assert single.core.links_in_step() == {}
    single.up("a")
    assert single.core.links_in_step() == {A: False}
    single.catches_up("a")
    assert single.core.links_in_step() == {A: False}, "the other end may lack something"
    single.hears("a", state("a", 1, "me"))
    assert single.core.links_in_step() == {A: False}, "no message goes that way yet"
    single.waits(single.core.core_state.times.reroute_every_us)
    assert single.core.links_in_step() == {A: True}


def test_a_new_session_is_not_in_step_although_the_last_was():
    single = joined("a", "b")
    assert single.core.links_in_step() == {A: True, B: True}
    single.up("a", session=2)
    assert single.core.links_in_step() == {A: False, B: True}
    single.down("b")
    assert single.core.links_in_step() == {A: False}


def test_a_router_that_leaves_says_that_it_has_no_links_and_nothing_else_any_more():
    single = joined("a", "b")
    before = mine(single)
    single.handle(ShuttingDown())
    [to_a] = single.took(LinkState, "a")
    assert to_a.links == ()
    assert (to_a.epoch, to_a.seq) == (before.epoch, before.seq + 1)
    single.up("c")
    single.catches_up("c")
    single.down("b")
    single.waits(3 * S)
    assert all(said == [] for said in links_said(single))


def test_a_router_that_leaves_and_has_to_jump_still_has_no_links():
    single = joined("a")
    single.handle(ShuttingDown())
    single.took(Send)
    single.hears("a", LinkState("me", 7, 1, (Adjacency(A, 1, 1),)))
    single.waits(3 * S)
    said = single.took(LinkState, "a")
    assert said
    assert all(body.links == () for body in said)


def test_a_change_that_comes_20_ms_after_the_last_trees_or_later_is_followed_at_once():
    single = joined("a")
    for seq, wait_us in ((5, 20 * MS), (6, 50 * MS), (7, 19_999)):
        single.waits(wait_us)
        single.hears("a", state("a", seq, "me", *(["b"] if seq % 2 else [])), state("b", seq, "a"))
        assert len(single.took(Reroute)) == (seq < 7)
    assert single.due_in(Due.REROUTE) == 1
