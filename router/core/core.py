"""The routing core of one router: `Core` dispatches each event to the part that it concerns and runs the due timers.

Law: `handle` completes an event, together with the timers that are due at its time; work that must wait gets a timer.
The parts implement the rules; the core decides nothing that a part can decide. An invalid statement has no effect: it
neither ends a session nor changes held state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from tamis.protocol.wire.custody_bodies import LogLife
from tamis.protocol.wire.home_bodies import DurablesHeld, DurablesStatement
from tamis.protocol.wire.numbers import NO_DIGEST, stable_number
from tamis.protocol.wire.routing_bodies import (
    EpochRefused,
    Held,
    LinkState,
    ReceiverAdvertisement,
    Scope,
    SenderRequest,
    SpaceStatement,
    UpdateReply,
)
from tamis.router.core.commands import Alarm, Command, RaiseEpoch
from tamis.router.core.epochs import DAY_MS, EPOCH_MAX, EpochValidator, no_clock
from tamis.router.core.events import (
    Audit,
    Await,
    AwaitDurables,
    Compare,
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
    Stalled,
    Tick,
)
from tamis.router.core.figures import Figures
from tamis.router.core.routing.paths import Graph, PathCache
from tamis.router.core.routing.reuse import HeldTables
from tamis.router.core.routing.roots import RootChoice, Roots, agreed_text
from tamis.router.core.routing.trees import Broadcast, Trees, make_trees
from tamis.router.core.statements.advertiser import Advertiser
from tamis.router.core.statements.audit import Audits
from tamis.router.core.statements.core_state import CoreState
from tamis.router.core.statements.cover import Cover, FilterIndex, NoIndex
from tamis.router.core.statements.durables import DurableTalks
from tamis.router.core.statements.edges.edges import Edges
from tamis.router.core.statements.exchange import Exchange
from tamis.router.core.statements.flood import Flood
from tamis.router.core.statements.freshness import Version
from tamis.router.core.statements.identity import OwnFreshness
from tamis.router.core.statements.layouts import FALLBACK, RIB, layout_of
from tamis.router.core.statements.link_states import LinkStates
from tamis.router.core.statements.links import CoreLink, Links
from tamis.router.core.statements.neighbours import NeighbourTalks
from tamis.router.core.statements.own_predicate import OwnPredicate
from tamis.router.core.statements.predicates import Predicates
from tamis.router.core.statements.rib import Rib
from tamis.router.core.statements.spaces import SpaceTalks
from tamis.router.core.statements.topology import KnownLinks
from tamis.router.core.timers import Due
from tamis.router.core.times import Times


@dataclass(frozen=True, slots=True)
class CoreSettings:
    """The settings of routing in a topology file."""

    broadcast: Broadcast = "source-trees"
    coarse: bool = False
    times: Times = field(default_factory=Times)
    classes: tuple[RootChoice, ...] = ()
    """The classes of messages that have roots of their own, with REST as the last one; empty: there are no roots."""
    merge: float | None = None
    """The largest widening of a merged filter (`statements/merging/`); None: no filters are merged."""


@dataclass(frozen=True, slots=True)
class CoreParts:
    """The classes of the parts of a core; an experiment may replace each of them."""

    identity: type[OwnFreshness] = OwnFreshness
    links: type[Links] = Links
    topology: type[KnownLinks] = KnownLinks
    rib: type[Rib] = Rib
    cover: type[Cover] = Cover
    index: Callable[[], FilterIndex] = NoIndex
    own: Callable[[int, Cover], OwnPredicate] = OwnPredicate
    exchange: type[Exchange] = Exchange
    flood: type[Flood] = Flood
    advertiser: type[Advertiser] = Advertiser
    link_states: type[LinkStates] = LinkStates
    predicates: type[Predicates] = Predicates
    neighbours: type[NeighbourTalks] = NeighbourTalks
    audits: type[Audits] = Audits
    spaces: type[SpaceTalks] = SpaceTalks
    durables: type[DurableTalks] = DurableTalks
    edges: type[Edges] = Edges
    roots: type[Roots] = Roots
    make_trees: Callable[[Broadcast, Graph, int, PathCache, bool], Trees] = make_trees


class Core:
    """Call `start` first, then `handle` for each event, with `Tick` when `due_us` has come; when idle, call `work`
    while `has_work`. `unix_ms` reads the wall clock, by which epochs are validated; `now_us` is the time of a steady
    clock. `family` names the strategies that share this core's protocol (`layouts.py`)."""

    family: ClassVar[str] = RIB

    def __init__(
        self,
        name: str,
        epoch: int,
        settings: CoreSettings = CoreSettings(),
        paths: PathCache | None = None,
        parts: CoreParts = CoreParts(),
        unix_ms: Callable[[], int] = no_clock,
    ) -> None:
        times = settings.times
        self._paths = cache = PathCache() if paths is None else paths
        identity = parts.identity(name, epoch)
        me = identity.number

        def trees_of(graph: Graph, is_by_layout: bool) -> Trees:
            broadcast = settings.broadcast if is_by_layout else FALLBACK
            made = parts.make_trees(broadcast, graph, me, cache, settings.coarse)
            return self._take_trees(made, graph, is_by_layout)

        trees = trees_of(Graph.of((), (me,)), True)
        core_state = CoreState(
            identity, parts.links(), parts.topology(), parts.rib(), times, trees, EpochValidator(unix_ms), self._unlearn
        )
        core_state.make_index = parts.index
        self.core_state = core_state
        own = parts.own(times.narrow_hold_us, parts.cover(parts.index()))
        core_state.rib.replace(me, identity.version, NO_DIGEST, own.issued)
        self._exchange = parts.exchange(core_state.rib, core_state.topology)
        self._exchange.is_epoch_valid = core_state.is_epoch_valid
        layout = layout_of(self.family, settings.broadcast, agreed_text(settings.classes) if settings.classes else "")
        self._states = parts.link_states(core_state, layout, trees_of, self._moved, self._forget)
        self._predicates = parts.predicates(core_state, parts.flood(), self._states.keep_for_a_while)
        self._advertiser = parts.advertiser(core_state, own)
        self._neighbours = parts.neighbours(core_state, self._exchange, self._states, self._predicates)
        self._audits = parts.audits(core_state, self._exchange, self._neighbours)
        self._spaces = parts.spaces(core_state)
        self._durables = parts.durables(core_state)
        self._durables.send_digest = self._neighbours.send_digest

    def _take_trees(self, trees: Trees, graph: Graph, is_by_layout: bool) -> Trees:  # noqa: ARG002 - subclasses use all
        """Return the trees that come into force for `trees` of `graph`; `is_by_layout` is false for the trees that all
        routers fall back to."""
        return trees

    # --- interface of the daemon and the simulator

    @property
    def me(self) -> int:
        return self.core_state.me

    @property
    def epoch(self) -> int:
        return self.core_state.identity.epoch

    def epoch_max(self, now_us: int) -> int:
        """Return the highest epoch of messages that are accepted where their source has no bound of its own."""
        return max(self.core_state.epoch_validator.by_clock(EPOCH_MAX, now_us), self.core_state.highest)

    @property
    def due_us(self) -> int | None:
        return self.core_state.timers.due_us

    @property
    def has_work(self) -> bool:
        return self._advertiser.own.has_work

    @property
    def tables(self) -> HeldTables:
        """R13: the interest that this router holds of all routers in reach, itself included, once all commands are
        carried out."""
        return self._exchange.tables()

    def links_in_step(self) -> dict[int, bool]:
        """Return for each neighbour whether messages may be sent over its link: both ends have caught up (R4), and both
        list the link."""
        core_state = self.core_state
        return {
            neighbour: link.is_synced
            and neighbour in core_state.trees.routers
            and core_state.topology.is_edge(core_state.me, neighbour)
            for neighbour, link in core_state.links.by_neighbour.items()
        }

    @property
    def knows_durables(self) -> bool:
        """C14: whether this router has stored all that a neighbour knew of durable subscriptions since the start."""
        return self._durables.is_in_step

    @property
    def storing(self) -> dict[int, LogLife]:
        """R19d: the routers in reach that have stored what this router states of its durable subscriptions, each with
        the life of its log."""
        holders = self._durables.storing.holders(self.core_state.trees.routers)
        return {holder.router: LogLife(holder.log, holder.life, holder.before) for holder in holders}

    def figures(self) -> Figures:
        core_state, predicates = self.core_state, self._predicates
        unfinished = {
            "changes without their base": sum(core_state.rib.waits(issuer) for issuer in core_state.trees.routers),
            "predicates in pieces": predicates.collecting,
            "confirmations": len(predicates.confirmations.issuers & core_state.trees.routers),
            "tickets": len(self._advertiser.holders),
        }
        return Figures(
            self._exchange.digest(),
            frozenset((*core_state.rib.entries, *core_state.topology.states, *predicates.flood.issuers)),
            {what: count for what, count in unfinished.items() if count},
        )

    def start(self, now_us: int) -> list[Command]:
        self.core_state.now_us = now_us
        self._states.ways.started()
        self._advertiser.say()
        self._states.say()
        return self._done()

    def handle(self, event: Event, now_us: int) -> list[Command]:
        self.core_state.now_us = now_us
        self.core_state.see_clock()
        _ON_EVENT[type(event)](self, event)
        return self._done()

    def work(self, now_us: int) -> list[Command]:
        """Do one slice of the work that may wait; return the commands that it causes."""
        self.core_state.now_us = now_us
        self._advertiser.work()
        return self._done()

    def _done(self) -> list[Command]:
        core_state = self.core_state
        for kind, about in core_state.timers.pop_due(core_state.now_us):
            self._due(kind, about)
        out, core_state.out = core_state.out, []
        return out

    def _due(self, kind: Due, about: int) -> None:
        _ON_TIMER[kind](self, about)

    # --- events

    def _link_up(self, event: LinkUp) -> None:
        self._neighbours.up(event.neighbour, event.session, event.cost, event.version, event.knows_durables)

    def _link_down(self, event: LinkDown) -> None:
        self._neighbours.down(event.neighbour, event.session)
        self._advertiser.go_on()

    def _sent(self, event: Sent) -> None:
        link = self.core_state.links.current(event.neighbour, event.session)
        if link is not None:
            link.unsent -= 1
            self._neighbours.sent(link)
            self._advertiser.go_on()

    def _heard(self, event: Heard) -> None:
        link = self.core_state.links.current(event.neighbour, event.session)
        hear = _ON_BODY.get(type(event.body))
        if link is not None and hear is not None:  # None: the body belongs to another family of strategies
            hear(self, event.body, link)

    def _wanted(self, event: FiltersAdded) -> None:
        self._advertiser.wanted(event.filters, event.ticket)

    def _removed(self, event: FiltersRemoved) -> None:
        self._advertiser.unwanted(event.filters)

    def _await(self, event: Await) -> None:
        self._advertiser.awaited(event.ticket)

    def _audit(self, event: Audit) -> None:
        self._audits.start(event.ticket)

    def _spaces_stated(self, event: SpacesStated) -> None:
        self._spaces.state(event.statements)

    def _compare(self, event: Compare) -> None:  # noqa: ARG002 - the event has no fields
        self._neighbours.send_digests()

    def _durables_stated(self, event: DurablesStated) -> None:
        self._durables.state(event.log, event.added, event.removed)

    def _durables_recalled(self, event: DurablesRecalled) -> None:
        self._durables.recall(event.statements, event.written)

    def _durables_stored(self, event: DurablesStored) -> None:
        self._durables.stored(event.issuer, Version(event.epoch, event.seq), event.written)

    def _await_durables(self, event: AwaitDurables) -> None:
        self._durables.awaited(event.ticket, event.wait_us)

    def _leave(self, event: ShuttingDown) -> None:  # noqa: ARG002 - the event has no fields
        self._states.leave()

    def _stood(self, event: Stalled) -> None:
        self._states.ways.stood(event.since_us)

    def _tick(self, event: Tick) -> None:
        """Do nothing: every event runs the timers that are due."""

    # --- bodies

    def _hear_state(self, body: LinkState, link: CoreLink) -> None:
        self._states.hear(body, link.neighbour)
        issuer = stable_number(body.issuer)
        if issuer in self.core_state.topology.states:
            self._states.keep_for_a_while(issuer)

    def _hear_advertisement(self, body: ReceiverAdvertisement, link: CoreLink) -> None:
        self._predicates.hear(body, link.neighbour)

    def _hear_request(self, body: SenderRequest, link: CoreLink) -> None:
        if body.scope is Scope.TREE:
            self._audits.requested(body, link.neighbour)
        elif body.requester == link.neighbour:
            self.core_state.believes(link.neighbour, body.epoch, link.neighbour)
            self._neighbours.requested(body, link)
            self._durables.compare(body, link)
            if self._spaces.differs(body, link):
                self._neighbours.send_digest(link)

    def _hear_reply(self, body: UpdateReply, link: CoreLink) -> None:
        self._neighbours.replied(body, link)
        self._audits.replied(body, link.neighbour)

    def _hear_held(self, body: Held, _: CoreLink) -> None:
        if body.issuer == self.me:
            self._advertiser.held(body)
        else:
            self._predicates.pass_held(body)

    def _hear_space(self, body: SpaceStatement, link: CoreLink) -> None:
        self._spaces.hear(body, link.neighbour)

    def _hear_durables(self, body: DurablesStatement, link: CoreLink) -> None:
        self._durables.hear(body, link)

    def _hear_durables_held(self, body: DurablesHeld, _: CoreLink) -> None:
        self._durables.held(body)

    def _hear_refusal(self, body: EpochRefused, link: CoreLink) -> None:
        """Record that a neighbour refuses an epoch, or (epoch 0) up to which epoch it accepts. Each router that
        receives a refusal replies with the epoch that it accepts. If the epoch is this router's own, forward the
        refusal to all other neighbours: `_lower` lowers the epoch if more than half of them refuse it."""
        core_state, is_mine = self.core_state, body.issuer == self.me and body.epoch == self.epoch
        core_state.epoch_validator.takes(link.neighbour, body.acceptable, core_state.now_us)
        core_state.ask_for_refused()
        if body.epoch:
            core_state.tell_refusal(core_state.takes(body.issuer), (link.neighbour,))
        if is_mine:
            told = core_state.links.by_neighbour.keys() - {link.neighbour}
            core_state.tell_refusal(core_state.takes(body.issuer, body.epoch), told)
            core_state.timers.set_earlier((Due.LOWER, 0), core_state.now_us + core_state.times.retry_us)
        elif body.epoch and core_state.held_epoch(body.issuer) == body.epoch:  # perhaps the only path to its issuer
            towards = core_state.link_towards(body.issuer)
            if towards is not None and towards is not link:
                core_state.tell_refusal(core_state.takes(body.issuer, body.epoch), (towards.neighbour,))

    # --- effects of one part on the others

    def _moved(self, gained: frozenset[int], lost: frozenset[int]) -> None:
        core_state = self.core_state
        self._exchange.reachable = core_state.trees.routers
        if gained:
            core_state.timers.set_earlier((Due.DIGESTS, 0), core_state.now_us + core_state.times.base_wait_us)
        if lost or gained:
            self._advertiser.check()
            self._durables.check()

    def _forget(self, router: int) -> None:
        self._predicates.forget(router)

    def _unlearn(self, router: int, above: int) -> None:
        """Forget what is held of `router` if its epoch is later than `above`, the highest epoch that is valid now.
        Called when a statement of `router` with a valid epoch has arrived."""
        core_state = self.core_state
        version, state = core_state.rib.version(router), core_state.topology.states.get(router)
        if version is not None and version.epoch > above:
            core_state.install(router, {}, core_state.rib.forget(router))
        if state is not None and state.version.epoch > above:
            core_state.topology.forget(router)
        self._durables.unlearn(router, above)
        self._predicates.forget(router)
        core_state.forget_source(router)
        core_state.timers.set_earlier((Due.DIGESTS, 0), core_state.now_us + core_state.times.base_wait_us)

    # --- timers

    def _jump(self, _: int) -> None:
        """R9: state everything again, with a version newer than any that was received about this router."""
        core_state, before, who = self.core_state, self.epoch, self.core_state.identity.name
        heard = core_state.identity.newest_heard.epoch
        if core_state.identity.jump(core_state.now_us, core_state.epoch_validator.above(heard, core_state.now_us)):
            core_state.out.append(
                Alarm(f"another router keeps announcing itself as {who}: is the router id used twice?")
            )
        if before == self.epoch <= heard:
            core_state.out.append(
                Alarm(f"another router states the highest valid epoch of {who}, {heard}: no newer one can follow")
            )
            core_state.timers.set((Due.JUMP, 0), core_state.now_us + core_state.times.answer_every_us)
        self._speak_again(before)

    def _lower(self, _: int) -> None:
        """Lower this router's epoch if more than half of the neighbours refuse it because this clock was ahead at the
        start. The new epoch is one that they accept, and never below an epoch that any of them is known to hold."""
        core_state, before, epoch_validator = self.core_state, self.epoch, self.core_state.epoch_validator
        believed = epoch_validator.by_clock(0, core_state.now_us)
        least = core_state.identity.least(max(believed, epoch_validator.sure_ms(core_state.now_us) + DAY_MS))
        epoch = max(epoch_validator.clock_ms(core_state.now_us), least)
        refusing, neighbours = epoch_validator.refusing(before, core_state.now_us), core_state.links.by_neighbour.keys()
        if refusing == 0:
            return
        if 2 * refusing <= len(neighbours) or epoch > believed or epoch >= before:
            unknown = [neighbour for neighbour in neighbours if not epoch_validator.knows_clock(neighbour)]
            core_state.tell_refusal(core_state.takes(self.me, before), unknown)
            core_state.timers.set((Due.LOWER, 0), core_state.now_us + core_state.times.retry_us)
            return
        core_state.out.append(
            Alarm(f"the neighbours refuse epoch {before}, so this router now uses {epoch}: is its clock ahead?")
        )
        core_state.identity.lower(epoch)
        core_state.topology.forget(self.me)
        self._advertiser.holders.forget()
        self._durables.forget_confirmations()
        self._speak_again(before)

    def _speak_again(self, before: int) -> None:
        if self.epoch != before:
            self.core_state.out.append(RaiseEpoch(self.epoch))
        self._advertiser.say()
        self._states.say()
        self._durables.say()


