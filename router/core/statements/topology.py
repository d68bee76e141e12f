"""R5, first half: the links between routers, as both ends state them.

Law: an edge counts if both ends list it, at the larger of the two costs. The graph is made of nothing else: routers
with equal link states have equal graphs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

from tamis.protocol.wire import numbers
from tamis.protocol.wire.numbers import links_digest, stable_number
from tamis.protocol.wire.routing_bodies import Adjacency, LinkState
from tamis.router.core.routing.paths import Graph
from tamis.router.core.statements.freshness import Verdict, Version, judge


class LinkStateHeld(NamedTuple):
    """The held link state of one router."""

    version: Version
    digest: bytes
    body: LinkState


class KnownLinks:
    def __init__(self) -> None:
        self.states: dict[int, LinkStateHeld] = {}
        """Maps an issuer to its link state; read by all parts, written here alone."""
        self.digest = numbers.NO_DIGEST
        """The sum over all states, updated with every change."""
        self._graph = Graph()
        self._changed: dict[tuple[int, int], None] = {}  # edges that may differ from the graph
        self._is_relaid = False  # whether a layout has changed since the graph was last requested
        self._ended: set[tuple[int, int]] = set()  # edges whose session ended
        self._withdrawn: set[tuple[int, int]] = set()  # likewise, after the other end had shut down gracefully
        self.layouts: Counter[str] = Counter()
        """Maps a layout to the number of states that have it; read by all parts."""
        self.graceful: set[int] = set()
        """Routers that shut down: they have withdrawn all of their links at once, and still run; read by all parts."""

    def hear(self, body: LinkState) -> Verdict:
        """Hold a link state if it is newer than the held one; return the result of the comparison."""
        issuer = stable_number(body.issuer)
        held = self.states.get(issuer)
        if held is not None and held.body == body:
            return Verdict.SAME
        version = Version(body.epoch, body.seq)
        if held is not None and version < held.version:
            return Verdict.OLDER
        digest = links_digest(body.links)
        verdict = judge(version, digest, held.version if held else None, held.digest if held else b"")
        if verdict is Verdict.NEWER:
            self._durable(issuer, LinkStateHeld(version, digest, body))
        return verdict

    def forget(self, issuer: int) -> None:
        if issuer in self.states:
            self._durable(issuer, None)

    def weight(self, issuer: int) -> bytes:
        """Return the share of the state of an issuer in the sum."""
        state = self.states.get(issuer)
        return numbers.state_digest(issuer, *state.version, state.digest) if state else numbers.NO_DIGEST

    def name_of(self, number: int) -> str:
        """Return the id of a router, or its number if no link state of it is held."""
        state = self.states.get(number)
        return state.body.issuer if state else str(number)

    def _durable(self, issuer: int, state: LinkStateHeld | None) -> None:
        """Replace the state held of `issuer` by `state`; None: remove it."""
        weight, before, held = self.weight(issuer), self._links(issuer), self.states.get(issuer)
        if state is None:
            del self.states[issuer]
        else:
            self.states[issuer] = state
        self._note_ended(issuer, held, state)
        self._note_layouts(held, state)
        self.digest = numbers.exchange(self.digest, weight, self.weight(issuer))
        for neighbour, _ in {(link.neighbour, link.cost) for link in before} ^ {
            (link.neighbour, link.cost) for link in self._links(issuer)
        }:
            if neighbour != issuer:
                self._changed[min(issuer, neighbour), max(issuer, neighbour)] = None

    def _note_layouts(self, held: LinkStateHeld | None, state: LinkStateHeld | None) -> None:
        before, after = (None if each is None else each.body.layout for each in (held, state))
        if before == after:
            return
        if before is not None:
            self.layouts[before] -= 1
        if after is not None:
            self.layouts[after] += 1
        self.layouts = +self.layouts
        self._is_relaid = True

    def layout_of(self, issuer: int) -> str:
        """Return the layout that a router itself states; empty if it has stated none."""
        state = self.states.get(issuer)
        return state.body.layout if state else ""

    def _note_ended(self, issuer: int, held: LinkStateHeld | None, state: LinkStateHeld | None) -> None:
        """Record the sessions that have ended: those that are no longer stated, or not by this life of the router. A
        router that shuts down states so; one of an earlier version is recognised by a statement without links directly
        after one with several, as a router that loses its links states the loss of each."""
        if held is None or state is None:
            self.graceful.discard(issuer)
            return
        is_next = state.version == (held.version.epoch, held.version.seq + 1)
        is_bare_at_once = is_next and not state.body.links and (len(held.body.links) > 1 or issuer in self.graceful)
        if state.body.leaving or is_bare_at_once:
            self.graceful.add(issuer)
            return
        self.graceful.discard(issuer)
        kept = state.body.links if state.version.epoch == held.version.epoch else ()
        sessions = {(link.neighbour, link.link_epoch) for link in kept}
        for link in held.body.links:
            if (link.neighbour, link.link_epoch) not in sessions:
                is_withdrawn = link.neighbour in self.graceful
                (self._withdrawn if is_withdrawn else self._ended).add((issuer, link.neighbour))

    def take_ended(self, staying: Collection[int] = ()) -> set[tuple[int, int]]:
        """Return the edges of which a session has ended since the last call. `staying`: routers that shut down
        gracefully so recently that their own sessions are still up: a session of theirs that ended was broken."""
        ended = self._ended | {edge for edge in self._withdrawn if edge[1] in staying}
        self._ended, self._withdrawn = set(), set()
        return ended

    def _links(self, issuer: int) -> tuple[Adjacency, ...]:
        """Return the links that `issuer` states."""
        state = self.states.get(issuer)
        return state.body.links if state else ()

    @property
    def has_changed(self) -> bool:
        """Return whether an edge or a layout has changed since the graph was last requested."""
        return bool(self._changed) or self._is_relaid

    @property
    def graph(self) -> Graph:
        """The graph, made from the previous one: this takes work in proportion to the changes."""
        self._is_relaid = False
        if self._changed:
            self._graph = self._graph.changed([(*edge, self._cost(*edge)) for edge in self._changed])
            self._changed = {}
        return self._graph

    def is_edge(self, one: int, other: int) -> bool:
        """Return whether both routers list the edge between them."""
        return self._cost(one, other) is not None

    def _cost(self, one: int, other: int) -> int | None:
        """Return the cost of the edge between two routers; None: they do not both list it."""
        there = [link.cost for link in self._links(one) if link.neighbour == other]
        back = [link.cost for link in self._links(other) if link.neighbour == one]
        return max(there + back) if there and back else None
