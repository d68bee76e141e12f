"""Timers by name.

Law: a name is due once; setting it again moves it. Names that are due together come in the order of their times, then
of setting.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable, Iterator
from heapq import heappop, heappush
from typing import Generic, TypeVar

Name = TypeVar("Name", bound=Hashable)


class Due(enum.IntEnum):
    """What a timer of a core is for; `core.py` has the table of what is done when it is due."""

    ISSUE = enum.auto()  # issue a change of what this router asks for
    MORE = enum.auto()  # go on with a change that is too much for one body
    NARROW = enum.auto()  # take back what no client wants any more
    CONFIRM = enum.auto()  # ask those that have not confirmed once more
    LINKS = enum.auto()  # state new links
    REROUTE = enum.auto()  # make trees of the changed graph
    WAYS = enum.auto()  # tell clients of ways that broke
    AGE = enum.auto()  # forget a router out of reach
    REQUEST = enum.auto()  # compare with a neighbour
    NEWS = enum.auto()  # ask a neighbour for what it holds a newer version of
    ASK = enum.auto()  # ask a neighbour again
    ANSWER = enum.auto()  # send a neighbour more of an answer
    GAP = enum.auto()  # ask for what is missing of an issuer
    PENDING = enum.auto()  # apply changes of an issuer that wait
    COLLECT = enum.auto()  # put a large predicate together; mode paper: ask the whole tree
    TIDY = enum.auto()  # empty large predicates that are no longer held
    DIGESTS = enum.auto()  # send neighbours the digest of what is held
    HELD = enum.auto()  # tell issuers which routers hold their advertisement
    AUDIT = enum.auto()  # end a request to the whole tree
    JUMP = enum.auto()  # raise this router's epoch
    LOWER = enum.auto()  # lower this router's epoch, which others refuse
    ADVERTISE = enum.auto()  # mode paper: state again what is wanted
    EDGE_ISSUE = enum.auto()  # edges: pass on what clients want
    EDGE_NARROW = enum.auto()  # edges: let go what no client wants any more
    EDGE_SAY = enum.auto()  # edges: say a neighbour what only goes away
    EDGE_ASK = enum.auto()  # edges: ask a neighbour again for the whole
    EDGE_FORGET = enum.auto()  # edges: drop what was held of edges of earlier trees
    EDGE_CONFIRM = enum.auto()  # edges: ask again for confirmations
    ROOTS = enum.auto()  # let messages name roots that all routers know by now
    COLLECTED = enum.auto()  # mode paper: pass on the answers to a request that have come


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
        """Set `name` to `at_us`, unless it is due by then anyway."""
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
        """Give the names that are due, and forget each as it is given; the caller may set timers meanwhile."""
        while self._heap and self._heap[0][0] <= now_us:
            name = heappop(self._heap)[2]
            del self._due[name]
            self._drop_stale()
            yield name

    def _drop_stale(self) -> None:
        """Keep a timer that is in force first in the heap, and the heap at most three times as long as it need be."""
        heap, due = self._heap, self._due
        while heap and due.get(heap[0][2]) != heap[0][:2]:
            heappop(heap)
        if len(heap) > 3 * len(due) + 8:
            self._heap = sorted((at_us, serial, name) for name, (at_us, serial) in due.items())
