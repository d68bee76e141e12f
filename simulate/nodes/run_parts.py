"""The parts of the routers of a run.

Law: a strategy is chosen by its name; any other difference between runs (a rule left out) is a part of `RunParts`. The
product's code has no switches for experiments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from tamis.protocol.strategies import DEFAULT, StrategyFacts
from tamis.protocol.wire.routing_bodies import SpaceStatement
from tamis.router.core.commands import Command
from tamis.router.core.core import CoreParts, CoreSettings
from tamis.router.core.events import Event
from tamis.router.core.routing.paths import PathCache
from tamis.router.core.routing.reuse import HeldTables
from tamis.router.core.statements.cover import FilterIndex
from tamis.router.core.strategies.registry import STRATEGIES
from tamis.simulate.nodes.classes import NO_CLASSES, RunClasses
from tamis.simulate.nodes.custody import NodeCustody
from tamis.simulate.nodes.direction import Direction
from tamis.simulate.nodes.disk import Disk
from tamis.simulate.nodes.programs import NO_PROGRAMS, Programs
from tamis.simulate.oracle.asked import ASKED_BY, AskedBy
from tamis.simulate.twin.filter_index import PureIndex
from tamis.simulate.twin.forwarder import Forwarder
from tamis.simulate.twin.policies import POLICIES
from tamis.simulate.twin.table import PureTable
from tamis.simulate.twin.windows import PublisherWindows


class AnyCore(Protocol):
    """The part of a core that the simulator uses, for any strategy."""

    @property
    def due_us(self) -> int | None: ...

    @property
    def has_work(self) -> bool: ...

    @property
    def tables(self) -> HeldTables: ...

    def epoch_max(self, now_us: int) -> int: ...

    def start(self, now_us: int) -> list[Command]: ...

    def handle(self, event: Event, now_us: int) -> list[Command]: ...

    def work(self, now_us: int) -> list[Command]: ...


Wall = Callable[[], int]


@dataclass(frozen=True, slots=True)
class RunParts:
    """The classes and settings from which routers and links of a run are built. `parts` replace the usual ones, except
    for the index of covering, which `index` makes: by default the twin's."""

    strategy: str = DEFAULT.name
    settings: CoreSettings = field(default_factory=CoreSettings)
    parts: CoreParts = field(default_factory=CoreParts)
    index: Callable[[], FilterIndex] = PureIndex
    forwarder: type[Forwarder] = Forwarder
    windows: type[PublisherWindows] = PublisherWindows
    direction: type[Direction] = Direction
    table: type[PureTable] = PureTable
    classes: RunClasses = NO_CLASSES
    disk: type[Disk] = Disk
    custody: type[NodeCustody] | None = None
    """None: messages are for live subscribers alone."""
    programs: Programs = NO_PROGRAMS
    declared: tuple[SpaceStatement, ...] = ()
    """The spaces in the topology file of each router."""

    @property
    def facts(self) -> StrategyFacts:
        return STRATEGIES[self.strategy].facts

    @property
    def asked_by(self) -> AskedBy:
        """The contents that the judge expects routers to request."""
        return ASKED_BY[self.facts.asks]

    def core(self, name: str, epoch: int, paths: PathCache, unix_ms: Wall) -> AnyCore:
        return STRATEGIES[self.strategy].core(name, epoch, self.settings, paths, self.core_parts, unix_ms)

    @property
    def core_parts(self) -> CoreParts:
        """`parts`, with the index of covering."""
        return replace(self.parts, index=self.index)

    def make_forwarder(self, me: int, epoch: int) -> Forwarder:
        return self.forwarder(me, epoch, self.settings.times, POLICIES[STRATEGIES[self.strategy].policy])
