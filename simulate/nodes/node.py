"""A router in virtual time: core, forwarder and table, and the shell between them and the links.

Law: this shell has no rule of the protocol. Commands are executed in order. A crash loses everything but the epoch
file; callbacks of an earlier life never reach a later one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from typing import Final, cast

from tamis.protocol.spaces import NO_SPACES, SpaceSet
from tamis.protocol.wire.extensions import LinkKeys
from tamis.protocol.wire.numbers import NO_DIGEST, stable_number
from tamis.protocol.wire.routing_bodies import Body, SenderRequest, SpaceStatement
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
    RaiseEpoch,
    Reached,
    Reroute,
    RoutesChanged,
    Send,
    StoreDurables,
)
from tamis.router.core.core import Core
from tamis.router.core.epochs import DAY_MS
from tamis.router.core.events import (
    AwaitDurables,
    DurablesRecalled,
    DurablesStated,
    DurablesStored,
    Event,
    FiltersAdded,
    FiltersRemoved,
    Heard,
    LinkDown,
    LinkUp,
    Sent,
    ShuttingDown,
    SpacesStated,
    Tick,
)
from tamis.router.core.routing.paths import PathCache
from tamis.simulate.faults.schemas import NAMING
from tamis.simulate.faults.workload import CONTENTS
from tamis.simulate.nodes import control
from tamis.simulate.nodes.clock import Clock
from tamis.simulate.nodes.custody import CustodyPacket, NodeCustody
from tamis.simulate.nodes.disk import Disk
from tamis.simulate.nodes.link import SimulatedLink
from tamis.simulate.nodes.message import Packet, SimulatedMessage, Try
from tamis.simulate.nodes.observer import Observer, Passing
from tamis.simulate.nodes.run_parts import AnyCore, RunParts
from tamis.simulate.nodes.sharing import Sharing, Unshared
from tamis.simulate.oracle.roots import Lanes
from tamis.simulate.twin.forwarder import Forwarder, TransitId
from tamis.simulate.twin.table import Matches, PureTable
from tamis.simulate.twin.windows import EntryVerdict, PublisherWindows

DATA_BYTES: Final = 200
"""Size of every data frame."""
DURABLES_WAIT_US: Final = 3_000_000
"""How long a client waits until all routers know its durable subscription."""
WORK_AFTER_US: Final = 500
"""The time after an event at which a router is idle and runs slices of work, such as covering."""


class Node:
    """A router in virtual time. `clients` maps a local client to the contents of its subscriptions (bits); only `want`
    and `unwant` write it."""

    def __init__(
        self,
        name: str,
        clock: Clock,
        kit: RunParts,
        matches: Matches,
        paths: PathCache,
        observer: Observer,
        unix_ms: Callable[[], int],
    ) -> None:
        self.name = name
        self.number = stable_number(name)
        self._clock = clock
        self._kit = kit
        self.alive = False
        self.is_leaving = False
        self.epoch_file: int | None = None
        self.clock_skew_ms = 0
        """The error of the clock while the router starts; it is corrected just after."""
        self.clock_off_ms = 0
        self.links: dict[int, tuple[SimulatedLink, int]] = {}
        """Maps a neighbour to the link to it, and to this router's side of that link."""
        self.core: AnyCore
        self.forwarder: Forwarder
        self.table: PureTable
        self.sharing: Sharing
        self.spaces = NO_SPACES
        self.kept_spaces: tuple[SpaceStatement, ...] = ()
        """The file of spaces: the definitions that a restarted router has, besides those of its topology file."""
        self.disk = self.new_disk(1)
        self.custody: NodeCustody | None = None
        self.clients: dict[int, int] = {}
        self.lanes = Lanes(kit.classes.truths)
        self._matches = matches
        self._paths = paths
        self._observer = observer
        self._unix_ms = unix_ms
        self.life = 0
        self._armed_us: int | None = None
        self._working = False
        self._publishers: PublisherWindows
        self._listeners: dict[int, tuple[int, ...]] = {}
        self._linked: set[int] = set()
        self._waiting: dict[int, deque[Packet]] = {}
        """Maps a neighbour to the packets that arrived from it since one of them had to wait (R5c)."""

    # Life and death.

    def unix_ms(self) -> int:
        """Return the time by this router's own clock, which may be wrong."""
        return self._unix_ms() + self.clock_off_ms

    def set_clock(self, off_ms: int) -> None:
        """Set the clock to `off_ms` ahead of the right time."""
        self.clock_off_ms = off_ms
        if self.alive:
            self.forwarder.epoch_max = 0  # so that it is read again

    def new_disk(self, log: int) -> Disk:
        return self._kit.disk(self._clock, log)

    def start(self) -> None:
        """Start a new life with an epoch above that of the epoch file, or from the clock if there is no file."""
        now_ms = self.unix_ms()
        kept = self.epoch_file
        epoch = now_ms + self.clock_skew_ms if kept is None or kept > now_ms + DAY_MS else kept + 1
        self.epoch_file = epoch
        self.life += 1
        self.alive, self.is_leaving = True, False
        self.core = self._kit.core(self.name, epoch, self._paths, self.unix_ms)
        self.forwarder = self._kit.make_forwarder(self.number, epoch)
        self.forwarder.epoch_max = 0  # it is read when a message needs a higher one, and again when the limit falls
        self.forwarder.group_key = self.number.to_bytes(8, "little")
        self.table = self._kit.table(self._matches)
        self.sharing = Sharing(self.number, self.forwarder, self.table, self._kit.windows)
        self._publishers = self._kit.windows()
        self._armed_us = None
        self._working = False
        self._linked.clear()
        self._waiting.clear()
        self._observer.started(self.number, epoch)
        self.spaces = NO_SPACES
        self.disk.open()
        if self._kit.custody is not None:
            around = self._kit.programs, self._matches.of, self._send_custody, self._observer
            self.custody = self._kit.custody(self.number, self.disk, self._clock, *around)
        self._carry_out(self.core.start(self._clock.now_us))
        if self._kit.declared:
            self._handle(SpacesStated((*self._kit.declared, *self.kept_spaces)))
        if statements := self.disk.statements():
            self._handle(DurablesRecalled(self.disk.written, statements))
        self._handle(DurablesStated(self.disk.log, self.disk.own))

    def crash(self, silently: bool, kept: int = 0) -> None:
        """End at once; of what is being written the first `kept` per mille are on disk."""
        self.alive = False
        self.disk.crash(kept)
        if self.custody is not None:
            self.custody.is_over = True
        for packet in (packet for packets in self._waiting.values() for packet in packets):
            self._observer.lost_at_end(self.number, packet)
        self._waiting.clear()
        self._observer.died(self.number)
        self.clients.clear()
        self._listeners.clear()
        for link, side in self.links.values():
            link.end_died(side, silently)

    def leave(self) -> None:
        """Begin to stop, as on a signal: accept nothing new from clients, and forward for a while."""
        self.is_leaving = True
        self._handle(ShuttingDown())

    # Events of links.

    def link_up(self, neighbour: int, session: int, cost: int) -> None:
        self._observer.linked(self.number, neighbour, session, cost)
        self._linked.add(neighbour)
        self._handle(LinkUp(neighbour, session, cost))

    def link_down(self, neighbour: int, session: int) -> None:
        self._observer.unlinked(self.number, neighbour, session)
        self._linked.discard(neighbour)
        self._go_on(self.life)
        self._handle(LinkDown(neighbour, session))

    def heard(self, neighbour: int, session: int, body: Body) -> None:
        self._observer.heard(self.number, neighbour, body)
        self._handle(Heard(neighbour, session, body))
        if self.custody is not None and not self.custody.entry.is_in_step:
            self.custody.entry.is_in_step = self._is_in_step(body)
        self._observer.learnt(self.number, body)

    def _is_in_step(self, body: Body) -> bool:
        """C14: return whether a neighbour states the durable subscriptions that are known here."""
        if not isinstance(body, SenderRequest) or not body.digest or not isinstance(self.core, Core):
            return False
        return (body.durables or NO_DIGEST) == self.core.core_state.durables.rib.digest

    def sent(self, neighbour: int, session: int) -> None:
        self._handle(Sent(neighbour, session))

    def carried(self, neighbour: int, packet: Packet | CustodyPacket) -> None:
        """Process a packet from `neighbour`, in the order of its link: a packet that has to wait delays those behind
        it, but for custody."""
        if isinstance(packet, CustodyPacket):
            if packet.to != self.number:
                self._send_custody(packet, neighbour)
            elif self.custody is not None:
                self.custody.hear(packet.frame)
            return
        self._waiting.setdefault(neighbour, deque()).append(packet)
        self._go_on(self.life)

    def _go_on(self, life: int) -> None:
        """Process packets until all that are left must wait."""
        has_moved = self.alive and life == self.life
        while has_moved:
            has_moved = False
            for neighbour, packets in self._waiting.items():
                while packets and not self._must_wait(neighbour, packets[0]):
                    self._arrive(neighbour, packets.popleft())
                    has_moved = True

    def _must_wait(self, neighbour: int, packet: Packet) -> bool:
        return self.forwarder.must_wait(packet.transit, neighbour, self._linked, self._clock.now_us, packet.root)

    def _arrive(self, neighbour: int, packet: Packet) -> None:
        transit, hops_left = packet.transit, packet.hops_left
        if transit.epoch > self.forwarder.epoch_max:
            self.forwarder.epoch_max = self.core.epoch_max(self._clock.now_us)
        refusal = self.forwarder.arrive(transit, hops_left, neighbour, self._clock.now_us, packet.root)
        if refusal is None:
            message = packet.message
            is_new = packet.passed_on is None and self._publishers.fresh(message.publisher, message.counter)
            self._take(packet, neighbour, is_new)
        else:
            self._observer.refused(self.number, packet, neighbour, refusal.value)

    # Calls of clients.

    def want(self, client: int, filters: tuple[bytes, ...], contents: int) -> None:
        """Add `filters` of a client; `contents` are those of all its subscriptions from now on."""
        self._listen(client, contents)
        self._handle(FiltersAdded(filters))

    def unwant(self, client: int, filters: tuple[bytes, ...], contents: int) -> None:
        self._listen(client, contents)
        self._handle(FiltersRemoved(filters))

    def join(self, client: int, group: int, filters: tuple[bytes, ...], contents: int) -> None:
        """Add `filters` of a client in a group; `contents` are those of all its subscriptions as a member from now
        on."""
        self.sharing.want(client, group, contents)
        self._handle(FiltersAdded(filters))

    def quit(self, client: int, group: int, filters: tuple[bytes, ...], contents: int) -> None:
        self.sharing.want(client, group, contents)
        self._handle(FiltersRemoved(filters))

    def ask(self, event: Event) -> None:
        self._handle(event)

    def create_durable(self, number: int, packed: bytes, ticket: int) -> None:
        """State a durable subscription, which is on disk."""
        self._handle(DurablesStated(self.disk.log, {number: packed}))
        self._handle(AwaitDurables(ticket, DURABLES_WAIT_US))

    def remove_durable(self, number: int) -> None:
        self._handle(DurablesStated(self.disk.log, {}, (number,)))

    def publish(self, message: SimulatedMessage) -> None:
        if self.spaces and self.spaces.check(CONTENTS[message.content]) is not None:
            message.tries.append(Try(self.number, self._clock.now_us, entered=False))
            self._observer.unfit(self.number, message)
            return
        entry = self._publishers.enter(message.publisher, message.counter)
        entered = entry in (EntryVerdict.NEW, EntryVerdict.NEW_AND_DELIVERED)
        message.tries.append(Try(self.number, self._clock.now_us, entered))
        if entered:
            transit, hop_limit = self.forwarder.enter(self._clock.now_us)
            root = self.forwarder.root_of(self._kit.classes.of(message.content), self._clock.now_us)
            self._take(Packet(transit, hop_limit, message, root=root), None, entry is EntryVerdict.NEW)

    def _listen(self, client: int, contents: int) -> None:
        self._listeners.clear()
        if contents:
            self.clients[client] = contents
        else:
            self.clients.pop(client, None)

    def _take(self, packet: Packet, came_from: int | None, is_new_here: bool) -> None:
        transit, hops_left, message, hop, *_ = packet
        self._observer.took(self.number, message)
        clients = self._deliver(message, transit) if is_new_here else ()
        choices = self.sharing.choices(packet, came_from, is_new_here)
        if came_from is None and choices and packet.passed_on is None:
            self._observer.chose(self.number, packet, choices)
        links = None if choices or packet.passed_on or packet.root is not None else self._by_keys(packet, came_from)
        matched: Collection[int] = () if packet.passed_on or links is not None else self._wanting(packet)
        listed, stated = packet.listed, packet.stated
        if came_from is None and matched:
            listed = self.forwarder.listed(matched, self._clock.now_us)
            stated = self.forwarder.stated(matched, self._clock.now_us)
        if choices:
            matched = {*matched, *choices.values()} - {self.number}
        departures: tuple[int, ...] = tuple(sorted(links or ()))
        if matched or packet.root is not None:
            departures = self.forwarder.departures(transit.source, matched, self._clock.now_us, came_from, packet.root)
        hops_left = self.forwarder.onward(hops_left, came_from)
        onward = Packet(
            *(transit, hops_left, message, hop + 1, choices, packet.passed_on, listed, stated), root=packet.root
        )
        went = {
            neighbour: self._carry(neighbour, onward._replace(keys=links[neighbour]) if links else onward)
            for neighbour in departures
        }
        neighbours = tuple(neighbour for neighbour, is_away in went.items() if is_away)
        dropped = tuple(neighbour for neighbour, is_away in went.items() if not is_away)
        self._observer.passed(self.number, packet, came_from, Passing(clients, neighbours, dropped))
        for group, router in choices.items():
            if router == self.number:
                if not self._share(packet, group):
                    self._pass_on(packet, group)
            elif self.forwarder.towards(router) is None:
                self._observer.unshared(self.number, packet, group, Unshared.NO_WAY)

    def _by_keys(self, packet: Packet, came_from: int | None) -> dict[int, LinkKeys | None] | None:
        source, content = packet.transit.source, packet.message.content
        return self.forwarder.by_keys(source, content, packet.keys, self.table, self._clock.now_us, came_from)

    def _wanting(self, packet: Packet) -> Collection[int]:
        """Return the destination routers of a message: those that it lists, those of a set that is used, or those with
        matching filters in the table."""
        if packet.listed is not None:
            return packet.listed
        believed = self.forwarder.believed(packet.stated)
        return self.table.matching(packet.message.content) if believed is None else believed

    # Worker groups.

    def _share(self, packet: Packet, group: int) -> bool:
        """Deliver a message to a member here, unless one received it before; return whether there is a member."""
        client = self.sharing.member_for(packet.transit, group, packet.message.content)
        if client is None:
            return False
        if self.sharing.is_new(packet.message, group):
            self._observer.shared(client, packet, group)
        else:
            self._observer.unshared(self.number, packet, group, Unshared.SEEN)
        return True

    def _pass_on(self, packet: Packet, group: int) -> None:
        """Forward a message once to another router: this one was chosen, and has no member left."""
        copy = None if packet.passed_on else self.sharing.passed_on(packet, group, self._clock.now_us)
        if copy is None:
            self._observer.unshared(self.number, packet, group, Unshared.NO_MEMBER)
        else:
            self._observer.passed_on(self.number, copy)
            self._take(copy, None, is_new_here=False)

    def _send_custody(self, packet: CustodyPacket, came_from: int | None = None) -> None:
        """Send a frame of custody to the next hop; it is dropped where there is none."""
        neighbour = self.forwarder.towards(packet.to)
        if neighbour is not None and neighbour != came_from and packet.hops_left:
            self._carry(neighbour, packet._replace(hops_left=packet.hops_left - 1))

    def _carry(self, neighbour: int, packet: Packet | CustodyPacket) -> bool:
        link, side = self.links[neighbour]
        return link.carry(side, DATA_BYTES, packet)

    def _deliver(self, message: SimulatedMessage, entry: TransitId) -> tuple[int, ...]:
        """Deliver to local clients; return those that received the message."""
        listeners = self._listeners.get(message.content)
        if listeners is None:
            content = message.content
            listeners = tuple(client for client, contents in self.clients.items() if contents >> content & 1)
            self._listeners[content] = listeners
        for client in listeners:
            self._observer.delivered(client, message, entry)
        return listeners

    # The core.

    def _handle(self, event: Event) -> None:
        self._carry_out(self.core.handle(event, self._clock.now_us))

    def _carry_out(self, commands: list[Command]) -> None:
        for command in commands:
            _CARRY_OUT[type(command)](self, command)
        core = self.core
        if self.forwarder.reuses:
            self.forwarder.tables = core.tables
        due_us = core.due_us
        if due_us is not None and (self._armed_us is None or due_us < self._armed_us):
            self._armed_us = due_us
            self._clock.at(max(due_us, self._clock.now_us), self._tick, (self.life, due_us))
        if core.has_work and not self._working:
            self._working = True
            self._clock.after(WORK_AFTER_US, self._work, self.life)

    def _tick(self, armed: tuple[int, int]) -> None:
        life, due_us = armed
        if not self.alive or life != self.life or due_us != self._armed_us:
            return
        self._armed_us = None
        now = self._clock.now_us
        due = self.core.due_us
        self._carry_out(self.core.handle(Tick(), now) if due is not None and due <= now else [])

    def _work(self, life: int) -> None:
        if self.alive and life == self.life:
            self._working = False
            self._carry_out(self.core.work(self._clock.now_us))

    def _send(self, command: Send) -> None:
        body = command.body
        size = control.size(body)
        self._observer.sent(self.number, command.to, body, size)
        for neighbour, session in command.to:
            link, side = self.links[neighbour]
            link.send(side, session, size, body, command.is_told)

    def _install(self, command: Install) -> None:
        self.table.install(command.issuer, command.added, command.removed)

    def _reroute(self, command: Reroute) -> None:
        self.forwarder.reroute(command.trees, self._clock.now_us, command.is_whole, command.forest)
        self._clock.at(max(self.forwarder.waits_until_us, self._clock.now_us), self._go_on, self.life)
        self._observer.rerouted(self.number, command.trees)

    def _name_roots(self, command: NameRoots) -> None:
        self.forwarder.name_roots(command.roots)

    def _ways_changed(self, command: RoutesChanged) -> None:
        self._observer.routes_changed(self.number, command)

    def _forget(self, command: Forget) -> None:
        self.forwarder.epoch_max = 0
        self.forwarder.forget(command.router)

    def _bound_source(self, command: BoundSource) -> None:
        self.forwarder.epoch_max = 0
        self.forwarder.bound(command.router, command.epoch_max)

    def _raise_epoch(self, command: RaiseEpoch) -> None:
        self.epoch_file = command.epoch
        self.forwarder.raise_epoch(command.epoch)
        self._observer.new_epoch(self.number)

    def _reached(self, command: Reached) -> None:
        self._observer.reached(self.number, command.ticket)

    def _audited(self, command: Audited) -> None:
        self._observer.audited(self.number, command)

    def _store_durables(self, command: StoreDurables) -> None:
        stored = DurablesStored(command.issuer, command.epoch, command.seq, self.disk.written)
        custody, disk = self.custody, self.disk
        if custody is not None:
            custody.know(command)

        def then() -> None:
            if custody is not None:
                custody.stored(command)
            self._handle(stored)

        disk.write(lambda: disk.store(command), then)

    def _durables_known(self, command: DurablesKnown) -> None:
        self._observer.durables_known(self.number, command)

    def _durables_stored_at(self, command: DurablesStoredAt) -> None:
        if self.custody is not None:
            self.custody.stored_at(command.holders)
        self._observer.durables_stored_at(self.number, command)

    def _check_by(self, command: CheckBySpaces) -> None:
        self.spaces = SpaceSet(command.spaces, NAMING)

    def _alarm(self, command: Alarm) -> None:
        self._observer.alarmed(self.number, command.text)


_CARRY_OUT: Final = cast(
    "dict[type, Callable[[Node, Command], None]]",
    {
        Send: Node._send,
        Install: Node._install,
        Reroute: Node._reroute,
        NameRoots: Node._name_roots,
        RoutesChanged: Node._ways_changed,
        Forget: Node._forget,
        BoundSource: Node._bound_source,
        RaiseEpoch: Node._raise_epoch,
        Reached: Node._reached,
        Audited: Node._audited,
        CheckBySpaces: Node._check_by,
        StoreDurables: Node._store_durables,
        DurablesKnown: Node._durables_known,
        DurablesStoredAt: Node._durables_stored_at,
        Alarm: Node._alarm,
    },
)
