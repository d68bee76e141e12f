"""Strategy flood in the simulator: it is judged by a law of its own (invariants 4 to 6)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.router.core.core import CoreParts
from tamis.router.core.statements.own_predicate import OwnPredicate
from tamis.simulate import run as runs
from tamis.simulate.nodes.run_parts import RunParts
from tamis.simulate.run import Outcome, Scenario, run

FLOODS = ("flood", "flood-everywhere")


class Narrow(OwnPredicate):
    """Asks for what clients want, as `advertise` does."""


@pytest.mark.slow
def test_it_says_less_of_filters_and_sends_more_messages_than_advertise() -> None:
    scenario = Scenario("tree:9", 100, "none", 2)
    counts = [run(replace(scenario, strategy=strategy)).counts for strategy in ("advertise", *FLOODS)]
    said = [each["sent advertisements"] for each in counts]
    hops = [each["hops"] for each in counts]
    assert said == sorted(said, reverse=True)
    assert said[0] > 2 * said[1]
    assert hops == sorted(hops)
    assert hops[0] < hops[1]


@pytest.mark.slow
@pytest.mark.parametrize("strategy", FLOODS)
def test_routers_that_ask_for_less_than_the_strategy_says_are_noticed(
    strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = _with_own(Narrow, strategy, monkeypatch)
    assert {violation.invariant for violation in outcome.violations} == {4, 6}


@pytest.mark.slow
def test_routers_that_ask_for_more_than_advertise_says_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from tamis.router.core.strategies.flood import Everything

    outcome = _with_own(Everything, "advertise", monkeypatch)
    assert {violation.invariant for violation in outcome.violations} >= {4, 6}


def _with_own(own: type[OwnPredicate], strategy: str, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    kit = RunParts(strategy, parts=CoreParts(own=own))
    monkeypatch.setattr(runs, "_kit", lambda *_: kit)
    return run(Scenario("random:8", 20, "none", 1, strategy))
