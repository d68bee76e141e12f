"""What is counted of a simulated network: control bytes by kind, when something last changed, the CPU of each core.

Law: counting changes nothing. CPU is that of the process while a core handles an event and a switch asks for new trees:
links, clock and counting are the simulator's. Asking for it costs more than most events, so it is asked for where it is
wanted. Nothing is published, so there is no table: what a core installs is noted and let go.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tamis.protocol.wire.routing_bodies import Body, Held, LinkState, ReceiverAdvertisement, SenderRequest, UpdateReply
from tamis.router.core.commands import Command, Install, NeighbourSession, Reroute
from tamis.router.core.core import Core
from tamis.router.core.events import Event, LinkUp
from tamis.router.core.routing.paths import PathCache
from tamis.router.core.routing.reuse import HeldTables
from tamis.router.core.routing.trees import Trees
from tamis.router.core.timers import Due
from tamis.simulate.nodes.link import Watcher
from tamis.simulate.nodes.observer import Observer
from tamis.simulate.nodes.run_parts import AnyCore, RunParts, Wall
from tamis.simulate.twin.table import PureTable

_KINDS: Final[dict[type, str]] = {
    LinkState: "link states",
    ReceiverAdvertisement: "advertisements",
    SenderRequest: "vectors",
    UpdateReply: "replies",
    Held: "confirmations",
}
DIGESTS: Final = "digests"


class Gauge(Observer, Watcher):
    """Told by nodes and links, and by the cores that it watches. Most of what it is told it does not count."""

    def __init__(self, timed: Container[str]) -> None:
        self.timed = timed
        """Names of routers whose CPU is asked for."""
        self.standing: Mapping[str, Sequence[int]] = {}
        """Name -> neighbours, in a network that stands from the beginning."""
        self.bytes: Counter[str] = Counter()
        """By kind of body, each copy on each link."""
        self.frames: Counter[str] = Counter()
        self.changed_us = 0
        """When some router last changed its table or its trees."""
        self.cores: dict[str, GaugedCore] = {}

    @property
    def news_frames(self) -> int:
        """All but the digests that neighbours compare however quiet it is."""
        return self.frames.total() - self.frames[DIGESTS]

    def sent(self, router: int, to: tuple[NeighbourSession, ...], body: Body, size: int) -> None:  # noqa: ARG002 - Observer's
        kind = DIGESTS if isinstance(body, SenderRequest) and body.digest else _KINDS[type(body)]
        self.bytes[kind] += len(to) * size
        self.frames[kind] += len(to)


class GaugedCore:
    """A core, the CPU it has used, and whether what it orders changes a table or trees."""

    def __init__(self, core: Core, gauge: Gauge, timed: bool) -> None:
        self.core = core
        self.cpu_ns = 0
        self._gauge = gauge
        self._handle = self._timed if timed else core.handle
        self.standing: Sequence[int] = ()
        """Neighbours with which it has compared everything before it starts."""

    @property
    def due_us(self) -> int | None:
        return self.core.due_us

    @property
    def has_work(self) -> bool:
        """Covering is no part of what is measured: what clients want is advertised as it is."""
        return False

    @property
    def tables(self) -> HeldTables:
        return self.core.tables

    def epoch_max(self, now_us: int) -> int:
        return self.core.epoch_max(now_us)

    def start(self, now_us: int) -> list[Command]:
        core_state = self.core.core_state
        for neighbour in self.standing:
            self.core.handle(LinkUp(neighbour, 1, 1), now_us)
            core_state.links.by_neighbour[neighbour].is_synced = True
            core_state.timers.cancel((Due.ASK, neighbour))
        return self.core.start(now_us)

    def work(self, now_us: int) -> list[Command]:
        return self.core.work(now_us)

    def handle(self, event: Event, now_us: int) -> list[Command]:
        commands = self._handle(event, now_us)
        for command in commands:
            if type(command) is Install or type(command) is Reroute:
                self._gauge.changed_us = now_us
                break
        return commands

    def _timed(self, event: Event, now_us: int) -> list[Command]:
        began_ns = time.process_time_ns()
        commands = self.core.handle(event, now_us)
        for command in commands:
            if type(command) is Reroute:
                ask_at_once(command.trees)
        self.cpu_ns += time.process_time_ns() - began_ns
        return commands


def ask_at_once(trees: Trees) -> None:
    """What a switch asks of new trees; of other sources when they say something."""
    trees.hop_limit()
    trees.below(trees.me)


class NoTable(PureTable):
    def install(self, issuer: int, added: Mapping[int, bytes], removed: Sequence[int]) -> None:
        """Nothing is matched here."""


@dataclass(frozen=True, slots=True)
class GaugedKit(RunParts):
    table: type[PureTable] = NoTable
    gauge: Gauge = field(default_factory=lambda: Gauge(()))

    def core(self, name: str, epoch: int, paths: PathCache, unix_ms: Wall) -> AnyCore:
        bare = Core(name, epoch, self.settings, paths, self.core_parts, unix_ms)
        core = self.gauge.cores[name] = GaugedCore(bare, self.gauge, name in self.gauge.timed)
        core.standing = self.gauge.standing.get(name, ())
        return core
