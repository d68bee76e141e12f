"""Covered filters found by the structure of the engine `interval`, in C, judged by the simulator."""

from __future__ import annotations

import pytest

from tamis.router.links.covering import EngineIndex
from tamis.simulate.run import Scenario, run

STRATEGIES = ("advertise", "profile", "profile-preventive", "rendezvous")


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("topology", ["random:6", "grid:9"])
def test_it_is_clean_under_all_faults(strategy: str, topology: str) -> None:
    outcome = run(Scenario(topology, 120, "all", 11, strategy, engine="interval"))
    assert [str(violation) for violation in outcome.violations] == [], outcome.scenario.command()
    assert "--engine interval" in outcome.scenario.command()
    assert outcome.counts["required at rest"]


@pytest.mark.slow
def test_a_run_is_repeatable() -> None:
    scenario = Scenario("random:6", 100, "none", 5, engine="interval")
    assert run(scenario).digest == run(scenario).digest


@pytest.mark.slow
def test_a_wrong_answer_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each filter is said to be covered by any other one."""

    def any_other(index: EngineIndex, packed: bytes) -> bytes | None:
        return next((other for other in index._handles if other != packed), None)

    monkeypatch.setattr(EngineIndex, "covering", any_other)
    outcome = run(Scenario("random:6", 60, "none", 5, engine="interval"))
    assert 5 in {violation.invariant for violation in outcome.violations}
