"""A few cores on links that keep order, in virtual time: enough to see one rule at work."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from heapq import heappop, heappush

from tamis.protocol.wire.custody_bodies import LogLife
from tamis.protocol.wire.home_bodies import DurablesHolder
from tamis.protocol.wire.numbers import predicate_digest
from tamis.protocol.wire.routing_bodies import Body
from tamis.protocol.wire.versions import PROTOCOL_VERSION
from tamis.router.core.commands import (
    Alarm,
    Audited,
    Command,
    DurablesKnown,
    DurablesStoredAt,
    Forget,
    Install,
    RaiseEpoch,
    Reached,
    Reroute,
    Send,
    StoreDurables,
)
from tamis.router.core.core import Core, CoreParts, CoreSettings
from tamis.router.core.events import (
    Await,
    DurablesStored,
    Event,
    FiltersAdded,
    FiltersRemoved,
    Heard,
    LinkDown,
    LinkUp,
    Sent,
    Tick,
)
from tamis.router.core.statements.freshness import Version
from tamis.router.core.times import MS
from tamis.simulate.twin.filter_index import PureIndex

DELAY_US = 10 * MS
COVERING = CoreParts(index=PureIndex)
USUAL = partial(Core, parts=COVERING)
"""A core that finds filters which others cover."""
LOG = LogLife(9, 3, 2)


class World:
    def __init__(self, names: Iterable[str] = (), links: Iterable[tuple[str, str]] = (), **settings: object) -> None:
        self.settings = CoreSettings(**settings)  # type: ignore[arg-type]
        self.now_us = 0
        self.cores: dict[str, Core] = {}
        self.installed: dict[str, dict[int, dict[int, bytes]]] = {}
        self.reached: list[tuple[str, int]] = []
        self.audited: list[Audited] = []
        self.alarms: list[str] = []
        self.known: list[tuple[str, DurablesKnown]] = []
        self.lives: dict[str, LogLife] = {}
        """The log that each router's disk has; LOG if it is not here."""
        self.stored_at: list[tuple[str, DurablesHolder]] = []
        self.stores: list[tuple[str, StoreDurables]] = []
        """What is still to be written: `write` does it."""
        self.sent: list[tuple[str, str, Body]] = []
        self.lose: list[type] = []
        """Types of bodies of which the next one sent is lost in silence."""
        self._links: dict[int, tuple[str, str]] = {}
        """By session."""
        self._session = 0
        self._queue: list[tuple[int, int, str, Event]] = []
        self._serial = 0
        for name in names:
            self.start(name)
        for one, other in links:
            self.connect(one, other)

    # --- what happens

    def start(self, name: str, epoch: int = 1, id_: str | None = None, core: Callable[..., Core] = USUAL) -> None:
        """`id_`: what the router calls itself, if that is not its name here."""
        self.cores[name] = core(id_ or name, epoch, self.settings)
        self.installed[name] = {}
        self._carry_out(name, self.cores[name].start(self.now_us))

    def stop(self, name: str) -> None:
        """Its neighbours notice at once."""
        for pair in [pair for pair in self._links.values() if name in pair]:
            self.cut(*pair)
        del self.cores[name], self.installed[name]

    def connect(
        self, one: str, other: str, cost: int = 1, version: int = PROTOCOL_VERSION, knows_durables: bool = True
    ) -> None:
        self._session += 1
        self._links[self._session] = (one, other)
        for me, peer in ((one, other), (other, one)):
            self.handle(me, LinkUp(self.cores[peer].me, self._session, cost, version, knows_durables))

    def cut(self, one: str, other: str) -> None:
        [session] = [session for session, pair in self._links.items() if {*pair} == {one, other}]
        del self._links[session]
        for me, peer in ((one, other), (other, one)):
            self.handle(me, LinkDown(self.cores[peer].me, session))

    def want(self, name: str, *filters: bytes) -> None:
        self.handle(name, FiltersAdded(filters))

    def unwant(self, name: str, *filters: bytes) -> None:
        self.handle(name, FiltersRemoved(filters))

    def wait_for(self, name: str, ticket: int) -> None:
        self.handle(name, Await(ticket))

    def tamper(self, name: str, issuer: str, seq: int, filters: dict[int, bytes]) -> None:
        """A router holds something else of another, so much newer: memory had a fault, or it is of another life."""
        number = self.cores[issuer].me
        held = self.cores[name].core_state.rib.entries[number]
        held.version = Version(held.version.epoch, held.version.seq + seq)
        held.filters, held.digest = dict(filters), predicate_digest(filters.items())
        self.installed[name][number] = dict(filters)

    def write(self, *names: str) -> None:
        """The disks of these routers write all that is due; without names those of all."""
        due, self.stores = self.stores, []
        for name, store in due:
            if name in (names or self.cores):
                self.handle(name, DurablesStored(store.issuer, store.epoch, store.seq, self.lives.get(name, LOG)))
            else:
                self.stores.append((name, store))

    def handle(self, name: str, event: Event) -> None:
        self._carry_out(name, self.cores[name].handle(event, self.now_us))

    def run(self, for_us: int) -> None:
        """Everything that happens in so long."""
        end_us = self.now_us + for_us
        while True:
            timers = [(core.due_us, name) for name, core in self.cores.items() if core.due_us is not None]
            due = min(timers, default=None)
            first = self._queue[0][0] if self._queue else None
            if due is not None and due[0] <= end_us and (first is None or due[0] <= first):
                self.now_us = max(self.now_us, due[0])
                self.handle(due[1], Tick())
            elif first is not None and first <= end_us:
                self.now_us, _, name, event = heappop(self._queue)
                if name in self.cores:
                    self.handle(name, event)
            else:
                self.now_us = end_us
                return

    def work(self) -> None:
        for name, core in self.cores.items():
            while core.has_work:
                self._carry_out(name, core.work(self.now_us))

    # --- what follows

    def _carry_out(self, name: str, commands: list[Command]) -> None:  # noqa: C901 - a row for each command
        for command in commands:
            match command:
                case Send():
                    self._send_all(name, command)
                case Install():
                    table = self.installed[name].setdefault(command.issuer, {})
                    for id_ in command.removed:
                        del table[id_]
                    table.update(command.added)
                case Reached():
                    self.reached.append((name, command.ticket))
                case Audited():
                    self.audited.append(command)
                case StoreDurables():
                    self.stores.append((name, command))
                case DurablesKnown():
                    self.known.append((name, command))
                case DurablesStoredAt():
                    self.stored_at += [(name, holder) for holder in command.holders]
                case Alarm():
                    self.alarms.append(command.text)
                case Reroute() | Forget() | RaiseEpoch():
                    pass

    def _send_all(self, name: str, command: Send) -> None:
        for neighbour, session in command.to:
            self._send(name, session, command.body)
            if command.is_told:
                self._push(name, Sent(neighbour, session))

    def _send(self, name: str, session: int, body: Body) -> None:
        if session not in self._links:
            return
        [peer] = {*self._links[session]} - {name}
        self.sent.append((name, peer, body))
        if type(body) in self.lose:
            self.lose.remove(type(body))
            return
        self._push(peer, Heard(self.cores[name].me, session, body))

    def _push(self, name: str, event: Event) -> None:
        self._serial += 1
        heappush(self._queue, (self.now_us + DELAY_US, self._serial, name, event))

    # --- what to look at

    def asked_of(self, name: str) -> dict[str, frozenset[bytes]]:
        """What a router holds that others ask for."""
        core = self.cores[name]
        return {
            core.core_state.topology.name_of(issuer): frozenset(held.filters.values())
            for issuer, held in core.core_state.rib.entries.items()
            if held.filters
        }

    def frames(self, of: type) -> int:
        return sum(isinstance(body, of) for _, _, body in self.sent)

    def frames_per_link(self) -> int:
        """On the link that carried most, both directions together."""
        links = [frozenset((one, other)) for one, other, _ in self.sent]
        return max(map(links.count, links), default=0)

    def check(self) -> None:
        """What is true once all is quiet: who can be reached is known as it is, and the tables say the same."""
        by_number = {core.me: core for core in self.cores.values()}
        for name, core in self.cores.items():
            entries = core.core_state.rib.entries
            for issuer in core.core_state.trees.routers:
                theirs = by_number[issuer].core_state.rib.entries[issuer]
                assert (entries[issuer].version, entries[issuer].filters) == (theirs.version, theirs.filters)
                assert entries[issuer].digest == theirs.digest == predicate_digest(theirs.filters.items())
            tables = {issuer: table for issuer, table in self.installed[name].items() if table}
            assert tables == {at: held.filters for at, held in entries.items() if at != core.me and held.filters}
            assert core.core_state.trees.routers == {self.cores[other].me for other in self.reach(name)}

    def reach(self, name: str) -> set[str]:
        """Who is connected with it, itself included."""
        found = {name}
        while more := {*()}.union(*(pair for pair in self._links.values() if found & {*pair})) - found:
            found |= more
        return found
