"""R5, R8: the part that sends and receives link states, and makes the trees that messages take.

Law: this router states the links that are in force (R4): a lost link is left out at once, a new one is added with
damping; a router that is shutting down states none (R15). Trees follow the graph, with a least time between two sets.
State of an unreachable router is kept for a while and then forgotten, as if the router had never existed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final

from tamis.protocol.wire.numbers import links_digest, stable_number
from tamis.protocol.wire.routing_bodies import Adjacency, LinkState
from tamis.router.core.commands import Alarm, Reroute
from tamis.router.core.routing.paths import Graph
from tamis.router.core.routing.trees import Trees
from tamis.router.core.statements.core_state import CoreState
from tamis.router.core.statements.damper import Damper
from tamis.router.core.statements.freshness import Verdict, Version
from tamis.router.core.statements.layouts import DEFAULT, disagreement
from tamis.router.core.statements.links import CoreLink
from tamis.router.core.statements.route_loss import RouteLoss
from tamis.router.core.timers import Due

NEVER: Final = -(2**62)


class LinkStates:
    """State this router's links, and follow those of the others. `layout` is stated with the links; `make_trees` is
    called with a graph and whether messages use this layout, because all routers in reach have it; `moved` with the
    routers that became reachable and those that became unreachable; `forget` with a router that is forgotten."""

    ways_of: ClassVar[type[RouteLoss]] = RouteLoss

    def __init__(
        self,
        core_state: CoreState,
        layout: str,
        make_trees: Callable[[Graph, bool], Trees],
        moved: Callable[[frozenset[int], frozenset[int]], None],
        forget: Callable[[int], None],
    ) -> None:
        self._core_state = core_state
        self._layout = layout
        self._make_trees = make_trees
        self._moved = moved
        self._forget = forget
        self._damper = Damper(core_state.times.damp_first_us)
        self._said: dict[int, Adjacency] = {}
        self._made_of: tuple[bytes | int, bool] | None = None
        """The digest of the graph that the trees were made of, and whether messages use this layout."""
        self._told = ""
        self._rerouted_us = NEVER
        self._left_us: dict[int, int] = {}  # routers that have shut down gracefully -> since when
        self.ways = self.ways_of(core_state)
        self._is_leaving = False

    # --- statements of this router

    def say(self) -> None:
        """State the present links, even if they are stated already."""
        core_state = self._core_state
        self._said = self._links()
        links, layout = tuple(self._said.values()), self._layout
        body = LinkState(core_state.identity.name, *core_state.identity.next(), links, layout, self._is_leaving)
        core_state.topology.hear(body)
        core_state.flood(body)
        self.follow()

    def leave(self) -> None:
        """State no links from now on: others route around this router, which forwards by its last trees for their hold
        (R5b)."""
        self._is_leaving = True
        self.say()

    def _links(self) -> dict[int, Adjacency]:
        synced = () if self._is_leaving else self._core_state.links.synced
        return {link.neighbour: _adjacency(link) for link in synced}

    def links_changed(self) -> None:
        core_state = self._core_state
        links = self._links()
        if links == self._said:
            return
        if not self._said.items() <= links.items():
            self.say()
            return
        ready_us = self._damper.ready_us(core_state.times.topology_damp_max_us)
        if ready_us <= core_state.now_us:
            self._damper.issued(core_state.now_us, core_state.times.topology_damp_max_us)
            self.say()
        else:
            core_state.timers.set_earlier((Due.LINKS, 0), ready_us)

    # --- statements of others

    def hear(self, body: LinkState, came_from: int) -> None:
        core_state = self._core_state
        issuer = stable_number(body.issuer)
        if not core_state.believes(issuer, body.epoch, came_from):
            return
        if issuer == core_state.me:
            self._hear_of_me(body)
            return
        if not core_state.has_room_for(issuer):
            return
        verdict = core_state.topology.hear(body)
        if verdict is Verdict.NEWER:
            core_state.flood(body, came_from)
            self.follow()
        elif verdict is Verdict.OLDER and core_state.is_corrected(issuer, body.epoch, came_from):
            core_state.send(core_state.links.by_neighbour[came_from], core_state.topology.states[issuer].body)
        elif verdict is Verdict.CONFLICT:
            core_state.tell_issuer(issuer, core_state.topology.states[issuer].body, body)

    def _hear_of_me(self, body: LinkState) -> None:
        core_state = self._core_state
        mine = core_state.topology.states[core_state.me]
        heard = Version(body.epoch, body.seq)
        if heard > mine.version or (heard == mine.version and links_digest(body.links) != mine.digest):
            core_state.hear_of_me(heard)

    # --- trees

    def follow(self) -> None:
        """Make trees of the graph if it may have changed: now, or once the least time has passed."""
        core_state = self._core_state
        self.ways.ended(core_state.topology.take_ended(self._staying()))
        if not core_state.topology.has_changed and self._made_of is not None:
            return
        ready_us = self._rerouted_us + core_state.times.reroute_every_us
        if ready_us <= core_state.now_us:
            self.reroute()
        else:
            core_state.timers.set_earlier((Due.REROUTE, 0), ready_us)

    def _staying(self) -> set[int]:
        """Return the routers that shut down gracefully and still have their sessions: they forward for the hold
        (R15)."""
        core_state = self._core_state
        left_us = {router: self._left_us.get(router, core_state.now_us) for router in core_state.topology.graceful}
        self._left_us = left_us
        return {
            router for router, then_us in left_us.items() if core_state.now_us - then_us < core_state.times.tree_hold_us
        }

    def reroute(self) -> None:
        core_state = self._core_state
        trees, forest, graph = core_state.trees, core_state.forest, core_state.topology.graph
        is_own = self._is_agreed(graph) or self._layout == DEFAULT
        if (graph.digest, is_own) == self._made_of:
            return
        self._made_of, self._rerouted_us = (graph.digest, is_own), core_state.now_us
        core_state.trees = self._make_trees(graph, is_own)
        is_whole = self.ways.rerouted(trees, core_state.topology.graceful, forest)
        core_state.out.append(Reroute(core_state.trees, is_whole, core_state.forest))
        gained, lost = core_state.trees.routers - trees.routers, trees.routers - core_state.trees.routers
        for router in sorted(gained):
            core_state.timers.cancel((Due.AGE, router))
        for router in sorted(lost):
            core_state.timers.set((Due.AGE, router), core_state.now_us + core_state.times.age_out_us)
        self._moved(gained, lost)
        if self._layout != DEFAULT and any(core_state.topology.layout_of(router) == DEFAULT for router in lost):
            self.say()  # such a router may run an earlier release, which forwards states without their layouts

    def _is_agreed(self, graph: Graph) -> bool:
        """Return whether all routers in reach have this router's layout; an alarm lists those that have another."""
        topology, me = self._core_state.topology, self._core_state.me
        differing: list[int] = []
        if topology.layouts.keys() - {self._layout}:
            differing = [each for each in graph.component(me) - {me} if topology.layout_of(each) != self._layout]
        told = disagreement(self._layout, [(topology.name_of(each), topology.layout_of(each)) for each in differing])
        if differing and told != self._told:
            self._core_state.out.append(Alarm(told))
        self._told = told if differing else ""
        return not differing

    def age_out(self, router: int) -> None:
        """R8: forget `router`, which has been unreachable for long enough."""
        core_state = self._core_state
        removed = core_state.rib.forget(router)
        if removed:
            core_state.install(router, {}, removed)
        core_state.topology.forget(router)
        core_state.forget_source(router)
        self.ways.forget(router)
        self._forget(router)

    def keep_for_a_while(self, router: int) -> None:
        """Start the timer AGE of `router`, about which a statement has arrived, if it is unreachable and the timer is
        not running."""
        core_state = self._core_state
        if router not in core_state.trees.routers and (Due.AGE, router) not in core_state.timers:
            core_state.timers.set((Due.AGE, router), core_state.now_us + core_state.times.age_out_us)


def _adjacency(link: CoreLink) -> Adjacency:
    return Adjacency(link.neighbour, link.session, link.cost)
