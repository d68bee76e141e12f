"""R14: which changes of the network broke a way of messages to this router, and when clients are told of the loss.

Law: a way is broken where a session ended that lay on it, in any trees that are in force (R5b), and where a router
comes back within reach; and where the network changes so often that trees are given up before their hold is over, with
messages still under way in them. Nothing else loses messages: neither a link or a router that is added, nor a shorter
way, nor a router that withdraws all of its links at once and lives on, so that others go around it first. Breaks that
follow one another within the hold are told together, when the hold is over: only the new ways are in force from then
on, and all that was lost was published before. A router that stood still, because it was stopped or its machine slept,
notices afterwards what happened meanwhile, and takes it to have happened when it came to stand. The ways of all sources
to this router make one tree, in which the edge is looked for; so they do in the tree of each root.

    whole --session ended, router back--> broken --hold over--> told: whole, or open while routers are out of reach
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final

from tamis.protocol.limits import ROUTERS_MAX
from tamis.router.core.commands import RoutesChanged
from tamis.router.core.routing.forest import NO_FOREST, Forest
from tamis.router.core.routing.trees import GENERATIONS_MAX as IN_FORCE_MAX
from tamis.router.core.timers import Due
from tamis.router.core.times import HOLDS_MAX

if TYPE_CHECKING:
    from tamis.router.core.routing.trees import Trees
    from tamis.router.core.statements.core_state import CoreState

    _Generation = Mapping[int | None, Trees]
    """By root, the trees by which messages go that name it; None: those that name none."""

Edge = tuple[int, int]
GENERATIONS_MAX: Final = 8
"""Earlier trees that are looked at besides the newest: twice those that a switch keeps, as other routers may be behind.
"""


class RouteLoss:
    def __init__(self, core_state: CoreState) -> None:
        self._core_state = core_state
        self._older: deque[tuple[_Generation, int]] = deque(maxlen=GENERATIONS_MAX)  # and until when they are in force
        self._since_us: int | None = None  # what is missing was lost from then on; None: nothing is to be told
        self._last_us = 0
        self._began_us: int | None = None
        self._gone: dict[int, int] = {}  # router out of reach -> since when
        self._forgotten_us: int | None = None  # since when one of those that nobody remembers has been gone
        self._was_alone_us: int | None = None  # nobody has ever been in reach, since then
        self._broke_us: int | None = None  # when a way broke the last time
        self._stood_us = 0  # when this router came to stand the last time,
        self._woke_us: int | None = None  # and when it went on

    def started(self) -> None:
        """The router starts now, and nobody is in reach."""
        self._was_alone_us = self._core_state.now_us

    def ended(self, edges: Collection[Edge]) -> None:
        """Note that sessions of these edges have ended, if a way to here went over one of them."""
        now_us = self._core_state.now_us
        while self._older and self._older[0][1] <= now_us:
            self._older.popleft()
        generations = (self._newest, *[older for older, _ in self._older])
        if edges and any(_carries(trees, edges) for each in generations for trees in each.values()):
            self._broke_us = self._core_state.now_us
            self._changed(self._happened_us(now_us))

    def stood(self, since_us: int) -> None:
        """Take in that this router stood still since `since_us`: what it notices now, or noticed before this was
        called, happened meanwhile."""
        since_us = min(since_us, self._happened_us(since_us))  # one that follows another prolongs it
        self._stood_us, self._woke_us = since_us, self._core_state.now_us
        if self._since_us is not None and self._last_us >= since_us:
            self._since_us = min(self._since_us, since_us)
        for router, gone_us in self._gone.items():
            if gone_us >= since_us:
                self._gone[router] = since_us

    def rerouted(self, before: Trees, graceful: Collection[int], forest: Forest = NO_FOREST) -> bool:
        """Take in that other trees than `before` and `forest` are in force; return whether no way has broken within the
        hold. `graceful`: routers that have withdrawn all of their links themselves."""
        now_us, reach = self._core_state.now_us, self._core_state.trees.routers
        self._older.append((_by_root(before, forest), now_us + self._core_state.times.tree_hold_us))
        if self._gave_up_early(now_us):
            self._changed(self._happened_us(now_us))
        for router in before.routers - reach:
            if router not in graceful and len(self._gone) < ROUTERS_MAX:
                self._gone[router] = self._happened_us(now_us)
                self._changed(self._gone[router])
        for router in reach - before.routers:
            self._came(router)
        if len(reach) > 1:
            self._was_alone_us = None
        return self._broke_us is None or now_us - self._broke_us >= self._core_state.times.tree_hold_us

    def _gave_up_early(self, now_us: int) -> bool:
        """Did the newest trees push others out of force before their hold was over, whose ways to here none that are in
        force have?"""
        held = [older for older, until_us in self._older if until_us > now_us]
        if len(held) < IN_FORCE_MAX:
            return False
        given_up, in_force = held[-IN_FORCE_MAX], (*held[1 - IN_FORCE_MAX :], self._newest)
        return not all(
            any(root in each and trees.onward.items() <= each[root].onward.items() for each in in_force)
            for root, trees in given_up.items()
        )

    @property
    def _newest(self) -> _Generation:
        return _by_root(self._core_state.trees, self._core_state.forest)

    def forget(self, router: int) -> None:
        """Forget `router`, which has been out of reach for so long that nothing is known of it any more."""
        gone_us = self._gone.pop(router, None)
        if gone_us is not None and self._forgotten_us is None:
            self._forgotten_us = gone_us

    def _came(self, router: int) -> None:
        gone_us = self._gone.pop(router, self._forgotten_us)
        if gone_us is None:
            gone_us = self._was_alone_us
        if gone_us is not None:
            self._changed(gone_us)

    def _happened_us(self, noticed_us: int) -> int:
        """Return when a change noticed at `noticed_us` may have happened: soon after a standstill, at the beginning of
        that."""
        if self._woke_us is not None and noticed_us - self._woke_us <= self._core_state.times.unnoticed_us:
            return min(self._stood_us, noticed_us)
        return noticed_us

    def _changed(self, since_us: int) -> None:
        core_state = self._core_state
        self._since_us = since_us if self._since_us is None else min(self._since_us, since_us)
        self._last_us = core_state.now_us
        self._began_us = core_state.now_us if self._began_us is None else self._began_us
        due_us = core_state.now_us + core_state.times.tree_hold_us
        core_state.timers.set((Due.WAYS, 0), min(due_us, self._began_us + HOLDS_MAX * core_state.times.tree_hold_us))

    def tell(self) -> None:
        """Tell clients of what broke: the hold is over, or has been put off for as long as it may be. A break within
        the hold is told of again when its own hold is over."""
        core_state, since_us = self._core_state, self._since_us
        self._since_us = self._began_us = None
        if since_us is not None:
            ago_us = core_state.now_us - self._last_us
            core_state.out.append(
                RoutesChanged(core_state.now_us - since_us + core_state.times.unnoticed_us, ago_us, bool(self._gone))
            )
            if ago_us < core_state.times.tree_hold_us:
                self._since_us = self._began_us = core_state.now_us
                core_state.timers.set((Due.WAYS, 0), self._last_us + core_state.times.tree_hold_us)


def _by_root(trees: Trees, forest: Forest) -> _Generation:
    generation: dict[int | None, Trees] = {None: trees}
    generation.update(forest.trees.items())
    return generation


def _carries(trees: Trees, edges: Collection[Edge]) -> bool:
    """Does the way of any router to this one cross one of `edges`?"""
    onward = trees.onward
    return any(onward.get(one) == other or onward.get(other) == one for one, other in edges)
