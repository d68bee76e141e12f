"""Strategy link-matching in the simulator: judged filter by filter, and at rest messages go as with `advertise`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.router.core.core import CoreParts
from tamis.router.core.statements.cover import Cover
from tamis.simulate import run as runs
from tamis.simulate.nodes.run_parts import RunParts
from tamis.simulate.run import Scenario, run
from tests.simulate.test_mixed import assert_mixed_ring_is_clean

STRATEGY = "link-matching"


class OtherCover(Cover):
    """Sets filters aside, as `advertise` does."""


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
    assert_mixed_ring_is_clean(monkeypatch, seed, ("advertise", "flood", STRATEGY))
