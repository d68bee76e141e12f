"""R1, R7: the interest of this router's own clients, as part of the statements to neighbours.

Law: only the issuer damps new filters, and holds removed ones, as with every other strategy; from here on a new filter
passes through every hop at once (E5). No filter is set aside here unless filters are merged: covering is found where
filters of several routers meet (E7). Worker groups do not use edges: all routers state their filters to all others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tamis.router.core.statements.core_state import CoreState
from tamis.router.core.statements.damper import Damper
from tamis.router.core.statements.edges.held import EdgeChange
from tamis.router.core.statements.edges.places import EVERY_CLASS
from tamis.router.core.statements.own_predicate import OwnPredicate
from tamis.router.core.timers import Due


class EdgeInterest:
    """The interest of local clients. `issued` is called with each change that may be sent; with an empty one where the
    last filter that a ticket waits for is withdrawn before it is issued."""

    is_complete = True

    def __init__(self, core_state: CoreState, own: OwnPredicate, issued: Callable[[EdgeChange], None]) -> None:
        self._core_state, self.own, self._issued = core_state, own, issued
        self._damper = Damper(core_state.times.damp_first_us)
        self._tickets: list[tuple[int, int]] = []
        """(ticket, the id below which all filters must be issued before the ticket waits)."""

    @property
    def tickets(self) -> int:
        """The number of tickets whose filters are still to be issued."""
        return len(self._tickets)

    @property
    def filters(self) -> Mapping[int, bytes]:
        return self.own.issued

    def awaited(self, ticket: int) -> None:
        self._tickets.append((ticket, self.own.next_id))

    def ready(self) -> list[int]:
        """Remove and return the tickets whose filters have all been issued."""
        below = self.own.issued_below
        ready = [ticket for ticket, upto in self._tickets if upto <= below]
        self._tickets = [(ticket, upto) for ticket, upto in self._tickets if upto > below]
        return ready

    def wanted(self, filters: tuple[bytes, ...]) -> None:
        for packed in filters:
            self.own.want(packed)
        self.consider()

    def unwanted(self, filters: tuple[bytes, ...]) -> None:
        next_id = self.own.next_id
        for packed in filters:
            self.own.unwant(packed, self._core_state.now_us)
        self._advertised_since(next_id)
        self._plan_narrowing()
        self.consider()

    def work(self) -> None:
        """Do one slice of merging, with the covering that it needs."""
        next_id = self.own.next_id
        self.own.work()
        self._advertised_since(next_id)
        self._plan_narrowing()
        self.consider()

    def narrow(self) -> None:
        """R7: withdraw filters whose hold has ended, at most one slice."""
        self.own.expire(self._core_state.now_us)
        self._plan_narrowing()
        self.consider()

    def _advertised_since(self, next_id: int) -> None:
        """Let tickets wait for filters that are advertised since `next_id` was the next id in place of wanted ones."""
        if self.own.next_id > next_id:
            self._tickets = [(ticket, self.own.next_id) for ticket, _ in self._tickets]

    def _plan_narrowing(self) -> None:
        if self.own.due_us is not None:
            due_us = max(self.own.due_us, self._core_state.now_us + 1)
            self._core_state.timers.set_earlier((Due.EDGE_NARROW, 0), due_us)

    def consider(self) -> None:
        """R1: issue pending changes, now or when damping allows it."""
        core_state, times = self._core_state, self._core_state.times
        if not self.own.has_changes:
            if self._tickets:
                self._issued(EdgeChange({}, {}))
            return
        most_us = times.damp_widen_max_us if self.own.widens else times.damp_narrow_max_us
        ready_us = self._damper.ready_us(most_us)
        if ready_us > core_state.now_us:
            core_state.timers.set_earlier((Due.EDGE_ISSUE, 0), ready_us)
            return
        self._damper.issued(core_state.now_us, most_us)
        change = self.own.issue()
        if self.own.has_changes:
            core_state.soon(Due.EDGE_ISSUE)
            self._damper = Damper(core_state.times.damp_first_us)
        self._issued(EdgeChange(change.added, change.removed))


class InterestOfClasses:
    """The part of the interest that concerns some classes of messages, as bits, and feeds the tree of these classes."""

    is_complete = True
    size = 0
    """The interest of clients is counted where clients bring it."""

    def __init__(self, interest: EdgeInterest, classes_of: Callable[[bytes], int], classes: int) -> None:
        self._interest, self._classes_of, self._classes = interest, classes_of, classes

    def has(self, packed: bytes) -> bool:
        return bool(self._classes_of(packed) & self._classes)

    @property
    def filters(self) -> Mapping[int, bytes]:
        filters = self._interest.filters
        if self._classes == EVERY_CLASS:
            return filters
        return {id_: packed for id_, packed in filters.items() if self.has(packed)}
