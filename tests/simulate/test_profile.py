"""Strategy profile in the simulator: clean under all faults, and judged by a law of its own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.router.core.statements.edges import held
from tamis.simulate import run as runs
from tamis.simulate.breaks import BREAKS, SlowEdges
from tamis.simulate.nodes.run_parts import RunParts
from tamis.simulate.run import Scenario, run

MODES = ("profile", "profile-preventive")


@pytest.mark.slow
@pytest.mark.parametrize("strategy", MODES)
@pytest.mark.parametrize(
    "scenario",
    [
        Scenario("ring:6", 120, "all", 3),
        Scenario("grid:9", 120, "worst", 5104),
        Scenario("scale-free:16", 140, "all", 9100012),
        Scenario("random:8", 100, "groups", 7),
    ],
    ids=lambda scenario: f"{scenario.topology} {scenario.faults}",
)
def test_it_is_clean_under_all_faults(strategy: str, scenario: Scenario) -> None:
    outcome = run(replace(scenario, strategy=strategy))
    assert [str(violation) for violation in outcome.violations] == [], outcome.scenario.command()
    assert outcome.counts["required at rest"]
    assert outcome.counts["sent edge statements"]


@pytest.mark.slow
def test_a_confirmation_that_was_asked_for_while_edges_changed_comes() -> None:
    """The router whose client waited is gone, so nobody asks again."""
    scenario = Scenario("ring:24", 200, "all", 8000015, "profile", "shared-tree", only=(25, 26, 27))
    assert [str(violation) for violation in run(scenario).violations] == []


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["E3", "E4", "E5", "E6", "E7"])
def test_with_the_rule_the_run_is_clean_that_misses_it_without(rule: str) -> None:
    how = BREAKS[rule]
    assert run(Scenario(how.topology, how.operations, how.faults, 1, how.strategy)).violations == []


@pytest.mark.slow
def test_an_edge_that_takes_seconds_to_be_said_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside E3's break, which is made of the same slow edges."""
    made = runs._kit

    def slow(*args: object) -> RunParts:
        kit = made(*args)  # type: ignore[arg-type]
        return replace(kit, parts=replace(kit.parts, edges=SlowEdges))

    monkeypatch.setattr(runs, "_kit", slow)
    assert run(Scenario("ring:6", 200, "cut,crash", 1, "profile")).violations == []


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["profile", "rendezvous"])
@pytest.mark.parametrize(("topology", "seed"), [("grid:8", 6200001), ("tree:6", 6200005)])
def test_a_router_that_lies_about_edges_harms_nobody_for_long(strategy: str, topology: str, seed: int) -> None:
    outcome = run(Scenario(topology, 200, "forge", seed, strategy))
    assert [str(violation) for violation in outcome.violations] == [], outcome.scenario.command()
    assert outcome.counts["lies"] > 200


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["profile", "rendezvous"])
def test_a_whole_that_takes_many_slices_loses_nothing(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "COMPARED_PER_SLICE", 1)
    outcome = run(Scenario("ring:6", 200, "all", 3, strategy))
    assert [str(violation) for violation in outcome.violations] == []


@pytest.mark.slow
def test_filters_are_said_along_one_tree_and_to_nobody_else() -> None:
    """On a ring there is one edge in no tree; advertise floods it, too."""
    scenario = Scenario("ring:8", 100, "none", 2)
    advertise, profile = (run(replace(scenario, strategy=name)).counts for name in ("advertise", "profile"))
    assert profile["sent edge statements"] < advertise["sent advertisements"]
