"""R17: routers hold the newest of each space, tell each other of it once, and compare it where links come up."""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.protocol import limits
from tamis.protocol.spaces import pack, space_from
from tamis.protocol.wire.routing_bodies import SenderRequest, SpaceStatement
from tamis.router.core.commands import Alarm, CheckBySpaces, Send
from tamis.router.core.events import SpacesStated
from tamis.router.core.known_spaces import PROBLEM_MAX, KnownSpaces
from tamis.router.core.times import S
from tests.router.core.bodies import digest_of
from tests.router.core.single import Single
from tests.router.core.world import World

RING = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "a")]


def said(name: str = "trades", version: int = 1, most: int = 10) -> SpaceStatement:
    return SpaceStatement(name, version, pack(space_from(name, {"attributes": {"price": {"integer": [0, most]}}})))


def states(world: World, name: str, *statements: SpaceStatement) -> None:
    world.handle(name, SpacesStated(statements))


def held(world: World) -> dict[str, list[SpaceStatement]]:
    return {name: sorted(core.core_state.spaces.statements, key=str) for name, core in world.cores.items()}


# --- what holds ------------------------------------------------------------------------------------------------------


@given(
    st.lists(st.builds(said, st.sampled_from("xyz"), st.integers(1, 3), st.integers(0, 2)), max_size=12), st.randoms()
)
def test_the_order_of_statements_does_not_matter(statements: list[SpaceStatement], random: Random) -> None:
    one, other = KnownSpaces(), KnownSpaces()
    for known in (one, other):
        for each in statements:
            if known.is_newer(each):
                known.hold(each)
        random.shuffle(statements)
    assert one.held == other.held
    assert one.digest == other.digest
    assert one.in_force == other.in_force
    newest = {each.name: max((s.version, s.digest) for s in statements if s.name == each.name) for each in statements}
    assert {name: (held.statement.version, held.digest) for name, held in one.held.items()} == newest


def test_what_is_withdrawn_is_in_force_no_more_and_can_come_back() -> None:
    known = KnownSpaces()
    known.hold(said(version=1))
    assert [*known.in_force] == ["trades"]
    known.hold(SpaceStatement("trades", 2, b""))
    assert not known.in_force
    known.hold(said(version=3))
    assert known.in_force["trades"].version == 3


@pytest.mark.parametrize("name", ["\ud800", "x" * 60_000], ids=["no character", "long"])
def test_the_sentence_about_what_cannot_be_read_is_short_and_printable(name: str) -> None:
    packed = json.dumps({"attributes": {name: 7}, "name": "t", "open": False}, separators=(",", ":")).encode()
    problem = KnownSpaces().hold(SpaceStatement("t", 1, packed)).problem
    assert problem.startswith("space t: ")
    assert problem.isprintable()
    assert len(problem) <= PROBLEM_MAX + 10


# --- how it travels --------------------------------------------------------------------------------------------------


def test_a_space_reaches_all_routers_once_over_each_link_at_most_twice() -> None:
    world = World("abcde", RING)
    world.run(2 * S)
    world.sent.clear()
    states(world, "a", said())
    world.run(1 * S)
    assert all(spaces == [said()] for spaces in held(world).values())
    carried = [frozenset((one, other)) for one, other, body in world.sent if isinstance(body, SpaceStatement)]
    assert len(carried) == 6  # each link once, the one where both ways meet twice
    assert not world.alarms


def test_a_later_version_takes_the_place_of_an_earlier_one_and_never_the_other_way_round() -> None:
    world = World("ab", [("a", "b")])
    world.run(2 * S)
    states(world, "a", said(version=2, most=20))
    world.run(1 * S)
    states(world, "b", said(version=1))
    world.run(60 * S)
    assert all(spaces == [said(version=2, most=20)] for spaces in held(world).values())


def test_of_two_contents_under_one_version_the_larger_digest_holds_and_an_alarm_says_so() -> None:
    world = World("abcde", RING)
    world.run(2 * S)
    one, other = said(most=1), said(most=2)
    states(world, "a", one)
    states(world, "c", other)
    world.run(2 * S)
    larger = max((one, other), key=lambda statement: statement.digest)
    assert all(spaces == [larger] for spaces in held(world).values())
    assert "space trades has two definitions with version 1; one is in force" in world.alarms


