"""Each rule is missed where it is left out: by an invariant that is its own, and soon."""

from __future__ import annotations

import pytest

from tamis.simulate.breaks import BREAKS
from tamis.simulate.run import Scenario, run


@pytest.mark.slow
@pytest.mark.parametrize("rule", BREAKS)
def test_a_rule_that_is_left_out_is_missed(rule: str) -> None:
    how = BREAKS[rule]
    scenario = Scenario(how.topology, how.operations, how.faults, 1, how.strategy, without=rule)
    outcome = run(scenario, stop_at_first=True)
    assert how.invariants & {violation.invariant for violation in outcome.violations}


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["R5b", "R5c", "R9", "R2", "R13", "R16", "R17", "R19", "R19d"])
def test_with_the_rule_the_same_run_is_clean(rule: str) -> None:
    how = BREAKS[rule]
    assert run(Scenario(how.topology, 150, how.faults, 1, how.strategy)).violations == []


def test_there_is_a_break_for_each_rule() -> None:
    assert sorted(BREAKS) == sorted(
        [
            *("R5b", "R5c", "R11b", "R13b", "R19", "R19b", "R19c", "R19d", "R19e", "R20", "R20b"),
            *(f"R{number}" for number in range(1, 18)),
            *(f"E{number}" for number in (3, 4, 5, 6, 7, 9, 10)),
        ]
    )
