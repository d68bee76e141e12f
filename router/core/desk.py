"""What the parts of a core share: who this is, what it knows, and the commands that one event has caused so far.

Law: commands leave in the order in which they were put here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tamis.protocol.wire.routing_bodies import LinkState, UpdateReply
from tamis.router.core.commands import Command, Send, Session
from tamis.router.core.events import Body
from tamis.router.core.freshness import Version
from tamis.router.core.identity import Identity
from tamis.router.core.links import Link, Links
from tamis.router.core.rib import Rib
from tamis.router.core.timers import Timers
from tamis.router.core.times import Times
from tamis.router.core.topology import Topology
from tamis.router.core.trees import Trees

TimerName = tuple[str, int]


@dataclass(slots=True)
class Desk:
    identity: Identity
    links: Links
    topology: Topology
    rib: Rib
    times: Times
    trees: Trees
    timers: Timers[TimerName] = field(default_factory=Timers)
    now_us: int = 0
    out: list[Command] = field(default_factory=list)
    _corrected: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def me(self) -> int:
        return self.identity.number

    def send(self, link: Link, body: Body) -> None:
        self.out.append(Send((Session(link.neighbour, link.session),), body))

    def flood(self, body: Body, but: int | None = None) -> None:
        """To every neighbour but one."""
        if to := self.links.sessions(but):
            self.out.append(Send(to, body))

    def send_towards(self, router: int, body: Body) -> None:
        """Nothing happens where there is no way; whoever needs an answer asks again."""
        hop = self.trees.next_hop(router)
        link = self.links.by_neighbour.get(hop) if hop is not None else None
        if link is not None:
            self.send(link, body)

    def may_correct(self, neighbour: int, issuer: int) -> bool:
        """R2, R9: telling a neighbour about one issuer what it has wrong is done only so often."""
        key = (neighbour, issuer)
        self._corrected = {at: until for at, until in self._corrected.items() if until > self.now_us}
        if key in self._corrected:
            return False
        self._corrected[key] = self.now_us + self.times.answer_every_us
        return True

    def hear_of_me(self, heard: Version) -> None:
        """R9: this router has to say something newer, soon."""
        self.identity.hear_of_me(heard)
        last_us = self.identity.jumped_us
        self.timers.set_earlier(("jump", 0), self.now_us if last_us is None else last_us + self.times.answer_every_us)

    def known_state(self, issuer: int) -> LinkState | None:
        state = self.topology.states.get(issuer)
        return state.body if state else None

    def known_entry(self, issuer: int, to: int) -> UpdateReply | None:
        """What is held of an issuer, as a reply that nobody asked for."""
        held = self.rib.entries.get(issuer)
        return UpdateReply(to, 0, 0, (held.as_entry(issuer),)) if held else None
