"""The table of strategies in small: what it counts is what the papers' arithmetic says, and the same each time."""

from __future__ import annotations

import json
import sys

import pytest
from click.testing import CliRunner

from tamis.bench.networks.strategies import __main__ as command
from tamis.bench.networks.strategies import measure
from tamis.bench.networks.strategies.cells import Cells, Contender, Setup
from tamis.bench.networks.strategies.control import Budget, Network, OverBudget, forest_of, layout, trees_of
from tamis.bench.networks.strategies.durable import bytes_kept
from tamis.bench.networks.strategies.fleet import ENTRY, Fleet
from tamis.bench.networks.strategies.model import copies, masks
from tamis.bench.networks.strategies.wants import CHANGES, make_wants
from tamis.native.covering import FilterCovers
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.strategies import BY_NAME, STRATEGIES
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.router.core.routing.paths import PathCache
from tamis.simulate.faults.topologies import NetworkPlan
from tamis.simulate.oracle.paths import edges_between, graph_of

SOUND = [facts for facts in STRATEGIES if facts.loses_nothing]
COUNTED = (
    "control",
    "comes",
    "goes",
    "uncovers",
    "stored",
    "masks",
    "frames",
    "bytes",
    "missing",
    "cut",
    "steps",
    "steps_event",
    "visits",
)


def fleet_of(where: str, strategy: str, subscriptions: int, events: int):
    plan = layout(where)
    wants = make_wants(len(plan.names), subscriptions, 50, events)
    network = Network(plan, strategy, Budget(60))
    network.come_up()
    network.subscribe(wants)
    facts = BY_NAME[strategy]
    return network, wants, Fleet(network.nodes, wants, facts, "counting" if facts.limits_matches else "tamis")


def stated_at(network: Network) -> list[int]:
    """How many filters of all routers each router knows."""
    ribs = [node.core.core_state.rib.entries for node in network.nodes]
    return [sum(len(held.filters) for held in entries.values()) for entries in ribs]


def graph(plan: NetworkPlan) -> dict[int, dict[int, int]]:
    return graph_of({(a, b): cost for a, b, cost in plan.links}, list(range(len(plan.names))))


# --- what is wanted --------------------------------------------------------------------------------------------------


def test_the_coverable_share_is_covered_and_changes_nothing_about_who_wants_an_event() -> None:
    wants = make_wants(5, 60, 50, 40)
    assert sum(map(len, wants.filters)) == 60
    assert all(len(set(each)) == len(each) for each in wants.filters)
    plain = make_wants(5, 30, 0, 40)
    assert [len(each) for each in plain.filters] != [len(each) for each in wants.filters]
    for router, filters in enumerate(wants.filters):
        read = [decode_filter(packed) for packed in filters]
        for number, event in enumerate(wants.events):
            assert (router in wants.wanting[number]) == any(filter_matches(one, event) for one in read)


@pytest.mark.parametrize("routers", [1, 2, 3])
def test_every_subscription_is_dealt_however_few_routers_there_are(routers: int) -> None:
    wants = make_wants(routers, 40, 50, 20)
    assert len(wants.filters) == routers
    assert sum(map(len, wants.filters)) == 40
    assert len(wants.wanting) == 20
    assert any(wants.wanting)


def test_filters_that_go_as_covers_cover_others_of_their_router() -> None:
    wants = make_wants(5, 60, 50, 1)
    assert 0 < len(wants.covering) <= CHANGES
    for router, packed in wants.covering:
        assert wants.filters[router].count(packed) == 1
        covers = FilterCovers(1 << 20)
        for other in wants.filters[router]:
            covers.add(other)
        assert len(covers.covered(packed)) > 1
    assert make_wants(5, 60, 0, 1).covering == []


@pytest.mark.parametrize(("coverable", "stated"), [(0, 60), (50, 30), (90, 6)])
def test_exactly_the_share_that_is_not_coverable_is_advertised(coverable: int, stated: int) -> None:
    network = Network(layout("ring5"), "advertise", Budget(60))
    network.come_up()
    network.subscribe(make_wants(5, 60, coverable, 1))
    assert stated_at(network) == [stated] * 5


def test_link_matching_states_every_filter() -> None:
    network, _, _ = fleet_of("ring5", "link-matching", 60, 1)
    assert stated_at(network) == [60] * 5


