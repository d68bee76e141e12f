"""All rules together: several routers, and what becomes of them."""

from __future__ import annotations

import pytest

from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.routing_bodies import (
    Held,
    LinkState,
    ReceiverAdvertisement,
    SenderRequest,
    UpdateReply,
)
from tamis.router.core.commands import RaiseEpoch, Reroute, Send
from tamis.router.core.core import Core, CoreSettings
from tamis.router.core.events import FiltersAdded
from tamis.router.core.routing.paths import PathCache
from tamis.router.core.routing.shared_tree import SharedTree
from tamis.router.core.routing.source_trees import CoarseSourceTrees
from tamis.router.core.times import MS, S, Times
from tests.router.core.bodies import less, whole
from tests.router.core.single import Single
from tests.router.core.world import World

LINE = [("a", "b"), ("b", "c")]
RING = [*LINE, ("c", "d"), ("d", "e"), ("e", "a")]
CHORD = [*RING, ("b", "e")]
BODIES = [LinkState, ReceiverAdvertisement, SenderRequest, UpdateReply]


def running(links: list[tuple[str, str]], for_us: int = 5 * S) -> World:
    """Each router asks for a filter of its own."""
    world = World(sorted({name for link in links for name in link}), links)
    for bound, name in enumerate(world.cores):
        world.want(name, less(bound))
    world.run(for_us)
    world.check()
    world.sent.clear()
    return world


# --- convergence


@pytest.mark.parametrize("links", [LINE, RING, CHORD])
def test_everybody_knows_what_everybody_asks_for(links):
    world = running(links)
    for name in world.cores:
        assert world.asked_of(name) == {other: {less(bound)} for bound, other in enumerate(world.cores)}


def test_routers_that_start_together_agree_within_half_a_second():
    running(CHORD, for_us=500 * MS)


def test_a_change_is_everywhere_as_soon_as_frames_can_be():
    world = running(RING)
    world.want("a", less(99))
    world.run(20 * MS)
    world.check()
    assert less(99) in world.asked_of("c")["a"]


@pytest.mark.parametrize("links", [LINE, RING, CHORD])
def test_a_change_costs_two_frames_a_link_at_most(links):
    world = running(links)
    world.want("a", less(99))
    world.run(10 * S)
    assert world.frames(ReceiverAdvertisement) == len(world.sent)
    assert 1 <= world.frames_per_link() <= 2


def test_a_quiet_network_sends_nothing_but_digests():
    world = running(RING)
    world.run(300 * S)
    assert world.frames(SenderRequest) == len(world.sent)
    assert all(body.digest for _, _, body in world.sent if isinstance(body, SenderRequest))
    assert 2 * 300 / 61 - 2 < world.frames_per_link() < 2 * 300 / 29 + 2


def test_a_link_that_comes_up_brings_both_sides_together():
    world = running(LINE)
    for name in "xy":
        world.start(name)
        world.want(name, less(ord(name)))
    world.connect("x", "y")
    world.run(5 * S)
    world.connect("c", "x")
    world.run(1 * S)
    world.check()
    assert set(world.asked_of("a")) == set("abcxy")


def test_a_link_that_goes_away_leaves_what_is_known_as_it_is():
    world = running(RING)
    world.cut("a", "b")
    world.run(1 * S)
    world.check()
    assert world.frames(ReceiverAdvertisement) == 0
    assert world.frames(LinkState) <= 2 * 2 * 4


def test_a_new_session_replaces_the_old_one_without_a_cut():
    world = running(LINE)
    world.connect("a", "b")
    world.run(1 * S)
    world.check()


def test_a_topology_at_other_costs_takes_other_ways():
    world = running(RING)
    world.cut("a", "b")
    world.connect("a", "b", cost=9)
    world.run(5 * S)
    trees = world.cores["a"].core_state.trees
    assert trees.next_hop(stable_number("b")) == stable_number("e")


# --- partition and merge


