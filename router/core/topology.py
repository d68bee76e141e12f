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
        self._graph: Graph | None = None

    def hear(self, body: LinkState) -> Verdict:
        """Kept if it is newer."""
        issuer = stable_number(body.issuer)
        held = self.states.get(issuer)
        version = Version(body.epoch, body.seq)
        if held is not None and held.body == body:
            return Verdict.SAME
        digest = links_digest(body.links)
        verdict = judge(version, digest, held.version if held else None, held.digest if held else b"")
        if verdict is Verdict.NEWER:
            self.states[issuer] = State(version, digest, body)
            if held is None or held.body.links != body.links:
                self._graph = None
        return verdict

    def forget(self, issuer: int) -> None:
        if self.states.pop(issuer, None) is not None:
            self._graph = None

    def name_of(self, number: int) -> str:
        """The id of a router; its number where nobody has said."""
        state = self.states.get(number)
        return state.body.issuer if state else str(number)

    @property
    def graph(self) -> Graph:
        if self._graph is None:
            said = {
                issuer: {link.neighbour: link.cost for link in state.body.links}
                for issuer, state in self.states.items()
            }
            self._graph = Graph.of(
                [
                    (issuer, neighbour, max(cost, said[neighbour][issuer]))
                    for issuer, links in said.items()
                    for neighbour, cost in links.items()
                    if issuer < neighbour and issuer in said.get(neighbour, ())
                ],
                said,
            )
        return self._graph
