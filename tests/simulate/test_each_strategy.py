"""Each strategy in the simulator: clean under all faults, and on each broadcast layer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.router.core.routing.trees import Broadcast
from tamis.router.core.strategies.registry import STRATEGIES
from tamis.simulate.run import Scenario, run

LITERAL = ("paper", "paper-bytes")
"""These lose messages by their rules, which `tamis reproduce 004 --figure losses` counts."""

SAFE = tuple(name for name in STRATEGIES if name not in LITERAL)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", SAFE)
@pytest.mark.parametrize(
    "scenario",
    [Scenario("random:6", 120, "worst", 15), Scenario("ring:7", 150, "worst", 5100), Scenario("grid:9", 120, "all", 3)],
    ids=lambda scenario: scenario.topology,
)
def test_it_is_clean_under_all_faults(scenario: Scenario, strategy: str) -> None:
    outcome = run(replace(scenario, strategy=strategy))
    assert [str(violation) for violation in outcome.violations] == [], outcome.scenario.command()
    assert outcome.counts["required at rest"]


@pytest.mark.slow
@pytest.mark.parametrize("strategy", SAFE)
@pytest.mark.parametrize("broadcast", ["shared-tree", "reverse-path"])
def test_it_is_clean_on_each_layer(broadcast: Broadcast, strategy: str) -> None:
    outcome = run(Scenario("random:8", 100, "all", 7, strategy, broadcast))
    assert [str(violation) for violation in outcome.violations] == [], outcome.scenario.command()
