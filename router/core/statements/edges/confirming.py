"""E8: waits until a filter is known everywhere, and what each wait still needs.

Law: a wait ends when every edge but the one it came by has confirmed all that was stated there when the wait began. A
router confirms a statement when its own wait for that statement ends. When edges change, each wait starts again on the
present ones; confirmations lost on the way are requested again by the router whose client waits.

    began --every other edge confirms--> ended: the client gets its reply, or the requesting neighbour a confirmation
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from tamis.protocol.wire.edge_bodies import EdgeHeld
from tamis.router.core.statements.edges.said import SaidEdge

WAITS_MAX: Final = 16
"""Statements of one neighbour that wait to be confirmed; beyond that the latest replaces the previous one."""


@dataclass(slots=True)
class EdgeWait:
    """`ticket` is that of a local client; None: the neighbour `asker` waits, and receives `answer`."""

    ticket: int | None
    asker: int | None = None
    answer: EdgeHeld | None = None
    needs: dict[SaidEdge, int] = field(default_factory=dict)
    """Maps an edge to the seq above which a confirmation of it is needed."""


class EdgeWaits:
    """`ended` is called with each wait that has ended."""

    def __init__(self, ended: Callable[[EdgeWait], None]) -> None:
        self._ended = ended
        self._waits: list[EdgeWait] = []

    def __len__(self) -> int:
        return len(self._waits)

    @property
    def has_tickets(self) -> bool:
        return any(wait.ticket is not None for wait in self._waits)

    def begin(self, wait: EdgeWait, edges: Iterable[SaidEdge]) -> None:
        of_asker = [each for each in self._waits if wait.asker is not None and each.asker == wait.asker]
        if len(of_asker) >= WAITS_MAX:
            self._waits.remove(of_asker[-1])
        self._waits.append(wait)
        self._need(wait, edges)

    def restart(self, edges: Iterable[SaidEdge], only_tickets: bool = False) -> None:
        """Start all waits again, as edges have changed or confirmations may be lost."""
        there = list(edges)
        for wait in [wait for wait in self._waits if wait.ticket is not None or not only_tickets]:
            self._need(wait, there)

    def forget(self, neighbour: int) -> None:
        """Drop the waits of a neighbour, which repeats its request if it still waits."""
        self._waits = [wait for wait in self._waits if wait.asker != neighbour]

    def confirmed(self, edge: SaidEdge, seq: int) -> None:
        for wait in self._waits:
            if edge in wait.needs and seq > wait.needs[edge]:
                del wait.needs[edge]
        self.check()

    def check(self) -> None:
        """End the waits that need no further confirmation."""
        done = [wait for wait in self._waits if not wait.needs]
        self._waits = [wait for wait in self._waits if wait.needs]
        for wait in done:
            self._ended(wait)

    def _need(self, wait: EdgeWait, edges: Iterable[SaidEdge]) -> None:
        asked = {edge: edge.ask_to_confirm() for edge in edges if edge.place.neighbour != wait.asker}
        wait.needs = {edge: seq for edge, seq in asked.items() if seq is not None}
