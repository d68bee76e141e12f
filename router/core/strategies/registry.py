"""The implementation of each strategy: the core that states the interest of a router, and the policy of its messages.

Law: there is one entry for each strategy of `protocol/strategies.py`, under its name; a test compares the two. The
daemon and the simulator make every core here. CoreParts of an experiment are applied last, whatever the strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Final, cast

from tamis.protocol.strategies import BY_NAME, StrategyFacts
from tamis.router.core.core import Core, CoreParts, CoreSettings
from tamis.router.core.epochs import no_clock
from tamis.router.core.routing.paths import PathCache
from tamis.router.core.routing.trees import Broadcast
from tamis.router.core.statements.cover import Cover
from tamis.router.core.statements.merging.own_merged import MergedPredicate
from tamis.router.core.statements.own_predicate import OwnPredicate
from tamis.router.core.strategies.edges import EdgeCore
from tamis.router.core.strategies.flood import AlwaysEverything, Everything
from tamis.router.core.strategies.link_matching import NoCover
from tamis.router.core.strategies.paper import PAPER_BYTES_PARTS, PaperCore
from tamis.router.core.strategies.paper_meaning import PAPER_PARTS
from tamis.router.core.strategies.rendezvous import RendezvousCore

MakeCore = Callable[[str, int, CoreSettings, PathCache | None, CoreParts, Callable[[], int]], Core]


@dataclass(frozen=True, slots=True)
class Strategy:
    """The implementation of one strategy. `make_core` makes a core of its name, epoch, settings, cache of paths, parts
    and wall clock; `parts` are the strategy's own; `policy` is the name of the switch's policy for its messages."""

    facts: StrategyFacts
    make_core: MakeCore
    parts: CoreParts = field(default_factory=CoreParts)
    policy: str = "wanted"

    def core(
        self,
        name: str,
        epoch: int,
        settings: CoreSettings,
        paths: PathCache | None = None,
        instead: CoreParts | None = None,
        unix_ms: Callable[[], int] = no_clock,
    ) -> Core:
        """Make the core of router `name`; parts of `instead` that differ from the usual ones replace the strategy's
        own."""
        parts = self.parts if settings.merge is None else replace(self.parts, own=self._merging(settings.merge))
        parts = parts if instead is None else _applied(parts, instead)
        if self.facts.layer is not None:
            settings = replace(settings, broadcast=cast("Broadcast", self.facts.layer))
        return self.make_core(name, epoch, settings, paths, parts, unix_ms)

    def _merging(self, limit: float) -> Callable[[int, Cover], OwnPredicate]:
        if not self.facts.merges:
            raise ValueError(f"strategy {self.facts.name} does not merge filters")
        return partial(MergedPredicate, limit=limit)

    def says_as(self, other: Strategy) -> bool:
        """Return whether routers make equal statements with both strategies, which then differ at most in the policy of
        messages."""
        ours = (self.make_core, self.parts, self.facts.layer, self.facts.has_roots)
        return ours == (other.make_core, other.parts, other.facts.layer, other.facts.has_roots)


def _applied(parts: CoreParts, instead: CoreParts) -> CoreParts:
    usual = CoreParts()
    changed: dict[str, Any] = {
        each.name: getattr(instead, each.name)
        for each in fields(CoreParts)
        if getattr(instead, each.name) is not getattr(usual, each.name)
    }
    return replace(parts, **changed)


STRATEGIES: Final[Mapping[str, Strategy]] = {
    strategy.facts.name: strategy
    for strategy in (
        Strategy(BY_NAME["advertise"], Core),
        Strategy(BY_NAME["paper"], PaperCore, PAPER_PARTS),
        Strategy(BY_NAME["paper-bytes"], PaperCore, PAPER_BYTES_PARTS),
        Strategy(BY_NAME["flood"], Core, CoreParts(own=Everything), "flood"),
        Strategy(BY_NAME["flood-everywhere"], Core, CoreParts(own=AlwaysEverything), "flood"),
        Strategy(BY_NAME["link-matching"], Core, CoreParts(cover=NoCover)),
        Strategy(BY_NAME["match-first"], Core, policy="match-first"),
        Strategy(BY_NAME["advertise-destinations"], Core, policy="destinations"),
        Strategy(BY_NAME["link-matching-destinations"], Core, CoreParts(cover=NoCover), "destinations"),
        Strategy(BY_NAME["advertise-keys"], Core, policy="keys"),
        Strategy(BY_NAME["link-matching-keys"], Core, CoreParts(cover=NoCover), "keys"),
        Strategy(BY_NAME["profile"], EdgeCore),
        Strategy(BY_NAME["profile-preventive"], partial(EdgeCore, is_preventive=True)),
        Strategy(BY_NAME["rendezvous"], RendezvousCore, policy="by-root"),
        Strategy(BY_NAME["rendezvous-preventive"], partial(RendezvousCore, is_preventive=True), policy="by-root"),
    )
}
