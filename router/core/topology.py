"""R5, first half: who is linked with whom, as everybody says of themselves.

Law: an edge counts if both ends list it, at the larger of the two costs. The graph is made of nothing else, so routers
with the same link states have the same graph.
"""

from __future__ import annotations

from typing import NamedTuple

from tamis.protocol.wire.numbers import links_digest, stable_number
from tamis.protocol.wire.routing_bodies import LinkState
from tamis.router.core.freshness import Verdict, Version, judge
from tamis.router.core.paths import Graph


class State(NamedTuple):
    """A link state as it is held."""

    version: Version
    digest: bytes
    body: LinkState


class Topology:
    def __init__(self) -> None:
        self.states: dict[int, State] = {}
        self._links: dict[int, dict[int, int]] = {}  # router -> neighbour -> cost, by its own word
        self._graph = Graph()
        self._changed: dict[tuple[int, int], None] = {}  # edges that the graph may not have as they are

    def hear(self, body: LinkState) -> Verdict:
        """Kept if it is newer."""
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
            self.states[issuer] = State(version, digest, body)
            self._say(issuer, {link.neighbour: link.cost for link in body.links})
        return verdict

    def forget(self, issuer: int) -> None:
        if self.states.pop(issuer, None) is not None:
            self._say(issuer, {})
            del self._links[issuer]

    def name_of(self, number: int) -> str:
        """The id of a router; its number where nobody has said."""
        state = self.states.get(number)
        return state.body.issuer if state else str(number)

    def _say(self, issuer: int, links: dict[int, int]) -> None:
        before = self._links.get(issuer, {})
        self._links[issuer] = links
        for neighbour, _ in before.items() ^ links.items():
            if neighbour != issuer:
                self._changed[min(issuer, neighbour), max(issuer, neighbour)] = None

    @property
    def has_changed(self) -> bool:
        """Since the graph was asked for."""
        return bool(self._changed)

    @property
    def graph(self) -> Graph:
        """Made of the one before: a change costs what has changed."""
        if self._changed:
            self._graph = self._graph.changed([(*edge, self._cost(*edge)) for edge in self._changed])
            self._changed = {}
        return self._graph

    def _cost(self, one: int, other: int) -> int | None:
        """Of the edge between them; None: they do not both list it."""
        there, back = self._links.get(one, {}).get(other), self._links.get(other, {}).get(one)
        return None if there is None or back is None else max(there, back)
