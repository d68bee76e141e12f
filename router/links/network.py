"""The routing core of this router, connected to its links, its clients and its switch.

    links ── up, down, bodies ─┐                ┌── Send ──> links
    clients ── wanted, awaited ┼─> Core.handle ─┼── Install, Reroute, RaiseEpoch ──> the switch
    time ── Tick, work ────────┘                ├── Reached, Audited ──> the requester
                                                └── RoutesChanged ──> clients (losses.py)

Law: commands are carried out in their order. The filters that a `Held` or an `EdgeHeld` confirms are in the table
before it leaves. The core is called at each event, when a timer is due, and in slices while it has work; never
otherwise.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from functools import partial
from typing import Final, cast

from tamis.protocol.wire.client_bodies import Lost
from tamis.protocol.wire.edge_bodies import EdgeHeld
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.report_bodies import Report
from tamis.protocol.wire.routing_bodies import (
    Body,
    EpochRefused,
    Held,
    LinkState,
    SenderRequest,
    SpaceStatement,
    UpdateReply,
)
from tamis.router.connections.wider_network import LinkSession
from tamis.router.core.commands import (
    Alarm,
    Audited,
    BoundSource,
    CheckBySpaces,
    Command,
    DurablesKnown,
    DurablesStoredAt,
    Forget,
    Install,
    NameRoots,
    NeighbourSession,
    RaiseEpoch,
    Reached,
    Reroute,
    RoutesChanged,
    Send,
    StoreDurables,
)
from tamis.router.core.events import (
    Audit,
    Compare,
    Event,
    FiltersAdded,
    FiltersRemoved,
    Heard,
    LinkDown,
    LinkUp,
    Sent,
    ShuttingDown,
    SpacesStated,
    Stalled,
    Tick,
)
from tamis.router.core.routing.trees import Trees
from tamis.router.core.times import HOLDS_MAX, MS, S, Times
from tamis.router.daemon.link_events import TopologyChanged
from tamis.router.links.around import (
    ComparedRules,
    EpochFile,
    LinkedNeighbours,
    LocalClients,
    NeighbourDialler,
    RoutingCore,
    Switchboard,
)
from tamis.router.links.holding import SwitchTables
from tamis.router.links.homes import NetworkHomes
from tamis.router.links.installing import Installer
from tamis.router.links.losses import LinkLosses
from tamis.router.links.routes import Routes
from tamis.router.links.step import WAIT_S, InStep, StoredStep
from tamis.serving.cannot_start import CannotStart

STANDSTILL_US: Final = S // 2
"""The time after the previous tick from which a tick shows that this router stalled, in microseconds: five times its
period."""
TOLD_MS: Final = 1_000
"""The longest time from the detection of a loss to its report, in milliseconds: ten ticks."""
LEAVE_S: Final = Times().tree_hold_us / S + 0.25
"""R5b: how long the other routers may still send by the previous trees, in seconds: the hold, which begins when they
learn that this router shuts down. A message that was sent before passes here within it, however full the links are."""


class Network:
    """`epoch` is the file of the connections' epoch. `are_tables_told`: the switch needs the digest of its table, for
    messages that list routers."""

    def __init__(
        self,
        connections: Switchboard,
        clients: LocalClients,
        core: RoutingCore,
        neighbours: LinkedNeighbours,
        diallers: Sequence[NeighbourDialler],
        epoch: EpochFile,
        *,
        are_tables_told: bool,
    ) -> None:
        self.connections, self._clients, self._epoch = connections, clients, epoch
        self.core, self.neighbours, self._diallers = core, neighbours, diallers
        self._ticked_us = _now_us()
        self._bound_epochs()
        self.installer = Installer(connections.switch, connections.work, connections.settle)
        self._holding = SwitchTables(connections.switch, self.installer) if are_tables_told else None
        self.losses = LinkLosses(
            connections.switch, lambda: self.core.core_state.trees, neighbours.tell_loss, clients.lost
        )
        times = core.core_state.times
        hold_ms, wait_ms = times.tree_hold_us // 1_000, times.way_wait_us // 1_000
        self.routes = Routes(connections.switch, core.me, hold_ms, wait_ms, neighbours.brings)
        self._tickets = itertools.count(1)
        self.step = InStep(
            connections,
            len(neighbours.named),
            core.links_in_step,
            lambda known: self.installer.afterwards(lambda: self._wanted((), known)),
            self._is_behind,
            self._caught_up,
        )
        self._stored_step = StoredStep(connections, self._knows_homes)
        self._awaited: dict[int, Callable[[], None]] = {}
        self.homes: Final = NetworkHomes(core.core_state.durables, self._handle, self._name_of, neighbours.custody)
        self.audits: dict[int, Audited | None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due_us = 0
        self._events: deque[Event] = deque()
        self._is_working = self._is_handling = False
        self._cause = "start"
        self._left_s, self._passed = 0.0, -1
        self.news_s = time.monotonic()

    def start(self) -> None:
        self.step.start()
        self._carry_out(self.core.start(_now_us()))
        self._stored_step.start()
        self.connections.spaces.join(self.core.core_state.spaces, self._state_spaces)
        for dialler in self._diallers:
            dialler.start()

    def stop_dialling(self) -> None:
        """Make no new links; links that are up stay."""
        for dialler in self._diallers:
            dialler.close()

    def reaches(self, router_id: str) -> bool:
        """Return whether another router is reachable."""
        return stable_number(router_id) in self.core.core_state.trees.routers

    def leave(self) -> None:
        """State that this router shuts down, which makes the others route around it; it still handles messages that
        arrive."""
        self._left_s = time.monotonic()
        self._handle(ShuttingDown())

    def is_left(self) -> bool:
        """Return whether the others route around this router, and no message passed since the last call."""
        figures = self.connections.switch.figures()
        passed, self._passed = self._passed, figures.forwarded + figures.deliveries
        is_over = time.monotonic() - self._left_s >= LEAVE_S and passed == self._passed
        return is_over and not self.queued_bytes

    def close(self) -> None:
        self.stop_dialling()
        self.step.close()
        self._stored_step.close()
        self.neighbours.same_rules.close()
        if self._timer is not None:
            self._timer.cancel()

    @property
    def links(self) -> Sequence[LinkSession]:
        """The links that are up."""
        return self.neighbours.links

    @property
    def is_in_step(self) -> bool:
        return self.step.is_in_step

    @property
    def was_in_step(self) -> bool:
        return self.step.was_in_step

    @property
    def noticed_within_ms(self) -> int:
        """The longest time in which a loss between routers is reported to clients, in milliseconds."""
        times = self.core.core_state.times
        return (times.unnoticed_us + HOLDS_MAX * times.tree_hold_us) // MS + TOLD_MS

    @property
    def queued_bytes(self) -> int:
        """The bytes of messages and control that wait in the switch to be sent over links."""
        return sum(self.connections.switch.connection(link.connection).queued_bytes for link in self.links)

    def unlinked(self) -> dict[str, int]:
        """Return by neighbour the number of messages that found no link since the last call; a call returns a part, and
        an empty result means that all are returned."""
        return {self.neighbours.name_of(number): count for number, count in self.connections.switch.unlinked().items()}

    @property
    def quiet_s(self) -> float:
        """The seconds since a router stated anything new; 0 while a statement or other work is pending."""
        if self.core.has_work or not self.installer.is_idle or self.neighbours.is_sending:
            return 0.0
        return time.monotonic() - self.news_s

    def tick(self) -> None:
        """Do the work of a tick, ten times a second: report losses, report a stall to the core, and set the highest
        valid epoch of the switch. A lower bound is set at once, not here."""
        self.losses.tick()
        before_us, self._ticked_us = self._ticked_us, _now_us()
        if self._ticked_us - before_us >= STANDSTILL_US:
            self._handle(Stalled(before_us))
        self._bound_epochs()

    def _bound_epochs(self) -> None:
        self.connections.switch.bound_epochs(self.core.epoch_max(_now_us()))

    # --- events
    # --------------------------------------------------------------------------------------------------------

    def up(self, neighbour: int, session: int, cost: int, version: int, knows_durables: bool) -> None:
        self.news_s = time.monotonic()
        self.step.up(neighbour)
        self._handle(LinkUp(neighbour, session, cost, version, knows_durables))

    def down(self, neighbour: int, session: int) -> None:
        self.news_s = time.monotonic()
        self.step.down(neighbour)
        self._handle(LinkDown(neighbour, session))

    def _sent(self, session: NeighbourSession) -> None:
        """Notify the core at the next turn of the loop: bodies that it sends must not leave before the present
        frame."""
        self.connections.loop.call_soon(self._handle, Sent(*session))

    def heard(self, neighbour: int, session: int, body: Body) -> None:
        if not isinstance(body, SenderRequest | EpochRefused) and not (
            isinstance(body, UpdateReply) and not body.entries
        ):
            self.news_s = time.monotonic()  # requests and empty replies arrive all the time, and are no news
        self._handle(Heard(neighbour, session, body))

    def lost(self, neighbour: int, lost: Lost) -> None:
        self.losses.heard(neighbour, lost)

    def unrouted(self, connection: int, frame: bytes) -> None:
        self.routes.unrouted(connection, frame)

    def may_have_started(self, neighbour: int, epoch: int) -> bool:
        core_state = self.core.core_state
        return epoch <= core_state.epoch_validator.by_clock(core_state.held_epoch(neighbour), _now_us())

    def reported(self, report: Report, came_from: int | None) -> None:
        """Forward a report, of another router or (`came_from` None) of this one, towards the router where its message
        entered.

        A report never goes back to its sender: routers with differing topologies would send it back and forth.
        """
        if report.source == self.core.me:
            self._clients.reported(report)
            return
        hop = self.towards(report.source)
        if hop is not None and hop != came_from:
            self.neighbours.pass_on(hop, report)

    def towards(self, router: int) -> int | None:
        """Return the neighbour that is the next hop to a router."""
        return self.core.core_state.trees.next_hop(router)

    def wanted(self, filters: Iterable[bytes], known: Callable[[], None] | None = None) -> None:
        """Notify the core that clients of this router want these packed filters; each counts as often as it is listed.

        `known` is called once every reachable router knows all filters wanted now, and this router is in step: a router
        that has just started reaches none yet.
        """
        self._wanted(filters, None if known is None else partial(self.step.when_in_step, known))

    def _wanted(self, filters: Iterable[bytes], known: Callable[[], None] | None = None) -> None:
        ticket = None
        if known is not None:
            ticket = next(self._tickets)
            self._awaited[ticket] = known
        self._handle(FiltersAdded(tuple(filters), ticket))

    def unwanted(self, filters: Iterable[bytes]) -> None:
        self._handle(FiltersRemoved(tuple(filters)))

    def use_rules(self, rules: ComparedRules) -> None:
        """Tell the neighbours that these rules of access are in force, and compare theirs with them."""
        self.neighbours.same_rules.use(rules)
        self._handle(Compare())

    def _knows_homes(self) -> bool:
        """C14: return whether what durable subscriptions elsewhere want is known, from a neighbour, or from the log of
        an earlier run if there is no neighbour."""
        is_alone = not self.links and not self.step.is_starting
        return self.core.knows_durables or (is_alone and self.homes.is_recalled)

    def _state_spaces(self, statements: tuple[SpaceStatement, ...]) -> None:
        self._handle(SpacesStated(statements))

    def audit(self) -> int:
        """Request an audit of every router; return the ticket of the reply in `audits`."""
        ticket = next(self._tickets)
        self.audits = {ticket: None}
        self._handle(Audit(ticket))
        return ticket

    def _handle(self, event: Event) -> None:
        """Let the core handle `event`; an event that occurs while commands are carried out waits for their end."""
        self._events.append(event)
        self._note_cause(event)
        if self._is_handling:
            return
        self._is_handling = True
        try:
            while self._events:
                self._carry_out(self.core.handle(self._events.popleft(), _now_us()))
        finally:
            self._is_handling = False
        self.step.look()
        self._stored_step.look()

    def _note_cause(self, event: Event) -> None:
        """Record a possible cause of a later change of topology."""
        if isinstance(event, LinkUp | LinkDown):
            what = "up" if isinstance(event, LinkUp) else "down"
            self._cause = f"link {what}: {self.neighbours.name_of(event.neighbour)}"
        elif isinstance(event, Heard) and isinstance(event.body, LinkState):
            self._cause = f"heard of {event.body.issuer}"

    def _due(self) -> None:
        self._timer = None
        try:
            self._handle(Tick())
        except Exception:  # a bug: the due work is lost, and later work is done
            self.connections.health.caught("failed to do due work")

    def _work(self) -> Generator[None, None, None]:
        try:
            while self.core.has_work:
                self._carry_out(self.core.work(_now_us()))
                yield
        finally:
            self._is_working = False

    # --- commands
    # ------------------------------------------------------------------------------------------------------

    def _carry_out(self, commands: list[Command]) -> None:
        """Carry out all commands, even if one fails through a bug; its exception is raised at the end."""
        failed: Exception | None = None
        is_changing = self._holding is not None and self._holding.change(self.core.tables)
        for command in commands:
            try:
                _CARRY_OUT[type(command)](self, command)
            except Exception as error:
                failed, self.installer.is_whole = failed or error, False
        if self._holding is not None and is_changing:
            self._holding.changed()
        self._set_timer()
        if self.core.has_work and not self._is_working:
            self._is_working = True
            self.connections.work.add(self._work())
        if failed is not None:
            raise failed

    def _send(self, command: Send) -> None:
        left = self._sent if command.is_told else None
        send = partial(self.neighbours.send, command.to, command.body, left)
        if isinstance(command.body, Held | EdgeHeld):
            self.installer.afterwards(send)
        else:
            send()

    def _reroute(self, command: Reroute) -> None:
        self.routes.reroute(command.trees, command.is_whole, command.forest)
        if self._holding is not None:
            self._holding.rerouted(command.trees)
        self._tell(command.trees)

    def _forget(self, command: Forget) -> None:
        self._bound_epochs()  # its epochs may be invalid now: none of them may begin a new window
        self.connections.switch.forget_source(command.router)

    def _bound_source(self, command: BoundSource) -> None:
        self._bound_epochs()  # an epoch valid for one source may be invalid for all others now
        self.connections.switch.bound_source(command.router, command.epoch_max)

    def _keep_audit(self, command: Audited) -> None:
        self.audits[command.ticket] = command

    def _tell(self, trees: Trees) -> None:
        topology = self.core.core_state.topology
        self.connections.events.tell(TopologyChanged, trees, topology.graph, topology.name_of, self._cause)

    def _raise_epoch(self, command: RaiseEpoch) -> None:
        epoch = command.epoch
        try:
            self._epoch.keep(epoch)
        except CannotStart as error:
            self.connections.health.alarm(
                f"the epoch is not stored, so the next start may count as an earlier one: {error}"
            )
        self.connections.epoch = epoch
        self.connections.switch.raise_epoch(epoch)

    def _name_of(self, number: int) -> str:
        return self.core.core_state.topology.name_of(number)

    def _is_behind(self, neighbour: int) -> None:
        name = self.neighbours.name_of(neighbour)
        text = f"the link to {name} has been up for {WAIT_S:.0f} s and is not in step"
        self.connections.health.alarm(text)
        self.connections.health.problem(f"step {name}", text)

    def _caught_up(self, neighbour: int) -> None:
        self.connections.health.mended(f"step {self.neighbours.name_of(neighbour)}")

    def _set_timer(self) -> None:
        due_us = self.core.due_us
        if self._timer is not None:
            if due_us == self._timer_due_us:
                return
            self._timer.cancel()
            self._timer = None
        if due_us is not None:
            wait_ms = -(-max(0, due_us - _now_us()) // MS)  # rounded up, as loops count in ms: never early
            self._timer, self._timer_due_us = self.connections.loop.call_later(wait_ms / 1_000, self._due), due_us


_CARRY_OUT: Final = cast(
    "dict[type, Callable[[Network, Command], None]]",
    {
        Send: Network._send,
        Install: lambda network, command: network.installer.add(command),
        Reroute: Network._reroute,
        NameRoots: lambda network, command: network.routes.name(command.roots),
        RoutesChanged: lambda network, command: network.losses.routes_changed(command),
        Forget: Network._forget,
        BoundSource: Network._bound_source,
        RaiseEpoch: Network._raise_epoch,
        Reached: lambda network, command: network._awaited.pop(command.ticket)(),
        Audited: Network._keep_audit,
        StoreDurables: lambda network, command: network.homes.store(command),
        DurablesKnown: lambda network, command: network.homes.known(command),
        DurablesStoredAt: lambda network, command: network.homes.stored_at(command),
        CheckBySpaces: lambda network, command: network.connections.spaces.check_by(command.spaces),
        Alarm: lambda network, command: network.connections.health.alarm(command.text),
    },
)


def _now_us() -> int:
    return time.monotonic_ns() // 1_000
