"""Where messages go: judged in order, along old and new trees for the hold, and once to everybody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.router.core.commands import ANY_EPOCH
from tamis.router.core.routing.forest import Forest
from tamis.router.core.routing.paths import Graph, PathCache
from tamis.router.core.routing.trees import make_trees
from tamis.router.core.times import Times
from tamis.simulate.twin.forwarder import Forwarder, TransitId, TransitRefusal
from tests.router.core.graphs import World, checks, worlds

HOLD_US = 100
TIMES = Times(tree_hold_us=HOLD_US)
ME, SOURCE = 1, 9


@dataclass
class FakeTrees:
    """One parent for all sources, and one table of who lies below."""

    up: int | None = None
    down: Mapping[int, int] = field(default_factory=dict)
    hops: int = 4
    me: int = ME
    routers: frozenset[int] = frozenset()

    def next_hop(self, router: int) -> int | None:
        return self.down.get(router, self.up)

    def parent(self, source: int) -> int | None:  # noqa: ARG002
        return self.up

    def children(self, source: int) -> tuple[int, ...]:  # noqa: ARG002
        return tuple(sorted(set(self.down.values())))

    def below(self, source: int) -> Mapping[int, int]:  # noqa: ARG002
        return self.down

    def hop_limit(self) -> int:
        return self.hops


def forwarder(*trees: FakeTrees) -> Forwarder:
    made = Forwarder(ME, 1, TIMES)
    for each in trees:
        made.reroute(each, 0)
    return made


def arrives(made: Forwarder, counter: int, came_from: int, now_us: int = 0, hops: int = 5) -> TransitRefusal | None:
    return made.arrive(TransitId(SOURCE, 1, counter), hops, came_from, now_us)


# --- the order of judgement ------------------------------------------------------------------------------------------


def test_a_neighbour_that_is_no_parent_spends_no_counter():
    made = forwarder(FakeTrees(up=2))
    assert arrives(made, 1, came_from=3) is TransitRefusal.NOT_FROM_PARENT
    assert arrives(made, 1, came_from=2) is None
    assert arrives(made, 1, came_from=2) is TransitRefusal.SEEN
    assert arrives(made, 1, came_from=3) is TransitRefusal.NOT_FROM_PARENT


def test_a_message_without_hops_is_refused_and_spent():
    made = forwarder(FakeTrees(up=2))
    assert arrives(made, 1, came_from=2, hops=0) is TransitRefusal.NO_HOPS_LEFT
    assert arrives(made, 1, came_from=2, hops=3) is TransitRefusal.SEEN
    assert arrives(made, 2, came_from=2, hops=1) is None


def test_an_older_epoch_is_refused():
    made = forwarder(FakeTrees(up=2))
    assert made.arrive(TransitId(SOURCE, 2, 1), 5, 2, 0) is None
    assert made.arrive(TransitId(SOURCE, 1, 2), 5, 2, 0) is TransitRefusal.SEEN


def test_an_epoch_that_is_not_believed_is_refused_and_spends_nothing():
    made = forwarder(FakeTrees(up=2))
    made.epoch_max = 7
    assert made.arrive(TransitId(SOURCE, 8, 1), 5, 2, 0) is TransitRefusal.EPOCH
    assert made.arrive(TransitId(SOURCE, 7, 1), 5, 2, 0) is None


def test_a_refused_epoch_of_one_source_does_not_mute_its_lower_one():
    made = forwarder(FakeTrees(up=2))
    assert made.arrive(TransitId(SOURCE, 9, 1), 5, 2, 0) is None
    made.bound(SOURCE, 8)
    assert made.arrive(TransitId(SOURCE, 9, 2), 5, 2, 0) is TransitRefusal.EPOCH
    assert made.arrive(TransitId(SOURCE, 8, 1), 5, 2, 0) is None
    made.bound(SOURCE, ANY_EPOCH)
    assert made.arrive(TransitId(SOURCE, 10, 1), 5, 2, 0) is None


@pytest.mark.parametrize("leap", [TransitId(SOURCE, 1, 2**64 - 1), TransitId(SOURCE, 2, 1)])
def test_a_leap_of_a_parent_that_is_none_any_more_mutes_nobody(leap):
    made = forwarder(FakeTrees(up=2), FakeTrees(up=3))
    assert arrives(made, 1, came_from=3) is None
    assert made.arrive(leap, 5, 2, 0) is None
    assert arrives(made, 2, came_from=3) is TransitRefusal.SEEN, "both are parents: it may have come by the other"
    assert arrives(made, 2, came_from=3, now_us=HOLD_US) is None
    assert arrives(made, 2, came_from=3, now_us=HOLD_US) is TransitRefusal.SEEN
    assert arrives(made, 3, came_from=3, now_us=HOLD_US) is None


def test_ones_own_message_that_comes_back_is_refused():
    made = forwarder(FakeTrees(up=None))
    assert made.arrive(TransitId(ME, 1, 1), 5, 2, 0) is TransitRefusal.NOT_FROM_PARENT


def test_nothing_goes_before_there_are_trees():
    made = Forwarder(ME, 1, TIMES)
    assert arrives(made, 1, came_from=2) is TransitRefusal.NOT_FROM_PARENT
    assert made.departures(ME, [3], 0) == ()
    assert made.enter(0) == (TransitId(ME, 1, 1), 4)


# --- what enters here ------------------------------------------------------------------------------------------------


def test_messages_are_counted_from_one_and_again_in_a_new_epoch():
    made = forwarder(FakeTrees(hops=6))
    assert [made.enter(0) for _ in range(2)] == [(TransitId(ME, 1, 1), 6), (TransitId(ME, 1, 2), 6)]
    made.raise_epoch(5)
    assert made.enter(0) == (TransitId(ME, 5, 1), 6)
    with pytest.raises(ValueError, match="epoch 5 is the present one"):
        made.raise_epoch(5)
    assert made.enter(0) == (TransitId(ME, 5, 2), 6)
    made.raise_epoch(4)  # which the neighbours take, and 5 they do not
    assert made.enter(0) == (TransitId(ME, 4, 1), 6)


def test_the_hop_limit_is_that_of_the_longest_way_in_force():
    made = forwarder(FakeTrees(hops=9), FakeTrees(hops=5))
    assert made.enter(HOLD_US - 1)[1] == 9
    assert made.enter(HOLD_US)[1] == 5


# --- generations -----------------------------------------------------------------------------------------------------


def test_departures_are_the_links_of_all_generations_but_not_the_way_back():
    made = forwarder(FakeTrees(2, {5: 6, 7: 8}), FakeTrees(6, {5: 4, 7: 2, 3: 3}))
    assert made.departures(SOURCE, [5, 7, ME, 77], 0) == (2, 4, 6, 8)
    assert made.departures(SOURCE, {5, 7}, 0, came_from=2) == (4, 6, 8)
    assert made.departures(SOURCE, [5], HOLD_US) == (4,)
    assert made.departures(SOURCE, [], 0) == ()


@checks
@given(st.lists(st.tuples(st.integers(0, 60), st.booleans()), min_size=1, max_size=25))
def test_generations_are_in_force_as_the_law_says(steps):
    """Each generation has a parent, an issuer and a link of its own, so that each can be told from the others."""
    made, now_us, begun = Forwarder(ME, 1, TIMES), 0, []
    for counter, (pause_us, reroute) in enumerate(steps):
        now_us += pause_us
        if reroute:
            made.reroute(FakeTrees(len(begun), {100 + len(begun): 200 + len(begun)}, hops=len(begun)), now_us)
            begun.append(now_us)
        ends = [*(start + HOLD_US for start in begun[1:]), now_us + 1][: len(begun)]
        force = [at for at, end in enumerate(ends) if now_us < end and at >= len(begun) - 4]
        taken = [
            parent for parent in range(len(begun)) if arrives(made, counter * 100 + parent, parent, now_us) is None
        ]
        assert taken == force
        assert made.departures(SOURCE, range(100, 200), now_us) == tuple(200 + at for at in force)
        assert made.enter(now_us)[1] == max(force, default=4)


# --- a network of them -----------------------------------------------------------------------------------------------


def trees_of(world: World, broadcast, coarse):
    graph, cache = Graph.of(world.edges, world.routers), PathCache()
    return {router: make_trees(broadcast, graph, router, cache, coarse) for router in world.routers}


def publish(forwarders, source, wanted, now_us, random):
    """Who took the message, and how many copies were refused; copies overtake each other."""
    transit, limit = forwarders[source].enter(now_us)
    taken, refused = [source], 0
    flying = [(source, link, limit) for link in forwarders[source].departures(source, wanted, now_us)]
    while flying:
        came_from, at, hops = flying.pop(random.randrange(len(flying)))
        if forwarders[at].arrive(transit, hops, came_from, now_us) is not None:
            refused += 1
            continue
        taken.append(at)
        links = forwarders[at].departures(source, wanted, now_us, came_from and int(str(came_from)))
        flying += [(at, link, hops - 1) for link in links]
    assert len(taken) == len(set(taken))
    return set(taken), refused


@pytest.mark.slow
@pytest.mark.parametrize("broadcast", ["source-trees", "shared-tree", "reverse-path"])
@pytest.mark.parametrize("coarse", [False, True])
@checks
@given(worlds(12), worlds(12), st.randoms(use_true_random=False))
def test_links_that_come_up_lose_nothing_while_the_news_spreads(broadcast, coarse, before, added, random):
    """Every edge stays up; its cost may change. Some routers have heard, some not, and copies take any time."""
    routers = tuple(sorted({*before.routers, *added.routers}))
    costs = {edge[:2]: edge for world in (before, added) for edge in world.edges}
    old = trees_of(World(routers, before.edges), broadcast, coarse)
    after = World(routers, tuple(costs.values()))
    new = trees_of(after, broadcast, coarse)
    forwarders = {router: Forwarder(router, 1, TIMES) for router in routers}
    for router in routers:
        forwarders[router].reroute(old[router], 0)
        if random.random() < 0.5:
            forwarders[router].reroute(new[router], 1_000)
    source, wanted = random.choice(routers), set(random.sample(routers, random.randint(0, len(routers))))
    taken, _ = publish(forwarders, source, wanted, 1_000 + HOLD_US - 1, random)
    assert taken >= wanted & old[source].routers

    for router in routers:
        forwarders[router].reroute(new[router], 1_100)
    taken, refused = publish(forwarders, source, wanted, 1_100 + HOLD_US, random)
    assert taken >= wanted & after.reach(source)
    assert refused == 0 or broadcast == "reverse-path"


# --- the order of a source -------------------------------------------------------------------------------------------

OLD, NEW = 2, 3


def waits(
    made: Forwarder, counter: int, came_from: int, linked: frozenset[int] = frozenset({OLD, NEW}), now_us: int = 0
) -> bool:
    return made.must_wait(TransitId(SOURCE, 1, counter), came_from, linked, now_us)


def test_by_a_new_way_waits_for_what_went_the_old_one():
    made = forwarder(FakeTrees(OLD), FakeTrees(NEW))
    assert waits(made, 3, NEW)
    assert not waits(made, 2, OLD)
    assert arrives(made, 2, OLD) is None
    assert waits(made, 3, NEW)
    assert arrives(made, 4, OLD) is None
    assert not waits(made, 3, NEW), "it was never sent by the old way"


@pytest.mark.parametrize("root", [None, 5])
def test_what_comes_by_another_tree_ends_no_wait(root):
    forests = [Forest({each: FakeTrees(up) for each in (5, 6)}) for up in (OLD, NEW)]
    made = Forwarder(ME, 1, TIMES)
    for trees, forest in zip((FakeTrees(OLD), FakeTrees(NEW)), forests, strict=True):
        made.reroute(trees, 0, forest=forest)

    def must_wait(counter: int, by: int | None) -> bool:
        return made.must_wait(TransitId(SOURCE, 1, counter), NEW, {OLD, NEW}, 0, by)

    assert must_wait(3, root)
    assert made.arrive(TransitId(SOURCE, 1, 4), 5, OLD, 0, 6) is None
    assert must_wait(3, root), "4 went by the tree of another root, and says nothing of 2"
    assert not must_wait(3, 6)
    assert made.arrive(TransitId(SOURCE, 1, 2), 5, OLD, 0, root) is None
    assert must_wait(3, root)
    assert made.arrive(TransitId(SOURCE, 1, 5), 5, OLD, 0, root) is None
    assert not must_wait(3, root)
    assert must_wait(7, root)
    made.reroute(FakeTrees(NEWEST), 0, forest=Forest({5: FakeTrees(NEWEST)}))
    assert not made.must_wait(TransitId(SOURCE, 1, 5), NEWEST, {OLD, NEW, NEWEST}, 0, root), "it was seen"
    assert made.must_wait(TransitId(SOURCE, 1, 3), NEWEST, {OLD, NEW, NEWEST}, 0, root), "a change forgets what came"


NEWEST = 4


def test_of_three_ways_each_waits_for_those_before_it():
    made, linked = forwarder(FakeTrees(OLD), FakeTrees(NEW), FakeTrees(NEWEST)), frozenset({OLD, NEW, NEWEST})
    assert waits(made, 3, NEWEST, linked)
    assert waits(made, 3, NEW, linked)
    assert not waits(made, 3, OLD, linked)


def test_a_way_that_is_taken_again_is_the_oldest_one():
    made = forwarder(FakeTrees(OLD), FakeTrees(NEW), FakeTrees(OLD))
    assert waits(made, 3, NEW)
    assert not waits(made, 3, OLD), "no two ways wait for each other"


def test_trees_that_end_before_the_wait_does_make_no_way_old():
    made = Forwarder(ME, 1, Times(tree_hold_us=HOLD_US, way_wait_us=30))
    now_us = HOLD_US - 30 + 1
    for trees, at_us in ((FakeTrees(OLD), 0), (FakeTrees(NEW), 0), (FakeTrees(OLD), now_us)):
        made.reroute(trees, at_us)
    assert waits(made, 3, OLD, now_us=now_us)
    assert not waits(made, 3, NEW, now_us=now_us)


@pytest.mark.parametrize(("linked", "now_us"), [(frozenset({NEW}), 0), (frozenset({OLD, NEW}), HOLD_US)])
def test_it_waits_for_nobody_who_is_gone_and_not_for_long(linked, now_us):
    assert not waits(forwarder(FakeTrees(OLD), FakeTrees(NEW)), 3, NEW, linked, now_us)


def test_it_does_not_wait_where_a_way_has_broken():
    made = forwarder(FakeTrees(OLD))
    made.reroute(FakeTrees(NEW), 0, is_whole=False)
    assert not waits(made, 3, NEW)


def test_nothing_waits_where_the_parent_is_the_same():
    assert not waits(forwarder(FakeTrees(OLD), FakeTrees(OLD)), 3, OLD)