def test_parts_that_changed_while_they_were_apart_agree_when_they_meet():
    world = running(CHORD)
    world.cut("b", "c")
    world.cut("d", "e")
    world.want("a", less(50))
    world.want("c", less(51))
    world.unwant("d", less(3))
    world.run(30 * S)
    world.check()
    assert less(50) not in world.asked_of("c")["a"]
    world.connect("d", "e")
    world.run(1 * S)
    world.check()
    assert less(50) in world.asked_of("c")["a"]
    assert less(51) in world.asked_of("a")["c"]
    assert "d" not in world.asked_of("a")


def test_what_nobody_could_tell_while_a_router_was_out_of_reach_is_told_when_it_is_back():
    world = running(RING)
    for one, other in (("c", "d"), ("d", "e")):
        world.cut(one, other)
    world.run(3 * S)
    world.want("d", less(70))
    world.lose = [ReceiverAdvertisement]
    world.connect("d", "e")
    world.run(2 * S)
    world.check()
    assert less(70) in world.asked_of("b")["d"]


def test_who_comes_while_a_router_is_out_of_reach_learns_nothing_of_it_and_later_everything():
    world = running(LINE)
    world.cut("b", "c")
    world.start("n")
    world.connect("a", "n")
    world.run(5 * S)
    assert set(world.asked_of("n")) == {"a", "b"}
    assert set(world.asked_of("a")) == {"a", "b", "c"}
    world.sent.clear()
    world.connect("b", "c")
    world.run(500 * MS)
    world.check()
    assert set(world.asked_of("n")) == {"a", "b", "c"}


def test_what_an_unreachable_router_asked_for_is_kept_for_ten_minutes_and_then_nothing_is_left():
    world = running(RING)
    world.wait_for("b", 9)
    world.run(1 * S)
    d = stable_number("d")
    world.stop("d")
    world.run(599 * S)
    assert "d" in world.asked_of("a")
    world.run(2 * S)
    for name, core in world.cores.items():
        assert d not in core.core_state.rib.entries
        assert d not in core.core_state.topology.states
        assert core._predicates.flood.newest(d) is None
        assert not core._predicates.confirmations.issuers
        assert not world.installed[name].get(d)
        assert {about for _, about in core.core_state.timers._due} <= set(core.core_state.links.by_neighbour) | {0}
    world.run(100 * S)
    world.check()


# --- restarts


def test_a_router_that_lost_its_epoch_jumps_past_its_earlier_life():
    world = running(RING)
    world.want("a", less(40))
    world.stop("a")
    world.run(1 * S)
    world.start("a", epoch=0)
    world.want("a", less(41))
    for neighbour in "be":
        world.connect("a", neighbour)
    world.run(3 * S)
    world.check()
    assert world.cores["a"].epoch > 1
    assert world.asked_of("c")["a"] == {less(41)}
    assert world.alarms == []


def test_a_router_that_has_its_epoch_back_but_not_its_counter_jumps_out_of_the_epoch():
    world = running(RING)
    world.stop("a")
    world.start("a", epoch=1)
    world.want("a", less(41))
    world.connect("a", "b")
    world.run(3 * S)
    world.check()
    assert world.cores["a"].epoch > 1
    assert world.asked_of("d")["a"] == {less(41)}


def test_a_router_with_a_newer_epoch_just_speaks():
    world = running(RING)
    world.stop("a")
    world.start("a", epoch=7)
    world.connect("a", "b")
    world.run(3 * S)
    world.check()
    assert (world.cores["a"].epoch, world.alarms) == (7, [])


def test_an_epoch_that_was_jumped_to_is_to_be_kept():
    single = Single()
    single.joins("a")
    single.took(object)
    single.hears("a", whole("me", 3, {}, epoch=5))
    [raised] = single.took(RaiseEpoch)
    assert raised.epoch == single.core.epoch > 5
    single.waits(1 * S)
    single.hears("a", whole("me", 99, {}, epoch=5))
    assert single.took(RaiseEpoch) == []