_ON_EVENT: Final[dict[type, Callable[[Core, Any], None]]] = {
    LinkUp: lambda core, event: core._link_up(event),
    LinkDown: lambda core, event: core._link_down(event),
    Sent: lambda core, event: core._sent(event),
    Heard: lambda core, event: core._heard(event),
    FiltersAdded: lambda core, event: core._wanted(event),
    FiltersRemoved: lambda core, event: core._removed(event),
    Await: lambda core, event: core._await(event),
    Audit: lambda core, event: core._audit(event),
    SpacesStated: lambda core, event: core._spaces_stated(event),
    Compare: lambda core, event: core._compare(event),
    DurablesStated: lambda core, event: core._durables_stated(event),
    DurablesRecalled: lambda core, event: core._durables_recalled(event),
    DurablesStored: lambda core, event: core._durables_stored(event),
    AwaitDurables: lambda core, event: core._await_durables(event),
    ShuttingDown: lambda core, event: core._leave(event),
    Stalled: lambda core, event: core._stood(event),
    Tick: lambda core, event: core._tick(event),
}
_ON_BODY: Final[dict[type, Callable[[Core, Any, CoreLink], None]]] = {
    LinkState: lambda core, what, link: core._hear_state(what, link),
    ReceiverAdvertisement: lambda core, what, link: core._hear_advertisement(what, link),
    SenderRequest: lambda core, what, link: core._hear_request(what, link),
    UpdateReply: lambda core, what, link: core._hear_reply(what, link),
    Held: lambda core, what, link: core._hear_held(what, link),
    EpochRefused: lambda core, what, link: core._hear_refusal(what, link),
    SpaceStatement: lambda core, what, link: core._hear_space(what, link),
    DurablesStatement: lambda core, what, link: core._hear_durables(what, link),
    DurablesHeld: lambda core, what, link: core._hear_durables_held(what, link),
}
_ON_TIMER: Final[dict[Due, Callable[[Core, int], None]]] = {
    Due.ISSUE: lambda core, _: core._advertiser.consider(),
    Due.MORE: lambda core, _: core._advertiser.go_on(),
    Due.NARROW: lambda core, _: core._advertiser.narrow(),
    Due.CONFIRM: lambda core, _: core._advertiser.confirm_again(),
    Due.LINKS: lambda core, _: core._states.links_changed(),
    Due.REROUTE: lambda core, _: core._states.reroute(),
    Due.WAYS: lambda core, _: core._states.ways.tell(),
    Due.AGE: lambda core, router: core._states.age_out(router),
    Due.REQUEST: lambda core, neighbour: core._neighbours.periodic(neighbour),
    Due.NEWS: lambda core, neighbour: core._neighbours.ask_for_news(neighbour),
    Due.ASK: lambda core, neighbour: core._neighbours.ask_again(neighbour),
    Due.ANSWER: lambda core, neighbour: core._neighbours.answer_later(neighbour),
    Due.GAP: lambda core, issuer: core._neighbours.close_gap(issuer),
    Due.PENDING: lambda core, issuer: core._predicates.go_on(issuer),
    Due.COLLECT: lambda core, issuer: core._predicates.collect_on(issuer),
    Due.TIDY: lambda core, _: core._predicates.tidy(),
    Due.DIGESTS: lambda core, _: core._neighbours.send_digests(),
    Due.HELD: lambda core, _: core._predicates.say_held(),
    Due.DURABLES_ISSUE: lambda core, _: core._durables.consider(),
    Due.DURABLES_CONFIRM: lambda core, _: core._durables.confirm_again(),
    Due.DURABLES_LATE: lambda core, ticket: core._durables.late(ticket),
    Due.DURABLES_HELD: lambda core, _: core._durables.say_held(),
    Due.DURABLES_GAP: lambda core, issuer: core._durables.close_gap(issuer),
    Due.DURABLES_REPLACE: lambda core, issuer: core._durables.replace_on(issuer),
    Due.DURABLES_ASK: lambda core, neighbour: core._durables.compare_again(neighbour),
    Due.AUDIT: lambda core, request: core._audits.end(request),
    Due.JUMP: Core._jump,
    Due.LOWER: Core._lower,
}
