"""Routers that merge filters, in the simulator: clean under all faults; and what breaks merging is found."""

from __future__ import annotations

import pytest

from tamis.protocol.covering.merge import Merged, merge
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.strategies import STRATEGIES
from tamis.router.core.statements.merging import own_merged
from tamis.router.core.statements.merging.own_merged import MergedPredicate
from tamis.simulate.run import Scenario, run

MERGING = [facts.name for facts in STRATEGIES if facts.merges]
SMALL = Scenario("random:5", 80, "all", 5, merge=0.5)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", MERGING)
def test_it_is_clean_under_all_faults(strategy: str) -> None:
    outcome = run(Scenario("random:6", 120, "worst", 15, strategy, merge=0.5))
    assert [str(violation) for violation in outcome.violations] == [], outcome.scenario.command()
    assert outcome.counts["merged filters at rest"]
    assert outcome.counts["surplus contents at rest"]


@pytest.mark.slow
def test_with_a_limit_of_0_nothing_is_stated_in_vain() -> None:
    outcome = run(Scenario("random:6", 120, "all", 3, merge=0.0))
    assert outcome.violations == []
    assert outcome.counts["merged filters at rest"]
    assert outcome.counts["surplus contents at rest"] == 0


def _stays_wide(_: MergedPredicate, packed: bytes) -> None:
    """Leave a merged filter as it is when a part has gone."""


def _too_narrow(a: Filter, b: Filter, widenings: tuple[float, float] = (0.0, 0.0)) -> Merged:
    """Return a merged filter without the lower levels."""
    merged = merge(a, b, widenings)
    return Merged(Filter((*merged.filter.constraints, Constraint("level", Op.GE, (4,)))), merged.widening)


@pytest.mark.slow
def test_a_merged_filter_that_stays_wide_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MergedPredicate, "_narrow", _stays_wide)
    assert 4 in _broken()


@pytest.mark.slow
def test_a_merged_filter_that_lacks_a_part_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_merged, "merge", _too_narrow)
    monkeypatch.setattr(own_merged, "covers", lambda *_: True)
    assert 5 in _broken()


def _broken() -> set[int]:
    outcome = run(Scenario("random:6", 150, "none", 1, merge=0.9))
    return {violation.invariant for violation in outcome.violations}


def test_a_strategy_that_does_not_merge_is_refused() -> None:
    with pytest.raises(ValueError, match="link-matching does not merge"):
        run(Scenario("line:2", 1, strategy="link-matching", merge=0.1))


def test_the_command_repeats_the_limit() -> None:
    assert "--merge 0.5" in SMALL.command()


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["profile", "rendezvous"])
def test_a_wait_for_a_filter_that_is_merged_before_it_is_issued_is_answered(strategy: str) -> None:
    """Seed 59 of the ledger: the wait was answered with the next change of a client, seconds later."""
    outcome = run(Scenario("grid:3", 200, "all", 59, strategy, "source-trees", only=(3, 12, 20, 26), merge=0.3))
    assert [str(violation) for violation in outcome.violations] == []
