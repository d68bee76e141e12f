"""Leave out one rule of routing (docs/design/rules.md), to show the failures that it prevents.

Law: each break replaces one part or one method and lacks that rule alone; the product has no switch for it. Each has a
scenario in which it fails soon, and the invariants of which at least one must fail; tests check both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from tamis.protocol.residual import Program
from tamis.protocol.strategies import DEFAULT
from tamis.protocol.wire.custody_bodies import NO_LOG, LogLife
from tamis.protocol.wire.extensions import LinkKeys, RouterSet
from tamis.protocol.wire.home_bodies import DurablesStatement
from tamis.protocol.wire.numbers import NO_DIGEST
from tamis.protocol.wire.routing_bodies import ReceiverAdvertisement, SenderRequest, SpaceStatement
from tamis.router.core.commands import Install
from tamis.router.core.routing.forest import NO_FOREST, Forest
from tamis.router.core.routing.paths import Graph, Length, PathCache, edge_length
from tamis.router.core.routing.roots import Roots
from tamis.router.core.routing.trees import Broadcast, Trees, make_trees
from tamis.router.core.statements.advertiser import Advertiser
from tamis.router.core.statements.core_state import CoreState
from tamis.router.core.statements.cover import Cover
from tamis.router.core.statements.damper import Damper
from tamis.router.core.statements.durables import DurableTalks
from tamis.router.core.statements.edges.edges import Edges, Name
from tamis.router.core.statements.edges.held import HeldEdge
from tamis.router.core.statements.edges.places import EdgePlace
from tamis.router.core.statements.edges.said import SaidEdge
from tamis.router.core.statements.flood import Flood
from tamis.router.core.statements.freshness import Verdict, Version
from tamis.router.core.statements.identity import OwnFreshness
from tamis.router.core.statements.link_states import LinkStates
from tamis.router.core.statements.links import CoreLink
from tamis.router.core.statements.neighbours import NeighbourTalks
from tamis.router.core.statements.own_predicate import Issue, OwnPredicate
from tamis.router.core.statements.rib import AppliedChange, Rib
from tamis.router.core.statements.route_loss import RouteLoss
from tamis.router.core.statements.spaces import SpaceTalks
from tamis.router.core.timers import Due
from tamis.router.core.times import MS
from tamis.simulate.nodes.direction import Direction, Frame
from tamis.simulate.nodes.programs import Programs
from tamis.simulate.nodes.run_parts import RunParts
from tamis.simulate.twin.forwarder import Forwarder, TransitId
from tamis.simulate.twin.group_choice import Choices, Weights
from tamis.simulate.twin.windows import EntryVerdict, PublisherWindows, Run

SLOW_US: Final = 3_000 * MS
"""The time that a slow edge takes for a full statement: longer than trees stay in force beside the next ones (R5b)."""

SLOW_TREES_US: Final = 1_000 * MS


class Undamped(Advertiser):
    """R1 left out: every change is advertised at once."""

    def __init__(self, core_state: CoreState, own: OwnPredicate) -> None:
        super().__init__(core_state, own)
        self._damper = Damper(0)


class Credulous(Rib):
    """R2 left out: the latest statement is accepted, and a change is applied to any base."""

    def judge(self, issuer: int, version: Version, digest: bytes) -> Verdict:
        known = super().judge(issuer, version, digest)
        return Verdict.NEWER if known is Verdict.OLDER else known

    def apply(self, change: ReceiverAdvertisement | DurablesStatement) -> AppliedChange:
        if change.issuer not in self.entries:
            self.replace(change.issuer, Version(0, 0), NO_DIGEST, {})
        held = self.entries[change.issuer]
        removed = tuple(id_ for id_ in change.removed if held.filters.pop(id_, None) is not None)
        held.filters.update(change.added)
        self.restate(change.issuer, Version(change.epoch, change.seq), change.digest, held.size)
        return AppliedChange(dict(change.added), removed)


class Whispering(Flood):
    """R3 left out: statements of a neighbour are not forwarded."""

    def is_fresh(self, issuer: int, version: Version) -> bool:
        super().is_fresh(issuer, version)
        return False


class Incurious(NeighbourTalks):
    """R4 left out: a link that comes up is used without comparing the state of both ends."""

    def up(self, neighbour: int, session: int, cost: int, version: int, knows_durables: bool = True) -> None:
        link = self._core_state.links.up(neighbour, session, cost, version, knows_durables)
        if link is not None:
            link.is_synced = True
            self._states.links_changed()
            self._plan_request(neighbour)

    def send_digests(self) -> None:
        pass


class Opinionated(Graph):
    """R5 left out: among paths of equal cost, each router prefers a different one."""

    whose: int = 0

    @cached_property
    def lengths(self) -> dict[int, tuple[tuple[int, Length], ...]]:
        return {
            router: tuple(
                (other, edge_length(router ^ self.whose, other ^ self.whose, cost))
                for other, cost in sorted(costs.items())
            )
            for router, costs in self.neighbours.items()
        }


def opinionated_trees(broadcast: Broadcast, graph: Graph, me: int, _: PathCache, coarse: bool) -> Trees:
    own = Opinionated(graph.neighbours, graph.digest)
    object.__setattr__(own, "whose", me)
    return make_trees(broadcast, own, me, PathCache(), coarse)


class Abrupt(Forwarder):
    """R5b left out: old trees are dropped when new ones are made."""

    def reroute(self, trees: Trees, now_us: int, is_whole: bool = True, forest: Forest = NO_FOREST) -> None:
        self._generations.clear()
        super().reroute(trees, now_us, is_whole, forest)


class Overtaking(Forwarder):
    """R5c left out: a message on a new path does not wait for messages on the old one."""

    def must_wait(self, *_: object) -> bool:
        return False


class Indiscriminate(Forwarder):
    """R6 left out: a message is sent to all children, with or without matching filters."""

    def departures(
        self, source: int, matched: Collection[int], _: int, came_from: int | None = None, root: int | None = None
    ) -> tuple[int, ...]:
        children = next((trees.children(source) for trees in self._trees(root)), ())
        return tuple(child for child in children if child != came_from) if matched else ()


class Hasty(OwnPredicate):
    """R7 left out: a filter without subscribers is withdrawn at once."""

    def __init__(self, _: int, cover: Cover) -> None:
        super().__init__(0, cover)


class Hoarding(LinkStates):
    """R8 left out: the state of unreachable routers is stored forever."""

    def age_out(self, router: int) -> None:
        pass


class Humble(OwnFreshness):
    """R9 left out: a router that receives newer statements about itself makes no newer ones."""

    def jump(self, now_us: int, most: int = 0) -> bool:  # noqa: ARG002 - the signature is the identity's
        self._jumps.append(now_us)
        return False


class Trusting(NeighbourTalks):
    """R10 left out: no router checks whether it missed a statement."""

    def periodic(self, neighbour: int) -> None:
        pass

    def close_gap(self, issuer: int) -> None:
        pass


class Forgetful(PublisherWindows):
    """R11 left out: no router remembers earlier messages."""

    def enter(self, publisher: int, counter: int) -> EntryVerdict:  # noqa: ARG002 - the signature is the windows'
        return EntryVerdict.NEW

    def fresh(self, publisher: int, counter: int) -> bool:  # noqa: ARG002 - the signature is the windows'
        return True


class OneRun(PublisherWindows):
    """R11b left out: a message older than the last counters of its publisher counts as seen, even one of another start
    of the publisher."""

    def _run_of(self, runs: list[Run], counter: int) -> Run | None:  # noqa: ARG002 - the signature is the windows'
        return runs[0] if runs else None


class Sudden(LinkStates):
    """R15 left out: a router stops without announcing it."""

    def leave(self) -> None:
        pass


class OneLane(Direction):
    """R12 left out: control is queued behind data."""

    def _queue(self, frame: Frame) -> bool:
        self._data.append(frame)
        self._data_bytes += frame.size
        self._wait_for_turn()
        return True


class Untold(RouteLoss):
    """R14 left out: clients are not notified of broken paths."""

    def tell(self) -> None:
        pass


class Reticent(LinkStates):
    ways_of = Untold


class ChoosingAnew(Forwarder):
    """R16 left out: every router on the path chooses, by its own state."""

    def choices(self, transit: TransitId, members: Mapping[int, Weights], _: Choices | None) -> Choices:
        return super().choices(transit, members, None)


class Gullible(Forwarder):
    """R13 left out: every set is used, even one made from different tables."""

    def believed(self, stated: RouterSet | None) -> frozenset[int] | None:
        return None if stated is None else self.tables.read(stated.members)


class Naive(Forwarder):
    """R13b left out: keys are used whatever tables and routes they are of."""

    def may_use(self, stated: LinkKeys | None) -> bool:  # noqa: ARG002 - the signature is the forwarder's
        return True


class Secretive(SpaceTalks):
    """R17 left out: statements of a neighbour about spaces are stored, but neither forwarded nor compared."""

    def hear(self, statement: SpaceStatement, came_from: int) -> None:  # noqa: ARG002 - the signature is the talks'
        if self._take(statement):
            self._check_by()

    def differs(self, *_: object) -> bool:
        return False


class Discreet(DurableTalks):
    """R19 left out: statements of a neighbour about durable subscriptions are stored, but neither forwarded nor
    compared."""

    def _pass_on(self, body: DurablesStatement, but: int) -> None:
        pass

    def compare(self, request: SenderRequest, link: CoreLink) -> None:
        pass


class Boastful(DurableTalks):
    """R19b left out: a statement is confirmed before it is stored."""

    def _take(self, body: DurablesStatement, is_fresh: bool) -> None:
        super()._take(body, is_fresh)
        version = Version(body.epoch, body.seq)
        if self._known.rib.version(body.issuer) == version:
            self.stored(body.issuer, version, NO_LOG)


class Unread(DurableTalks):
    """R19c left out: a router that starts does not read what its log has of others."""

    def recall(self, statements: Iterable[DurablesStatement], written: LogLife) -> None:
        pass


class Impatient(DurableTalks):
    """R19d left out: confirmation is requested again for clients that wait, and for nothing else."""

    def confirm_again(self) -> None:
        if len(self.holders):
            super().confirm_again()


class Withdrawn(DurableTalks):
    """R19e left out: a router without durable subscriptions states nothing."""

    def consider(self) -> None:
        if self._wanted_size or self._changes or self.holders.wants_issue:
            super().consider()


class Slow(SaidEdge):
    """Simulates an edge with very many filters, whose full statement takes seconds. It breaks no rule."""

    _until_us = 0

    def begin(self) -> None:
        self._until_us = self._until_us if self._is_full_due else self._core_state.now_us + SLOW_US
        super().begin()

    def _may_go(self) -> bool:
        if self._core_state.now_us < self._until_us:
            self._core_state.timers.set_earlier((Due.EDGE_SAY, self.place.neighbour), self._until_us)
            return False
        return super()._may_go()


class SlowEdges(Edges):
    said_of = Slow


class Trustful(SlowEdges):
    """E3 left out: an incomplete edge counts as complete."""

    def _guard(self, held: HeldEdge) -> None:
        pass


class Faithful(HeldEdge):
    """E4 left out: statements of an earlier session are used in the next one."""

    def is_said_in(self, session: int) -> bool:  # noqa: ARG002 - the signature is the edge's
        return self.is_answered


class FaithfulEdges(Edges):
    held_of = Faithful


class Hesitant(SaidEdge):
    """E5 left out: additions are damped at each hop, like removals at their issuer."""

    _until_us = 0

    def _may_go(self) -> bool:
        core_state = self._core_state
        self._until_us = self._until_us or core_state.now_us + core_state.times.damp_narrow_max_us
        if self.is_complete and core_state.now_us < self._until_us:
            core_state.timers.set_earlier((Due.EDGE_SAY, self.place.neighbour), self._until_us)
            return False
        self._until_us = 0
        return True


class HesitantEdges(Edges):
    said_of = Hesitant


class Settled(Edges):
    """E6 left out: an edge keeps its statements when the routers behind it change."""

    _last: Mapping[Name, HeldEdge] = {}

    def _follow_held(self, places: dict[Name, EdgePlace]) -> None:
        self._last = dict(self.held)
        super()._follow_held(places)

    def _revived(self, place: EdgePlace) -> HeldEdge:
        held, last = super()._revived(place), self._last.get((place.root, place.neighbour))
        if last is not None and not held.filters:
            held.filters, held.session = dict(last.filters), last.session
            held.is_answered, held.is_complete = last.is_answered, last.is_complete
            held.epoch, held.seq, held.digest = last.epoch, last.seq, last.digest
            self._core_state.out.append(Install(held.number, dict(held.filters), ()))
        return held


class RemovingFirst(SaidEdge):
    """E7 left out: a filter is withdrawn at once, and those that it covered are stated when damping allows it."""

    _until_us = 0

    def _may_go(self) -> bool:
        if self._core_state.now_us < self._until_us:
            self._core_state.timers.set_earlier((Due.EDGE_SAY, self.place.neighbour), self._until_us)
            return False
        return super()._may_go()

    def _next_change(self) -> Issue:
        wanted = self.wanted
        if self._ahead is not None or not (wanted._gone and wanted._fresh):
            return super()._next_change()
        fresh, wanted._fresh = wanted._fresh, {}
        change = wanted.issue()
        wanted._fresh = fresh
        self._until_us = self._core_state.now_us + self._core_state.times.damp_narrow_max_us
        return change


class RemovingEdges(Edges):
    said_of = RemovingFirst


class SelfWilled(Roots):
    """E9 left out: each router uses itself as the root of every class, whatever root the others use."""

    def _choose(self, reach: Collection[int]) -> tuple[int, ...]:
        return tuple(self._me for _ in super()._choose(reach))


class Hurried(Roots):
    """E10 left out: messages name a root as soon as it is chosen, before other routers know it."""

    def named(self, now_us: int) -> tuple[int, ...]:  # noqa: ARG002 - the signature is that of the part
        return self.chosen

    def next_us(self, now_us: int) -> int | None:  # noqa: ARG002 - as above
        return None


class Heedless(Programs):
    """R20 left out: a router delivers whatever filters match."""

    def at_router(self, router: int, program: Program | None, contents: int) -> int:  # noqa: ARG002 - the signature is that of the part
        return contents


class Relying(Programs):
    """R20b left out: the client of a router that runs no programs leaves them to it."""

    def at_client(self, router: int, program: Program | None, contents: int) -> int:  # noqa: ARG002 - the signature is that of the part
        return contents


@dataclass(frozen=True, slots=True)
class Break:
    apply: Callable[[RunParts], RunParts]
    invariants: frozenset[int]
    """The invariants of which at least one must fail."""
    topology: str
    operations: int
    faults: str
    strategy: str = DEFAULT.name
    """The strategy of a run in which the rule matters."""


def _part(**parts: Any) -> Callable[[RunParts], RunParts]:  # noqa: ANN401 - the fields of CoreParts have their types
    return lambda kit: replace(kit, parts=replace(kit.parts, **parts))


def _piece(**pieces: Any) -> Callable[[RunParts], RunParts]:  # noqa: ANN401 - the fields of RunParts have their types
    return lambda kit: replace(kit, **pieces)


def _of_programs(kind: type[Programs]) -> Callable[[RunParts], RunParts]:
    return lambda kit: replace(kit, programs=kind(kit.programs.without))


def slow_to_reroute(kit: RunParts) -> RunParts:
    """Delay the trees after a second change of the topology by a second, which is within the hold."""
    times = replace(kit.settings.times, reroute_every_us=SLOW_TREES_US)
    return replace(kit, settings=replace(kit.settings, times=times))


def hurried_and_slow(kit: RunParts) -> RunParts:
    return slow_to_reroute(_part(roots=Hurried)(kit))


BREAKS: Final[dict[str, Break]] = {
    "R1": Break(_part(advertiser=Undamped), frozenset({9}), "random:6", 200, "none"),
    "R2": Break(_part(rib=Credulous), frozenset({4, 5, 8}), "ring:8", 300, "stall,reset"),
    "R3": Break(_part(flood=Whispering), frozenset({1, 4}), "random:8", 100, "none"),
    "R4": Break(_part(neighbours=Incurious), frozenset({1, 4}), "random:8", 200, "partition"),
    "R5": Break(_part(make_trees=opinionated_trees), frozenset({1, 4}), "grid:9", 100, "none"),
    "R5b": Break(_piece(forwarder=Abrupt), frozenset({1}), "random:12", 600, "cut,add"),
    "R5c": Break(_piece(forwarder=Overtaking), frozenset({14}), "ring:6", 100, "add"),
    "R6": Break(_piece(forwarder=Indiscriminate), frozenset({6}), "random:8", 100, "none"),
    "R7": Break(_part(own=Hasty), frozenset({9}), "random:8", 300, "none"),
    "R8": Break(_part(link_states=Hoarding), frozenset({7}), "random:8", 50, "none"),
    "R9": Break(_part(identity=Humble), frozenset({1, 4}), "random:6", 400, "crash,jump"),
    "R10": Break(_part(neighbours=Trusting), frozenset({1, 4}), "random:8", 300, "lose"),
    "R11": Break(_piece(windows=Forgetful), frozenset({2}), "random:8", 100, "none"),
    "R11b": Break(_piece(windows=OneRun), frozenset({1}), "random:8", 100, "rewind"),
    "R12": Break(_piece(direction=OneLane), frozenset({9}), "random:8", 300, "none"),
    "R13": Break(_piece(forwarder=Gullible), frozenset({1, 6}), "random:8", 300, "crash", "advertise-destinations"),
    "R13b": Break(_piece(forwarder=Naive), frozenset({1, 6}), "random:12", 600, "cut,add", "advertise-keys"),
    "R14": Break(_part(link_states=Reticent), frozenset({13}), "random:8", 300, "cut,crash"),
    "R15": Break(_part(link_states=Sudden), frozenset({1}), "grid:9", 300, "leave"),
    "R16": Break(_piece(forwarder=ChoosingAnew), frozenset({15}), "random:8", 100, "groups"),
    "R17": Break(_part(spaces=Secretive), frozenset({4}), "random:8", 100, "spaces"),
    "R19": Break(_part(durables=Discreet), frozenset({4}), "random:8", 100, "durables"),
    "R19b": Break(_part(durables=Boastful), frozenset({17}), "random:8", 200, "durables"),
    "R19c": Break(_part(durables=Unread), frozenset({17}), "random:8", 300, "durables,crash"),
    "R19d": Break(_part(durables=Impatient), frozenset({17}), "random:8", 300, "durables,crash"),
    "R19e": Break(_part(durables=Withdrawn), frozenset({17}), "random:12", 100, "durables,crash"),
    "R20": Break(_of_programs(Heedless), frozenset({3}), "random:6", 100, "programs"),
    "R20b": Break(_of_programs(Relying), frozenset({3}), "random:6", 100, "programs"),
    "E3": Break(_part(edges=Trustful), frozenset({1}), "ring:6", 200, "cut,crash", "profile"),
    "E4": Break(_part(edges=FaithfulEdges), frozenset({1, 4}), "ring:6", 200, "reset", "profile"),
    "E5": Break(_part(edges=HesitantEdges), frozenset({1}), "line:4", 200, "none", "profile"),
    "E6": Break(_part(edges=Settled), frozenset({1, 4}), "ring:6", 200, "cut,crash", "profile"),
    "E7": Break(_part(edges=RemovingEdges), frozenset({1}), "line:6", 300, "none", "profile"),
    "E9": Break(_part(roots=SelfWilled), frozenset({1, 4}), "ring:6", 100, "none", "rendezvous"),
    "E10": Break(hurried_and_slow, frozenset({1, 13}), "ring:6", 300, "leave,add", "rendezvous"),
}
