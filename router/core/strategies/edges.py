"""The family `edges`, and its strategy `profile`: profile forwarding of paper 003, guarded to be correct on any graph
and through failures.

Law: while all routers in reach have this layout, messages use one tree and the statements of neighbours about its edges
(`statements/edges/`). To routers of other families each router states that it wants everything: where layouts differ,
all routers use source trees and messages to routers of this family go everywhere, which is costly and correct. Filters
of worker groups are stated to all routers separately, as in every strategy (R16).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import ClassVar, Final, cast

from tamis.protocol.wire.edge_bodies import EdgeHeld, EdgeRequest, EdgeStatement
from tamis.protocol.wire.routing_bodies import SenderRequest, group_of
from tamis.router.core.commands import Command, Install, Reached
from tamis.router.core.core import Core, CoreParts, CoreSettings
from tamis.router.core.epochs import no_clock
from tamis.router.core.events import Await, FiltersAdded, FiltersRemoved, Heard, LinkDown, LinkUp, Sent
from tamis.router.core.figures import Figures
from tamis.router.core.routing.paths import Graph, PathCache
from tamis.router.core.routing.trees import Trees
from tamis.router.core.statements.cover import NoIndex
from tamis.router.core.statements.edges.edges import PACKED_EVERYTHING, EdgePolicy, Edges, Says, every_class
from tamis.router.core.statements.edges.held import HeldEdge
from tamis.router.core.statements.edges.places import EdgePlace, EdgeTrees, TreesOfAll, everything_of
from tamis.router.core.statements.edges.said import SaidEdge
from tamis.router.core.statements.edges.storing import Marking
from tamis.router.core.statements.layouts import EDGES
from tamis.router.core.statements.links import CoreLink
from tamis.router.core.statements.own_predicate import OwnPredicate
from tamis.router.core.strategies.flood import AlwaysEverything
from tamis.router.core.strategies.link_matching import NoCover
from tamis.router.core.timers import Due

USUAL_SETTINGS: Final = CoreSettings()
USUAL_PARTS: Final = CoreParts()
PROFILE: Final = EdgePolicy(up=Says.AGGREGATE, down=Says.AGGREGATE)


class EverythingApart:
    """Puts the statements of routers that they want everything under numbers of their own, which are below no path by
    edges. An id may have had another filter before, and may get another one afterwards."""

    def __init__(self) -> None:
        self._ids: dict[int, set[int]] = {}
        """Maps a router to the ids of its filters that match everything."""

    def __call__(self, install: Install) -> Iterator[Install]:
        issuer, apart = install.issuer, self._ids.get(install.issuer, set())
        everything = {id_: packed for id_, packed in install.added.items() if packed == PACKED_EVERYTHING}
        others = {id_: packed for id_, packed in install.added.items() if id_ not in everything}
        gone = tuple([id_ for id_ in (*install.removed, *others) if id_ in apart])
        if left := (apart | everything.keys()).difference(gone):
            self._ids[issuer] = left
        else:
            self._ids.pop(issuer, None)
        if everything:
            yield Install(everything_of(issuer), everything, ())
        removed = tuple([id_ for id_ in install.removed if id_ not in apart])
        if others or removed:
            yield replace(install, added=others, removed=removed)
        if new := {id_: packed for id_, packed in everything.items() if id_ not in apart}:
            yield Install(issuer, new, ())  # replaces an earlier filter of this id, in order to remove it
            yield Install(issuer, {}, tuple(new))
        if gone:
            yield Install(everything_of(issuer), {}, gone)


class EdgeCore(Core):
    """A core that states the interest behind edges of one tree (`profile`). With `is_preventive`, covered filters are
    sent, too (E7). `policy` defines the statements up and down."""

    family: ClassVar[str] = EDGES
    policy: ClassVar[EdgePolicy] = PROFILE

    def __init__(
        self,
        name: str,
        epoch: int,
        settings: CoreSettings = USUAL_SETTINGS,
        paths: PathCache | None = None,
        parts: CoreParts = USUAL_PARTS,
        unix_ms: Callable[[], int] = no_clock,
        is_preventive: bool = False,
    ) -> None:
        self.edges: Edges | None = None
        hold_us = settings.times.narrow_hold_us
        super().__init__(name, epoch, settings, paths, replace(parts, own=AlwaysEverything, cover=NoCover), unix_ms)
        self.core_state.placed = EverythingApart()

        def predicate() -> OwnPredicate:
            cover = parts.cover(parts.index())
            return OwnPredicate(0, Marking(cover) if is_preventive else cover)

        own_cover = NoCover(NoIndex()) if settings.merge is None else parts.cover(parts.index())
        own = parts.own(hold_us, own_cover)
        self.edges = parts.edges(
            self.core_state, own, predicate, self.policy, self._reached_by_edges, self._classes_of(settings)
        )
        self._neighbours.known_edges = self.edges.known
        self._tickets: dict[int, int] = {}
        """Maps a ticket to the number of replies it still needs: that of the edges, and that of the routers that choose
        members."""
        self._has_groups = False

    def _take_trees(self, trees: Trees, graph: Graph, is_by_layout: bool) -> Trees:
        taken, followed = self._edge_trees(trees, graph) if is_by_layout else (TreesOfAll(trees), ())
        if self.edges is not None:
            self.edges.follow(followed)
        return taken

    def _edge_trees(self, trees: Trees, graph: Graph) -> tuple[Trees, tuple[EdgeTrees, ...]]:  # noqa: ARG002
        """Return the trees of messages that name no root, and the trees with statements about their edges."""
        taken = EdgeTrees(trees, min(trees.routers))
        return taken, (taken,)

    def _classes_of(self, settings: CoreSettings) -> Callable[[bytes], int]:  # noqa: ARG002 - a strategy may use them
        """Return a function that returns which classes of messages a filter concerns."""
        return every_class

    @property
    def _edges(self) -> Edges:
        assert self.edges is not None  # noqa: S101 - made before the first event
        return self.edges

    @property
    def held_edges(self) -> Collection[HeldEdge]:
        """The statements held of the edges of the trees in force."""
        return self._edges.held.values()

    @property
    def said_edges(self) -> Collection[SaidEdge]:
        """The statements sent about the edges of the trees in force."""
        return self._edges.said.values()

    @property
    def edge_trees(self) -> tuple[EdgeTrees, ...]:
        """The trees with statements about their edges; empty while messages do not use edges."""
        return self._edges.trees

    @property
    def own_filters(self) -> Mapping[int, bytes]:
        """The filters that this router states for its own clients, by their ids; those of worker groups apart."""
        return self._edges.interest.filters

    def held_of(self, place: EdgePlace) -> HeldEdge | None:
        """Return the statement held of an edge; None: its strategy has none, as all messages go there."""
        return self._edges.held.get((place.root, place.neighbour))

    def said_of(self, place: EdgePlace) -> SaidEdge | None:
        """Return the statement sent about an edge; None: its strategy has none, or the link is down."""
        return self._edges.said.get((place.root, place.neighbour))

    def number_towards(self, router: int) -> int | None:
        """Return the number of the edge that messages towards `router` use; None: they do not use edges."""
        way = self.core_state.trees.next_hop(router)
        return next((each.number for each in self.held_edges if each.place.neighbour == way), None)

    @property
    def has_work(self) -> bool:
        return super().has_work or self._edges.has_work

    def work(self, now_us: int) -> list[Command]:
        self.core_state.now_us = now_us
        self._edges.work()
        return super().work(now_us)

    def figures(self) -> Figures:
        figures = super().figures()
        more = {what: count for what, count in self._edges.unfinished.items() if count}
        return figures._replace(unfinished={**figures.unfinished, **more})

    def _done(self) -> list[Command]:
        """Return the commands that are due, without replies that the edges have not confirmed yet."""
        return [each for each in super()._done() if not isinstance(each, Reached) or self._is_answered(each.ticket)]

    def _is_answered(self, ticket: int) -> bool:
        self._tickets[ticket] -= 1
        if self._tickets[ticket]:
            return False
        del self._tickets[ticket]
        return True

    def _reached_by_edges(self, ticket: int) -> None:
        self.core_state.out.append(Reached(ticket))

    # --- events

    def _link_up(self, event: LinkUp) -> None:
        super()._link_up(event)
        self._edges.link_changed(event.neighbour)

    def _link_down(self, event: LinkDown) -> None:
        super()._link_down(event)
        self._edges.link_changed(event.neighbour)

    def _sent(self, event: Sent) -> None:
        super()._sent(event)
        self._edges.consider(event.neighbour)

    def _wanted(self, event: FiltersAdded) -> None:
        of_groups = tuple([packed for packed in event.filters if group_of(packed)])
        self._has_groups |= bool(of_groups)
        if of_groups:
            self._advertiser.wanted(of_groups, None)
        self._edges.interest.wanted(tuple([packed for packed in event.filters if not group_of(packed)]))
        if event.ticket is not None:
            self._await(Await(event.ticket))

    def _removed(self, event: FiltersRemoved) -> None:
        of_groups = tuple([packed for packed in event.filters if group_of(packed)])
        if of_groups:
            self._advertiser.unwanted(of_groups)
        self._edges.interest.unwanted(tuple([packed for packed in event.filters if not group_of(packed)]))

    def _await(self, event: Await) -> None:
        self._tickets[event.ticket] = 1 + self._has_groups
        if self._has_groups:
            self._advertiser.awaited(event.ticket)
        self._edges.awaited(event.ticket)

    def _heard(self, event: Heard) -> None:
        hear = _ON_EDGE_BODY.get(type(event.body))
        link = self.core_state.links.current(event.neighbour, event.session)
        if hear is None:
            super()._heard(event)
        elif link is not None:
            hear(self._edges, event.body, link)

    def _hear_request(self, body: SenderRequest, link: CoreLink) -> None:
        super()._hear_request(body, link)
        self._edges.compare(body.edges, link)

    def _due(self, kind: Due, about: int) -> None:
        do = _ON_EDGE_TIMER.get(kind)
        if do is None:
            super()._due(kind, about)
        else:
            do(self._edges, about)


_ON_EDGE_BODY: Final = cast(
    "Mapping[type, Callable[[Edges, object, CoreLink], None]]",
    {EdgeStatement: Edges.heard, EdgeHeld: Edges.held_by, EdgeRequest: Edges.requested},
)
_ON_EDGE_TIMER: Final[Mapping[Due, Callable[[Edges, int], None]]] = {
    Due.EDGE_ISSUE: lambda edges, _: edges.interest.consider(),
    Due.EDGE_NARROW: lambda edges, _: edges.interest.narrow(),
    Due.EDGE_SAY: lambda edges, neighbour: edges.consider(neighbour),
    Due.EDGE_ASK: lambda edges, number: edges.ask_again(number),
    Due.EDGE_FORGET: lambda edges, _: edges.forget(),
    Due.EDGE_CONFIRM: lambda edges, _: edges.confirm_again(),
}
