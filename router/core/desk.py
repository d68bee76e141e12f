"""What the parts of a core share: who this is, what it knows, and the commands that one event has caused so far.

Law: commands leave in the order in which they were put here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tamis.protocol.limits import ROUTERS_MAX
from tamis.router.core.commands import Alarm, Command, Send, Session
from tamis.router.core.events import Body
from tamis.router.core.freshness import Version
from tamis.router.core.identity import Identity
from tamis.router.core.links import RELAYED_MAX, Link, Links
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

    def send(self, link: Link, body: Body, is_told: bool = False) -> None:
        link.unsent += is_told
        self.out.append(Send((Session(link.neighbour, link.session),), body, is_told))

    def flood(self, body: Body, but: int | None = None, is_told: bool = False) -> None:
        """To every neighbour but one."""
        if to := self.links.sessions(but):
            self.out.append(Send(to, body, is_told))
            for link in self.links.by_neighbour.values():
                link.unsent += is_told and link.neighbour != but

    def pass_on(self, body: Body, but: int) -> None:
        """A long one of somebody else, to every neighbour but one for which not too much is waiting."""
        to = []
        for link in self.links.by_neighbour.values():
            if link.neighbour == but:
                continue
            if link.unsent < RELAYED_MAX:
                link.unsent += 1
                to.append(Session(link.neighbour, link.session))
            else:
                link.is_left_out = True
        if to:
            self.out.append(Send(tuple(to), body, is_told=True))

    def soon(self, kind: str) -> None:
        """The next slice of something long comes after whatever else has happened by then."""
        self.timers.set_earlier((kind, 0), self.now_us + 1)

    def send_towards(self, router: int, body: Body) -> None:
        """Nothing happens where there is no way; whoever needs an answer asks again."""
        link = self.link_towards(router)
        if link is not None:
            self.send(link, body)

    def is_corrected(self, issuer: int, epoch: int, came_from: int) -> bool:
        """R2: is a neighbour told what is newer than what it says? Not if it is only late, as then it is being told:
        but if the issuer itself says it, or it is from an earlier life."""
        version = self.rib.version(issuer)
        is_late = came_from != issuer and version is not None and epoch == version.epoch
        return not is_late and self.may_correct(came_from, issuer)

    def tell_issuer(self, issuer: int, *said: Body) -> None:
        """R2: different things of equal freshness are said of it. Others on the way may hold one of them; the issuer
        finds the one that it did not say."""
        if self.trees.next_hop(issuer) is not None and self.may_correct(self.me, issuer):
            for body in said:
                self.send_towards(issuer, body)

    def link_towards(self, router: int) -> Link | None:
        hop = self.trees.next_hop(router)
        return self.links.by_neighbour.get(hop) if hop is not None else None

    def may_correct(self, neighbour: int, issuer: int) -> bool:
        """R2, R9: telling a neighbour about one issuer what it has wrong is done only so often."""
        key, told = (neighbour, issuer), self._corrected
        while told and next(iter(told.values())) <= self.now_us:
            del told[next(iter(told))]
        if key in told:
            return False
        told[key] = self.now_us + self.times.answer_every_us
        return True

    def hear_of_me(self, heard: Version) -> None:
        """R9: this router has to say something newer, soon."""
        self.identity.hear_of_me(heard)
        last_us = self.identity.jumped_us
        self.timers.set_earlier(("jump", 0), self.now_us if last_us is None else last_us + self.times.answer_every_us)

    def has_room_for(self, issuer: int) -> bool:
        """Whether a statement of this router may be kept; the first refusal of a while is an alarm."""
        if issuer in self.rib.entries or issuer in self.topology.states:
            return True
        if max(len(self.rib.entries), len(self.topology.states)) < ROUTERS_MAX:
            return True
        if self.may_correct(self.me, 0):
            self.out.append(Alarm(f"more than {ROUTERS_MAX} routers: the statements of others are not kept"))
        return False
