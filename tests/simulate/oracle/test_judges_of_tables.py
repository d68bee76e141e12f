"""The judges of tables, ways and costs (invariants 4 to 11): they are shown what must not be, and what may."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.simulate.nodes.message import Chosen, SimulatedMessage
from tamis.simulate.oracle import costs
from tamis.simulate.oracle.tables import LAYERS, Holding, Tables, TreePlace
from tamis.simulate.oracle.violation import INVARIANTS
from tests.simulate.oracle.court import ENTRY, FILTER, GROUP, A, B, C, Court

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
    assert sorted(INVARIANTS) == [*range(1, 12), *range(13, 22)]


def test_what_is_stated_for_groups_is_what_members_want(shared: Court) -> None:
    holdings = _holdings()
    _tables(shared).compare(holdings)
    assert shared.found == [15]
