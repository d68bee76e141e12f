"""The judges of deliveries, gaps and order (1 to 3, 13 and 14): they are shown what must not be, and what may."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tamis.simulate.oracle.order import EnteredAt, Order
from tests.simulate.oracle.court import GROUP, PATIENCE, A, B, C, Court, S, cut

# 1, 2, 3.


def test_at_rest_every_client_in_reach_gets_it(court: Court) -> None:
    court.deliveries.at_rest(court.message(), A)
    assert court.found == [1]
    court.deliveries.at_rest(court.message(content=2), A)
    got = court.message()
    court.deliveries.delivered(1, 1, got)
    court.deliveries.at_rest(got, A)
    court.truth.broken((B, C))
    court.deliveries.at_rest(court.message(), A)
    assert court.found == [1]
    court.deliveries.at_rest(court.message(), C)
    assert court.found == [1, 1]


def test_in_motion_it_gets_there_where_the_way_stayed_up(court: Court) -> None:
    message = court.message()
    court.now_us = 9 * S + S // 2
    court.truth.joined((A, C), 5)  # longer: the way does not change
    court.truth.unsettle()
    court.deliveries.in_motion(message)
    assert court.found == [1]
    court.deliveries.delivered(1, 1, message)
    court.deliveries.in_motion(message)
    assert court.found == [1]
    assert court.deliveries.counts["required in motion"] == 2


def _renewed_soon(court: Court) -> None:
    court.now_us = 10 * S + S // 2
    court.truth.renewed(C)


def _renewed_long_after(court: Court) -> None:
    court.now_us = 12 * S
    court.truth.renewed(C)


def _restless(court: Court) -> None:
    for tenth in range(60, 100):
        court.now_us = tenth * S // 10
        court.truth.unsettle()


def _many_changes(court: Court) -> None:
    court.now_us = 9 * S + S // 2
    for _ in range(2):
        court.truth.joined((A, C), 5)
        court.truth.broken((A, C))
    court.truth.unsettle()


def _source_restarted(court: Court) -> None:
    court.now_us = 9 * S + S // 2
    court.truth.ended(A)
    court.truth.began(A)


def _asked_late(court: Court) -> None:
    court.now_us = 9 * S + S // 2
    court.truth.unwanted(1, 0)
    court.truth.wanted(1, 1, C, 0, 0b11)


def _left_early(court: Court) -> None:
    court.now_us = 10 * S + 1
    court.truth.unwanted(1, 0)


def _tainted(court: Court) -> None:
    court.truth.is_tainted = True


@pytest.mark.parametrize(
    "excuse",
    [cut, _restless, _many_changes, _source_restarted, _asked_late, _left_early, _renewed_soon, _tainted],
)
def test_in_motion_nothing_more_is_promised(court: Court, excuse: Callable[[Court], None]) -> None:
    message = court.message()
    excuse(court)
    court.now_us = 15 * S
    court.deliveries.in_motion(message)
    assert court.found == []


def test_a_router_that_is_renewed_long_after_misses_nothing_for_it(court: Court) -> None:
    message = court.message()
    _renewed_long_after(court)
    court.now_us = 15 * S
    court.deliveries.in_motion(message)
    assert court.found == [1]


def test_what_a_line_lost_is_nobodys_fault_and_what_did_not_enter_neither(court: Court) -> None:
    lost = court.message()
    lost.lost["queue full"] = 1
    court.deliveries.in_motion(lost)
    refused = court.message()
    refused.tries[0] = refused.tries[0]._replace(entered=False)
    court.deliveries.in_motion(refused)
    cut = court.message()
    cut.lost["session over"] = 1
    court.deliveries.in_motion(cut)
    assert court.found == [1]  # a session that is over explains nothing on a way that stayed up


def test_twice_to_one_connection_is_a_violation(court: Court) -> None:
    message = court.message()
    court.deliveries.delivered(1, 1, message)
    court.deliveries.delivered(1, 2, message)
    assert court.found == []
    court.deliveries.delivered(1, 2, message)
    assert court.found == [2]


def test_what_nobody_asked_for_is_a_violation(court: Court) -> None:
    court.deliveries.delivered(1, 1, court.message(content=2))
    court.deliveries.delivered(2, 1, court.message(content=0))
    assert court.found == [3, 3]


# 13.


def test_a_message_that_is_lost_lies_under_a_gap(court: Court) -> None:
    lost = court.message()
    court.gaps.judge(lost)
    assert court.found == [13]
    court.gaps.told(C, 6 * S, 2 * S, goes_on=False)
    court.gaps.judge(lost)
    assert court.found == [13]
    got = court.message(at_us=17 * S)
    got.received[1] = 1
    court.gaps.judge(got)
    assert court.found == [13]
    court.gaps.judge(court.message(at_us=18 * S))
    assert court.found == [13, 13]


def test_a_gap_reaches_as_far_back_as_it_says(court: Court) -> None:
    lost = court.message()
    court.gaps.told(C, 5 * S - 1, 2 * S, goes_on=False)
    court.gaps.judge(lost)
    assert court.found == [13]
    court.gaps.told(C, 5 * S, 2 * S, goes_on=False)
    court.gaps.judge(lost)
    assert court.found == [13]


def test_what_goes_on_lies_under_the_gap_before_it_until_the_next(court: Court) -> None:
    court.now_us = 9 * S
    court.gaps.told(C, S, 2 * S, goes_on=True)
    court.gaps.judge(court.message())
    assert court.found == []
    court.gaps.told(C, S, 2 * S, goes_on=False)
    court.gaps.judge(court.message(at_us=20 * S))
    assert court.found == [13]


@pytest.mark.parametrize(("later_us", "found"), [(PATIENCE.remembered_us, [13]), (PATIENCE.remembered_us + 1, [])])
def test_a_router_apart_for_as_long_as_it_is_remembered_knows_the_filter(
    court: Court, later_us: int, found: list[int]
) -> None:
    court.gaps.at_rest()
    rest_us = court.now_us
    cut(court)
    court.now_us = rest_us + 60 * S
    court.gaps.at_rest()
    court.gaps.judge(court.message(at_us=rest_us + later_us))
    assert court.found == found


def test_who_wanted_nothing_before_the_change_is_not_told(court: Court) -> None:
    court.now_us = 9 * S
    court.truth.wanted(2, 1, C, 1, 0b11)
    court.gaps.told(C, S, 2 * S, goes_on=False)
    court.gaps.told(B, S, 2 * S, goes_on=False)
    assert court.gaps.counts["gaps"] == 1


def test_a_gap_after_nothing_is_one_too_many(court: Court) -> None:
    court.now_us = 60 * S
    court.gaps.told(C, S, 2 * S, goes_on=False)
    court.gaps.at_rest()
    assert court.found == [13]


def test_a_gap_after_a_cut_on_no_way_to_there_is_one_too_many(court: Court) -> None:
    court.truth.joined((A, C), 1)
    court.now_us = 60 * S
    court.truth.unsettle()
    court.truth.broken((A, B))
    for router in (A, B):
        court.gaps.told(router, S, 0, goes_on=False)
    court.gaps.at_rest()
    assert court.found == []
    court.gaps.told(C, S, 0, goes_on=False)
    court.gaps.at_rest()
    assert court.found == [13]


def test_gaps_over_a_loss_are_counted_apart(court: Court) -> None:
    lost = court.message()
    for span_us in (6 * S, S):
        court.gaps.told(C, span_us, 2 * S, goes_on=False)
    court.gaps.judge(lost)
    assert court.gaps.counts == {"due": 1, "lost": 1, "gaps": 2, "gaps over a loss": 1}


# 14.


@pytest.mark.parametrize(
    ("excuse", "found"),
    [
        (lambda _: None, [14]),
        (lambda court: court.truth.joined((A, C), 1), [14]),
        (lambda court: court.truth.leaves(B), [14]),
        (lambda court: court.truth.broken((A, B)), []),
        (lambda court: court.truth.ended(A), []),
        (_asked_late, []),
        (_tainted, []),
    ],
)
def test_messages_of_one_source_come_in_order(court: Court, excuse: Callable[[Court], None], found: list[int]) -> None:
    order = Order(court.truth, PATIENCE, court.report)
    message = court.message()
    court.now_us = 10 * S
    excuse(court)
    court.truth.unsettle()
    for counter in (1, 3, 2):
        order.delivered(1, 1, message, EnteredAt(A, 7, counter), {})
    assert court.found == found
    for stream in (EnteredAt(B, 7, 1), EnteredAt(A, 8, 1)):
        order.delivered(1, 1, message, stream, {})
    order.delivered(1, 2, message, EnteredAt(A, 7, 1), {})
    assert court.found == found, "others, another life, another connection"


@pytest.mark.parametrize(
    ("choices", "lost", "found"),
    [
        ({GROUP: B}, {}, []),
        ({GROUP: C}, {}, [14]),
        ({GROUP: C}, {"silently lost": 1}, []),
        ({GROUP: C}, {"queue full": 1}, []),
        ({GROUP: C}, {"session over": 1}, [14]),
    ],
)
def test_what_may_overtake(court: Court, choices: dict[int, int], lost: dict[str, int], found: list[int]) -> None:
    order = Order(court.truth, PATIENCE, court.report)
    first, second = court.message(), court.message()
    court.now_us = 10 * S
    court.truth.unsettle()
    first.lost.update(lost)
    order.delivered(1, 1, second, EnteredAt(A, 7, 2), {GROUP: C})
    order.delivered(1, 1, first, EnteredAt(A, 7, 1), choices)
    assert court.found == found


@pytest.mark.parametrize(
    ("since_us", "wanted_by_more", "found"),
    [(S // 5, True, [14]), (S // 4, True, []), (S // 4, False, [14])],
)
def test_a_message_for_more_routers_may_overtake_when_nothing_waits(
    court: Court, since_us: int, wanted_by_more: bool, found: list[int]
) -> None:
    order = Order(court.truth, PATIENCE, court.report)
    narrow, wide = court.message(content=0), court.message(content=1)
    if wanted_by_more:
        court.truth.wanted(2, 1, B, 0, 0b10)
    court.truth.joined((A, C), 1)
    court.truth.unsettle()
    court.now_us += since_us
    order.delivered(1, 1, wide, EnteredAt(A, 7, 2), {})
    order.delivered(1, 1, narrow, EnteredAt(A, 7, 1), {})
    assert court.found == found


@pytest.mark.parametrize(("asked_us", "found"), [(9 * S + 1, []), (9 * S, [14])])
def test_a_router_that_asks_between_two_messages_may_pass_the_later_one_on_first(
    court: Court, asked_us: int, found: list[int]
) -> None:
    order = Order(court.truth, PATIENCE, court.report)
    first, second = court.message(at_us=10 * S), court.message(at_us=10 * S + 1)
    court.now_us = asked_us
    court.truth.wanted(2, 1, B, 0, 0b01)
    court.now_us = 10 * S
    court.truth.joined((A, C), 1)
    court.truth.unsettle()
    court.now_us += S // 4
    order.delivered(1, 1, second, EnteredAt(A, 7, 2), {})
    order.delivered(1, 1, first, EnteredAt(A, 7, 1), {})
    assert court.found == found
