"""What must have arrived: the oracle of the simulator, told of what happens to real processes.

Law: an edge is whole in the truth from when both ends say so at rest, to when the bench breaks it or the proxy sees it
end. What is uncertain is excused, and counted: messages whose way changed twice, or broke while they were on it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

from tamis.bench.networks.chaos.fleet import Sent
from tamis.simulate.oracle.deliveries import Deliveries, Patience
from tamis.simulate.oracle.paths import Edge
from tamis.simulate.oracle.truth import Truth

S: Final = 1_000_000
PATIENCE: Final = Patience(known_us=2 * S, asked_us=3 * S, hold_us=2 * S, changes_max=32, wait_us=S // 4)
"""As the rules of routing allow, with room for a machine that lets routers wait. A router that dies takes all of its
links along at once, which is one change to those who stay."""
_SHOWN_MAX: Final = 20


class Judge:
    def __init__(self) -> None:
        self.truth = Truth(now_us)
        self.violations: dict[int, int] = {}
        self.shown: list[str] = []
        self.deliveries = Deliveries(self.truth, PATIENCE, self._report)

    @property
    def counts(self) -> dict[str, int]:
        return dict(self.deliveries.counts)

    def calm_us(self) -> int:
        """For how long nothing has happened to the network."""
        return now_us() - (self.truth.unsettled[-1] if self.truth.unsettled else 0)

    def break_edges(self, edges: Iterable[Edge]) -> None:
        self.truth.unsettle()  # first: the moment before it is the last calm one
        for edge in edges:
            if self.is_whole(edge):
                self.truth.broken(edge)

    def join(self, edge: Edge, cost: int) -> None:
        if not self.is_whole(edge):
            self.truth.unsettle()
            self.truth.joined(edge, cost)

    def is_whole(self, edge: Edge) -> bool:
        return edge in self.truth.edges(now_us())

    def in_motion(self, messages: Iterable[Sent]) -> None:
        for message in messages:
            self.deliveries.in_motion(message)

    def at_rest(self, messages: Iterable[Sent]) -> None:
        for message in messages:
            self.deliveries.at_rest(message, message.router)

    def forget(self) -> None:
        """What nobody will ask about."""
        self.truth.forget(now_us() - 60 * S)
        self.deliveries.forget()

    def _report(self, invariant: int, what: str) -> None:
        self.violations[invariant] = self.violations.get(invariant, 0) + 1
        if len(self.shown) < _SHOWN_MAX:
            self.shown.append(f"{now_us() / S:.3f} invariant {invariant}: {what}")


def now_us() -> int:
    return time.monotonic_ns() // 1_000
