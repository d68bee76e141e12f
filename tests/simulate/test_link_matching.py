"""Strategy link-matching in the simulator: clean under all faults, judged filter by filter, as `advertise` at rest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.router.core.core import CoreParts
from tamis.router.core.statements.cover import Cover
from tamis.simulate import run as runs
from tamis.simulate import topologies
from tamis.simulate.run import Scenario, run
from tamis.simulate.run_parts import RunParts
from tests.simulate.test_mixed import MixedParts

STRATEGY = "link-matching"


class OtherCover(Cover):
    """Sets filters aside, as `advertise` does."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "scenario",
    [Scenario("random:6", 120, "worst", 15), Scenario("ring:7", 150, "worst", 5100), Scenario("grid:9", 120, "all", 3)],
    ids=lambda scenario: scenario.topology,
)
def test_it_is_clean_under_all_faults(scenario: Scenario) -> None:
    outcome = run(replace(scenario, strategy=STRATEGY))
    assert [str(violation) for violation in outcome.violations] == [], outcome.scenario.command()
    assert outcome.counts["required at rest"]


@pytest.mark.slow
@pytest.mark.parametrize("broadcast", ["shared-tree", "reverse-path"])
def test_it_is_clean_on_each_layer(broadcast: str) -> None:
    scenario = Scenario("random:8", 100, "all", 7, STRATEGY, broadcast)  # type: ignore[arg-type]
    assert run(scenario).violations == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_messages_go_where_they_go_with_advertise(seed: int) -> None:
    scenario = Scenario("random:8", 60, "none", seed)
    one, other = [run(replace(scenario, strategy=strategy)).counts for strategy in ("advertise", STRATEGY)]
    for what in ("delivered", "required at rest", "required in motion", "hops", "gaps"):
        assert one[what] == other[what], what
    assert other["sent advertisements"] < one["sent advertisements"]  # no filter is taken back as covered


@pytest.mark.slow
def test_a_filter_that_is_set_aside_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_kit", lambda *_: RunParts(STRATEGY, parts=CoreParts(cover=OtherCover)))
    outcome = run(Scenario("random:8", 40, "none", 1, STRATEGY))
    assert {violation.invariant for violation in outcome.violations} == {4}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_it_mixes_with_the_others(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge takes all for `advertise`: what those that flood ask for beyond that (4, 6) is not counted."""
    layers = tuple((name, "source-trees") for name in topologies.read("ring:7", seed).names)
    kit = MixedParts(layers=layers, strategies=("advertise", "flood", STRATEGY))  # type: ignore[arg-type]
    monkeypatch.setattr(runs, "_kit", lambda *_: kit)
    outcome = run(Scenario("ring:7", 100, "all", seed))
    assert [str(violation) for violation in outcome.violations if violation.invariant not in (4, 6)] == []
    assert outcome.counts["required at rest"]