def test_one_jumps_once_a_second_at_most():
    single = Single()
    single.joins("a")
    single.took(object)
    single.hears("a", whole("me", 100, {}))
    assert len(single.took(ReceiverAdvertisement)) == 1
    single.hears("a", whole("me", 200, {}, epoch=2**40), whole("me", 300, {}, epoch=2**41))
    assert single.took(ReceiverAdvertisement) == []
    single.waits(1 * S - 1)
    assert single.took(ReceiverAdvertisement) == []
    single.waits(1)
    done = list(single.done)
    assert [(body.epoch > 2**41, body.seq) for body in single.took(ReceiverAdvertisement)] == [(True, 1)]
    single.done = done
    assert [body.seq for body in single.took(LinkState)] == [2]


def test_two_routers_of_one_id_raise_an_alarm():
    world = running(LINE)
    world.start("double", id_="a", epoch=9)
    world.want("double", less(77))
    world.connect("double", "c")
    world.run(20 * S)
    assert any("a" in text and "twice" in text for text in world.alarms)


def test_two_lives_of_equal_freshness_are_told_apart_however_far_the_issuer_is():
    world = running([("a", "b"), ("b", "c"), ("c", "d")])
    world.cut("c", "d")
    world.tamper("d", "a", 0, {1: b"of another life"})
    world.run(1 * S)
    world.connect("c", "d")
    world.run(4 * S)
    world.check()


# --- frames that get lost in silence


@pytest.mark.parametrize("lost", BODIES)
@pytest.mark.parametrize("count", [1, 3])
def test_a_link_comes_up_although_frames_are_lost(lost, count):
    world = running(RING)
    world.cut("a", "b")
    world.cut("c", "d")
    world.want("a", less(60))
    world.run(1 * S)
    world.lose = [lost] * count
    world.connect("a", "b")
    world.run(121 * S)
    world.lose.clear()
    world.run(1 * S)
    world.check()


@pytest.mark.parametrize("links", [LINE, RING])
def test_an_advertisement_that_is_lost_is_made_good_by_the_next_at_once(links):
    world = running(links)
    world.lose = [ReceiverAdvertisement]
    world.want("b", less(61))
    world.run(1 * S)
    world.want("b", less(62))
    world.run(1 * S)
    world.check()


@pytest.mark.parametrize("kind", [LinkState, ReceiverAdvertisement])
def test_what_is_lost_and_followed_by_nothing_is_found_within_two_periods(kind):
    world = running(LINE)
    world.lose = [kind]
    world.want("a", less(63))
    world.start("d")
    world.connect("c", "d")
    world.run(5 * S)
    world.lose.clear()
    world.run(115 * S)
    world.check()


# --- what comes late


def test_events_of_sessions_that_are_over_are_ignored():
    single = Single()
    single.joins("a", session=2)
    single.took(object)
    single.hears("a", whole("a", 9, {1: b"x"}), session=1)
    single.down("a", session=1)
    single.hears("b", whole("b", 9, {1: b"x"}))
    single.down("b")
    assert single.took(object) == []
    assert set(single.core.core_state.rib.entries) == {single.core.me}


# --- waiting for the network


def test_a_ticket_is_reached_exactly_when_everybody_holds_what_was_wanted():
    world = running(CHORD)
    world.want("a", less(90))
    world.wait_for("a", 7)
    knew = False
    for _ in range(400):
        before = knew
        world.run(1 * MS)
        knew = all(less(90) in world.asked_of(name)["a"] for name in world.cores)
        if world.reached:
            break
    assert world.reached == [("a", 7)]
    assert before
    assert knew


def test_a_router_that_crashes_meanwhile_is_not_waited_for():
    world = running(CHORD)
    world.wait_for("a", 7)
    world.stop("d")
    world.run(1 * S)
    assert world.reached == [("a", 7)]


@pytest.mark.parametrize("cut_ms", [0, 5, 15, 25, 95, 105, 115, 125, 200])
def test_a_router_that_was_cut_off_knows_all_that_was_answered_before_it_is_in_reach_again(cut_ms):
    """The first slice of a subscription is stated at once, the rest when damping lets it go. Cut off from its only
    neighbour, a router answers although that neighbour has the first slice, or nothing: it is not in reach."""
    world = running([("a", "b")])
    world.want("a", *(less(90, f"n{number}") for number in range(2)))
    wanted = [less(90, f"n{number}") for number in range(6)]
    world.handle("a", FiltersAdded(tuple(wanted[2:]), 7))
    world.run(cut_ms * MS)
    world.cut("a", "b")
    world.run(1 * S)
    assert world.reached == [("a", 7)]
    world.connect("a", "b")
    for _ in range(300):
        world.run(1 * MS)
        if world.cores["b"].me in world.cores["a"].core_state.trees.routers:
            assert world.asked_of("b")["a"] >= {*wanted}
    assert world.cores["b"].me in world.cores["a"].core_state.trees.routers


