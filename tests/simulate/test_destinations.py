"""Reuse of matches in the simulator: at rest messages go as without it, and R13 is needed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import ClassVar

import pytest

from tamis.protocol.wire.extensions import RouterSet
from tamis.router.core.strategies.registry import STRATEGIES
from tamis.simulate import run as runs
from tamis.simulate.nodes.run_parts import RunParts
from tamis.simulate.run import Scenario, run
from tamis.simulate.twin.forwarder import Forwarder
from tamis.simulate.twin.policies import POLICIES
from tests.simulate.test_mixed import MixedParts, assert_mixed_ring_is_clean

REUSING = ("advertise-destinations", "link-matching-destinations")


class Counting(Forwarder):
    """Counts the sets that came, and how many were believed."""

    came: ClassVar[Counter[str]] = Counter()

    def believed(self, stated: RouterSet | None) -> frozenset[int] | None:
        found = super().believed(stated)
        if stated is not None:
            self.came["believed" if found is not None else "stale"] += 1
        return found


@pytest.mark.slow
@pytest.mark.parametrize(("plain", "reusing"), [("advertise", REUSING[0]), ("link-matching", REUSING[1])])
def test_at_rest_messages_go_where_they_go_without_it(
    plain: str, reusing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In motion a router on the way may know more than that of the entry."""
    scenario = Scenario("random:12", 60, "none", 1)
    one = run(replace(scenario, strategy=plain))
    Counting.came.clear()
    monkeypatch.setattr(runs, "_kit", lambda *_: RunParts(reusing, forwarder=Counting))
    other = run(replace(scenario, strategy=reusing))
    assert (one.violations, other.violations) == ([], [])
    for what in ("required at rest", "required in motion", "gaps", "sent advertisements"):
        assert one.counts[what] == other.counts[what], what
    assert one.counts["delivered"] - 20 < other.counts["delivered"] <= one.counts["delivered"]
    assert Counting.came["believed"] > 100
    assert Counting.came["stale"] > 0


class Forgetting(Forwarder):
    """Leaves one router out of each set."""

    def stated(self, matched: object, now_us: int) -> RouterSet | None:
        whole = sorted(matched)  # type: ignore[call-overload]
        return super().stated(whole[:-1], now_us)


@pytest.mark.slow
def test_a_router_that_is_left_out_of_sets_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_kit", lambda *_: RunParts(REUSING[0], forwarder=Forgetting))
    outcome = run(Scenario("random:8", 20, "none", 1, REUSING[0]))
    assert {violation.invariant for violation in outcome.violations} >= {1, 6}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_routers_that_reuse_and_routers_that_do_not_mix(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def make_forwarder(self: MixedParts, me: int, epoch: int) -> Forwarder:
        policy = POLICIES[STRATEGIES[REUSING[0] if me % 2 else "advertise"].policy]
        return Forwarder(me, epoch, self.settings.times, policy)

    monkeypatch.setattr(MixedParts, "make_forwarder", make_forwarder)
    assert_mixed_ring_is_clean(monkeypatch, seed, ("advertise", "flood", "link-matching"))
