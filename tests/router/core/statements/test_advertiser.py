"""R1, R7: when a router says what it asks for, and how it learns that everybody knows."""

from __future__ import annotations

from itertools import pairwise

from tamis.protocol.wire.numbers import predicate_digest, stable_number
from tamis.protocol.wire.routing_bodies import Held, ReceiverAdvertisement
from tamis.router.core.commands import Reached
from tamis.router.core.events import Await, FiltersAdded, FiltersRemoved
from tamis.router.core.statements import own_predicate, sizes
from tamis.router.core.timers import Due
from tamis.router.core.times import MS, S
from tests.router.core.bodies import less, state, whole
from tests.router.core.single import Single

ME, A, X = map(stable_number, ("me", "a", "x"))


def linked(*filters: bytes) -> Single:
    """One neighbour; these filters were advertised long ago."""
    single = Single()
    single.joins("a")
    if filters:
        single.handle(FiltersAdded(filters))
    single.waits(30 * S)
    single.took(object)
    return single


def said(single: Single) -> list[tuple[set[bytes], int]]:
    """Filters added, and how many removed, in each advertisement."""
    advertised = single.took(ReceiverAdvertisement, "a")
    return [({packed for _, packed in body.added}, len(body.removed)) for body in advertised]


def test_the_first_change_is_said_at_once_as_a_change():
    single = linked(less(1), less(2))
    base_seq = single.core.core_state.rib.entries[ME].version.seq
    single.handle(FiltersAdded((less(3),)))
    [body] = single.took(ReceiverAdvertisement, "a")
    digest = predicate_digest([(1, less(1)), (2, less(2)), (3, less(3))])
    assert body == ReceiverAdvertisement(
        ME, 1, base_seq + 1, False, base_seq, ((3, less(3)),), (), digest, 3, confirm=False
    )


def test_changes_that_follow_wait_and_are_merged():
    single = linked(less(0))
    for bound in range(1, 5):
        single.handle(FiltersAdded((less(bound),)))
        single.waits(10 * MS)
    assert said(single) == [({less(1)}, 0)]
    single.waits(60 * MS - 1)
    assert said(single) == []
    single.waits(1)
    assert said(single) == [({less(2), less(3), less(4)}, 0)]


def test_what_widens_waits_a_second_at_most_and_what_narrows_five():
    single = linked()
    widened_us = []
    for bound in range(400):
        single.handle(FiltersAdded((less(bound),)))
        if said(single):
            widened_us.append(single.now_us)
        single.waits(10 * MS)
        if said(single):
            widened_us.append(single.now_us)
    gaps = [later - earlier for earlier, later in pairwise(widened_us)]
    assert gaps[:4] == [100 * MS, 200 * MS, 400 * MS, 800 * MS]
    assert max(gaps) == 1 * S
    narrowed_us = []
    for bound in range(4_000):
        if bound < 390:
            single.handle(FiltersRemoved((less(bound),)))
        single.waits(40 * MS)
        if said(single):
            narrowed_us.append(single.now_us)
    assert max(later - earlier for earlier, later in pairwise(narrowed_us)) > 2 * S


def test_who_asks_for_something_new_does_not_wait_for_those_who_ask_for_less():
    single = linked(*map(less, range(20)))
    for bound in range(12):
        single.handle(FiltersRemoved((less(bound),)))
        single.waits(900 * MS)
    assert single.core.core_state.timers.due_us is not None
    single.took(object)
    single.waits(900 * MS)
    single.handle(FiltersAdded((less(99),)))
    single.waits(1 * S)
    assert less(99) in set().union(*(added for added, _ in said(single)))


def test_the_whole_is_said_where_it_is_shorter():
    single = linked(*map(less, range(4)))
    single.handle(FiltersRemoved(tuple(map(less, range(3)))))
    single.waits(2 * S)
    [body] = single.took(ReceiverAdvertisement, "a")
    assert (body.full, body.base_seq, body.added, body.removed, body.count) == (True, 0, ((4, less(3)),), (), 1)


def test_as_much_change_as_there_is_whole_is_said_as_a_change():
    single = linked(*map(less, range(4)))
    single.handle(FiltersRemoved(tuple(map(less, range(2)))))
    single.waits(2 * S)
    [body] = single.took(ReceiverAdvertisement, "a")
    assert (body.full, len(body.removed), body.count) == (False, 2, 2)