@pytest.mark.parametrize("lost", [Held, ReceiverAdvertisement])
def test_a_confirmation_that_is_lost_is_asked_for_again(lost):
    world = running(CHORD)
    world.lose = [lost] * 3
    world.want("a", less(90))
    world.wait_for("a", 7)
    world.run(10 * S)
    assert world.reached == [("a", 7)]
    assert world.lose == []


def test_confirmations_are_merged_on_their_way():
    world = running([("a", "b"), ("b", "c"), ("b", "d"), ("b", "e")])
    world.wait_for("a", 7)
    world.run(1 * S)
    assert len([body for _, to, body in world.sent if isinstance(body, Held) and to == "a"]) <= 2


def test_tickets_of_several_routers_do_not_mix():
    world = running(RING)
    for ticket, name in enumerate("abcde"):
        world.wait_for(name, ticket)
    world.run(1 * S)
    assert sorted(world.reached) == [(name, ticket) for ticket, name in enumerate("abcde")]


# --- storms


def test_a_storm_of_changes_becomes_few_advertisements():
    world = running(LINE)
    for bound in range(1_000, 1_500):
        world.want("a", less(bound))
        world.run(10 * MS)
    world.run(2 * S)
    world.check()
    assert world.frames(ReceiverAdvertisement) <= 2 * 10


def test_a_client_that_comes_and_goes_within_two_seconds_costs_not_one_frame():
    world = running(LINE)
    for _ in range(5):
        world.unwant("a", less(0))
        world.run(1900 * MS)
        world.want("a", less(0))
        world.run(100 * MS)
    assert world.sent == []


def test_what_is_covered_goes_away_behind_and_nobody_lacks_anything():
    world = running(LINE)
    world.want("a", *map(less, range(100, 120)))
    world.run(1 * S)
    assert len(world.asked_of("c")["a"]) == 21
    world.work()
    world.run(3 * S)
    world.check()
    assert world.asked_of("c")["a"] == {less(119)}
    world.unwant("a", less(119))
    world.run(1 * S)
    assert world.asked_of("c")["a"] == {less(0), *map(less, range(100, 120))}


# --- what a shell sees


def test_the_same_events_at_the_same_times_give_the_same_commands():
    def trace() -> list[tuple[str, str, object]]:
        world = running(CHORD)
        world.stop("c")
        world.want("a", less(80))
        world.run(100 * S)
        return world.sent

    assert trace() == trace()


def test_a_core_says_when_it_wants_to_be_called():
    single = Single()
    assert single.core.due_us is None
    single.up("a")
    assert single.core.due_us == 1 * S
    assert single.core.me == stable_number("me")
    assert not single.core.has_work


def test_the_settings_choose_the_broadcast_layer_and_the_delays():
    core = Core("me", 1, CoreSettings("shared-tree", times=Times(retry_us=7)))
    assert isinstance(core.core_state.trees, SharedTree)
    assert core.core_state.times.retry_us == 7
    [reroute] = [command for command in core.start(0) if isinstance(command, Reroute)]
    assert isinstance(reroute.trees, SharedTree)
    core = Core("me", 1, CoreSettings(coarse=True))
    assert isinstance(core.core_state.trees, CoarseSourceTrees)


def test_cores_may_share_their_paths():
    paths = PathCache()
    for name in ("me", "other"):
        core = Core(name, 1, paths=paths)
        core.start(0)
        core.core_state.trees.hop_limit()
    assert len(paths) == 2


def test_a_core_without_neighbours_has_nobody_to_tell():
    single = Single()
    assert single.took(Send) == []
