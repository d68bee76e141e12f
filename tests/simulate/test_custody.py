"""Custody over the simulated network: clean under all faults of disks and links, and each rule is missed without it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tamis.simulate.custody_breaks import CUSTODY_BREAKS
from tamis.simulate.run import Scenario, run
from tests.simulate.test_each_strategy import SAFE

SOON = ("C1", "C1b", "C2", "C4", "C5", "C6", "C11", "C13")


def _found(rule: str, seed: int) -> set[int]:
    how = CUSTODY_BREAKS[rule]
    scenario = Scenario(how.topology, how.operations, how.faults, seed, how.strategy, without=rule)
    return how.invariants & {violation.invariant for violation in run(scenario, stop_at_first=True).violations}


@pytest.mark.parametrize("faults", ["custody", "stored"])
def test_what_is_confirmed_is_at_its_homes(faults: str) -> None:
    outcome = run(Scenario("random:6", 120, faults, 4))
    assert [str(violation) for violation in outcome.violations] == []
    counts = outcome.counts
    assert min(counts["confirmed stored"], counts["confirmed held"], counts["confirmed and there"]) > 100
    assert "not judged, as out of reach" not in counts


def test_the_faults_of_a_run_reach_every_excuse() -> None:
    counts = run(Scenario("random:8", 200, "custody", 1)).counts
    for what in ("power", "wake", "fill", "back-up", "put-back", "remove"):
        assert counts[f"did {what}"]
    for what in (
        "counted as lost",
        "doubts",
        "confirmed and lost with a disk",
        "confirmed and given up",
        "refused held",
        "given up for room",
        "given up for age",
        "given up where messages are refused",
        "refused without room",
    ):
        assert counts[what]


def test_the_same_seed_gives_the_same_trace() -> None:
    scenario = Scenario("ring:5", 60, "stored", 2)
    assert run(scenario).digest == run(scenario).digest


def test_a_run_without_custody_has_none() -> None:
    assert "custody frames" not in run(Scenario("random:6", 60, "durable", 1)).counts


@pytest.mark.slow
@pytest.mark.parametrize("strategy", SAFE)
@pytest.mark.parametrize(
    "scenario",
    [Scenario("random:8", 200, "stored", 11), Scenario("grid:9", 200, "custody", 23)],
    ids=lambda scenario: scenario.faults,
)
def test_it_is_clean_with_each_strategy(scenario: Scenario, strategy: str) -> None:
    outcome = run(replace(scenario, strategy=strategy))
    assert [str(violation) for violation in outcome.violations] == [], outcome.scenario.command()
    assert outcome.counts["confirmed and there"] > 100


@pytest.mark.parametrize("rule", SOON)
def test_a_rule_that_is_left_out_is_missed_at_once(rule: str) -> None:
    assert _found(rule, 1)


@pytest.mark.slow
@pytest.mark.parametrize("rule", [rule for rule in CUSTODY_BREAKS if rule not in SOON])
def test_a_rule_that_is_left_out_is_missed(rule: str) -> None:
    assert any(_found(rule, seed) for seed in range(1, 6))


def test_there_is_a_break_for_each_rule_of_custody() -> None:
    assert {re.sub("[a-z]", "", rule) for rule in CUSTODY_BREAKS} == {f"C{number}" for number in range(1, 16)}
