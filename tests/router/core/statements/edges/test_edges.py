"""E1 to E8 on a few cores: what is held of an edge, what is said of it, and what a router does where it is not sure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.limits import FILTER_OVERHEAD_BYTES
from tamis.protocol.wire.edge_bodies import EdgeFilter, EdgeHeld, EdgeRequest, EdgeStatement
from tamis.protocol.wire.numbers import NO_DIGEST, predicate_digest, routers_digest, stable_number
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.router.core.commands import Reached
from tamis.router.core.core import CoreSettings
from tamis.router.core.events import FiltersAdded, FiltersRemoved, Heard
from tamis.router.core.routing.paths import Graph, PathCache
from tamis.router.core.routing.shared_tree import SharedTree
from tamis.router.core.statements import sizes
from tamis.router.core.statements.edges import edges as edges_module
from tamis.router.core.statements.edges.edges import ASKED_MAX, GENERATIONS_MAX, PACKED_EVERYTHING
from tamis.router.core.statements.edges.held import IDS_END, HeldEdge
from tamis.router.core.statements.edges.places import EdgeTrees
from tamis.router.core.statements.sizes import size_of
from tamis.router.core.strategies.edges import EdgeCore
from tamis.router.core.strategies.registry import STRATEGIES
from tamis.router.core.times import MS, S
from tests.router.core.bodies import less
from tests.router.core.world import COVERING, World

A, B, C, D = map(stable_number, "abcd")


def is_(value: int) -> bytes:
    return encode_filter(Filter((Constraint("x", Op.EQ, (value,)),)))


def world_of(names: str, *links: str, until_us: int = 2 * S) -> World:
    world = World(broadcast="shared-tree")
    for name in names:
        world.start(name, core=partial(EdgeCore, parts=COVERING))
    for one, other in links:
        world.connect(one, other)
    world.run(until_us)
    return world


def held(world: World, at: str, behind: str) -> HeldEdge:
    core = world.cores[at]
    assert isinstance(core, EdgeCore)
    [found] = [each for each in core.held_edges if each.place.neighbour == stable_number(behind)]
    return found


def filters(world: World, at: str, behind: str) -> set[bytes]:
    return set(held(world, at, behind).filters.values())


def table(world: World, at: str, behind: str) -> set[bytes]:
    return set(world.installed[at][held(world, at, behind).number].values())


def run(world: World, for_us: int = 10 * S) -> None:
    """What happens in so long, idle routers working all the while."""
    for _ in range(for_us // (100 * MS)):
        world.run(100 * MS)
        world.work()


def test_what_the_routers_behind_an_edge_want_is_said_at_every_hop():
    world = world_of("abcd", "ab", "bc", "bd")
    world.want("c", is_(1))
    world.want("d", is_(2))
    world.want("a", is_(3))
    run(world)
    assert filters(world, "a", "b") == {is_(1), is_(2)}
    assert filters(world, "c", "b") == {is_(2), is_(3)}
    assert filters(world, "b", "c") == table(world, "b", "c") == {is_(1)}
    assert all(held(world, *pair).is_complete for pair in ("ab", "ba", "bc", "cb", "bd", "db"))


def test_what_came_from_a_neighbour_alone_is_not_said_to_it():
    world = world_of("ab", "ab")
    world.want("b", is_(1))
    run(world)
    assert filters(world, "b", "a") == set()
    world.want("a", is_(1))
    run(world)
    assert (filters(world, "a", "b"), filters(world, "b", "a")) == ({is_(1)}, {is_(1)})


def test_a_covered_filter_goes_no_farther_than_the_one_that_covers_it():
    world = world_of("abc", "ab", "bc")
    world.want("b", less(5))
    run(world)
    before = world.frames(EdgeStatement)
    world.want("c", less(3))
    run(world)
    assert world.frames(EdgeStatement) == before + 1
    assert filters(world, "a", "b") == {less(5)}
    world.unwant("b", less(5))
    run(world)
    assert filters(world, "a", "b") == {less(3)}


def test_uncovered_filters_stand_in_the_body_that_takes_the_covering_one_back():
    world = world_of("abc", "ab", "bc")
    world.want("b", less(5))
    world.want("c", less(3))
    run(world)
    before = len(world.sent)
    world.unwant("b", less(5))
    run(world)
    said = [body for one, other, body in world.sent[before:] if (one, other, type(body)) == ("b", "a", EdgeStatement)]
    assert [([each.filter for each in body.added], len(body.removed)) for body in said] == [([less(3)], 1)]


def test_an_edge_counts_as_everything_until_it_is_complete():
    world = world_of("ab", until_us=0)
    world.lose += [EdgeStatement] * 2
    world.connect("a", "b")
    world.run(500 * MS)
    assert not held(world, "a", "b").is_complete
    assert table(world, "a", "b") == {PACKED_EVERYTHING}
    run(world, 4 * S)
    assert held(world, "a", "b").is_complete
    assert held(world, "a", "b").number not in world.installed["a"] or table(world, "a", "b") == set()


def test_a_router_is_complete_only_when_those_behind_it_are():
    world = world_of("abc", "ab", until_us=2 * S)
    world.lose += [EdgeStatement] * 4
    world.connect("b", "c")
    world.run(700 * MS)
    assert not held(world, "a", "b").is_complete
    run(world)
    assert held(world, "a", "b").is_complete


def test_a_statement_that_was_lost_in_silence_is_found_out():
    world = world_of("ab", "ab")
    world.lose.append(EdgeStatement)
    world.want("b", is_(1))
    world.run(1 * S)
    assert filters(world, "a", "b") == set()
    run(world, 70 * S)
    assert filters(world, "a", "b") == table(world, "a", "b") == {is_(1)}


def test_one_that_follows_a_lost_one_is_not_applied_and_the_edge_is_everything_meanwhile():
    world = world_of("ab", "ab")
    world.lose.append(EdgeStatement)
    world.want("b", is_(1))
    world.run(1 * S)
    world.want("b", is_(2))
    world.lose.append(EdgeRequest)
    world.run(500 * MS)
    assert PACKED_EVERYTHING in table(world, "a", "b")
    run(world)
    assert table(world, "a", "b") == {is_(1), is_(2)}


def test_where_an_edge_stays_the_same_nothing_is_restated_and_what_was_said_stays():
    """On a ring, c and d are behind b for a however they are linked; that c goes round by d changes nothing for a."""
    world = world_of("abcd", "ab", "bc", "bd")
    world.want("c", is_(1))
    run(world)
    before = held(world, "a", "b")
    world.connect("c", "d")
    run(world)
    world.cut("b", "c")
    for _ in range(40):
        world.run(50 * MS)
        assert is_(1) in filters(world, "a", "b")
        assert held(world, "a", "b") is before
        assert before.is_complete
    run(world)
    assert table(world, "a", "b") == {is_(1)}


def test_one_end_that_follows_a_change_and_back_says_again_what_the_other_still_relies_on():
    """b makes trees without c and with it again; a hears of both together, and asks for nothing."""
    world = world_of("abc", "ab", "bc")
    world.want("b", is_(1))
    run(world)
    core = world.cores["b"]
    assert isinstance(core, EdgeCore)
    trees, edges = core.core_state.trees, core.edges
    assert isinstance(trees, EdgeTrees)
    assert edges is not None
    smaller = SharedTree(Graph.of(((A, B, 1),), (A, B)), B, PathCache())
    for each in (EdgeTrees(smaller, trees.root), trees):
        edges.follow((each,))
    world.want("b", is_(2))
    run(world)
    assert filters(world, "a", "b") == table(world, "a", "b") == {is_(1), is_(2)}


def test_edges_of_earlier_trees_leave_the_table_after_the_hold():
    world = world_of("abc", "ab", "bc")
    world.want("c", is_(1))
    run(world)
    number = held(world, "a", "b").number
    world.cut("b", "c")
    world.run(1 * S)
    assert held(world, "a", "b").number != number
    assert set(world.installed["a"][number].values()) == {is_(1)}
    run(world)
    assert not world.installed["a"].get(number)


def test_a_wait_ends_when_all_routers_take_messages_by_the_filter():
    world = world_of("abc", "ab", "bc")
    world.want("c", is_(1))
    world.wait_for("c", 7)
    world.run(35 * MS)
    assert world.reached == []
    world.run(15 * MS)
    assert world.reached == [("c", 7)]
    assert is_(1) in table(world, "a", "b")


@pytest.mark.parametrize("lost", [EdgeStatement, EdgeHeld])
def test_a_wait_outlives_what_is_lost(lost):
    world = world_of("abc", "ab", "bc")
    world.lose.append(lost)
    world.want("c", is_(1))
    world.wait_for("c", 7)
    run(world, 70 * S)
    assert world.reached == [("c", 7)]
    assert is_(1) in table(world, "a", "b")


def test_who_says_the_whole_again_asks_again_for_what_was_to_be_confirmed():
    """c counts other routers behind b when b asks it to confirm, so it takes nothing, and asks b for the whole then."""
    world = world_of("abc", "ab", "bc")
    world.want("a", is_(1))
    world.wait_for("a", 7)
    world.lose += [EdgeStatement] * 2
    world.run(12 * MS)
    assert world.reached == []
    root = held(world, "c", "b").place.root
    world.handle("b", Heard(C, 2, EdgeRequest(root, held(world, "c", "b").place.behind)))
    world.run(100 * MS)
    assert world.reached == [("a", 7)]


@pytest.mark.parametrize("seq", [0, 1_000, 2**64 - 1])
def test_a_confirmation_of_what_was_never_said_ends_no_wait(seq: int) -> None:
    world = world_of("ab", "ab")
    world.lose.append(EdgeStatement)
    world.want("a", is_(1))
    world.wait_for("a", 7)
    world.handle("a", Heard(B, 1, EdgeHeld(min(A, B), routers_digest((A,)), 1, seq)))
    assert world.reached == []
    run(world, 70 * S)
    assert world.reached == [("a", 7)]


@pytest.mark.parametrize("seq", [2, 2**63])
def test_what_was_said_under_a_seq_of_which_the_neighbour_does_not_know_is_found_out(seq: int) -> None:
    world = world_of("ab", "ab")
    world.want("b", is_(1))
    run(world)
    world.handle("a", Heard(B, 1, statement("b", seq, {1: is_(2)})))
    assert filters(world, "a", "b") == {is_(2)}
    run(world, 70 * S)
    assert filters(world, "a", "b") == table(world, "a", "b") == {is_(1)}


def test_a_wait_of_a_router_without_neighbours_ends_at_once():
    world = world_of("a")
    world.wait_for("a", 7)
    assert world.reached == [("a", 7)]


def statement(
    behind: Iterable[str], seq: int, added: dict[int, bytes], base: int | None = None, **changes: object
) -> EdgeStatement:
    listed = tuple(EdgeFilter(id_, packed, False) for id_, packed in added.items())
    fields: dict[str, object] = {
        "root": min(A, B),
        "behind": routers_digest(map(stable_number, behind)),
        "epoch": 1,
        "seq": seq,
        "full": base is None,
        "base_seq": base or 0,
        "added": listed,
        "removed": (),
        "digest": predicate_digest(added.items()),
        "count": len(added),
        "complete": True,
        "confirm": False,
    }
    return EdgeStatement(**{**fields, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "body",
    [
        statement("b", 1_000, {1: is_(1)}, digest=NO_DIGEST),
        statement("b", 1_000, {IDS_END: is_(1)}),
        statement("b", 1_000, {1: is_(1)}, base=999),
        statement("b", 1_000, {1: is_(1)}, base=None, complete=False),
    ],
    ids=["digest", "id", "base", "incomplete"],
)
def test_a_statement_that_cannot_be_relied_on_makes_the_edge_everything(body):
    world = world_of("ab", "ab")
    world.lose.append(EdgeRequest)
    world.handle("a", Heard(B, 1, body))
    assert PACKED_EVERYTHING in table(world, "a", "b")
    world.want("b", is_(2))
    run(world, 70 * S)


@pytest.mark.parametrize(
    "body",
    [statement("ab", 9, {1: is_(1)}), statement("b", 9, {1: is_(1)}, root=7), EdgeHeld(7, NO_DIGEST, 1, 9)],
    ids=["behind", "root", "confirmation"],
)
def test_what_is_about_another_edge_changes_nothing(body):
    world = world_of("ab", "ab")
    before = dict(world.installed["a"])
    world.handle("a", Heard(B, 1, body))
    assert world.installed["a"] == before
    assert held(world, "a", "b").is_complete


def test_an_edge_that_says_more_than_is_kept_goes_on_counting_as_everything(monkeypatch: pytest.MonkeyPatch):
    world = world_of("ab", "ab")
    monkeypatch.setattr(edges_module, "EDGES_BYTES_MAX", 1_000)
    world.want("b", *map(is_, range(20)))
    run(world)
    assert PACKED_EVERYTHING in table(world, "a", "b")
    assert len(world.alarms) == 1
    asked = world.frames(EdgeRequest)
    run(world, 60 * S)
    assert world.frames(EdgeRequest) - asked <= 4
    world.unwant("b", *map(is_, range(18)))
    run(world, 40 * S)
    assert table(world, "a", "b") == {is_(18), is_(19)}


def room_for(filters: int) -> int:
    return filters * size_of([is_(0)])


def test_of_all_edges_together_no_more_is_kept_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch):
    """a has neither room for what is said of one more edge, nor may it tell b that it knows what c wants."""
    monkeypatch.setattr(edges_module, "EDGES_BYTES_MAX", room_for(30))
    world = world_of("abc", "ab", "ac")
    world.want("b", *map(is_, range(10)))
    run(world)
    world.want("c", *map(is_, range(10, 20)))
    run(world)
    assert table(world, "a", "b") == set(map(is_, range(10)))
    assert table(world, "a", "c") == {PACKED_EVERYTHING}
    assert filters(world, "a", "c") == set()
    assert PACKED_EVERYTHING in table(world, "b", "a")
    assert len(world.alarms) == 1
    world.unwant("b", *map(is_, range(5)))
    run(world, 60 * S)
    assert table(world, "a", "c") == table(world, "b", "a") == set(map(is_, range(10, 20)))


def test_the_rest_of_a_whole_that_has_no_room_is_not_asked_for_at_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(edges_module, "EDGES_BYTES_MAX", room_for(3))
    monkeypatch.setattr(sizes, "STATEMENT_BYTES_MAX", room_for(2))
    world = world_of("ab", until_us=0)
    world.want("b", *map(is_, range(20)))
    run(world)
    world.connect("a", "b")
    run(world)
    assert [body.full for _, _, body in world.sent if isinstance(body, EdgeStatement) and body.count].count(False) > 5
    assert world.frames(EdgeRequest) <= 4


def test_a_last_word_beside_which_its_whole_has_no_room_is_forgotten(monkeypatch: pytest.MonkeyPatch):
    world = world_of("abc", "ab", "bc")
    wanted = set(map(is_, range(10)))
    world.want("c", *wanted)
    run(world)
    monkeypatch.setattr(edges_module, "EDGES_BYTES_MAX", room_for(25))
    world.cut("b", "c")
    world.connect("b", "c")
    world.run(1 * S)
    assert filters(world, "b", "c") == set()
    assert table(world, "b", "c") == {PACKED_EVERYTHING}
    assert PACKED_EVERYTHING in table(world, "a", "b")
    run(world, 60 * S)
    assert table(world, "b", "c") == table(world, "a", "b") == wanted


def test_edges_of_earlier_trees_take_room_as_long_as_they_are_kept():
    world = world_of("abc", "ab", "bc")
    world.want("c", is_(0))
    run(world)
    core = world.cores["a"]
    assert isinstance(core, EdgeCore)
    world.cut("b", "c")
    world.run(1 * S)
    assert filters(world, "a", "b") == set()
    assert core._edges._room_for(held(world, "a", "b")) == edges_module.EDGES_BYTES_MAX - room_for(1)
    run(world)
    assert core._edges._room_for(held(world, "a", "b")) == edges_module.EDGES_BYTES_MAX


def test_what_is_said_of_edges_takes_room_as_well():
    """a holds what b wants, and says it to c and to d."""
    world = world_of("abcd", "ab", "ac", "ad")
    core = world.cores["a"]
    assert isinstance(core, EdgeCore)
    from_c = held(world, "a", "c")
    before = core._edges._room_for(from_c)
    world.want("b", is_(0))
    run(world)
    taken = room_for(1) + 2 * FILTER_OVERHEAD_BYTES
    assert core._edges._room_for(from_c) == (edges_module.EDGES_BYTES_MAX - taken) // 3
    assert before == edges_module.EDGES_BYTES_MAX // 3


def test_what_a_neighbour_asks_for_and_is_not_there_is_bounded():
    world = world_of("ab", "ab")
    for root in range(5 * ASKED_MAX):
        world.handle("a", Heard(B, 1, EdgeRequest(root, NO_DIGEST)))
    core = world.cores["a"]
    assert isinstance(core, EdgeCore)
    assert len(core._edges._asked) == ASKED_MAX


def test_a_neighbour_that_asks_again_and_again_is_answered_seldom_and_in_the_end():
    world = world_of("ab", "ab")
    world.want("a", *map(is_, range(5)))
    run(world)
    before = len(world.sent)
    place = held(world, "b", "a").place
    for _ in range(300):
        world.handle("a", Heard(B, 1, EdgeRequest(place.root, place.behind)))
        world.run(10 * MS)
    said = [body for _, _, body in world.sent[before:] if isinstance(body, EdgeStatement)]
    assert 3 <= sum(body.full for body in said) <= 7
    held(world, "b", "a").unknown()
    run(world)
    assert held(world, "b", "a").is_complete
    assert filters(world, "b", "a") == set(map(is_, range(5)))


def test_of_trees_that_change_again_and_again_only_the_last_are_kept():
    world = world_of("abc", "ab")
    core = world.cores["a"]
    assert isinstance(core, EdgeCore)
    for _ in range(20):
        world.connect("b", "c")
        world.run(40 * MS)
        world.cut("b", "c")
        world.run(40 * MS)
        assert len(core._edges.past) <= GENERATIONS_MAX


def test_a_router_of_another_family_takes_no_notice_of_statements_about_edges():
    world = World("ab", [("a", "b")])
    world.run(1 * S)
    before = world.frames(object)
    for body in (statement("b", 9, {1: is_(1)}), EdgeRequest(1, NO_DIGEST), EdgeHeld(1, NO_DIGEST, 1, 1)):
        world.handle("a", Heard(B, 1, body))
    assert world.frames(object) == before


def test_a_filter_that_does_not_decode_costs_its_own_entry():
    world = world_of("abc", "ab", "bc")
    bad = b"\xc1"
    world.want("c", bad)
    world.want("c", is_(1))
    run(world)
    assert filters(world, "a", "b") == {bad, is_(1)}


CHANGES = st.lists(
    st.tuples(st.sampled_from("abcd"), st.booleans(), st.integers(0, 6), st.sampled_from((0, 0, 1, 2))), max_size=25
)


@pytest.mark.slow
@given(CHANGES)
@settings(max_examples=settings.default.max_examples * 6 // 10, deadline=None)
def test_at_rest_each_edge_has_what_is_wanted_behind_it(changes: list[tuple[str, bool, int, int]]) -> None:
    """On a tree, whatever clients want, and whatever statements are lost: judged by sets of bounds."""
    world = world_of("abcd", "ab", "bc", "bd")
    wanted: dict[str, list[int]] = {name: [] for name in "abcd"}
    for name, is_wanted, bound, losses in changes:
        world.lose = [EdgeStatement] * losses
        if is_wanted:
            world.want(name, less(bound))
            wanted[name].append(bound)
        elif bound in wanted[name]:
            world.unwant(name, less(bound))
            wanted[name].remove(bound)
        world.run(70 * MS)
    world.lose = []
    run(world, 80 * S)
    behind = {"ab": "bcd", "ba": "a", "bc": "c", "cb": "abd", "bd": "d", "db": "abc"}
    for (at, neighbour), there in behind.items():
        bounds = [bound for name in there for bound in wanted[name]]
        expected = {less(max(bounds))} if bounds else set()
        assert filters(world, at, neighbour) == expected, (at, neighbour)
        assert set(world.installed[at].get(held(world, at, neighbour).number, {}).values()) == expected


@pytest.mark.parametrize("strategy", ["profile", "rendezvous"])
def test_a_wait_for_a_filter_that_goes_before_it_is_issued_is_answered(strategy: str) -> None:
    """The second filter is damped, and withdrawn before it is issued: there is nothing to issue any more."""
    core = STRATEGIES[strategy].core("a", 1, CoreSettings())
    core.start(0)
    assert Reached(1) in core.handle(FiltersAdded((less(5),), 1), 1)
    assert Reached(2) not in core.handle(FiltersAdded((less(3),), 2), 2)
    assert Reached(2) in core.handle(FiltersRemoved((less(3),)), 3)
