"""R14: which changes of the network broke a path of messages to this router, and when clients are notified of the loss.

Law: a path is broken where a session on it ended, in any trees that are in force (R5b), and where a router becomes
reachable again; and where the network changes so often that trees are dropped before their hold ends, with messages
still in transit along them. No other change loses messages: neither a link or a router that is added, nor a shorter
path, nor a router that withdraws all of its links at once and stays up, which others then route around. Breaks that
follow one another within the hold are reported together, when the hold ends: only the new paths are in force from then
on, and all lost messages were published before. A router that stalled, because it was stopped or its machine slept,
notices afterwards what happened in between, and dates it to the start of the stall. The paths of all sources to this
router make one tree, in which the edge is looked up; so do the paths in the tree of each root.

    whole --session ended, router back--> broken --hold over--> reported: whole, or open while routers are unreachable
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
    """Maps a root to the trees of messages that name it, and None to those of messages that name no root."""

Edge = tuple[int, int]
GENERATIONS_MAX: Final = 8
"""Earlier trees that are examined besides the newest: twice those that a switch keeps, as other routers may be
behind."""


class RouteLoss:
    def __init__(self, core_state: CoreState) -> None:
        self._core_state = core_state
        self._older: deque[tuple[_Generation, int]] = deque(maxlen=GENERATIONS_MAX)  # and when they expire
        self._since_us: int | None = None  # the start of the loss; None: there is none to report
        self._last_us = 0
        self._began_us: int | None = None
        self._gone: dict[int, int] = {}  # unreachable router -> since when
        self._forgotten_us: int | None = None  # since when a forgotten router has been unreachable
        self._was_alone_us: int | None = None  # since when no other router was reachable, if none ever was
        self._broke_us: int | None = None  # the time of the last broken path
        self._stood_us = 0  # the start of the last stall
        self._woke_us: int | None = None  # the end of the last stall

    def started(self) -> None:
        """Record that the router starts now, without a reachable router."""
        self._was_alone_us = self._core_state.now_us

    def ended(self, edges: Collection[Edge]) -> None:
        """Record that sessions of these edges have ended, if a path to here crossed one of them."""
        now_us = self._core_state.now_us
        while self._older and self._older[0][1] <= now_us:
            self._older.popleft()
        generations = (self._newest, *[older for older, _ in self._older])
        if edges and any(_carries(trees, edges) for each in generations for trees in each.values()):
            self._broke_us = self._core_state.now_us
            self._changed(self._happened_us(now_us))

    def stood(self, since_us: int) -> None:
        """Record that this router stalled from `since_us` until now: changes that it notices now, or noticed before
        this call, happened in between."""
        since_us = min(since_us, self._happened_us(since_us))  # a stall that follows another prolongs it
        self._stood_us, self._woke_us = since_us, self._core_state.now_us
        if self._since_us is not None and self._last_us >= since_us:
            self._since_us = min(self._since_us, since_us)
        for router, gone_us in self._gone.items():
            if gone_us >= since_us:
                self._gone[router] = since_us

    def rerouted(self, before: Trees, graceful: Collection[int], forest: Forest = NO_FOREST) -> bool:
        """Record that other trees than `before` and `forest` are in force; return whether no path has broken within the
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
        """Return whether the newest trees displaced others before their hold ended, with paths to here that no trees in
        force have."""
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
        """Forget `router`, all statements of which are forgotten because it has been unreachable for long."""
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
        """Return when a change noticed at `noticed_us` may have happened: the start of a stall that ended shortly
        before, else `noticed_us`."""
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
        """Report broken paths to clients: the hold has ended, or has been extended for as long as it may be. A break
        within the hold is reported again when its own hold ends."""
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
    """Return whether the path of any router to this one crosses one of `edges`."""
    onward = trees.onward
    return any(onward.get(one) == other or onward.get(other) == one for one, other in edges)
