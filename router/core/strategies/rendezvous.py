"""Strategy `rendezvous`: rendezvous nodes of paper 003, guarded as `profile` is.

Law: messages of a class travel along the tree of the root of that class: always to the root, and from there and from
each router on the path down to interested routers. A router therefore sends the next router towards the root the
interest behind itself, and receives none from there. Messages that name no root use the trees of their sources to all
routers (E10), as they do where layouts differ, which is costly and correct.

    a ──interest of a──> b ──interest of a, b and c──> R     up: statements
    c ──interest of c──> b                                   down: none, as all messages go up
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final

from tamis.router.core.commands import NameRoots
from tamis.router.core.core import CoreParts, CoreSettings
from tamis.router.core.epochs import no_clock
from tamis.router.core.routing.classes import classes_of
from tamis.router.core.routing.forest import Forest
from tamis.router.core.routing.paths import Graph, PathCache
from tamis.router.core.routing.rooted_tree import RootedTree
from tamis.router.core.routing.trees import Trees
from tamis.router.core.statements.edges.edges import EdgePolicy, Says
from tamis.router.core.statements.edges.places import EdgeTrees, TreesOfAll
from tamis.router.core.strategies.edges import USUAL_PARTS, USUAL_SETTINGS, EdgeCore
from tamis.router.core.timers import Due

RENDEZVOUS: Final = EdgePolicy(up=Says.AGGREGATE, down=Says.EVERYTHING)


class RendezvousCore(EdgeCore):
    """A core that states the interest behind edges of the trees of roots. `settings` has the classes, the last of which
    is that of all other messages."""

    policy: ClassVar[EdgePolicy] = RENDEZVOUS

    def __init__(
        self,
        name: str,
        epoch: int,
        settings: CoreSettings = USUAL_SETTINGS,
        paths: PathCache | None = None,
        parts: CoreParts = USUAL_PARTS,
        unix_ms: Callable[[], int] = no_clock,
        is_preventive: bool = False,
    ) -> None:
        super().__init__(name, epoch, settings, paths, parts, unix_ms, is_preventive)
        self.roots = parts.roots(settings.classes, self.me, settings.times.tree_hold_us)

    def _classes_of(self, settings: CoreSettings) -> Callable[[bytes], int]:
        return classes_of(settings.classes)

    def _take_trees(self, trees: Trees, graph: Graph, is_by_layout: bool) -> Trees:
        if self.edges is None:  # the constructor is running
            return TreesOfAll(trees)
        core_state = self.core_state
        self.roots.follow(trees.routers if is_by_layout else (), core_state.now_us)
        followed = tuple(
            EdgeTrees(RootedTree(graph, self.me, self._paths, root), root, classes)
            for root, classes in sorted(self.roots.classes_by_root().items())
        )
        self.edges.follow(followed)
        core_state.forest = Forest({tree.root: tree for tree in followed}, self.roots.named(core_state.now_us))
        self._plan_naming()
        return TreesOfAll(trees)

    def _plan_naming(self) -> None:
        next_us = self.roots.next_us(self.core_state.now_us)
        if next_us is not None:
            self.core_state.timers.set((Due.ROOTS, 0), next_us)

    def _due(self, kind: Due, about: int) -> None:
        if kind is not Due.ROOTS:
            super()._due(kind, about)
            return
        core_state = self.core_state
        named = self.roots.named(core_state.now_us)
        if named != core_state.forest.roots:
            core_state.forest = Forest(core_state.forest.trees, named)
            core_state.out.append(NameRoots(named))
        self._plan_naming()
