"""R19: routers know the durable subscriptions of all, compare them where links come up, and confirm what is stored."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.protocol import limits
from tamis.protocol.errors import Refused
from tamis.protocol.wire.custody_bodies import NO_LOG, LogLife
from tamis.protocol.wire.home_bodies import (
    DurablesHeld,
    DurablesHolder,
    DurablesStatement,
    NumberedDurable,
    StatedDurable,
    name_in,
    packed_durable,
    read_durable,
)
from tamis.protocol.wire.numbers import predicate_digest, stable_number
from tamis.protocol.wire.parts import Complete, split
from tamis.protocol.wire.routing_bodies import Known, SenderRequest
from tamis.router.core.commands import Alarm, StoreDurables
from tamis.router.core.events import AwaitDurables, DurablesRecalled, DurablesStated, DurablesStored
from tamis.router.core.statements import recent_changes
from tamis.router.core.statements.known_durables import KnownDurables
from tamis.router.core.statements.recent_changes import RecentChanges
from tamis.router.core.times import S
from tests.router.core.bodies import digest_of, less
from tests.router.core.single import Single
from tests.router.core.world import LOG, World

LINE = [("a", "b"), ("b", "c")]


def durable(name: str = "orders", owner: str = "alice") -> bytes:
    return packed_durable(StatedDurable(name, owner, (less(5),), 0, 0, 0))


def stated(issuer: str, seq: int, durables: dict[int, bytes], epoch: int = 1, confirm: bool = False, log: int = 7):
    added = tuple(NumberedDurable(*each) for each in durables.items())
    digest = predicate_digest(durables.items())
    number = stable_number(issuer)
    return DurablesStatement(number, issuer, epoch, seq, log, True, 0, added, (), digest, len(added), confirm)


def known(world: World, at: str, name: str = "orders") -> list[str]:
    return [home for home, _ in world.cores[at].core_state.durables.at(name)]


def digests(world: World) -> set[bytes]:
    return {core.core_state.durables.rib.digest for core in world.cores.values()}


# --- bodies ----------------------------------------------------------------------------------------------------------


def test_a_durable_subscription_is_read_as_it_was_packed():
    what = StatedDurable("orders", "alice", (less(5), less(6)), 1, 2, 3)
    assert read_durable(packed_durable(what)) == what
    assert name_in(packed_durable(what)) == "orders"


@pytest.mark.parametrize("packed", [b"\x00", b"\x96\x05", b"\xc1", b"\x90"])
def test_what_cannot_be_read_has_no_name(packed: bytes):
    assert name_in(packed) == ""


@pytest.mark.parametrize("size", [1, 31, 32, 255, 256])
def test_a_name_is_found_as_it_was_packed(size: int):
    name = "ä" * (size // 2) + "x" * (size % 2)
    assert name_in(packed_durable(StatedDurable(name, "", (less(5),), 0, 0, 0))) == name
    broken = packed_durable(StatedDurable("x" * size, "", (less(5),), 0, 0, 0)).replace(b"x" * size, b"\xff" * size)
    assert name_in(broken) == ""
    assert name_in(broken[:-40]) == ""


def test_what_is_found_in_slices_is_what_is_found_at_once():
    added = [NumberedDurable(number, durable(f"d{number}")) for number in range(2_500)]
    whole = stated("b", 2, dict(added))
    [*_, last] = parts = split(whole)
    slices = Complete(last, b"".join(part.chunk for part in parts)).read()
    count = 0
    while True:
        try:
            next(slices)
        except StopIteration as done:
            read = done.value
            break
        count += 1
    assert count >= 5
    assert (read.added_digest, whole.found) == (whole.added_digest, None)
    known = [KnownDurables(1), KnownDurables(1)]
    assert known[0].replace(whole) == known[1].replace(read)
    assert known[0].names() == known[1].names() == sorted(f"d{number}" for number in range(2_500))


def test_fields_of_a_later_version_leave_name_and_fields_readable():
    packed = bytearray(durable())
    packed[0] += 2
    later = bytes(packed) + b"\x90\x05"
    assert (read_durable(later), name_in(later)) == (read_durable(durable()), "orders")


def test_a_statement_names_its_issuer_rightly():
    with pytest.raises(Refused, match="is not the number of router 'b'"):
        DurablesStatement(stable_number("a"), "b", 1, 1, 0, True, 0, (), (), bytes(16), 0, False)


# --- how it travels --------------------------------------------------------------------------------------------------


def test_what_is_made_and_removed_at_one_router_is_known_at_all():
    world = World("abc", LINE)
    world.run(2 * S)
    world.handle("a", DurablesStated(1, {1: durable(), 2: durable("other")}))
    world.handle("c", DurablesStated(1, {1: durable()}))
    world.run(1 * S)
    assert known(world, "b") == ["a", "c"]
    assert (known(world, "a"), known(world, "c"), known(world, "c", "other")) == (["c"], ["a"], ["a"])
    world.handle("a", DurablesStated(1, {}, (1,)))
    world.run(2 * S)
    assert (known(world, "b"), known(world, "b", "other")) == (["c"], ["a"])
    assert len(digests(world)) == 1


def test_changes_in_a_burst_are_stated_together():
    world = World("ab", LINE[:1])
    world.run(2 * S)
    for number in range(1, 200):
        world.handle("a", DurablesStated(1, {number: durable(f"d{number}")}))
    world.run(2 * S)
    assert known(world, "b", "d199") == ["a"]
    assert world.frames(DurablesStatement) <= 4


def test_routers_compare_when_a_link_comes_up_and_hear_of_routers_beyond():
    world = World("abcd", [("a", "b"), ("c", "d")])
    world.run(2 * S)
    world.handle("a", DurablesStated(1, {1: durable("of-a")}))
    world.handle("d", DurablesStated(1, {1: durable("of-d")}))
    world.run(1 * S)
    world.connect("b", "c")
    world.run(4 * S)
    for name in "abc":
        assert known(world, name, "of-d") == ["d"]
    for name in "bcd":
        assert known(world, name, "of-a") == ["a"]
    assert len(digests(world)) == 1


def test_a_statement_that_was_lost_in_silence_comes_with_the_next_comparison():
    world = World("ab", LINE[:1])
    world.run(2 * S)
    world.lose.append(DurablesStatement)
    world.handle("a", DurablesStated(1, {1: durable()}))
    world.run(1 * S)
    assert known(world, "b") == []
    world.run(60 * S)
    assert known(world, "b") == ["a"]


def test_a_change_whose_base_is_missing_brings_the_whole():
    world = World("ab", LINE[:1])
    world.run(2 * S)
    world.handle("a", DurablesStated(1, {1: durable("one")}))
    world.run(2 * S)
    world.lose.append(DurablesStatement)
    world.handle("a", DurablesStated(1, {2: durable("two")}))
    world.run(2 * S)
    world.handle("a", DurablesStated(1, {3: durable("three")}))
    world.run(2 * S)
    assert known(world, "b", "two") == known(world, "b", "three") == ["a"]


def change_of(base: DurablesStatement, number: int) -> DurablesStatement:
    """The statement after `base` that adds a durable subscription of this number."""
    added = (*base.added, NumberedDurable(number, durable(f"d{number}")))
    digest, rest = predicate_digest(added), (base.log, False, base.seq)
    about = base.issuer, base.name, base.epoch, base.seq + 1
    return DurablesStatement(*about, *rest, added[-1:], (), digest, len(added), False)


def test_a_change_that_arrives_before_its_base_waits_and_requests_nothing():
    single, base = Single(), stated("z", 5, {1: durable("d1")})
    middle = change_of(base, 2)
    last = change_of(stated("z", 6, {1: durable("d1"), 2: durable("d2")}), 3)
    single.joins("z", "y")
    single.took(object)
    single.hears("z", base)
    single.hears("y", last)
    durables = single.core.core_state.durables
    assert (durables.names(), single.took(SenderRequest)) == (["d1"], [])
    single.hears("z", middle)
    assert durables.names() == ["d1", "d2", "d3"]
    single.waits(S)
    assert not any(request.durables_known for request in single.took(SenderRequest))


def test_a_base_that_does_not_arrive_in_time_is_requested():
    single, base = Single(), stated("z", 5, {1: durable("d1")})
    single.joins("z", "y")
    single.hears("z", base)
    single.took(object)
    single.hears("y", change_of(stated("z", 6, {1: durable("d1"), 2: durable("d2")}), 3))
    single.waits(S // 5)
    requests = [request.durables_known for request in single.took(SenderRequest, "z") if request.durables_known]
    assert [[known.seq for known in each] for each in requests] == [[5]]


def test_a_neighbour_that_is_late_is_sent_no_whole_and_one_with_an_earlier_life_is():
    single, newest = Single(), stated("z", 9, {1: durable("d1")}, epoch=2)
    single.joins("z", "y")
    single.hears("z", newest)
    single.took(object)
    single.hears("y", stated("z", 8, {2: durable("d2")}, epoch=2))
    single.hears("z", stated("z", 7, {2: durable("d2")}, epoch=2))
    assert single.took(DurablesStatement) == []
    single.hears("y", stated("z", 12, {2: durable("d2")}, epoch=1))
    assert [(body.epoch, body.seq) for body in single.took(DurablesStatement, "y")] == [(2, 9)]


def test_a_neighbour_that_is_a_little_behind_is_sent_the_changes_and_another_one_the_whole():
    single, base = Single(), stated("z", 5, {1: durable("d1")})
    single.joins("z", "y")
    single.hears("z", base, change_of(base, 2), change_of(stated("z", 6, {1: durable("d1"), 2: durable("d2")}), 3))
    at = {5: base.digest, 6: stated("z", 6, {1: durable("d1"), 2: durable("d2")}).digest}
    for their, sent in (((5, at[5]), [6, 7]), ((6, at[6]), [7]), ((6, at[5]), [True]), ((4, at[5]), [True])):
        single.waits(2 * S)
        single.took(object)
        known = Known(base.issuer, 1, *their)
        single.hears("y", replace(digest_of("y"), durables=bytes(15) + b"1", durables_known=(known,)))
        found = single.took(DurablesStatement, "y")
        assert [body.full or body.seq for body in found] == sent


def test_changes_that_are_too_many_are_sent_as_the_whole(monkeypatch):
    monkeypatch.setattr(recent_changes, "CHANGES_MAX", 4)
    recent, whole = RecentChanges(), {}
    for seq in range(1, 4):
        before, whole = stated("z", seq, whole), whole | {seq: durable(f"d{seq}")}
        recent.note(before.digest, change_of(before, seq))
    newest, digest = (1, 4), {seq: stated("z", seq, dict(list(whole.items())[: seq - 1])).digest for seq in (1, 2, 3)}
    found = [recent.since(before.issuer, (1, seq), digest[seq], newest) for seq in (1, 2, 3)]
    assert [[body.seq for body in bodies] for bodies in found] == [[], [3, 4], [4]]
    assert recent.since(before.issuer, (1, 3), digest[3], (1, 5)) == []
    recent.forget(before.issuer)
    assert recent.since(before.issuer, (1, 3), digest[3], newest) == []


def test_a_change_that_replaces_one_under_its_number_is_sent_as_the_whole():
    """As the change of an owner does: receivers do not apply it."""
    recent, base, after = RecentChanges(), stated("z", 1, {1: durable("d1")}), stated("z", 2, {1: durable("d2")})
    recent.note(base.digest, replace(after, full=False, base_seq=1, removed=(1,)))
    assert recent.since(base.issuer, (1, 1), base.digest, (1, 2)) == []


def many(first: int, count: int) -> dict[int, bytes]:
    return {number: durable(f"d{number}") for number in range(first, first + count)}


def test_a_long_whole_is_taken_in_slices_and_what_comes_meanwhile_follows():
    single, whole = Single(), many(1, 10_000)
    base = stated("z", 5, whole)
    last = change_of(stated("z", 6, whole | {20_000: durable("d20000")}), 20_001)
    single.joins("z")
    single.took(object)
    single.hears("z", base)
    durables = single.core.core_state.durables
    assert durables.names() == []
    single.hears("z", change_of(base, 20_000), last, base)
    assert single.took(StoreDurables) == []
    single.waits(S)
    assert len(durables.names()) == 10_002
    stored = single.took(StoreDurables)
    assert [(each.seq, len(each.added)) for each in stored] == [(5, 10_000), (6, 1), (7, 1)]


def test_a_newer_whole_follows_the_one_that_is_being_taken_and_nothing_of_the_older_stays():
    single = Single()
    single.joins("z")
    single.hears("z", stated("z", 5, many(1, 10_000)), stated("z", 6, many(2, 5_000)), stated("z", 7, many(3, 9_000)))
    single.waits(S)
    durables = single.core.core_state.durables
    assert sorted(durables.rib.filters(stable_number("z"))) == list(range(3, 9_003))
    assert durables.names() == sorted(f"d{number}" for number in range(3, 9_003))
    assert [each.seq for each in single.took(StoreDurables)] == [5, 7]
    assert not durables.rib.has_scraps


def test_what_is_forgotten_while_it_is_taken_leaves_nothing():
    single, clock = Single(), 1
    single.joins("z")
    single.hears("z", stated("z", 5, many(1, 10_000), epoch=clock))
    single.core._durables.unlearn(stable_number("z"), 0)
    single.waits(S)
    durables = single.core.core_state.durables
    assert (durables.names(), durables.issuers, durables.rib.has_scraps) == ([], set(), False)


def test_one_name_under_several_numbers_is_found_until_the_last_is_gone():
    known = KnownDurables(1)
    for at, numbers in (("a", (1, 2)), ("b", (2,)), ("c", (3,))):
        known.replace(stated(at, 1, {number: durable("x") for number in numbers}))
    assert [at for at, _ in known.everywhere("x")] == ["a", "a", "b", "c"]
    for at, left in (("a", ["b", "c"]), ("c", ["b"]), ("b", [])):
        known.replace(stated(at, 2, {}))
        assert [home for home, _ in known.everywhere("x")] == left
    assert known.names() == []


def test_two_of_equal_freshness_end_as_one_that_their_issuer_states():
    world = World("abc", LINE)
    world.run(2 * S)
    world.handle("a", DurablesStated(1, {1: durable()}))
    world.run(1 * S)
    held = world.cores["c"].core_state.durables
    version = held.rib.version(stable_number("a"))
    held.forget(stable_number("a"))
    held.replace(stated("a", version.seq, {8: durable("false")}))
    world.run(120 * S)
    assert len(digests(world)) == 1
    assert (known(world, "c"), known(world, "c", "false")) == (["a"], [])


def test_routers_that_hold_the_same_send_no_statement():
    world = World("ab", LINE[:1])
    world.handle("a", DurablesStated(1, {1: durable()}))
    world.run(2 * S)
    world.sent.clear()
    world.run(300 * S)
    assert not world.frames(DurablesStatement)


def test_a_network_without_durable_subscriptions_says_nothing_of_them():
    world = World("abc", LINE)
    world.run(120 * S)
    assert not world.frames(DurablesStatement)
    assert not any(getattr(body, "durables", b"") for _, _, body in world.sent)


def test_a_neighbour_without_the_capability_is_sent_nothing_and_not_heard():
    world = World("abc")
    world.connect("a", "b")
    world.connect("b", "c", knows_durables=False)
    world.handle("a", DurablesStated(1, {1: durable()}))
    world.handle("c", DurablesStated(1, {1: durable()}))
    world.run(60 * S)
    assert known(world, "b") == ["a"]
    assert known(world, "c") == []
    carried = {(one, other) for one, other, body in world.sent if isinstance(body, DurablesStatement)}
    assert carried <= {("a", "b"), ("b", "a")}


# --- restarts and reach ----------------------------------------------------------------------------------------------


def test_what_is_known_of_a_router_outlives_its_reach():
    world = World("abc", LINE)
    world.handle("a", DurablesStated(1, {1: durable()}))
    world.run(2 * S)
    world.stop("a")
    world.run(3_600 * S)
    assert known(world, "b") == known(world, "c") == ["a"]


def test_what_a_log_had_of_others_is_known_at_once_and_told():
    world = World("ab")
    world.handle("a", DurablesRecalled(LogLife(9, 3, 2), (stated("z", 5, {1: durable()}),)))
    assert known(world, "a") == ["z"]
    world.connect("a", "b")
    world.run(2 * S)
    assert known(world, "b") == ["z"]


def test_a_router_that_has_lost_its_log_says_so():
    world = World("ab", LINE[:1])
    world.handle("a", DurablesStated(1, {1: durable()}))
    world.run(2 * S)
    world.stop("a")
    world.start("a", epoch=2)
    world.connect("a", "b")
    world.run(4 * S)
    assert known(world, "b") == []
    assert len(digests(world)) == 1


def test_a_router_whose_epoch_is_behind_its_earlier_life_states_something_newer():
    world = World("ab", LINE[:1])
    world.handle("a", DurablesStated(1, {1: durable("one")}))
    world.run(2 * S)
    for number in range(2, 6):
        world.handle("a", DurablesStated(1, {number: durable(f"n{number}")}))
        world.run(2 * S)
    world.stop("a")
    world.start("a", epoch=1)
    world.handle("a", DurablesStated(1, {9: durable("new")}))
    world.connect("a", "b")
    world.run(60 * S)
    assert (known(world, "b", "one"), known(world, "b", "new")) == ([], ["a"])
    assert len(digests(world)) == 1


# --- who knows -------------------------------------------------------------------------------------------------------


def test_a_wait_ends_when_all_routers_in_reach_have_stored_it():
    world = World("abc", LINE)
    world.run(2 * S)
    world.handle("a", DurablesStated(1, {1: durable()}))
    world.handle("a", AwaitDurables(5, 60 * S))
    world.run(1 * S)
    assert world.known == []
    world.write("b")
    world.run(1 * S)
    assert world.known == []
    world.write()
    world.run(1 * S)
    [(name, answer)] = world.known
    assert (name, answer.ticket, answer.missing) == ("a", 5, ())
    assert set(answer.holding) == {DurablesHolder(stable_number(router), *LOG) for router in "bc"}


def test_a_wait_that_is_over_names_who_has_not_confirmed():
    world = World("abc", LINE)
    world.run(2 * S)
    world.handle("a", DurablesStated(1, {1: durable()}))
    world.handle("a", AwaitDurables(5, 3 * S))
    world.run(1 * S)
    world.write("b")
    world.run(3 * S)
    [(_, answer)] = world.known
    assert (answer.holding, answer.missing) == ((DurablesHolder(stable_number("b"), *LOG),), (stable_number("c"),))
    world.write()
    world.run(5 * S)
    assert len(world.known) == 1


def test_a_confirmation_that_was_lost_is_requested_again():
    world = World("ab", LINE[:1])
    world.run(2 * S)
    world.lose.append(DurablesHeld)
    world.handle("a", DurablesStated(1, {1: durable()}))
    world.handle("a", AwaitDurables(5, 60 * S))
    world.run(1 * S)
    world.write()
    world.run(1 * S)
    assert world.known == []
    for _ in range(4):
        world.run(1 * S)
        world.write()
    assert [answer.missing for _, answer in world.known] == [()]


def test_what_a_log_had_before_a_restart_is_confirmed_without_writing_it_again():
    single = Single()
    single.handle(DurablesRecalled(LogLife(9, 3, 2), (stated("z", 5, {1: durable()}),)))
    single.joins("z")
    single.waits(2 * S)
    single.took(object)
    single.hears("z", stated("z", 5, {1: durable()}, confirm=True))
    single.waits(1 * S)
    assert single.took(DurablesHeld) == [
        DurablesHeld(stable_number("z"), 1, 5, (DurablesHolder(stable_number("me"), 9, 3, 2),))
    ]


def test_what_is_not_stored_is_not_confirmed():
    single = Single()
    single.joins("z")
    single.took(object)
    single.hears("z", stated("z", 5, {1: durable()}, confirm=True))
    single.waits(10 * S)
    assert not single.took(DurablesHeld)
    single.handle(DurablesStored(stable_number("z"), 1, 5, NO_LOG))
    single.waits(1 * S)
    [held] = single.took(DurablesHeld)
    assert held.holders == (DurablesHolder(stable_number("me"), 0),)


# --- bounds and strangers --------------------------------------------------------------------------------------------


def test_beyond_the_bound_a_statement_is_passed_on_and_refused_and_what_was_known_stays(monkeypatch):
    monkeypatch.setattr("tamis.router.core.statements.known_durables.DURABLES_KNOWN_BYTES_MAX", 1_000)
    single = Single()
    single.joins("y", "z")
    single.hears("z", stated("z", 5, {1: durable()}))
    single.took(object)
    many = {number: durable(f"d{number}") for number in range(9)}
    single.hears("z", stated("z", 6, many, confirm=True))
    sent = single.core.core_state.durables
    assert [home for home, _ in sent.at("orders")] == ["z"]
    assert sent.at("d3") == []
    assert sent.bytes_of_others < 1_000
    done, single.done = single.done, []
    assert not any(isinstance(command, StoreDurables) for command in done)
    [alarm] = [command.text for command in done if isinstance(command, Alarm)]
    assert alarm.startswith("what z states about its durable subscriptions is refused: at most 67,108,864 bytes of ")
    assert any(getattr(command, "body", None) == stated("z", 6, many, confirm=True) for command in done)
    single.hears("z", stated("z", 7, {1: durable("less")}))
    assert [home for home, _ in sent.at("less")] == ["z"]


def test_a_router_states_no_more_than_others_take(monkeypatch):
    monkeypatch.setattr("tamis.router.core.statements.durables.DURABLES_STATED_BYTES_MAX", 1_000)
    single = Single()
    single.handle(DurablesStated(1, {number: durable(f"d{number}") for number in range(9)}))
    assert len(single.core.core_state.durables.rib.filters(stable_number("me"))) == 4
    [alarm] = single.took(Alarm)
    assert alarm.text.startswith("durable subscription d4 is not stated: at most")


def test_a_whole_that_contradicts_its_digest_is_not_held():
    single = Single()
    single.joins("z")
    good = stated("z", 5, {1: durable()})
    added = (NumberedDurable(1, durable("false")),)
    single.hears("z", DurablesStatement(good.issuer, "z", 1, 5, 7, True, 0, added, (), good.digest, 1, False))
    assert single.core.core_state.durables.at("false") == []


def test_a_neighbour_that_never_agrees_is_sent_all_once_a_second():
    single = Single()
    single.handle(DurablesStated(1, {1: durable()}))
    single.joins("a")
    single.waits(2 * S)
    single.took(object)
    for _ in range(20):
        single.hears("a", digest_of("a"))
        single.waits(S // 10)
    assert len(single.took(DurablesStatement, "a")) == 2


def test_what_cannot_be_read_here_is_held_and_has_no_name():
    assert limits.DURABLES_KNOWN_BYTES_MAX == 64 * 2**20
    single = Single()
    single.joins("z")
    single.hears("z", stated("z", 5, {1: b"\x91\xa1x", 2: b"\xc1"}))
    durables = single.core.core_state.durables
    assert durables.at("x") == []
    assert len(durables.rib.filters(stable_number("z"))) == 2
