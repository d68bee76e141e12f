"""Who holds an advertisement: the issuer's side, and that of the others."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tamis.protocol.limits import LINKS_MAX
from tamis.protocol.wire.routing_bodies import Held
from tamis.router.core.statements.freshness import Version
from tamis.router.core.statements.held import Confirmations, Holders
from tests.router.core.graphs import checks

ME, A, B, C = range(4)
ROUTERS = st.integers(0, 3)


def waiting(ticket: int, seq: int) -> Holders:
    holders = Holders()
    holders.add(ticket)
    holders.issued(Version(1, seq))
    return holders


def test_a_ticket_is_reached_once_and_when_all_in_reach_hold_its_version():
    holders = waiting(7, 5)
    holders.heard(Version(1, 5), (A,))
    assert holders.reached({A, B}) == []
    holders.heard(Version(1, 4), (B,))
    assert holders.reached({A, B}) == []
    holders.heard(Version(1, 6), (B,))
    assert holders.reached({A, B}) == [7]
    assert holders.reached({A, B}) == []
    assert len(holders) == 0


def test_who_goes_out_of_reach_is_not_waited_for():
    holders = waiting(7, 5)
    holders.heard(Version(1, 5), (A,))
    assert holders.reached({A, B}) == []
    assert holders.reached({A}) == [7]


def test_alone_one_waits_for_ones_own_word_only():
    holders = Holders()
    holders.add(7)
    assert holders.wants_issue
    assert holders.reached(set()) == []
    holders.issued(Version(1, 1))
    assert not holders.wants_issue
    assert holders.reached(set()) == [7]


def test_a_ticket_waits_for_the_first_version_issued_after_it():
    holders = waiting(7, 5)
    holders.add(8)
    assert holders.wants_issue
    holders.issued(Version(1, 6))
    holders.heard(Version(1, 5), (A,))
    assert holders.reached({A}) == [7]
    holders.heard(Version(1, 6), (A,))
    assert holders.reached({A}) == [8]


def test_what_was_lost_is_asked_for_again_under_a_new_version():
    holders = waiting(7, 5)
    holders.again()
    assert holders.wants_issue
    holders.heard(Version(1, 5), (A,))
    assert holders.reached({A}) == []
    holders.issued(Version(1, 6))
    holders.heard(Version(1, 6), (A,))
    assert holders.reached({A}) == [7]


def test_what_comes_late_takes_nothing_back():
    holders = waiting(7, 5)
    holders.heard(Version(1, 5), (A,))
    holders.heard(Version(1, 3), (A,))
    assert holders.reached({A}) == [7]


def test_nothing_is_kept_of_tickets_that_are_done():
    holders = Holders()
    holders.heard(Version(1, 9), (A,))
    holders.add(7)
    holders.issued(Version(1, 5))
    assert holders.reached({A}) == []
    holders.heard(Version(1, 5), (A,))
    assert holders.reached({A}) == [7]
    holders.add(8)
    holders.issued(Version(1, 5))
    assert holders.reached({A}) == []


@checks
@given(st.lists(st.tuples(st.integers(1, 4), st.frozensets(ROUTERS)), max_size=12), st.frozensets(ROUTERS))
def test_tickets_are_reached_as_a_plain_table_says(said, reachable):
    holders = Holders()
    for seq in (1, 2, 3):
        holders.add(seq)
        holders.issued(Version(1, seq))
    reached = []
    held = dict.fromkeys(reachable, 0)
    for seq, who in said:
        holders.heard(Version(1, seq), who)
        held |= {router: max(seq, held[router]) for router in who & reachable}
        reached += holders.reached(reachable)
        assert reached == [seq for seq in (1, 2, 3) if not held or min(held.values()) >= seq]


def test_who_was_asked_confirms_once_when_it_holds_what_was_asked_for():
    confirmations = Confirmations(Held)
    assert not confirmations.holds(A, Version(1, 5), ME)
    confirmations.asked(A, Version(1, 5))
    assert not confirmations.holds(A, Version(1, 4), ME)
    assert confirmations.holds(A, Version(1, 6), ME)
    assert not confirmations.holds(A, Version(1, 7), ME)
    assert confirmations.take() == [Held(A, 1, 6, (ME,))]
    assert confirmations.take() == []


def test_the_newest_version_that_was_asked_for_counts():
    confirmations = Confirmations(Held)
    for seq in (5, 7, 6):
        confirmations.asked(A, Version(1, seq))
    assert not confirmations.holds(A, Version(1, 6), ME)
    assert confirmations.holds(A, Version(1, 7), ME)


def test_what_several_say_of_one_version_travels_together_and_each_router_once():
    confirmations = Confirmations(Held)
    confirmations.add(A, Version(1, 5), (B, C))
    confirmations.add(A, Version(1, 5), (C, ME))
    confirmations.add(A, Version(1, 6), (B,))
    confirmations.add(B, Version(1, 5), (C,))
    assert confirmations.issuers == {A, B}
    assert confirmations.take() == [Held(A, 1, 5, (B, C, ME)), Held(A, 1, 6, (B,)), Held(B, 1, 5, (C,))]


def test_a_body_names_as_many_as_fit_into_it():
    confirmations = Confirmations(Held)
    names = tuple(range(1, 2 * LINKS_MAX + 2))
    confirmations.add(A, Version(1, 5), names)
    bodies = confirmations.take()
    assert [len(body.holders) for body in bodies] == [LINKS_MAX, LINKS_MAX, 1]
    assert tuple(name for body in bodies for name in body.holders) == names


def test_of_an_issuer_that_is_forgotten_nothing_is_left():
    confirmations = Confirmations(Held)
    confirmations.asked(A, Version(1, 5))
    assert confirmations.issuers == {A}
    confirmations.forget(A)
    confirmations.forget(B)
    assert not confirmations.issuers
    assert not confirmations.holds(A, Version(1, 5), ME)


def test_a_ticket_that_is_given_up_names_who_holds_its_version():
    holders = Holders()
    holders.add(1)
    holders.add(2)
    holders.issued(Version(1, 5))
    holders.heard(Version(1, 5), (A,))
    holders.heard(Version(1, 4), (B,))
    assert holders.give_up(1) == {A}
    assert holders.reached({A}) == [2]
