"""What the routers of a run are made of.

Law: a strategy is a name and a way to make a core; whatever else may differ between runs (a rule left out) is a part
of `RunParts`. The product's code has no switches for experiments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from tamis.router.core.commands import Command
from tamis.router.core.core import Core, CoreParts, CoreSettings
from tamis.router.core.events import Event
from tamis.router.core.strategies.paper import PaperCore
from tamis.router.core.ways.forwarder import Forwarder
from tamis.router.core.ways.paths import PathCache
from tamis.router.core.ways.windows import PublisherWindows
from tamis.simulate.direction import Direction
from tamis.simulate.table import PureTable


class AnyCore(Protocol):
    """What the simulator needs of a core, whatever its strategy."""

    @property
    def due_us(self) -> int | None: ...

    @property
    def has_work(self) -> bool: ...

    def epoch_max(self, now_us: int) -> int: ...

    def start(self, now_us: int) -> list[Command]: ...

    def handle(self, event: Event, now_us: int) -> list[Command]: ...

    def work(self, now_us: int) -> list[Command]: ...


Wall = Callable[[], int]


def advertise(
    name: str, epoch: int, settings: CoreSettings, paths: PathCache, parts: CoreParts, unix_ms: Wall
) -> AnyCore:
    return Core(name, epoch, settings, paths, parts, unix_ms)


def paper(name: str, epoch: int, settings: CoreSettings, paths: PathCache, _: CoreParts, unix_ms: Wall) -> AnyCore:
    """Make a core of mode `paper`. It has parts of its own, so no rule can be left out."""
    return PaperCore(name, epoch, settings, paths, unix_ms=unix_ms)


STRATEGIES: Final[dict[str, Callable[[str, int, CoreSettings, PathCache, CoreParts, Wall], AnyCore]]] = {
    "advertise": advertise,
    "paper": paper,
}


@dataclass(frozen=True, slots=True)
class RunParts:
    """The classes and settings that routers and links of a run are built from."""

    strategy: str = "advertise"
    settings: CoreSettings = field(default_factory=CoreSettings)
    parts: CoreParts = field(default_factory=CoreParts)
    forwarder: type[Forwarder] = Forwarder
    windows: type[PublisherWindows] = PublisherWindows
    direction: type[Direction] = Direction
    table: type[PureTable] = PureTable

    def core(self, name: str, epoch: int, paths: PathCache, unix_ms: Wall) -> AnyCore:
        return STRATEGIES[self.strategy](name, epoch, self.settings, paths, self.parts, unix_ms)
