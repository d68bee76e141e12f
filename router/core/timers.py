"""Timers by name.

Law: a name is due once; setting it again moves it. Names that are due together are returned in the order of their
times, then of setting.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable, Iterator
from heapq import heappop, heappush
from typing import Generic, TypeVar

Name = TypeVar("Name", bound=Hashable)


class Due(enum.IntEnum):
    """The purpose of a timer of a core; `core.py` has the table of handlers."""

    ISSUE = enum.auto()  # issue a change of this router's own predicate
    MORE = enum.auto()  # go on with a change that exceeds one body
    NARROW = enum.auto()  # withdraw filters that no client wants any longer
    CONFIRM = enum.auto()  # request confirmation again from routers that have not confirmed
    LINKS = enum.auto()  # state new links
    REROUTE = enum.auto()  # make trees of the changed graph
    WAYS = enum.auto()  # report losses by broken paths to clients
    AGE = enum.auto()  # forget an unreachable router
    REQUEST = enum.auto()  # compare with a neighbour
    NEWS = enum.auto()  # request newer versions that a neighbour has named
    ASK = enum.auto()  # repeat a request to a neighbour
    ANSWER = enum.auto()  # send a neighbour the next part of a reply
    GAP = enum.auto()  # request missing changes of an issuer
    PENDING = enum.auto()  # apply queued changes of an issuer
    COLLECT = enum.auto()  # assemble a large predicate; mode paper: request from the whole tree
    TIDY = enum.auto()  # empty large predicates that are no longer held
    DIGESTS = enum.auto()  # send neighbours the digest of the held state
    HELD = enum.auto()  # send issuers the list of routers that hold their advertisement
    DURABLES_ISSUE = enum.auto()  # state changes of the own durable subscriptions
    DURABLES_CONFIRM = enum.auto()  # request confirmations of them again
    DURABLES_LATE = enum.auto()  # end the wait of a ticket for them
    DURABLES_HELD = enum.auto()  # send issuers the list of routers that have stored their durable subscriptions
    DURABLES_GAP = enum.auto()  # request a change of durable subscriptions whose base has not arrived
    DURABLES_REPLACE = enum.auto()  # take the next slice of the whole of an issuer's durable subscriptions
    DURABLES_ASK = enum.auto()  # compare durable subscriptions with a neighbour again
    AUDIT = enum.auto()  # end a request to the whole tree
    JUMP = enum.auto()  # raise this router's epoch
    LOWER = enum.auto()  # lower this router's epoch, which other routers refuse
    ADVERTISE = enum.auto()  # mode paper: repeat the own advertisement
    EDGE_ISSUE = enum.auto()  # edges: issue the interest of clients
    EDGE_NARROW = enum.auto()  # edges: remove filters that no client wants any longer
    EDGE_SAY = enum.auto()  # edges: send a neighbour a statement that only removes
    EDGE_ASK = enum.auto()  # edges: request the full statement of a neighbour again
    EDGE_FORGET = enum.auto()  # edges: drop the state of edges of earlier trees
    EDGE_CONFIRM = enum.auto()  # edges: request confirmations again
    ROOTS = enum.auto()  # stamp messages with roots that all routers know by now
    COLLECTED = enum.auto()  # mode paper: forward the replies to a request that have arrived


class Timers(Generic[Name]):
    def __init__(self) -> None:
        self._due: dict[Name, tuple[int, int]] = {}
        self._heap: list[tuple[int, int, Name]] = []
        self._serial = 0

    def __len__(self) -> int:
        return len(self._due)

    def __contains__(self, name: Name) -> bool:
        return name in self._due

    def set(self, name: Name, at_us: int) -> None:
        self._serial += 1
        self._due[name] = (at_us, self._serial)
        heappush(self._heap, (at_us, self._serial, name))
        self._drop_stale()

    def set_earlier(self, name: Name, at_us: int) -> None:
        """Set `name` to `at_us`, unless it is due by then already."""
        held = self._due.get(name)
        if held is None or at_us < held[0]:
            self.set(name, at_us)

    def cancel(self, name: Name) -> None:
        self._due.pop(name, None)
        self._drop_stale()

    @property
    def due_us(self) -> int | None:
        return self._heap[0][0] if self._heap else None

    def pop_due(self, now_us: int) -> Iterator[Name]:
        """Yield the names that are due, and remove each as it is yielded; the caller may set timers in between."""
        while self._heap and self._heap[0][0] <= now_us:
            name = heappop(self._heap)[2]
            del self._due[name]
            self._drop_stale()
            yield name

    def _drop_stale(self) -> None:
        """Keep an active timer first in the heap, and the heap at most about three times as long as the number of
        active timers."""
        heap, due = self._heap, self._due
        while heap and due.get(heap[0][2]) != heap[0][:2]:
            heappop(heap)
        if len(heap) > 3 * len(due) + 8:
            self._heap = sorted((at_us, serial, name) for name, (at_us, serial) in due.items())