@pytest.mark.parametrize("known_at", ["a", "c", "ac"])
def test_routers_compare_their_spaces_when_a_link_comes_up(known_at: str) -> None:
    world = World("abcd", [("a", "b"), ("c", "d")])
    world.run(2 * S)
    for name in known_at:
        states(world, name, said(f"of-{name}"), said("both", 1 + "ac".index(name)))
    world.run(2 * S)
    world.connect("b", "c")
    world.run(2 * S)
    spaces = held(world)
    assert spaces["a"] == spaces["b"] == spaces["c"] == spaces["d"]
    assert len(spaces["a"]) == 1 + len(known_at)
    assert world.cores["a"].core_state.spaces.held["both"].statement.version == 1 + ("c" in known_at)


def test_a_statement_that_was_lost_in_silence_comes_with_the_next_comparison() -> None:
    world = World("ab", [("a", "b")])
    world.run(2 * S)
    world.lose.append(SpaceStatement)
    states(world, "a", said())
    world.run(1 * S)
    assert not held(world)["b"]
    world.run(60 * S)
    assert held(world)["b"] == [said()]


def test_routers_that_hold_the_same_send_no_space() -> None:
    world = World("ab")
    for name in "ab":
        states(world, name, said())
    world.connect("a", "b")
    world.run(300 * S)
    assert not world.frames(SpaceStatement)


def test_a_router_that_does_not_know_spaces_is_sent_none() -> None:
    single = Single()
    single.handle(SpacesStated((said(),)))
    single.up("a")
    single.took(object)
    single.hears("a", digest_of("a"))
    assert not single.took(SpaceStatement)


# --- bounds and strangers --------------------------------------------------------------------------------------------


def asks(spaces: bytes) -> SenderRequest:
    body = digest_of("a")
    return SenderRequest(*body.ticket, body.scope, body.digest, (), (), spaces)


def test_a_neighbour_that_never_agrees_is_sent_all_spaces_once_a_second() -> None:
    single = Single()
    single.handle(SpacesStated((said("x"), said("y"))))
    single.joins("a")
    single.waits(2 * S)
    single.took(object)
    for _ in range(20):
        single.hears("a", asks(b"\1" * 16))
        single.waits(S // 10)
    assert len(single.took(SpaceStatement, "a")) == 2 * 2


def test_no_more_spaces_are_held_than_there_is_room_for_and_those_held_stay() -> None:
    single = Single()
    single.joins("a", "b")
    names = [f"s{number}" for number in range(limits.SPACES_MAX + 3)]
    single.handle(SpacesStated(tuple(map(said, names[:10]))))
    single.hears("a", *map(said, names[10:]))
    spaces = single.core.core_state.spaces
    assert [*spaces.held] == names[: limits.SPACES_MAX]
    sent = single.took(Send)
    assert not any(send.body == said(names[-1]) for send in sent)
    assert spaces.is_newer(said(names[0], 2))
    single.hears("a", said(names[0], 2))
    assert spaces.held[names[0]].statement.version == 2


def test_spaces_of_too_many_bytes_are_not_held_and_an_alarm_says_so() -> None:
    single = Single()
    single.joins("a")
    packed = b"x" * limits.SPACE_BYTES_MAX
    single.took(object)
    single.hears("a", *(SpaceStatement(f"s{number}", 1, packed) for number in range(20)))
    spaces = single.core.core_state.spaces
    assert len(spaces.held) == limits.SPACES_BYTES_MAX // (limits.SPACE_BYTES_MAX + 192)
    assert any("space s15, version 1, is refused: at most" in alarm.text for alarm in single.took(Alarm))


def test_a_space_of_a_later_release_is_passed_on_and_not_checked_here() -> None:
    single = Single()
    single.joins("a", "b")
    single.took(object)
    later = b'{"attributes":{"p":{"colour":"red"}},"name":"t","open":false}'
    for version, packed in enumerate((later, b"\xff", said("u").packed), 2):
        statement = SpaceStatement("t", version, packed)
        single.handle(SpacesStated((said("t"),)))
        single.took(object)
        single.hears("a", statement)
        done = single.done
        assert single.took(SpaceStatement, "b") == [statement]
        [check] = [each for each in done if isinstance(each, CheckBySpaces)]
        assert "t" not in check.spaces
