"""Strategy match-first in the simulator: at rest messages go as with `advertise`, and lists name everybody."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.router.core.strategies.registry import STRATEGIES
from tamis.simulate import run as runs
from tamis.simulate.nodes.run_parts import RunParts
from tamis.simulate.run import Scenario, run
from tamis.simulate.twin.forwarder import Forwarder
from tamis.simulate.twin.policies import POLICIES
from tests.simulate.test_mixed import MixedParts, assert_mixed_ring_is_clean

STRATEGY = "match-first"


@pytest.mark.slow
@pytest.mark.parametrize("topology", ["random:8", "tree:40"], ids=["all listed", "some for more than are listed"])
def test_at_rest_messages_go_where_they_go_with_advertise(topology: str) -> None:
    """In motion a few more are delivered with `advertise`: a router on the way may know more than that of the entry."""
    scenario = Scenario(topology, 40, "none", 1)
    one, other = [run(replace(scenario, strategy=strategy)) for strategy in ("advertise", STRATEGY)]
    assert (one.violations, other.violations) == ([], [])
    for what in ("required at rest", "required in motion", "gaps", "sent advertisements"):
        assert one.counts[what] == other.counts[what], what
    assert one.counts["delivered"] - 20 < other.counts["delivered"] <= one.counts["delivered"]


class Forgetting(Forwarder):
    """Leaves one router out of each list."""

    def listed(self, matched: object, now_us: int) -> frozenset[int] | None:
        found = super().listed(matched, now_us)  # type: ignore[arg-type]
        return found and found - {max(found)}


@pytest.mark.slow
def test_a_router_that_is_left_out_of_lists_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_kit", lambda *_: RunParts(STRATEGY, forwarder=Forgetting))
    outcome = run(Scenario("random:8", 20, "none", 1, STRATEGY))
    assert {violation.invariant for violation in outcome.violations} >= {1, 6}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_routers_that_list_some_and_routers_that_list_none_mix(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def make_forwarder(self: MixedParts, me: int, epoch: int) -> Forwarder:
        policy = POLICIES[STRATEGIES[STRATEGY if me % 2 else "advertise"].policy]
        return Forwarder(me, epoch, self.settings.times, policy)

    monkeypatch.setattr(MixedParts, "make_forwarder", make_forwarder)
    assert_mixed_ring_is_clean(monkeypatch, seed, ("advertise", "flood", "link-matching"))