def test_what_is_not_wanted_any_more_is_said_after_two_seconds_and_each_in_its_time():
    single = linked(less(1), less(2), less(3))
    single.handle(FiltersRemoved((less(1),)))
    single.waits(1 * S)
    single.handle(FiltersRemoved((less(2),)))
    single.waits(1 * S - 1)
    assert said(single) == []
    single.waits(1)
    assert said(single) == [(set(), 1)]
    single.waits(1 * S - 1)
    assert said(single) == []
    single.waits(1)
    assert len(single.took(ReceiverAdvertisement, "a")) == 1


def test_a_client_that_comes_back_within_two_seconds_costs_not_one_frame():
    single = linked(less(1))
    single.handle(FiltersRemoved((less(1),)))
    single.waits(2 * S - 1)
    single.handle(FiltersAdded((less(1),)))
    single.waits(20 * S)
    assert said(single) == []


def test_a_filter_wanted_and_not_wanted_again_within_the_wait_is_never_said():
    single = linked(less(1))
    single.handle(FiltersAdded((less(2),)))
    single.took(object)
    single.handle(FiltersAdded((less(3),)))
    single.handle(FiltersRemoved((less(3),)))
    single.waits(20 * S)
    assert said(single) == []


def test_what_covering_finds_is_said_behind():
    single = linked(less(1))
    single.handle(FiltersAdded((less(5),)))
    assert said(single) == [({less(5)}, 0)]
    assert single.core.has_work
    single.done += single.core.work(single.now_us)
    assert not single.core.has_work
    single.waits(100 * MS)
    [body] = single.took(ReceiverAdvertisement, "a")
    assert (body.removed or body.full, body.count) == ((1,), 1)


# --- waiting for the network


def confirmed(single: Single, *holders: int) -> None:
    version = single.core.core_state.rib.entries[ME].version
    single.hears("a", Held(ME, *version, holders))


def test_alone_everybody_knows_at_once():
    single = Single()
    single.waits(1 * S)
    single.handle(Await(7))
    assert single.took(Reached) == [Reached(7)]
    assert (Due.CONFIRM, 0) not in single.core.core_state.timers


def test_a_ticket_is_reached_when_everybody_in_reach_has_confirmed():
    single = linked()
    single.hears("a", state("a", 5, "me", "x"), state("x", 5, "a"))
    single.handle(FiltersAdded((less(1),)))
    single.waits(1 * S)
    single.took(object)
    single.handle(Await(7))
    [body] = single.took(ReceiverAdvertisement, "a")
    assert body.confirm
    assert (body.added, body.removed) == ((), ())
    confirmed(single, A)
    assert single.took(Reached) == []
    confirmed(single, X)
    assert single.took(Reached) == [Reached(7)]
    single.waits(20 * S)
    assert said(single) == []


def test_what_is_wanted_and_waited_for_is_said_once_and_at_once():
    single = linked(less(1))
    single.handle(FiltersAdded((less(2),), ticket=7))
    [body] = single.took(ReceiverAdvertisement, "a")
    assert (body.confirm, [packed for _, packed in body.added]) == (True, [less(2)])
    confirmed(single, A)
    assert single.took(Reached) == [Reached(7)]
    single.waits(30 * S)
    assert said(single) == []


def test_a_ticket_waits_for_its_filter_that_is_covered_no_more(monkeypatch):
    """What covered it goes before either was said; others want more than one body meanwhile."""
    single = linked(less(0, "z"))
    single.handle(FiltersAdded((less(1, "z"),)))
    single.took(object)
    monkeypatch.setattr(sizes, "FILTERS_MAX", 2)
    single.handle(FiltersAdded((less(9),)))
    single.handle(FiltersAdded((less(3),), ticket=7))
    while single.core.has_work:
        single.done += single.core.work(single.now_us)
    single.handle(FiltersAdded((less(1, "p"), less(1, "q"))))
    single.handle(FiltersRemoved((less(9),)))
    single.waits(10 * S)
    bodies = single.took(ReceiverAdvertisement, "a")
    [asking] = [body for body in bodies if less(3) in {packed for _, packed in body.added}]
    assert [body for body in bodies if body.confirm][:1] == [asking]


def test_waiting_for_what_was_wanted_before_asks_for_nothing_but_confirmation():
    single = linked(less(2))
    single.handle(FiltersAdded((less(2),), ticket=7))
    [body] = single.took(ReceiverAdvertisement, "a")
    assert (body.confirm, body.added) == (True, ())


