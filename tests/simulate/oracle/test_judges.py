"""Each check of the judge can fail: he is shown what must not be, and what may."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tamis.router.core.ways.forwarder import TransitId
from tamis.simulate.message import Chosen, SimulatedMessage, Try
from tamis.simulate.oracle import costs
from tamis.simulate.oracle.deliveries import Deliveries, Patience
from tamis.simulate.oracle.gaps import Gaps
from tamis.simulate.oracle.groups import Groups
from tamis.simulate.oracle.order import EnteredAt, Order
from tamis.simulate.oracle.tables import LAYERS, Holding, Tables, TreePlace
from tamis.simulate.oracle.truth import Truth
from tamis.simulate.oracle.violation import INVARIANTS, Violation

S = 1_000_000
PATIENCE = Patience(known_us=S, asked_us=S, hold_us=2 * S, changes_max=3, wait_us=S // 4)
A, B, C = 10, 20, 30
FILTER = b"filter"
GROUP = 7
ENTRY = TransitId(A, 1, 1)


class Court:
    """Routers A, B and C in a line; client 1 at C wants contents 0 and 1, since the beginning."""

    def __init__(self) -> None:
        self.now_us = 0
        self.found: list[int] = []
        self.truth = Truth(lambda: self.now_us)
        for router in (A, B, C):
            self.truth.began(router)
        self.truth.joined((A, B), 1)
        self.truth.joined((B, C), 1)
        self.truth.wanted(1, 1, C, 0, 0b11)
        self.deliveries = Deliveries(self.truth, PATIENCE, self.report)
        self.gaps = Gaps(self.truth, PATIENCE, self.report)
        self.groups = Groups(self.truth, PATIENCE, self.report, self.deliveries)
        self.now_us = 10 * S

    def report(self, invariant: int, what: str) -> None:
        assert str(Violation(invariant, self.now_us, what, 3)).endswith(what)
        self.found.append(invariant)

    def message(self, content: int = 0, at_us: int = 10 * S, router: int = A) -> SimulatedMessage:
        message = SimulatedMessage(1, content, 1, 1)
        message.tries.append(Try(router, at_us, True))
        message.last_us = at_us + S // 10
        self.now_us = at_us + 5 * S
        return message


@pytest.fixture
def court() -> Court:
    return Court()


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


def _cut(court: Court) -> None:
    court.now_us = 10 * S + 1
    court.truth.broken((B, C))
    court.truth.unsettle()


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
    [_cut, _restless, _many_changes, _source_restarted, _asked_late, _left_early, _renewed_soon, _tainted],
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


# 4, 5, 6.

VERSION = (5, 1, b"digest")
NOBODY = (5, 2, b"")


def _holdings() -> dict[int, Holding]:
    versions = {A: NOBODY, B: NOBODY, C: VERSION}
    advertised: dict[int, dict[int, bytes]] = {A: {}, B: {}, C: {1: FILTER}}
    table = {C: {1: FILTER}}
    return {router: Holding(router, versions, advertised, {} if router == C else table) for router in (A, B, C)}


def _tables(court: Court, layer: str = "source-trees") -> Tables:
    meanings = {FILTER: (0, 0b11), b"more": (0, 0b111), b"less": (0, 0b1), b"shared": (GROUP, 0b1)}
    return Tables(court.truth, LAYERS[layer], meanings.__getitem__, court.report, None, court.groups.asked)


def test_equal_holdings_are_right(court: Court) -> None:
    _tables(court).compare(_holdings())
    assert court.found == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"versions": {A: NOBODY, B: NOBODY, C: (5, 0, b"old")}},
        {"versions": {A: NOBODY, B: NOBODY}},
        {"advertised": {A: {}, B: {}, C: {1: b"other"}}},
        {"table": {}},
        {"table": {C: {1: FILTER}, A: {1: FILTER}}},
    ],
)
def test_a_router_that_holds_something_else_is_found(court: Court, wrong: dict[str, dict[int, object]]) -> None:
    holdings = _holdings()
    holdings[A] = replace(holdings[A], **wrong)  # type: ignore[arg-type]
    _tables(court).compare(holdings)
    assert set(court.found) == {4}


@pytest.mark.parametrize(("said", "invariant"), [(b"less", 5), (b"more", 4)])
def test_what_is_advertised_is_what_clients_want(court: Court, said: bytes, invariant: int) -> None:
    holdings = {
        router: replace(holding, advertised={A: {}, B: {}, C: {1: said}}, table={} if router == C else {C: {1: said}})
        for router, holding in _holdings().items()
    }
    _tables(court).compare(holdings)
    assert court.found == [invariant]


def test_routers_apart_need_not_agree(court: Court) -> None:
    court.truth.broken((A, B))
    holdings = _holdings()
    holdings[A] = Holding(A, {A: NOBODY}, {A: {}}, {})
    _tables(court).compare(holdings)
    assert court.found == []


def _ways() -> dict[int, dict[int, TreePlace]]:
    return {
        A: {A: TreePlace(None, (B,), {B: B, C: B})},
        B: {A: TreePlace(A, (C,), {C: C})},
        C: {A: TreePlace(B, (), {})},
    }


def test_the_tree_of_a_line_is_right(court: Court) -> None:
    _tables(court).compare_ways(_ways())
    assert court.found == []


@pytest.mark.parametrize(
    ("router", "way"),
    [
        (C, TreePlace(None, (), {})),
        (C, TreePlace(A, (), {})),
        (B, TreePlace(C, (C,), {C: C})),
        (B, TreePlace(A, (), {C: C})),
        (B, TreePlace(A, (C,), {})),
        (A, TreePlace(None, (B,), {B: B})),
    ],
)
def test_a_router_with_other_ways_is_found(court: Court, router: int, way: TreePlace) -> None:
    ways = _ways()
    ways[router] = {A: way}
    _tables(court).compare_ways(ways)
    assert set(court.found) == {4}


def test_a_detour_is_found_where_ways_must_be_short(court: Court) -> None:
    court.truth.joined((A, C), 1)
    _tables(court).compare_ways(_ways())
    assert court.found == [4]
    _tables(court, "shared-tree").compare_ways(_ways())
    assert court.found == [4]


def test_a_message_goes_where_it_is_wanted_and_nowhere_else(court: Court) -> None:
    tables = _tables(court)

    def went(content: int, visits: list[int], refusals: int, chosen: int | None = None) -> None:
        message = SimulatedMessage(1, content, 1, 1)
        message.visits, message.refusals = visits, {"seen before": refusals}
        if chosen is not None:
            message.chosen[ENTRY] = Chosen(A, 0, {GROUP: chosen})
        tables.went(message, A, _ways())

    went(0, [A, B, C], 0)
    went(5, [A], 0)
    went(5, [A, B], 0, chosen=B)
    assert court.found == []
    for visits, refusals in (([A, B], 0), ([A, B, C, B], 0), ([A, B, C], 1)):
        went(0, visits, refusals)
    went(5, [A, B], 0)
    went(5, [A], 0, chosen=B)
    assert court.found == [6] * 5


# 7, 8, 9, 11.


def test_what_is_kept_of_the_gone_is_found(court: Court) -> None:
    costs.still_kept(A, {A, B}, {A, B, C}, court.report)
    costs.unfinished(A, {}, court.report)
    assert court.found == []
    costs.still_kept(A, {A, B, 99}, {A, B, C}, court.report)
    costs.unfinished(A, {"tickets": 1}, court.report)
    assert court.found == [7, 7]


def test_versions_go_up_while_a_router_lives_and_remembers(court: Court) -> None:
    versions = costs.Versions(court.report)
    for life, held in ((1, {B: (5, 1)}), (1, {B: (6, 0)}), (1, {}), (1, {B: (5, 9)}), (2, {B: (5, 1)})):
        versions.look(A, life, held, 6)
    assert court.found == []
    versions.look(A, 2, {B: (5, 0)}, 6)
    assert court.found == [8]


def test_an_epoch_that_no_clock_has_may_give_way(court: Court) -> None:
    versions = costs.Versions(court.report)
    versions.look(A, 1, {B: (8, 0)}, 7)
    versions.look(A, 1, {B: (7, 0)}, 7)
    assert court.found == []
    versions.look(A, 1, {B: (6, 0)}, 7)
    assert court.found == [8]


def test_what_excuses_a_version_may_be_seen_between_two_looks_at_all(court: Court) -> None:
    versions = costs.Versions(court.report)
    for excuse in ((8, 1), (7, 9)):
        versions.look(A, 1, {B: (7, 1), C: (7, 1)}, 7)
        versions.look_at(A, 1, B, excuse, 7)
        versions.look(A, 1, {B: (6, 1), C: (7, 1)}, 7)
        assert court.found == ([] if excuse[0] > 7 else [8])


def test_one_issuer_is_looked_at_alone(court: Court) -> None:
    versions = costs.Versions(court.report)
    versions.look(A, 1, {B: (7, 1), C: (7, 1)}, 7)
    versions.look_at(A, 1, B, None, 7)
    versions.look_at(A, 1, B, (5, 1), 7)
    assert court.found == []
    versions.look_at(A, 1, C, (7, 0), 7)
    assert court.found == [8]
    versions.look_at(A, 2, C, (6, 0), 7)
    assert court.found == [8]


def test_noise_at_rest_is_found(court: Court) -> None:
    costs.quiet({"advertisements": 0}, court.report)
    costs.one_change("a change", 10, 5, 2, court.report)
    costs.control_wait(costs.CONTROL_WAIT_US, court.report)
    assert court.found == []
    costs.quiet({"advertisements": 1}, court.report)
    costs.one_change("a change", 11, 5, 2, court.report)
    costs.control_wait(costs.CONTROL_WAIT_US + 1, court.report)
    assert court.found == [9] * 3


def test_frames_that_are_nowhere_are_found(court: Court) -> None:
    costs.accounts("a/b", 10, 6, {"queue full": 3}, 1, court.report)
    assert court.found == []
    costs.accounts("a/b", 10, 6, {"queue full": 3}, 0, court.report)
    assert court.found == [11]


def test_every_invariant_has_its_words() -> None:
    assert sorted(INVARIANTS) == [*range(1, 12), 13, 14, 15, 16]


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
    _cut(court)
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


# 15.


def _asked(court: Court, chosen: int = C, retried: bool = False) -> SimulatedMessage:
    """A message that entered at A, for members of a group: client 1 at C since the beginning, unless a test says so."""
    message = court.message()
    message.chosen[ENTRY] = Chosen(A, 10 * S, {GROUP: chosen})
    if retried:
        message.chosen[TransitId(B, 1, 1)] = Chosen(B, 10 * S, {GROUP: chosen})
    return message


@pytest.fixture
def shared(court: Court) -> Court:
    court.now_us = 0
    court.groups.joined(1, C, GROUP, 0, 0b1)
    court.now_us = 10 * S
    return court


def test_one_member_gets_a_message(shared: Court) -> None:
    message = _asked(shared)
    shared.groups.shared(1, message, GROUP, ENTRY)
    shared.groups.in_motion(message)
    shared.groups.at_rest(message, A)
    assert shared.found == []
    assert shared.groups.counts["required of groups in motion"] == 1


def test_two_members_are_one_too_many_and_one_that_is_none_is_another(shared: Court) -> None:
    shared.groups.joined(2, B, GROUP, 0, 0b1)
    message = _asked(shared)
    shared.groups.shared(1, message, GROUP, ENTRY)
    shared.groups.shared(2, message, GROUP, ENTRY)
    assert shared.found == [15]
    shared.groups.left(1, GROUP, 0)
    shared.groups.shared(1, _asked(shared), GROUP, ENTRY)
    assert shared.found == [15, 15]


def test_a_second_try_may_reach_a_second_member_and_is_counted(shared: Court) -> None:
    shared.groups.joined(2, B, GROUP, 0, 0b1)
    message = _asked(shared, retried=True)
    shared.groups.shared(1, message, GROUP, ENTRY)
    shared.groups.shared(2, message, GROUP, TransitId(B, 1, 1))
    shared.groups.in_motion(message)
    assert shared.found == []
    assert shared.groups.counts["members after a second try"] == 1


def test_a_member_whose_way_stayed_up_gets_it(shared: Court) -> None:
    shared.groups.at_rest(_asked(shared), A)
    shared.groups.in_motion(_asked(shared))
    assert shared.found == [15, 15]


def test_a_way_that_broke_excuses_where_it_is_counted(shared: Court) -> None:
    message = _asked(shared)
    _cut(shared)
    message.lost["session over"] = 1
    shared.groups.in_motion(message)
    shared.groups.at_rest(message, A)
    assert shared.found == []


def test_a_copy_that_nobody_counted_is_found(shared: Court) -> None:
    shared.now_us = 9 * S + S // 2
    shared.groups.left(1, GROUP, 0)
    shared.groups.joined(1, C, GROUP, 0, 0b1)  # since too short a time to be required
    message = _asked(shared)
    shared.groups.in_motion(message)
    assert shared.found == [15]
    message.unshared[ENTRY, GROUP] = "no member left"
    shared.groups.in_motion(message)
    assert shared.found == [15]


def test_one_router_whose_last_member_left_excuses_nothing_and_two_do(shared: Court) -> None:
    for client, router in ((2, B), (3, A)):
        shared.now_us = 0
        shared.groups.joined(client, router, GROUP, 0, 0b1)
        shared.now_us = 9 * S
        shared.groups.left(client, GROUP, 0)
        message = _asked(shared, chosen=router)
        message.unshared[ENTRY, GROUP] = "no member left"
        shared.groups.in_motion(message)
        assert shared.found == [15], "with the first alone"


def test_what_is_stated_for_groups_is_what_members_want(shared: Court) -> None:
    holdings = _holdings()
    _tables(shared).compare(holdings)
    assert shared.found == [15]