# --- copies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("facts", SOUND, ids=lambda facts: facts.name)
def test_events_reach_those_that_want_them_by_as_many_copies_as_the_model_counts(facts) -> None:
    network, wants, fleet = fleet_of("ring5", facts.name, 40, 50)
    found = fleet.run()
    due = {(event, router) for event, routers in enumerate(wants.wanting) for router in routers}
    assert set(found.delivered) == due
    assert set(found.delivered.values()) == {1}
    trees, forests = [trees_of(node) for node in network.nodes], [forest_of(node) for node in network.nodes]
    assert all(bool(forest.roots and forest.roots[-1]) == facts.has_roots for forest in forests)
    assert found.frames == fleet.first.frames == copies(trees, forests, wants, facts)
    assert sum(found.visits.values()) == found.frames + len(wants.events)
    assert found.visits[ENTRY] == len(wants.events)


@pytest.mark.slow
def test_on_a_tree_link_matching_sends_one_copy_over_each_link_between_the_entry_and_those_that_want_the_event() -> (
    None
):
    _, wants, fleet = fleet_of("tree15", "link-matching", 60, 60)
    ways = graph(layout("tree15"))
    expected = 0
    for number, wanting in enumerate(wants.wanting):
        links = [edges_between(ways, number % 15, router) or set() for router in wanting if router != number % 15]
        expected += len(set().union(*links))
    assert fleet.first.frames == expected > 0


def test_flood_sends_a_copy_to_every_router_with_a_client_and_the_plain_form_to_all() -> None:
    for strategy in ("flood", "flood-everywhere"):
        _, _, fleet = fleet_of("line9", strategy, 30, 18)
        assert fleet.first.frames == 18 * 8


def test_match_first_sends_the_copies_of_link_matching_and_in_each_the_whole_list() -> None:
    _, _, plain = fleet_of("line5", "link-matching", 20, 30)
    _, wants, listing = fleet_of("line5", "match-first", 20, 30)
    assert listing.first.frames == plain.first.frames
    expected = 0
    for number, wanting in enumerate(wants.wanting):
        ways = [router - number % 5 for router in wanting if router != number % 5]
        copies_of_it = max(0, *ways, 0) + max(0, *(-way for way in ways), 0)  # on a line, to the last one on each side
        expected += copies_of_it * (5 + 8 * len(ways))
    assert listing.first.bytes - plain.first.bytes == expected > 0


@pytest.mark.slow
def test_a_router_of_wan39_has_at_most_five_masks() -> None:
    network = Network(layout("wan39"), "link-matching", Budget(60))
    network.come_up()
    counts = [masks(trees_of(node)) for node in network.nodes]
    assert max(counts) <= 5
    assert min(counts) >= 1


@pytest.mark.slow
def test_paper_004_floods_or_loses_but_is_measured() -> None:
    _, wants, fleet = fleet_of("ring5", "paper", 40, 20)
    due = {(event, router) for event, routers in enumerate(wants.wanting) for router in routers}
    assert set(fleet.first.delivered) <= due


# --- memory ----------------------------------------------------------------------------------------------------------


def test_what_is_kept_counts_once_and_without_the_cache_of_paths() -> None:
    text = b"x" * 1_000
    assert 1_000 < bytes_kept([text, text]) < 1_300
    assert bytes_kept([PathCache(), PathCache]) == sys.getsizeof([None, None])


def test_an_index_of_covers_counts_with_what_it_takes_in_c() -> None:
    covers = FilterCovers(1 << 20)
    empty, empty_c = bytes_kept([covers]), covers.stats()[1]
    for packed in make_wants(5, 1_000, 0, 1).filters[0]:
        covers.add(packed)
    grown = covers.stats()[1] - empty_c
    assert grown > 0
    assert bytes_kept([covers]) - empty == grown


# --- the table -------------------------------------------------------------------------------------------------------


def table(tmp_path, *more: str):
    arguments = ["--layouts", "ring5", "--subscriptions", "40", "--coverable", "50", "--events", "20", "--passes", "3"]
    return CliRunner().invoke(command.main, [*arguments, "--json", str(tmp_path / "cells.jsonl"), *more])


