"""What the judges of the simulator are given in their tests: a truth that is told, and a list of what was found."""

from __future__ import annotations

from tamis.simulate.nodes.message import SimulatedMessage, Try
from tamis.simulate.oracle.deliveries import Deliveries, Patience
from tamis.simulate.oracle.gaps import Gaps
from tamis.simulate.oracle.groups import Groups
from tamis.simulate.oracle.truth import Truth
from tamis.simulate.oracle.violation import Violation
from tamis.simulate.twin.forwarder import TransitId

S = 1_000_000
PATIENCE = Patience(known_us=S, asked_us=S, hold_us=2 * S, changes_max=3, wait_us=S // 4)
A, B, C = 10, 20, 30
FILTER = b"filter"
GROUP = 7
ENTRY = TransitId(A, 1, 1)


class Court:
    """Routers A, B and C in a line; client 1 at C wants contents 0 and 1, since the beginning."""

    def __init__(self) -> None:
        self.now_us = 0
        self.found: list[int] = []
        self.truth = Truth(lambda: self.now_us)
        for router in (A, B, C):
            self.truth.began(router)
        self.truth.joined((A, B), 1)
        self.truth.joined((B, C), 1)
        self.truth.wanted(1, 1, C, 0, 0b11)
        self.deliveries = Deliveries(self.truth, PATIENCE, self.report)
        self.gaps = Gaps(self.truth, PATIENCE, self.report)
        self.groups = Groups(self.truth, PATIENCE, self.report, self.deliveries)
        self.now_us = 10 * S

    def report(self, invariant: int, what: str) -> None:
        assert str(Violation(invariant, self.now_us, what, 3)).endswith(what)
        self.found.append(invariant)

    def message(self, content: int = 0, at_us: int = 10 * S, router: int = A) -> SimulatedMessage:
        message = SimulatedMessage(1, content, 1, 1)
        message.tries.append(Try(router, at_us, True))
        message.last_us = at_us + S // 10
        self.now_us = at_us + 5 * S
        return message


def cut(court: Court) -> None:
    court.now_us = 10 * S + 1
    court.truth.broken((B, C))
    court.truth.unsettle()