def test_who_goes_out_of_reach_is_not_waited_for():
    single = linked()
    single.hears("a", state("a", 5, "me", "x"), state("x", 5, "a"))
    single.handle(Await(7))
    confirmed(single, A)
    single.waits(20 * MS)
    assert single.took(Reached) == []
    single.hears("a", state("a", 6, "me"))
    assert single.took(Reached) == [Reached(7)]


def test_whoever_has_not_confirmed_is_asked_again_every_second_or_two():
    single = linked()
    single.handle(Await(7))
    assert [body.confirm for body in single.took(ReceiverAdvertisement, "a")] == [True]
    single.waits(1 * S - 1)
    assert single.took(ReceiverAdvertisement, "a") == []
    single.waits(1)
    assert [body.confirm for body in single.took(ReceiverAdvertisement, "a")] == [True]
    single.waits(10 * S)
    assert 5 <= len(single.took(ReceiverAdvertisement, "a")) <= 10
    confirmed(single, A)
    assert single.took(Reached) == [Reached(7)]
    assert (Due.CONFIRM, 0) not in single.core.core_state.timers
    single.handle(FiltersAdded((less(1),)))
    single.waits(3 * S)
    assert [body.confirm for body in single.took(ReceiverAdvertisement, "a")] == [False]


def test_a_ticket_does_not_count_what_was_confirmed_before_it():
    single = linked(less(1))
    confirmed(single, A)
    single.handle(Await(7))
    single.handle(Await(8))
    assert single.took(Reached) == []
    confirmed(single, A)
    assert single.took(Reached) == [Reached(7)]
    single.waits(1 * S)
    confirmed(single, A)
    assert single.took(Reached) == [Reached(8)]


# --- after a jump


def test_in_a_new_epoch_the_whole_is_said():
    single = linked(less(1), less(2), less(3))
    single.hears("a", whole("me", 9, {}, epoch=4))
    [body] = single.took(ReceiverAdvertisement, "a")
    assert body.epoch > 4
    assert (body.full, {packed for _, packed in body.added}) == (True, {less(1), less(2), less(3)})
    single.waits(30 * S)
    single.handle(FiltersAdded((less(4),)))
    assert said(single) == [({less(4)}, 0)]


def test_what_waits_to_be_said_is_part_of_the_whole_after_a_jump():
    single = linked(less(1))
    single.handle(FiltersAdded((less(2),)))
    single.handle(FiltersAdded((less(3),)))
    single.took(object)
    single.hears("a", whole("me", 9, {}, epoch=4))
    assert said(single) == [({less(1), less(2), less(3)}, 0)]
    single.waits(20 * S)
    assert said(single) == []


def test_what_was_confirmed_before_a_jump_counts_no_more():
    """Whoever confirmed it may hold by now what was jumped past."""
    single = linked(less(1))
    single.handle(Await(7))
    before = single.core.core_state.rib.entries[ME].version
    single.took(object)
    single.hears("a", whole("me", 9, {}, epoch=4))
    assert [body.confirm for body in single.took(ReceiverAdvertisement, "a")] == [True]
    single.hears("a", Held(ME, *before, (A,)))
    assert single.took(Reached) == []
    confirmed(single, A)
    assert single.took(Reached) == [Reached(7)]


def test_no_ticket_is_reached_while_a_jump_is_due():
    single = linked(less(1))
    single.hears("a", whole("me", 9, {}, epoch=4))
    single.handle(Await(7))
    single.waits(200 * MS)
    single.hears("a", whole("me", 9, {}, epoch=2**40))
    confirmed(single, A)
    assert single.took(Reached) == []
    single.waits(1 * S)
    assert single.core.epoch > 2**40
    assert single.took(Reached) == []
    confirmed(single, A)
    assert single.took(Reached) == [Reached(7)]


def test_what_is_taken_back_at_once_is_taken_back_in_slices_between_which_other_events_come(monkeypatch):
    monkeypatch.setattr(own_predicate, "EXPIRED_PER_SLICE", 2)
    filters = tuple(less(number, f"n{number}") for number in range(3))
    single = linked(*filters)
    single.handle(FiltersRemoved(filters))
    assert single.due_in(Due.NARROW) == 2 * S
    single.waits(2 * S)
    assert single.due_in(Due.NARROW) == 1
    single.waits(10 * S)
    assert single.core.core_state.rib.entries[ME].filters == {}
    assert single.due_in(Due.NARROW) is None
