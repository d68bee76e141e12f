"""A few cores on links that keep order, in virtual time: enough to see one rule at work."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from tamis.protocol.wire.numbers import stable_number
from tamis.router.core.commands import Alarm, Audited, Command, Install, RaiseEpoch, Reached, Reroute, Send
from tamis.router.core.core import Core, CoreSettings, Parts
from tamis.router.core.events import Await, Body, Event, Heard, LinkDown, LinkUp, Tick, Unwanted, Wanted
from tamis.router.core.times import MS

DELAY_US = 10 * MS
STANDARD = Parts()


class World:
    def __init__(self, names: Iterable[str] = (), links: Iterable[tuple[str, str]] = (), **settings: object) -> None:
        self.settings = CoreSettings(**settings)  # type: ignore[arg-type]
        self.now_us = 0
        self.cores: dict[str, Core] = {}
        self.installed: dict[str, dict[int, dict[int, bytes]]] = {}
        self.reached: list[tuple[str, int]] = []
        self.audited: list[Audited] = []
        self.alarms: list[str] = []
        self.sent: list[tuple[str, str, Body]] = []
        self.lose: list[type] = []
        """Types of bodies of which the next one sent is lost in silence."""
        self._sessions: dict[frozenset[str], int] = {}
        self._session = 0
        self._queue: list[tuple[int, int, str, Event]] = []
        self._serial = 0
        for name in names:
            self.start(name)
        for one, other in links:
            self.connect(one, other)

    # --- what happens

    def start(self, name: str, epoch: int = 1, parts: Parts = STANDARD) -> None:
        self.cores[name] = Core(name, epoch, self.settings, parts=parts)
        self.installed[name] = {}
        self._carry_out(name, self.cores[name].start(self.now_us))

    def stop(self, name: str) -> None:
        """Its neighbours notice at once."""
        for pair in [pair for pair in self._sessions if name in pair]:
            self.cut(*pair)
        del self.cores[name], self.installed[name]

    def connect(self, one: str, other: str, cost: int = 1) -> None:
        self._session += 1
        self._sessions[frozenset((one, other))] = self._session
        for me, peer in ((one, other), (other, one)):
            self.handle(me, LinkUp(stable_number(peer), self._session, cost))

    def cut(self, one: str, other: str) -> None:
        session = self._sessions.pop(frozenset((one, other)))
        for me, peer in ((one, other), (other, one)):
            self.handle(me, LinkDown(stable_number(peer), session))

    def want(self, name: str, *filters: bytes) -> None:
        self.handle(name, Wanted(filters))

    def unwant(self, name: str, *filters: bytes) -> None:
        self.handle(name, Unwanted(filters))

    def wait_for(self, name: str, ticket: int) -> None:
        self.handle(name, Await(ticket))

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

    def _carry_out(self, name: str, commands: list[Command]) -> None:
        for command in commands:
            match command:
                case Send():
                    for neighbour, session in command.to:
                        self._send(name, neighbour, session, command.body)
                case Install():
                    table = self.installed[name].setdefault(command.issuer, {})
                    for id_ in command.removed:
                        del table[id_]
                    table.update(command.added)
                case Reached():
                    self.reached.append((name, command.ticket))
                case Audited():
                    self.audited.append(command)
                case Alarm():
                    self.alarms.append(command.text)
                case Reroute() | RaiseEpoch():
                    pass

    def _send(self, name: str, neighbour: int, session: int, body: Body) -> None:
        peer = next((other for other in self.cores if stable_number(other) == neighbour), None)
        if peer is None or self._sessions.get(frozenset((name, peer))) != session:
            return
        self.sent.append((name, peer, body))
        if type(body) in self.lose:
            self.lose.remove(type(body))
            return
        self._serial += 1
        event = Heard(stable_number(name), session, body)
        heappush(self._queue, (self.now_us + DELAY_US, self._serial, peer, event))

    # --- what to look at

    def asked_of(self, name: str) -> dict[str, frozenset[bytes]]:
        """What a router holds that others ask for."""
        core = self.cores[name]
        return {
            core.desk.topology.name_of(issuer): frozenset(held.filters.values())
            for issuer, held in core.desk.rib.entries.items()
            if held.filters
        }

    def frames(self, of: type) -> int:
        return sum(isinstance(body, of) for _, _, body in self.sent)