@pytest.mark.slow
def test_counted_columns_are_the_same_each_time(tmp_path) -> None:
    rows = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        result = table(tmp_path / name)
        assert result.exit_code == 0, result.output
        rows.append([json.loads(line) for line in (tmp_path / name / "cells.jsonl").read_text().splitlines()])
    assert {row["strategy"] for row in rows[0]} == set(BY_NAME)
    for one, other in zip(*rows, strict=True):
        assert {name: one[name] for name in COUNTED} == {name: other[name] for name in COUNTED}, one["key"]
        assert one["memory"]["c_mean"] == other["memory"]["c_mean"]


@pytest.mark.slow
def test_a_strategy_that_shares_a_network_with_others_counts_what_it_counts_alone(tmp_path) -> None:
    rows = {}
    for names in ("advertise,match-first,advertise-destinations", "match-first", "advertise-destinations"):
        assert table(tmp_path, "--strategy", names, "--json", str(tmp_path / names)).exit_code == 0
        rows[names] = {row["strategy"]: row for row in map(json.loads, (tmp_path / names).read_text().splitlines())}
    together, *alone = rows.values()
    assert len(together) == 3
    for row in (each for rows_alone in alone for each in rows_alone.values()):
        shared = together[row["strategy"]]
        assert {name: row[name] for name in COUNTED} == {name: shared[name] for name in COUNTED}


@pytest.mark.slow
def test_a_second_run_measures_only_what_is_not_in_the_file(tmp_path) -> None:
    assert table(tmp_path, "--strategy", "advertise").exit_code == 0
    again = table(tmp_path, "--strategy", "advertise,flood")
    assert "advertise/tamis" not in again.stderr
    assert "flood/tamis" in again.stderr
    assert "| advertise " in again.stdout
    assert "| flood " in again.stdout
    lines = [json.loads(line) for line in (tmp_path / "cells.jsonl").read_text().splitlines()]
    assert [line["strategy"] for line in lines] == ["advertise", "flood"]


def test_a_line_that_was_cut_short_is_measured_again(tmp_path) -> None:
    assert table(tmp_path, "--strategy", "flood").exit_code == 0
    file = tmp_path / "cells.jsonl"
    file.write_text(file.read_text()[:-10])
    assert not Cells(file).has(Setup("ring5", 40, 50, 20), Contender("flood", "tamis"), 60)
    assert file.read_text() == ""


@pytest.mark.slow
def test_a_cell_over_its_budget_is_left_out_and_named(tmp_path) -> None:
    result = table(tmp_path, "--strategy", "link-matching", "--cell-s", "0.1", "--subscriptions", "4000,8000")
    assert result.exit_code == 0, result.output
    assert "Left out: link-matching with tamis, more than 0.1 s, while" in result.stdout
    assert "Left out: link-matching with tamis, which took more than 0.1 s with 4,000" in result.stdout


def test_a_budget_is_over_after_what_ran_in_it() -> None:
    budget = Budget(1e-9)
    with budget:
        sum(range(1_000))
    with pytest.raises(OverBudget, match="while counting"):
        budget.check("counting")


def test_a_strategy_that_delivers_less_ends_the_run_without_a_figure(tmp_path, monkeypatch) -> None:
    subscribe = measure.Fleet.run

    def losing(fleet):
        found = subscribe(fleet)
        found.delivered.pop(next(iter(found.delivered)))
        return found

    monkeypatch.setattr(measure.Fleet, "run", losing)
    result = table(tmp_path, "--strategy", "advertise")
    assert result.exit_code == 1
    assert "1 deliveries are missing" in result.output
    assert not (tmp_path / "cells.jsonl").exists()


def test_the_command_refuses_what_it_does_not_know() -> None:
    run = CliRunner().invoke
    assert "unknown 'guess'" in run(command.main, ["--strategy", "guess"]).output
    assert "is no kind of network" in run(command.main, ["--layouts", "moebius7"]).output
    assert "comma-separated list of numbers" in run(command.main, ["--coverable", "half"]).output


def test_every_strategy_is_compared_and_those_whose_paper_has_an_engine_twice() -> None:
    names = [str(each) for each in command.contenders(None)]
    assert {name.partition("/")[0] for name in names} == set(BY_NAME)
    assert {"advertise/tamis", "link-matching/pst", "link-matching/tamis"} <= set(names)
