"""The interfaces that the network needs: the core that it drives, the switch, the links and the clients."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from typing import Protocol

from tamis.native.switch_figures import ConnectionFigures, SwitchFigures
from tamis.protocol.spaces import Space
from tamis.protocol.wire.client_bodies import Lost
from tamis.protocol.wire.report_bodies import Report
from tamis.protocol.wire.routing_bodies import Body, SpaceStatement
from tamis.router.connections.wider_network import LinkSession
from tamis.router.connections.work import SlicedWork
from tamis.router.core.commands import Command, NeighbourSession
from tamis.router.core.epochs import EpochValidator
from tamis.router.core.events import Event
from tamis.router.core.known_spaces import KnownSpaces
from tamis.router.core.routing.reuse import HeldTables
from tamis.router.core.routing.trees import Trees
from tamis.router.core.statements.topology import KnownLinks
from tamis.router.core.times import Times
from tamis.router.daemon.events import EventBus
from tamis.router.daemon.health import Health
from tamis.router.links.holding import HoldingSwitch
from tamis.router.links.homes import FrameRelay, HeldDurables
from tamis.router.links.installing import FilledSwitch
from tamis.router.links.losses import SheddingSwitch
from tamis.router.links.routes import RoutingSwitch
from tamis.router.links.step import StepSwitch


class LocalClients(Protocol):
    """The clients of this router, as the network needs them."""

    def reported(self, report: Report) -> None:
        """Deliver a report on a message to the client that requested it."""

    def lost(self, lost: Lost, before_s: float) -> None:
        """Report a loss to each client that had a subscription at `before_s` (monotonic)."""


class NetworkSwitch(FilledSwitch, HoldingSwitch, RoutingSwitch, SheddingSwitch, StepSwitch, Protocol):
    """The switch of this router, as the network needs it."""

    def figures(self) -> SwitchFigures: ...

    def connection(self, connection: int) -> ConnectionFigures: ...

    def unlinked(self) -> dict[int, int]: ...

    def raise_epoch(self, epoch: int) -> None: ...

    def bound_epochs(self, epoch_max: int) -> None: ...

    def bound_source(self, router: int, epoch_max: int) -> None: ...

    def forget_source(self, router: int) -> None: ...


class ComparedRules(Protocol):
    """Rules of access, of which only the digest matters here. `is_strict`: a neighbour with others is refused."""

    @property
    def digest(self) -> str: ...

    @property
    def is_strict(self) -> bool: ...


class NeighboursRules(Protocol):
    """Whether the neighbours have the rules of this router."""

    def use(self, rules: ComparedRules | None) -> None: ...

    def close(self) -> None: ...


class CheckedSpaces(Protocol):
    """The spaces by which this router validates messages."""

    def join(self, known: KnownSpaces, state: Callable[[tuple[SpaceStatement, ...]], None]) -> None: ...

    def check_by(self, spaces: Mapping[str, Space]) -> None: ...


class Switchboard(Protocol):
    """The hub of all connections, as the network needs it. `epoch` is that of this start."""

    loop: asyncio.AbstractEventLoop
    work: SlicedWork
    events: EventBus
    health: Health
    epoch: int

    @property
    def switch(self) -> NetworkSwitch: ...

    @property
    def spaces(self) -> CheckedSpaces: ...

    def settle(self) -> None: ...

    def later(self, delay_s: float, what: Callable[[], None]) -> asyncio.TimerHandle: ...

    def resume(self) -> None: ...


class KnownToCore(Protocol):
    """The state of the core about the network."""

    topology: KnownLinks
    times: Times
    trees: Trees
    epoch_validator: EpochValidator
    spaces: KnownSpaces

    @property
    def durables(self) -> HeldDurables: ...

    def held_epoch(self, issuer: int) -> int: ...


class RoutingCore(Protocol):
    """The core that the network drives."""

    @property
    def core_state(self) -> KnownToCore: ...

    @property
    def me(self) -> int: ...

    @property
    def due_us(self) -> int | None: ...

    @property
    def has_work(self) -> bool: ...

    @property
    def tables(self) -> HeldTables: ...

    def epoch_max(self, now_us: int) -> int: ...

    def links_in_step(self) -> dict[int, bool]: ...

    @property
    def knows_durables(self) -> bool: ...

    def start(self, now_us: int) -> list[Command]: ...

    def handle(self, event: Event, now_us: int) -> list[Command]: ...

    def work(self, now_us: int) -> list[Command]: ...


class LinkedNeighbours(Protocol):
    """The neighbours of this router and their links, as the network needs them; neighbours are identified by their
    number."""

    @property
    def named(self) -> Sized: ...

    @property
    def links(self) -> Sequence[LinkSession]: ...

    @property
    def is_sending(self) -> bool:
        """Whether control waits to be sent over a link."""

    def name_of(self, number: int) -> str: ...

    @property
    def same_rules(self) -> NeighboursRules: ...

    @property
    def custody(self) -> FrameRelay: ...

    def brings(self, neighbour: int, router: int) -> bool: ...

    def send(
        self, to: Iterable[NeighbourSession], body: Body, left: Callable[[NeighbourSession], None] | None = None
    ) -> None: ...

    def pass_on(self, neighbour: int, report: Report) -> None: ...

    def tell_loss(self, neighbour: int, lost: Lost) -> None: ...


class NeighbourDialler(Protocol):
    """The part that keeps the link to one neighbour up, from `start` to `close`."""

    def start(self) -> None: ...

    def close(self) -> None: ...


class EpochFile(Protocol):
    """The file of this router's epoch."""

    def keep(self, epoch: int) -> int:
        """Write `epoch` to disk; CannotStart if that fails."""
