"""The state that the parts of a core share: the identity of this router, the state that it holds, and the commands that
the current event has caused until now.

Law: commands leave in the order in which they were appended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from tamis.protocol.limits import ROUTERS_MAX
from tamis.protocol.wire.routing_bodies import Body, EpochRefused
from tamis.router.core.commands import ANY_EPOCH, Alarm, BoundSource, Command, Forget, Install, NeighbourSession, Send
from tamis.router.core.epochs import DAY_MS, EPOCH_MAX, EpochValidator
from tamis.router.core.known_spaces import KnownSpaces
from tamis.router.core.rate_limiter import RateLimiter
from tamis.router.core.routing.forest import NO_FOREST, Forest
from tamis.router.core.routing.trees import Trees
from tamis.router.core.statements.cover import FilterIndex, NoIndex
from tamis.router.core.statements.freshness import Version
from tamis.router.core.statements.identity import OwnFreshness
from tamis.router.core.statements.known_durables import KnownDurables
from tamis.router.core.statements.links import RELAYED_MAX, CoreLink, Links
from tamis.router.core.statements.rib import Rib
from tamis.router.core.statements.topology import KnownLinks
from tamis.router.core.timers import Due, Timers
from tamis.router.core.times import MS, S, Times

TimerName = tuple[Due, int]
"""The kind of timer, and the router, neighbour or request that it is about (0 where there is only one)."""
ALARM_EVERY_US: Final = 60 * S
"""The least time between two alarms about a neighbour that states refused epochs."""


@dataclass(slots=True)
class CoreState:
    identity: OwnFreshness
    links: Links
    topology: KnownLinks
    rib: Rib
    times: Times
    trees: Trees
    epoch_validator: EpochValidator = field(default_factory=EpochValidator)
    unlearn: Callable[[int, int], None] = lambda issuer, above: None  # noqa: ARG005 - the core sets another
    """Called with (issuer, above) to forget what is held of `issuer` with an epoch later than `above`."""
    highest: int = 0
    """At least the latest epoch of all statements that were valid by the clock."""
    refused: int = 0
    """The number of statements refused because of their epochs."""
    spaces: KnownSpaces = field(default_factory=KnownSpaces)
    durables: KnownDurables = field(init=False)
    forest: Forest = NO_FOREST
    """The trees of roots that belong to `trees`."""
    placed: Callable[[Install], Iterable[Install]] = lambda install: (install,)
    """Maps an installation to installations under the numbers by which the table holds the issuer's filters."""
    make_index: Callable[[], FilterIndex] = NoIndex
    """Makes an index that finds which filters cover others."""
    timers: Timers[TimerName] = field(default_factory=Timers)
    now_us: int = 0
    out: list[Command] = field(default_factory=list)
    _corrected: dict[tuple[int, int], int] = field(default_factory=dict)
    _told: RateLimiter = field(init=False)
    _alarmed: RateLimiter = field(init=False)
    _least_refused: int | None = None
    _bounds: dict[int, int] = field(default_factory=dict)
    """Maps an issuer to the highest epoch of its messages, for issuers of which a statement was refused, or is valid
    only against the clock. A router whose epoch was refused will lower it: messages of the refused epoch must not
    displace those that follow."""

    def __post_init__(self) -> None:
        self.durables = KnownDurables(self.identity.number)
        self._told, self._alarmed = RateLimiter(self.times.answer_every_us), RateLimiter(ALARM_EVERY_US)

    @property
    def me(self) -> int:
        return self.identity.number

    def install(self, issuer: int, added: Mapping[int, bytes], removed: tuple[int, ...]) -> None:
        """Append commands that put filters of `issuer` into the table and remove others."""
        self.out += self.placed(Install(issuer, added, removed))

    def send(self, link: CoreLink, body: Body, is_told: bool = False) -> None:
        link.unsent += is_told
        self.out.append(Send((NeighbourSession(link.neighbour, link.session),), body, is_told))

    def flood(self, body: Body, but: int | None = None, is_told: bool = False) -> None:
        """Send `body` to every neighbour that supports it, except `but`."""
        if takers := self.links.takers(body, but):
            to = tuple([NeighbourSession(link.neighbour, link.session) for link in takers])
            self.out.append(Send(to, body, is_told))
            for link in takers:
                link.unsent += is_told

    def pass_on(self, body: Body, but: int) -> None:
        """Forward a long `body` of another router to every neighbour that supports it, except `but` and those with too
        many unsent bodies."""
        to = []
        for link in self.links.takers(body, but):
            if link.unsent < RELAYED_MAX:
                link.unsent += 1
                to.append(NeighbourSession(link.neighbour, link.session))
            else:
                link.is_left_out = True
        if to:
            self.out.append(Send(tuple(to), body, is_told=True))

    def soon(self, kind: Due) -> None:
        """Schedule the next slice of a long work after all events that have happened by then."""
        self.timers.set_earlier((kind, 0), self.now_us + 1)

    def send_towards(self, router: int, body: Body) -> None:
        """Send `body` towards a router. Without a path nothing is sent: the router that needs an answer repeats its
        request."""
        link = self.link_towards(router)
        if link is not None:
            self.send(link, body)

    def is_corrected(self, issuer: int, epoch: int, came_from: int) -> bool:
        """R2: return whether to correct the neighbour `came_from` about `issuer`. A neighbour that is merely late
        receives the newer statement anyway; the issuer itself, and a neighbour that states an earlier life of the
        issuer, are corrected."""
        version = self.rib.version(issuer)
        is_late = came_from != issuer and version is not None and epoch == version.epoch
        return not is_late and self.may_correct(came_from, issuer)

    def tell_issuer(self, issuer: int, *said: Body) -> None:
        """R2: send the issuer the different statements `said` of equal freshness about it: other routers may hold one
        of them, and the issuer recognises the one that it did not make."""
        if self.trees.next_hop(issuer) is not None and self.may_correct(self.me, issuer):
            for body in said:
                self.send_towards(issuer, body)

    def link_towards(self, router: int) -> CoreLink | None:
        hop = self.trees.next_hop(router)
        return self.links.by_neighbour.get(hop) if hop is not None else None

    def may_correct(self, neighbour: int, issuer: int) -> bool:
        """R2, R9: return whether a neighbour may be corrected about an issuer now, and record the correction; true once
        in `answer_every_us`."""
        key, told = (neighbour, issuer), self._corrected
        while told and next(iter(told.values())) <= self.now_us:
            del told[next(iter(told))]
        if key in told:
            return False
        told[key] = self.now_us + self.times.answer_every_us
        return True

    def hear_of_me(self, heard: Version) -> None:
        """R9: schedule a statement newer than `heard`."""
        self.identity.hear_of_me(heard)
        last_us = self.identity.jumped_us
        self.timers.set_earlier((Due.JUMP, 0), self.now_us if last_us is None else last_us + self.times.answer_every_us)

    # --- validation of epochs

    def held_epoch(self, issuer: int) -> int:
        """Return the highest epoch that is held of a router; 0 if nothing is held."""
        if issuer == self.me:
            return self.identity.highest
        state, nothing = self.topology.states.get(issuer), Version(0, 0)
        held = self.rib.version(issuer), self.durables.rib.version(issuer), state.version if state else None
        return max(version.epoch for version in (nothing, *held) if version is not None)

    def is_epoch_valid(self, issuer: int, epoch: int) -> bool:
        held = self.held_epoch(issuer)
        is_not_ahead = epoch <= (self.identity.epoch if issuer == self.me else held)
        return issuer != 0 and (is_not_ahead or self.epoch_validator.is_so(epoch, held, self.now_us))

    def believes(self, issuer: int, epoch: int, came_from: int) -> bool:
        """Return whether to accept a statement of the neighbour `came_from` about `issuer`, by its epoch; if not, send
        the neighbour a refusal. State held of the issuer is dropped if its epoch is no longer valid."""
        self.epoch_validator.stated(came_from, issuer, epoch)
        if not self.is_epoch_valid(issuer, epoch):
            self._refuse(issuer, epoch, came_from)
            return False
        if issuer == self.me:
            self.identity.heard_epoch(epoch)
        self._bound(issuer, epoch)
        held = self.held_epoch(issuer)
        if epoch < held and issuer != self.me:
            self._reconsider(issuer, epoch, held, came_from)
        if self._least_refused is not None:
            self.ask_for_refused()
        return True

    def _refuse(self, issuer: int, epoch: int, came_from: int) -> None:
        self.refused += 1
        held = self.held_epoch(issuer)
        acceptable = self.epoch_validator.acceptable(held, self.now_us)
        if held and issuer != self.me and issuer not in self._bounds:
            self._set_bound(issuer, acceptable)
        if epoch > acceptable:  # such an epoch may come from a clock: refusals to all show whether this clock is behind
            told = self.links.by_neighbour if epoch <= EPOCH_MAX else (came_from,)
            self.tell_refusal(self.takes(issuer, epoch), told)
        if self._alarmed.may(came_from, self.now_us):
            self.out.append(Alarm(self._about_refusal(issuer, epoch, came_from)))
        if self._least_refused is None or epoch < self._least_refused:
            self._least_refused = epoch
        if epoch <= EPOCH_MAX:
            soon_us = max(self.times.retry_us, (epoch - acceptable) * MS)
            self.timers.set_earlier((Due.DIGESTS, 0), self.now_us + min(soon_us, self.times.request_every_us))

    def _bound(self, issuer: int, epoch: int) -> None:
        """Record a valid statement of this epoch, and set the bound of its issuer's messages. An epoch that is valid
        only against the clock is valid for that issuer alone: its messages have that epoch at most, until it states one
        that the clock allows."""
        by_clock = self.epoch_validator.by_clock(EPOCH_MAX, self.now_us)
        before = self._bounds.get(issuer, ANY_EPOCH)
        if epoch > by_clock:
            self._set_bound(issuer, epoch)
            return
        self.highest = max(self.highest, epoch)
        if epoch > before:
            self._set_bound(issuer, ANY_EPOCH)
        elif before != ANY_EPOCH and before > by_clock and epoch >= self.held_epoch(issuer):
            self._set_bound(issuer, by_clock)

    def _set_bound(self, issuer: int, epoch_max: int) -> None:
        """Bound the epochs of messages of `issuer`; ANY_EPOCH removes its bound."""
        if issuer == self.me or self._bounds.get(issuer, ANY_EPOCH) == epoch_max:
            return
        if epoch_max == ANY_EPOCH:
            del self._bounds[issuer]
        else:
            self._bounds[issuer] = epoch_max
        self.out.append(BoundSource(issuer, epoch_max))

    def see_clock(self) -> None:
        """Handle a clock that may have stepped back: epochs that it no longer allows stay valid only for the issuers
        that stated them."""
        if self.highest > self.epoch_validator.by_clock(EPOCH_MAX, self.now_us):
            self.highest = 0
            for issuer in (self.rib.entries.keys() | self.topology.states) - self._bounds.keys():
                self._bound(issuer, self.held_epoch(issuer))

    def forget_source(self, router: int) -> None:
        """Drop what is recorded about messages from `router`, as all its statements are forgotten: in its next life it
        may count them from 1, in any epoch."""
        self._bounds.pop(router, None)
        self.out.append(Forget(router))

    def _reconsider(self, issuer: int, epoch: int, held: int, came_from: int) -> None:
        """Drop what is held of `issuer` if the clock does not allow its epoch but allows the older one that was stated,
        and either the issuer itself stated the older one, or too few neighbours vouch for the held one."""
        by_clock = self.epoch_validator.by_clock(held, self.now_us)
        if epoch > by_clock or held <= by_clock:
            return
        if came_from == issuer or held > self.epoch_validator.acceptable(held, self.now_us):
            self.unlearn(issuer, by_clock)

    def tell_refusal(self, body: EpochRefused, neighbours: Iterable[int]) -> None:
        """Send the refusal `body` to `neighbours`, at most one a second to each about each issuer."""
        links = [self.links.by_neighbour[neighbour] for neighbour in neighbours]
        what = "clock" if body.epoch == 0 else "refused"
        told = [
            link
            for link in sorted(links, key=lambda link: link.neighbour)
            if self._told.may((what, link.neighbour, body.issuer), self.now_us)
        ]
        if told:
            self.out.append(Send(tuple([NeighbourSession(link.neighbour, link.session) for link in told]), body))

    def takes(self, issuer: int, refused: int = 0) -> EpochRefused:
        """Return the refusal that states up to which epoch this router accepts statements of `issuer`. `refused` is an
        epoch of another issuer that this router refuses, or its own epoch that a neighbour refuses. The clock of a
        single neighbour is never forwarded: it would count as the clocks of two."""
        return EpochRefused(issuer, refused, self.epoch_validator.sure_ms(self.now_us) + DAY_MS)

    def _about_refusal(self, issuer: int, epoch: int, came_from: int) -> str:
        name_of, ahead_ms = self.topology.name_of, epoch - self.epoch_validator.clock_ms(self.now_us)
        by = "this router's clock, which may be behind" if ahead_ms < 1_000 * 365 * DAY_MS else "any clock"
        return f"{name_of(came_from)} states epoch {epoch} of {name_of(issuer)}, refused as too far ahead of {by}"

    def ask_for_refused(self) -> None:
        """Request refused statements again if the clocks of neighbours have moved this clock so far that they are
        valid."""
        if self._least_refused is not None and self.epoch_validator.is_so(self._least_refused, 0, self.now_us):
            self._least_refused = None
            self.tell_refusal(self.takes(0), self.links.by_neighbour)
            self.timers.set_earlier((Due.DIGESTS, 0), self.now_us + self.times.base_wait_us)

    def has_room_for(self, issuer: int) -> bool:
        """Return whether a statement of `issuer` may be held; an alarm reports a refusal, rate-limited."""
        if issuer in self.rib.entries or issuer in self.topology.states:
            return True
        if max(len(self.rib.entries), len(self.topology.states)) < ROUTERS_MAX:
            return True
        if self.may_correct(self.me, 0):
            self.out.append(Alarm(f"more than {ROUTERS_MAX} routers: statements of further ones are refused"))
        return False
