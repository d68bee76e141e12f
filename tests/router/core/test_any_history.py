"""R1 to R10 after any history: links that come and go, routers that crash and forget, frames lost in silence."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.router.core.timers import Due
from tamis.router.core.times import MS, S
from tests.router.core.bodies import less
from tests.router.core.graphs import checks
from tests.router.core.test_core import BODIES
from tests.router.core.world import World

NAMES = "abcde"
WHO = st.sampled_from(NAMES)
STEPS = st.lists(
    st.tuples(st.just("toggle"), st.sampled_from(list(combinations(NAMES, 2))))
    | st.tuples(st.sampled_from(["want", "unwant"]), st.tuples(WHO, st.integers(0, 3)))
    | st.tuples(st.just("restart"), st.tuples(WHO, st.integers(0, 3)))
    | st.tuples(st.just("run"), st.sampled_from([3 * MS, 15 * MS, 150 * MS, 3 * S, 700 * S]).map(lambda us: (us,)))
    | st.tuples(st.just("lose"), st.sampled_from(BODIES).map(lambda body: (body,)))
    | st.tuples(st.just("work"), st.just(())),
    max_size=40,
)


class History:
    def __init__(self) -> None:
        self.world = World(NAMES)
        self.links: set[tuple[str, str]] = set()
        self.wanted: list[tuple[str, int]] = []

    def toggle(self, one: str, other: str) -> None:
        if (one, other) in self.links:
            self.world.cut(one, other)
        else:
            self.world.connect(one, other)
        self.links ^= {(one, other)}

    def want(self, who: str, bound: int) -> None:
        self.world.want(who, less(bound))
        self.wanted.append((who, bound))

    def unwant(self, who: str, bound: int) -> None:
        if (who, bound) in self.wanted:
            self.world.unwant(who, less(bound))
            self.wanted.remove((who, bound))

    def restart(self, who: str, epoch: int) -> None:
        """With an epoch that may be from before its last life."""
        self.world.stop(who)
        self.links = {link for link in self.links if who not in link}
        self.wanted = [wanted for wanted in self.wanted if wanted[0] != who]
        self.world.start(who, epoch)

    def run(self, for_us: int) -> None:
        self.world.run(for_us)

    def lose(self, body: type) -> None:
        self.world.lose.append(body)

    def work(self) -> None:
        self.world.work()

    def settle(self) -> None:
        """Two periods of requests, and what they repair."""
        self.world.lose.clear()
        self.world.run(130 * S)


def settled(steps) -> History:
    """A history of these steps, two periods of requests after the last of them."""
    history = History()
    for name, arguments in steps:
        getattr(history, name)(*arguments)
    history.settle()
    return history


@checks
@given(STEPS)
def test_once_all_is_quiet_everybody_in_reach_is_known_as_it_is(steps):
    history = settled(steps)
    history.world.check()
    for name, core in history.world.cores.items():
        asked = core.core_state.rib.entries[core.me].filters.values()
        widest = max((bound for who, bound in history.wanted if who == name), default=None)
        assert (widest is None and not asked) or less(widest) in asked


@pytest.mark.slow
@checks
@given(STEPS)
def test_after_ten_minutes_nothing_is_left_of_who_is_out_of_reach(steps):
    history = settled(steps)
    history.world.run(600 * S)
    for name, core in history.world.cores.items():
        reach = {history.world.cores[other].me for other in history.world.reach(name)}
        assert set(core.core_state.rib.entries) == set(core.core_state.topology.states) == reach
        assert len(core._predicates.flood) <= len(reach) - 1
        assert not core._predicates.confirmations.issuers
        timers = {name for name, _ in core.core_state.timers._due}
        assert timers <= {Due.REQUEST}
        assert len(core.core_state.timers) == len(core.core_state.links.by_neighbour)
